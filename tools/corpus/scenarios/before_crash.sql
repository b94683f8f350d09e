-- What is in the log of a server before it is killed: a closed log and an open one.
CREATE TABLE a (id INT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(200)) ENGINE=InnoDB;
INSERT INTO a (v) VALUES ('one'),('two'),('three');
START TRANSACTION;
UPDATE a SET v=CONCAT(v,'!');
INSERT INTO a (v) VALUES ('four');
COMMIT;
DELETE FROM a WHERE id=2;
FLUSH BINARY LOGS;
INSERT INTO a (v) VALUES ('in the second log');
UPDATE a SET v='changed';
/*B*/ START TRANSACTION;
/*B*/ INSERT INTO a (v) VALUES ('never committed');
