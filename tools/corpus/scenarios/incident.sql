-- A statement on a table without transactions that does not fit the cache: the server notes that events are lost.
-- @servers mysql mariadb
-- @options --max-binlog-stmt-cache-size=4096 --binlog-stmt-cache-size=4096
CREATE TABLE m (id INT, v VARCHAR(1000)) ENGINE=MyISAM;
INSERT INTO m VALUES (1,'fits');
-- @refused
INSERT INTO m SELECT id, REPEAT('x',1000) FROM (SELECT 1 AS id UNION SELECT 2 UNION SELECT 3 UNION SELECT 4 UNION SELECT 5 UNION SELECT 6 UNION SELECT 7 UNION SELECT 8 UNION SELECT 9 UNION SELECT 10 UNION SELECT 11 UNION SELECT 12) n;
INSERT INTO m VALUES (2,'after');
