CREATE TABLE s (id BIGINT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(200), d DOUBLE) ENGINE=InnoDB;
CREATE TABLE my (id BIGINT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(200)) ENGINE=MyISAM;
INSERT INTO s (v,d) VALUES ('a',1),('b',2);
-- User variables of every type.
SET @i=-42, @u=CAST(18446744073709551615 AS UNSIGNED), @r=1.5e0, @dec=-123.4500, @str='héé', @nul=NULL, @hex=X'00FF';
INSERT INTO s (v,d) VALUES (@i,@r),(@u,@r),(@dec,@dec),(@str,NULL),(@nul,NULL),(HEX(@hex),0);
SET @l1=CONVERT('é' USING latin1), @`we ird``x`='odd name';
INSERT INTO s (v) VALUES (@l1),(@`we ird``x`);
INSERT INTO s (v,d) VALUES (RAND(),RAND(5)),(RAND(),RAND());
INSERT INTO s (v) SELECT CONCAT(v,LAST_INSERT_ID()) FROM s WHERE id<3;
INSERT INTO my (v) VALUES (LAST_INSERT_ID()),('x');
SET INSERT_ID=5000;
INSERT INTO s (v) VALUES ('insert_id');
SET TIMESTAMP=1234567890.123456;
INSERT INTO s (v) VALUES (NOW(6));
SET TIMESTAMP=DEFAULT;
-- Session settings that a query event carries.
SET time_zone='+05:30';
INSERT INTO s (v) VALUES (NOW()),(FROM_UNIXTIME(0));
SET sql_mode='ANSI_QUOTES,STRICT_TRANS_TABLES,NO_ZERO_DATE,PIPES_AS_CONCAT,NO_BACKSLASH_ESCAPES';
INSERT INTO "s" (v) VALUES ('ansi'||'q\');
SET sql_mode='NO_ENGINE_SUBSTITUTION';
SET NAMES latin1;
INSERT INTO s (v) VALUES (_latin1 X'E9');
SET NAMES utf8mb4 COLLATE utf8mb4_unicode_ci;
-- MySQL 5.7 and 8.0 come with English messages only, which this setting needs.
-- @only mysql-5.6 mysql-9.7 mariadb
SET lc_time_names='de_DE';
SET collation_connection=utf8mb4_bin, auto_increment_increment=7, auto_increment_offset=3;
INSERT INTO s (v) VALUES (DAYNAME('2024-01-01')),('inc');
SET lc_time_names=DEFAULT, auto_increment_increment=1, auto_increment_offset=1, collation_database=latin1_swedish_ci;
INSERT INTO s (v) VALUES ('dbcoll');
SET collation_database=DEFAULT, foreign_key_checks=0, unique_checks=0, sql_auto_is_null=1;
INSERT INTO s (v) VALUES ('fk');
SET foreign_key_checks=1, unique_checks=1, sql_auto_is_null=0, SQL_BIG_SELECTS=1;
-- @only mysql-8.0 mysql-9.7
SET default_collation_for_utf8mb4=utf8mb4_general_ci, sql_require_primary_key=ON, explicit_defaults_for_timestamp=OFF;
-- @only mysql-8.0 mysql-9.7
CREATE TABLE pk (id INT PRIMARY KEY, v VARCHAR(9));
-- @only mysql-8.0 mysql-9.7
SET default_collation_for_utf8mb4=DEFAULT, sql_require_primary_key=DEFAULT, explicit_defaults_for_timestamp=DEFAULT;
-- @only mysql-9.7
SET default_table_encryption=OFF;
-- @only mysql-9.7
CREATE DATABASE t3 DEFAULT ENCRYPTION='N';
-- @only mysql-9.7
DROP DATABASE t3;
-- Temporary tables.
CREATE TEMPORARY TABLE tmp (a INT, b VARCHAR(10));
INSERT INTO tmp VALUES (1,'x'),(2,'y');
-- @only mariadb
INSERT INTO s (v) SELECT b FROM tmp;
DROP TEMPORARY TABLE tmp;
CREATE TEMPORARY TABLE tmp2 (a INT);
-- Loaded files: of one block, of several, from the client, and one that fails half-way.
LOAD DATA INFILE './small.csv' INTO TABLE my FIELDS TERMINATED BY ';' ENCLOSED BY '"' (@x,v,@y);
LOAD DATA INFILE './load.tsv' INTO TABLE s (id,v,@d) SET id=id+100000, d=@d*2;
LOAD DATA INFILE './small.csv' REPLACE INTO TABLE s CHARACTER SET latin1 FIELDS TERMINATED BY ';' OPTIONALLY ENCLOSED BY '"' LINES TERMINATED BY '\n' IGNORE 1 LINES (id,v,d);
LOAD DATA LOCAL INFILE 'small.csv' IGNORE INTO TABLE s FIELDS TERMINATED BY ';' (id,v,d);
DELETE FROM s WHERE id BETWEEN 100000 AND 101600;
-- @refused
LOAD DATA INFILE './load.tsv' INTO TABLE s (id,v,@d) SET id=id+100000, d=@d*2;
-- Nothing was changed when this one fails, so the server takes the blocks back.
INSERT INTO my VALUES (1000,'in the way');
-- @refused
LOAD DATA INFILE './load.tsv' INTO TABLE my (id,v,@d);
-- Transactions.
START TRANSACTION;
INSERT INTO s (v) VALUES ('t1');
SAVEPOINT sp1;
INSERT INTO s (v) VALUES ('t2');
ROLLBACK TO SAVEPOINT sp1;
INSERT INTO s (v) VALUES ('t3');
COMMIT;
START TRANSACTION;
INSERT INTO s (v) VALUES ('rolled back');
ROLLBACK;
INSERT INTO my (v) SELECT v FROM s ORDER BY id LIMIT 3;
UPDATE s SET d=d+1 WHERE id<5 LIMIT 2;
INSERT IGNORE INTO my VALUES (1,'dup'),(100,'new');
REPLACE INTO my VALUES (100,'rep');
INSERT INTO my VALUES (100,'d') ON DUPLICATE KEY UPDATE v=CONCAT(v,'+');
-- Routines, users, other databases.
CREATE PROCEDURE pr(x INT, y VARCHAR(10)) INSERT INTO s (v,d) VALUES (y,x);
CALL pr(5,'call');
CREATE FUNCTION fu(x INT) RETURNS INT DETERMINISTIC RETURN x+1;
INSERT INTO s (v) VALUES (fu(1));
CREATE TRIGGER tr AFTER INSERT ON my FOR EACH ROW SET @trg=NEW.v;
INSERT INTO my (v) VALUES ('firetrigger');
CREATE USER 'u1'@'localhost' IDENTIFIED BY 'pw';
GRANT SELECT ON t.* TO 'u1'@'localhost';
DROP USER 'u1'@'localhost';
CREATE EVENT ev ON SCHEDULE EVERY 1 DAY DO INSERT INTO s (v) VALUES ('ev');
DROP EVENT ev;
CREATE DATABASE t2;
CREATE TABLE t2.x (id BIGINT PRIMARY KEY, v VARCHAR(200));
INSERT INTO t2.x SELECT id, v FROM s ORDER BY id LIMIT 5;
UPDATE s, t2.x SET s.v='mt', t2.x.v='mt2' WHERE s.id=t2.x.id;
TRUNCATE my;
DROP TABLE IF EXISTS nothere, my;
