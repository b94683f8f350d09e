-- What an encrypted log holds: a few rows, a second key, and statements.
CREATE TABLE a (id INT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(200));
INSERT INTO a (v) VALUES ('secret one'),('secret two');
FLUSH BINARY LOGS;
-- @only mysql-9.7
ALTER INSTANCE ROTATE BINLOG MASTER KEY;
UPDATE a SET v=REPEAT('e',150);
SET SESSION binlog_format=STATEMENT;
DELETE FROM a WHERE id=1;
