SET sql_mode='NO_ENGINE_SUBSTITUTION';
CREATE DATABASE `t` CHARACTER SET utf8mb4;
USE `t`;
CREATE TABLE orders (id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY, customer INT NOT NULL, quantity SMALLINT UNSIGNED, is_paid BOOL NOT NULL, price DECIMAL(12,2) NOT NULL, weight DOUBLE, name VARCHAR(80) NOT NULL, note TEXT, day DATE NOT NULL, placed DATETIME(6) NOT NULL, changed TIMESTAMP(3) NULL, state ENUM('new','sent','returned') NOT NULL, marks SET('gift','fragile','express') NOT NULL, details JSON);
INSERT INTO orders (customer,quantity,is_paid,price,weight,name,note,day,placed,changed,state,marks,details) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<160) SELECT i*7919%100000, IF(i%9=0,NULL,i%40), i%3>0, i*12.37, IF(i%11=0,NULL,i/7), CONCAT('Article no. ',i,IF(i%5=0,' – größer',' "small"')), IF(i%4=0,NULL,CONCAT('Leave it at door ',i%12,',\nring twice')), DATE_ADD('2026-01-01', INTERVAL i DAY), DATE_ADD('2026-01-01 08:00:00.123456', INTERVAL i*977 SECOND), IF(i%6=0,NULL,FROM_UNIXTIME(1780000000+i*61.125)), 1+i%3, i%8, IF(i%10=0,NULL,JSON_OBJECT('color',IF(i%2,'red','blue'),'size',i%50,'tags',JSON_ARRAY('a',i,NULL,TRUE))) FROM n;
UPDATE orders SET state='sent', changed='2026-06-01 12:00:00.5' WHERE id<=20;
DELETE FROM orders WHERE id>150;
