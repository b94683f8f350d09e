-- Every field of a table map's metadata: charsets that differ, prefix keys, geometry, enums, hidden columns.
-- @servers mysql-8.0 mysql-9.7 mariadb-10.5 mariadb-10.11 mariadb-11
-- @options --binlog-row-metadata=FULL
CREATE TABLE texts (a VARCHAR(10) CHARACTER SET latin1, b VARCHAR(10) CHARACTER SET utf8mb4, c VARCHAR(10) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, d VARBINARY(10), e TEXT CHARACTER SET ucs2, f INT UNSIGNED, g BIGINT, PRIMARY KEY (b(4), f));
INSERT INTO texts VALUES ('é','é','é',X'E9','é',1,-1);
UPDATE texts SET a='ü';
CREATE TABLE sets (id INT PRIMARY KEY, a ENUM('x','yé') CHARACTER SET latin1, b ENUM('x','ж') CHARACTER SET utf8mb4, c SET('1','2') CHARACTER SET ascii, d SET('中','文') CHARACTER SET utf8mb4);
INSERT INTO sets VALUES (1,'yé','ж','1,2','中');
CREATE TABLE shapes (id INT PRIMARY KEY, g GEOMETRY, p POINT, l LINESTRING, mp MULTIPOLYGON);
INSERT INTO shapes (id, p) VALUES (1, ST_GeomFromText('POINT(1 2)'));
-- @only mysql-9.7 mariadb
CREATE TABLE hidden (a INT, b INT INVISIBLE, c INT);
-- @only mysql-9.7 mariadb
INSERT INTO hidden (a,b,c) VALUES (1,2,3);
CREATE TABLE signs (a TINYINT, b TINYINT UNSIGNED, c DECIMAL(5,2) UNSIGNED, d FLOAT UNSIGNED, e DOUBLE, f YEAR, g BIGINT UNSIGNED, h MEDIUMINT, i SMALLINT UNSIGNED);
INSERT INTO signs VALUES (-1,255,1.25,0.5,-2.5,2024,18446744073709551615,-8388608,65535);
DELETE FROM signs;
