-- What the text of a value does not tell: ENUM and SET with an empty member, the digits of a DECIMAL in a document.
-- A row whose image has no column at all. Documents changed in several ways at once.
-- @servers mysql-8.0 mysql-9.7 mariadb-10.11
SET SESSION sql_mode='';
CREATE TABLE defaults (v INT);
CREATE TABLE choices (id INT PRIMARY KEY, e ENUM('','a'), s SET('','b','c'), t ENUM('a','b'));
-- @only mysql
CREATE TABLE documents (id INT PRIMARY KEY, j JSON);
SET SESSION binlog_row_image='MINIMAL';
INSERT INTO defaults () VALUES ();
SET SESSION binlog_row_image='FULL';
INSERT INTO choices VALUES (1,'',0,'a'),(2,0,1,0),(3,'a','b,c','b'),(4,2,3,1);
UPDATE choices SET e=0 WHERE id=1;
UPDATE choices SET s=1 WHERE id=4;
-- @only mysql
INSERT INTO documents VALUES (1,JSON_ARRAY(CAST(REPEAT('9',65) AS DECIMAL(65,0)),CAST(1.5 AS DECIMAL(65,30))));
-- @only mysql
INSERT INTO documents VALUES (2,'{"a": [1, 2, 3], "b": "a long text that leaves room", "c": {"d": 1}}');
-- @only mysql
SET SESSION binlog_row_value_options='PARTIAL_JSON';
-- @only mysql
UPDATE documents SET j=JSON_REMOVE(JSON_SET(JSON_REPLACE(j,'$.b','y'),'$.e',1,'$.f','g'),'$.a[0]','$.c') WHERE id=2;
-- @only mysql
UPDATE documents SET j=JSON_REPLACE(JSON_ARRAY_INSERT(JSON_REMOVE(j,'$.a[0]'),'$.a[0]',7),'$.b','z','$.e',2) WHERE id=2;
