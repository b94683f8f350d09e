-- ALTER TABLE as a start and a commit or rollback.
-- @servers mariadb-10.11 mariadb-11
SET SESSION binlog_alter_two_phase=ON;
CREATE TABLE a (id INT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(20));
INSERT INTO a (v) VALUES ('x'),('y');
ALTER TABLE a ADD COLUMN w INT;
INSERT INTO a (v,w) VALUES ('x',1),('y',2);
-- @refused
ALTER TABLE a ADD UNIQUE (v);
ALTER TABLE a DROP COLUMN w, FORCE;
