-- GTIDs of several domains and servers.
-- @servers mariadb
CREATE TABLE a (id INT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(20)) ENGINE=InnoDB;
CREATE TABLE m (id INT) ENGINE=MyISAM;
SET SESSION gtid_domain_id=5;
INSERT INTO a (v) VALUES ('dom5');
SET SESSION server_id=777;
INSERT INTO a (v) VALUES ('sid777');
SET SESSION gtid_seq_no=123456789012;
INSERT INTO a (v) VALUES ('seq');
SET SESSION gtid_domain_id=4294967295;
INSERT INTO m VALUES (1);
SET SESSION gtid_domain_id=0;
START TRANSACTION;
INSERT INTO a (v) VALUES ('t');
INSERT INTO m VALUES (2);
COMMIT;
SET SESSION skip_parallel_replication=1;
INSERT INTO a (v) VALUES ('spr');
SET SESSION binlog_annotate_row_events=OFF;
INSERT INTO a (v) VALUES ('noannot');
SET SESSION binlog_annotate_row_events=ON;
SET STATEMENT binlog_format=STATEMENT FOR INSERT INTO a (v) VALUES ('setstmt');
FLUSH BINARY LOGS;
-- @only mariadb-10.5 mariadb-10.11 mariadb-11
INSERT INTO a (v) VALUES ('after') RETURNING id;
FLUSH BINARY LOGS;
