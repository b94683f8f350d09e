-- A server that is killed: its log stays marked as in use, and the next start goes on in a new one.
-- @servers mysql mariadb
CREATE TABLE a (id INT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(200)) ENGINE=InnoDB;
INSERT INTO a (v) VALUES ('one'),('two'),('three');
START TRANSACTION;
UPDATE a SET v=CONCAT(v,'!');
COMMIT;
/*B*/ START TRANSACTION;
/*B*/ INSERT INTO a (v) VALUES ('never committed');
-- @kill
USE t;
INSERT INTO a (v) VALUES ('after the crash');
