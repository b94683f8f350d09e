-- What a server has in its log when a replica asks for it.
CREATE TABLE a (id INT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(200)) ENGINE=InnoDB;
INSERT INTO a (v) VALUES ('one'),('two');
SET SESSION binlog_format=STATEMENT;
UPDATE a SET v='as a statement';
