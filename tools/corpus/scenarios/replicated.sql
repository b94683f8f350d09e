-- What a source does while a replica listens; the last row tells that everything has come.
CREATE TABLE a (id INT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(200)) ENGINE=InnoDB;
INSERT INTO a (v) VALUES ('one'),('two'),('three');
FLUSH BINARY LOGS;
SET SESSION binlog_format=STATEMENT;
INSERT INTO a (v) VALUES ('as a statement');
SET SESSION binlog_format=ROW;
UPDATE a SET v=CONCAT(v,'!');
INSERT INTO a (v) VALUES ('the end of it');
