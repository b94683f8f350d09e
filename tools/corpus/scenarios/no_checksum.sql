-- No checksums, and a log in which they start.
-- @servers mysql mariadb
-- @options --binlog-checksum=NONE
CREATE TABLE a (id INT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(200));
INSERT INTO a (v) VALUES ('one'),('two');
UPDATE a SET v=REPEAT(v,3);
FLUSH BINARY LOGS;
DELETE FROM a WHERE id=1;
SET GLOBAL binlog_checksum=CRC32;
INSERT INTO a (v) VALUES ('with checksum');
SET GLOBAL binlog_checksum=NONE;
