SET sql_mode='NO_ENGINE_SUBSTITUTION';
CREATE DATABASE `t` CHARACTER SET utf8mb4;
USE `t`;
CREATE TABLE a (id INT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(200));
INSERT INTO a (v) VALUES ('first log');
FLUSH BINARY LOGS;
INSERT INTO a (v) VALUES ('second log');
FLUSH LOGS;
SET GLOBAL max_binlog_size=4096;
INSERT INTO a (v) SELECT REPEAT('r',150) FROM a x, a y, a z;
INSERT INTO a (v) SELECT REPEAT('s',150) FROM a x, a y LIMIT 20;
INSERT INTO a (v) VALUES ('last before the stop');
-- @restart
USE t;
INSERT INTO a (v) VALUES ('after the stop');
