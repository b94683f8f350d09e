-- Compressed transactions of every size between plain ones.
-- @servers mysql-9.7
CREATE TABLE a (id INT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(200));
SET SESSION binlog_transaction_compression=ON;
SET SESSION binlog_transaction_compression_level_zstd=19;
INSERT INTO a (v) VALUES ('one'),('two');
START TRANSACTION;
INSERT INTO a (v) SELECT REPEAT(v,20) FROM a;
UPDATE a SET v=CONCAT(v,'x');
INSERT INTO a (v) SELECT REPEAT('q',100) FROM a b, a c, a d, a e, a f, a g;
COMMIT;
SET SESSION binlog_transaction_compression=OFF;
INSERT INTO a (v) VALUES ('plain');
SET SESSION binlog_transaction_compression=ON;
SET SESSION binlog_transaction_compression_level_zstd=1;
DELETE FROM a WHERE id>3;
SET SESSION binlog_format=STATEMENT;
INSERT INTO a (v) VALUES (RAND());
SET SESSION binlog_format=ROW;
START TRANSACTION;
COMMIT;
