-- What one member of a group does, row by row, in one log and in the next.
CREATE TABLE a (id INT PRIMARY KEY AUTO_INCREMENT, v JSON);
INSERT INTO a (v) VALUES ('[1,2]'),('{"a":1}');
FLUSH BINARY LOGS;
SET gtid_next='AUTOMATIC:tag';
UPDATE a SET v='7' WHERE id>1;
SET gtid_next='AUTOMATIC';
SET SESSION binlog_transaction_compression=ON;
INSERT INTO a (v) VALUES ('"compressed"');
DELETE FROM a;
