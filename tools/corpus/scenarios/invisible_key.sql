-- A generated invisible primary key, and an invisible column.
-- @servers mysql-9.7
SET SESSION sql_generate_invisible_primary_key=ON;
SET GLOBAL binlog_row_metadata='FULL';
CREATE TABLE a (v VARCHAR(20), w INT INVISIBLE);
INSERT INTO a (v,w) VALUES ('a',1),('b',2);
UPDATE a SET v='z' WHERE w=1;
DELETE FROM a WHERE w=2;
SET GLOBAL binlog_row_metadata='MINIMAL';
