-- Every step between GTIDs and anonymous transactions.
-- @servers mysql-9.7
SET GLOBAL gtid_mode=ON_PERMISSIVE;
SET GLOBAL gtid_mode=OFF_PERMISSIVE;
CREATE TABLE a (id INT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(20));
INSERT INTO a (v) VALUES ('anon');
SET gtid_next='11111111-2222-3333-4444-555555555555:1';
INSERT INTO a (v) VALUES ('gtid');
SET gtid_next='AUTOMATIC';
SET GLOBAL gtid_mode=OFF;
INSERT INTO a (v) VALUES ('off');
SET SESSION original_commit_timestamp=1234567890123456;
INSERT INTO a (v) VALUES ('oct');
SET SESSION original_server_version=80021;
INSERT INTO a (v) VALUES ('from an older server');
SET GLOBAL gtid_mode=OFF_PERMISSIVE;
SET GLOBAL gtid_mode=ON_PERMISSIVE;
SET GLOBAL gtid_mode=ON;
INSERT INTO a (v) VALUES ('on');
