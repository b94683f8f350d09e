-- One table per family of column types, with the edges of each; rows are inserted, updated and deleted.
SET time_zone='+00:00';
-- @only mysql-5.6
SET GLOBAL innodb_file_format='Barracuda';
CREATE TABLE ints (id INT PRIMARY KEY AUTO_INCREMENT, t TINYINT, tu TINYINT UNSIGNED, s SMALLINT, su SMALLINT UNSIGNED, m MEDIUMINT, mu MEDIUMINT UNSIGNED, i INT, iu INT UNSIGNED, b BIGINT, bu BIGINT UNSIGNED, bo BOOL, z INT(8) ZEROFILL);
CREATE TABLE decs (id INT PRIMARY KEY AUTO_INCREMENT, d1 DECIMAL(1,0), d2 DECIMAL(5,2), d3 DECIMAL(10,0), d4 DECIMAL(18,9), d5 DECIMAL(30,10), d6 DECIMAL(65,30), d7 DECIMAL(65,0), d8 DECIMAL(30,30), d9 DECIMAL(14,4) UNSIGNED, d10 DECIMAL(9,9), d11 DECIMAL(28,1), f FLOAT, fu FLOAT UNSIGNED, f2 FLOAT(7,3), d DOUBLE, dd DOUBLE(12,4));
CREATE TABLE strs (id INT PRIMARY KEY AUTO_INCREMENT, c1 CHAR(1), c10 CHAR(10) CHARACTER SET latin1, c63 CHAR(63) CHARACTER SET utf8mb4, c64 CHAR(64) CHARACTER SET utf8mb4, c255 CHAR(255) CHARACTER SET utf8mb4, c0 CHAR(0), v10 VARCHAR(10), v255l VARCHAR(255) CHARACTER SET latin1, v256l VARCHAR(256) CHARACTER SET latin1, v64 VARCHAR(64), v3000 VARCHAR(3000), cb CHAR(10) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, bin5 BINARY(5), bin255 BINARY(255), vb10 VARBINARY(10), vb300 VARBINARY(300), tb TINYBLOB, bl BLOB, mb MEDIUMBLOB, lb LONGBLOB, tt TINYTEXT, tx TEXT, mt MEDIUMTEXT, lt LONGTEXT, txl TEXT CHARACTER SET latin1);
CREATE TABLE temps (id INT PRIMARY KEY AUTO_INCREMENT, d DATE, t0 TIME, t1 TIME(1), t2 TIME(2), t3 TIME(3), t4 TIME(4), t5 TIME(5), t6 TIME(6), dt0 DATETIME, dt1 DATETIME(1), dt2 DATETIME(2), dt3 DATETIME(3), dt4 DATETIME(4), dt5 DATETIME(5), dt6 DATETIME(6), ts0 TIMESTAMP NULL, ts1 TIMESTAMP(1) NULL, ts2 TIMESTAMP(2) NULL, ts3 TIMESTAMP(3) NULL, ts4 TIMESTAMP(4) NULL, ts5 TIMESTAMP(5) NULL, ts6 TIMESTAMP(6) NULL, y YEAR);
CREATE TABLE misc (id INT PRIMARY KEY AUTO_INCREMENT, b1 BIT(1), b7 BIT(7), b8 BIT(8), b9 BIT(9), b33 BIT(33), b64 BIT(64), e ENUM('a','b','cé','d''q'), e300 ENUM('e0','e1','e2','e3','e4','e5','e6','e7','e8','e9','e10','e11','e12','e13','e14','e15','e16','e17','e18','e19','e20','e21','e22','e23','e24','e25','e26','e27','e28','e29','e30','e31','e32','e33','e34','e35','e36','e37','e38','e39','e40','e41','e42','e43','e44','e45','e46','e47','e48','e49','e50','e51','e52','e53','e54','e55','e56','e57','e58','e59','e60','e61','e62','e63','e64','e65','e66','e67','e68','e69','e70','e71','e72','e73','e74','e75','e76','e77','e78','e79','e80','e81','e82','e83','e84','e85','e86','e87','e88','e89','e90','e91','e92','e93','e94','e95','e96','e97','e98','e99','e100','e101','e102','e103','e104','e105','e106','e107','e108','e109','e110','e111','e112','e113','e114','e115','e116','e117','e118','e119','e120','e121','e122','e123','e124','e125','e126','e127','e128','e129','e130','e131','e132','e133','e134','e135','e136','e137','e138','e139','e140','e141','e142','e143','e144','e145','e146','e147','e148','e149','e150','e151','e152','e153','e154','e155','e156','e157','e158','e159','e160','e161','e162','e163','e164','e165','e166','e167','e168','e169','e170','e171','e172','e173','e174','e175','e176','e177','e178','e179','e180','e181','e182','e183','e184','e185','e186','e187','e188','e189','e190','e191','e192','e193','e194','e195','e196','e197','e198','e199','e200','e201','e202','e203','e204','e205','e206','e207','e208','e209','e210','e211','e212','e213','e214','e215','e216','e217','e218','e219','e220','e221','e222','e223','e224','e225','e226','e227','e228','e229','e230','e231','e232','e233','e234','e235','e236','e237','e238','e239','e240','e241','e242','e243','e244','e245','e246','e247','e248','e249','e250','e251','e252','e253','e254','e255','e256','e257','e258','e259','e260','e261','e262','e263','e264','e265','e266','e267','e268','e269','e270','e271','e272','e273','e274','e275','e276','e277','e278','e279','e280','e281','e282','e283','e284','e285','e286','e287','e288','e289','e290','e291','e292','e293','e294','e295','e296','e297','e298','e299'), s8 SET('x','y','zü'), s9 SET('1','2','3','4','5','6','7','8','9'), s64 SET('s0','s1','s2','s3','s4','s5','s6','s7','s8','s9','s10','s11','s12','s13','s14','s15','s16','s17','s18','s19','s20','s21','s22','s23','s24','s25','s26','s27','s28','s29','s30','s31','s32','s33','s34','s35','s36','s37','s38','s39','s40','s41','s42','s43','s44','s45','s46','s47','s48','s49','s50','s51','s52','s53','s54','s55','s56','s57','s58','s59','s60','s61','s62','s63'));
CREATE TABLE geo (id INT PRIMARY KEY AUTO_INCREMENT, g GEOMETRY, p POINT, ls LINESTRING, pg POLYGON, mp MULTIPOINT, ml MULTILINESTRING, mpg MULTIPOLYGON, gc GEOMETRYCOLLECTION);
-- @only mysql-5.7 mysql-8.0 mysql-9.7 mariadb
CREATE TABLE js (id INT PRIMARY KEY AUTO_INCREMENT, j JSON, k JSON);
CREATE TABLE nokey (a INT, b VARCHAR(20), c BLOB);
CREATE TABLE ukey (a INT NOT NULL, b VARCHAR(20) NOT NULL, c BLOB, d TEXT, UNIQUE KEY (a,b));
-- @only mysql-9.7
CREATE TABLE vec (id INT PRIMARY KEY AUTO_INCREMENT, v VECTOR(4), w VECTOR);
-- @only mariadb-11.8
CREATE TABLE vec (id INT PRIMARY KEY AUTO_INCREMENT, v VECTOR(4) NOT NULL, w VECTOR(300));
-- @only mariadb-10.5 mariadb-10.11 mariadb-11
CREATE TABLE inet (id INT PRIMARY KEY AUTO_INCREMENT, a INET6);
-- @only mariadb-10.11 mariadb-11
CREATE TABLE uu (id INT PRIMARY KEY AUTO_INCREMENT, u UUID);
-- @only mariadb-10.11 mariadb-11
CREATE TABLE inet4 (id INT PRIMARY KEY AUTO_INCREMENT, a INET4);
-- @only mariadb-10.5 mariadb-10.11 mariadb-11
CREATE TABLE comp (id INT PRIMARY KEY AUTO_INCREMENT, a VARCHAR(1000) COMPRESSED, b TEXT COMPRESSED, c LONGBLOB COMPRESSED, d VARBINARY(500) COMPRESSED);
INSERT INTO ints VALUES (1,-128,0,-32768,0,-8388608,0,-2147483648,0,-9223372036854775808,0,0,0);
INSERT INTO ints VALUES (2,127,255,32767,65535,8388607,16777215,2147483647,4294967295,9223372036854775807,18446744073709551615,1,12345678),(3,-1,1,-1,1,-1,1,-1,1,-1,1,-1,1),(4,0,128,0,32768,0,8388608,0,2147483648,0,9223372036854775808,2,99999999);
INSERT INTO ints (id) VALUES (5);
INSERT INTO ints VALUES (6,NULL,7,NULL,7,NULL,7,NULL,7,NULL,7,NULL,7);
INSERT INTO decs VALUES (1,9,999.99,9999999999,999999999.999999999,99999999999999999999.9999999999,99999999999999999999999999999999999.999999999999999999999999999999,99999999999999999999999999999999999999999999999999999999999999999,0.999999999999999999999999999999,9999999999.9999,0.999999999,999999999999999999999999999.9,3.4028234e38,3.4028234e38,9999.999,1.7976931348623157e308,99999999.9999);
INSERT INTO decs VALUES (2,-9,-999.99,-9999999999,-999999999.999999999,-99999999999999999999.9999999999,-99999999999999999999999999999999999.999999999999999999999999999999,-99999999999999999999999999999999999999999999999999999999999999999,-0.999999999999999999999999999999,0,-0.999999999,-999999999999999999999999999.9,-3.4028234e38,0,-9999.999,-1.7976931348623157e308,-99999999.9999);
INSERT INTO decs VALUES (3,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0),(4,1,-0.01,1000000000,0.000000001,-0.0000000001,0.000000000000000000000000000001,100000000,0.000000000000000000000000000001,0.0001,0.000000001,-0.1,1.17549435e-38,0.1,0.001,5e-324,0.0001),(5,-1,12.30,-1000000001,-123456789.987654321,12345678901234567890.0123456789,-1.5,-1000000000000000000,-0.1,1234.5,-0.1,10,-0.1,16777217,-1.25,-0.1,-12.5);
INSERT INTO decs (id) VALUES (6);
INSERT INTO temps VALUES (1,'1000-01-01','-838:59:59','-838:59:59.0','-838:59:59.00','-838:59:59.000','-838:59:59.0000','-838:59:59.00000','-838:59:59.000000','1000-01-01 00:00:00','1000-01-01 00:00:00.1','1000-01-01 00:00:00.12','1000-01-01 00:00:00.123','1000-01-01 00:00:00.1234','1000-01-01 00:00:00.12345','1000-01-01 00:00:00.123456','1970-01-02 00:00:01','1970-01-02 00:00:01.1','1970-01-02 00:00:01.12','1970-01-02 00:00:01.123','1970-01-02 00:00:01.1234','1970-01-02 00:00:01.12345','1970-01-02 00:00:01.123456',1901);
INSERT INTO temps VALUES (2,'9999-12-31','838:59:58','838:59:58.9','838:59:58.99','838:59:58.999','838:59:58.9999','838:59:58.99999','838:59:58.999999','9999-12-31 23:59:59','9999-12-31 23:59:59.9','9999-12-31 23:59:59.99','9999-12-31 23:59:59.999','9999-12-31 23:59:59.9999','9999-12-31 23:59:59.99999','9999-12-31 23:59:59.999999','2038-01-18 03:14:07','2038-01-18 03:14:07.9','2038-01-18 03:14:07.99','2038-01-18 03:14:07.999','2038-01-18 03:14:07.9999','2038-01-18 03:14:07.99999','2038-01-18 03:14:07.999999',2155);
INSERT INTO temps VALUES (3,'0000-00-00','00:00:00','00:00:00','00:00:00','00:00:00','00:00:00','00:00:00','00:00:00','0000-00-00 00:00:00','0000-00-00 00:00:00','0000-00-00 00:00:00','0000-00-00 00:00:00','0000-00-00 00:00:00','0000-00-00 00:00:00','0000-00-00 00:00:00','0000-00-00 00:00:00','0000-00-00 00:00:00','0000-00-00 00:00:00','0000-00-00 00:00:00','0000-00-00 00:00:00','0000-00-00 00:00:00','0000-00-00 00:00:00',0);
INSERT INTO temps VALUES (4,'2024-02-29','-00:00:01','-00:00:00.1','-00:00:00.01','-00:00:00.001','-00:00:00.0001','-00:00:00.00001','-00:00:00.000001','2024-02-29 12:34:56','2024-02-29 12:34:56.5','2024-02-29 12:34:56.05','2024-02-29 12:34:56.005','2024-02-29 12:34:56.0005','2024-02-29 12:34:56.00005','2024-02-29 12:34:56.000005','2024-02-29 12:34:56','2024-02-29 12:34:56.5','2024-02-29 12:34:56.05','2024-02-29 12:34:56.005','2024-02-29 12:34:56.0005','2024-02-29 12:34:56.00005','2024-02-29 12:34:56.000005',2024);
INSERT INTO temps VALUES (5,'2023-00-00','-12:34:56','-12:34:56.9','-12:34:56.98','-12:34:56.987','-12:34:56.9876','-12:34:56.98765','-12:34:56.987654','2023-05-00 01:02:03','2023-00-00 01:02:03.4','2023-01-01 01:02:03.45','2023-01-01 01:02:03.456','2023-01-01 01:02:03.4567','2023-01-01 01:02:03.45678','2023-01-01 01:02:03.456789','2023-01-01 01:02:03','2023-01-01 01:02:03.4','2023-01-01 01:02:03.45','2023-01-01 01:02:03.456','2023-01-01 01:02:03.4567','2023-01-01 01:02:03.45678','2023-01-01 01:02:03.456789',1970);
INSERT INTO temps (id) VALUES (6);
INSERT INTO misc VALUES (1,b'0',b'0',b'0',b'0',b'0',b'0','a','e0','','','');
INSERT INTO misc VALUES (2,b'1',b'1111111',b'11111111',b'111111111',b'111111111111111111111111111111111',X'FFFFFFFFFFFFFFFF','d''q','e299','x,y,zü','1,2,3,4,5,6,7,8,9','s0,s1,s31,s32,s62,s63');
INSERT INTO misc VALUES (3,b'1',b'1010101',b'10000000',b'100000001',b'100000000000000000000000000000001',X'8000000000000001','cé','e255','zü','9','s63');
INSERT INTO misc VALUES (4,b'0',b'1',b'1',b'1',b'1',b'1','','e256','x','1,9','s7,s8');
INSERT INTO misc (id) VALUES (5);
INSERT INTO geo VALUES (1,ST_GeomFromText('POINT(1 2)'),ST_GeomFromText('POINT(-1.5 2.25)'),ST_GeomFromText('LINESTRING(0 0,1 1,2 3)'),ST_GeomFromText('POLYGON((0 0,10 0,10 10,0 10,0 0),(5 5,7 5,7 7,5 7,5 5))'),ST_GeomFromText('MULTIPOINT(0 0,1 1)'),ST_GeomFromText('MULTILINESTRING((0 0,1 1),(2 2,3 3))'),ST_GeomFromText('MULTIPOLYGON(((0 0,1 0,1 1,0 0)),((5 5,6 5,6 6,5 5)))'),ST_GeomFromText('GEOMETRYCOLLECTION(POINT(1 1),LINESTRING(0 0,1 1))'));
INSERT INTO geo (id) VALUES (2);
INSERT INTO geo (id,g) VALUES (3,ST_GeomFromText('POINT(10 20)',4326));
-- @only mysql-5.6 mysql-8.0 mysql-9.7 mariadb
INSERT INTO geo (id,g) VALUES (4,ST_GeomFromText('GEOMETRYCOLLECTION EMPTY'));
INSERT INTO nokey VALUES (1,'a','x'),(1,'a','x'),(NULL,NULL,NULL),(2,'b',NULL);
INSERT INTO ukey VALUES (1,'a','x','y'),(2,'b',NULL,NULL),(3,'c','z',NULL);
INSERT INTO strs VALUES (1,'','','','','','','','','','','','','','','','','','','','','','','','','');
INSERT INTO strs VALUES (2,'😀','ÿ€abcdefgh',REPEAT('😀',63),REPEAT('é',64),REPEAT('中',255),'',REPEAT('é',10),REPEAT('ÿ',255),REPEAT('ÿ',256),REPEAT('😀',64),REPEAT('v',3000),'bin é',X'0102030405',REPEAT(X'00FF',127),X'000102030405060708FF',REPEAT(X'00FF',150),REPEAT(X'80',255),REPEAT(X'FE00',200),REPEAT(X'01',300),REPEAT(X'02',300),REPEAT('é',60),REPEAT('😀é',50),REPEAT('m',300),REPEAT('l',300),REPEAT('ÿ',300));
INSERT INTO strs VALUES (3,'a','a','a','a','a','','a','a','a','a','a','a',X'000001',X'000001',X'000001',X'000001',X'000001',X'000001',X'000001',X'000001','a','a','a','a','a');
INSERT INTO strs VALUES (4,' ',' ',' ',' ',' ','',' ',' ',' ',' ',' ',' ',X'00',X'00',X'00',X'00',X'00',X'00',X'00',X'00',' ',' ',' ',' ',' ');
INSERT INTO strs VALUES (5,'a','a\'b\\c\n\t é','a\'b\\c\n\t é','a\'b\\c\n\t é','a\'b\\c\n\t é','','a\'b\\c\n\t é','a\'b\\c\n\t é','a\'b\\c\n\t é','a\'b\\c\n\t é','a\'b\\c\n\t é','a\'b\\c\n\t é',X'FFFE006120',X'FFFE006120',X'FFFE006120',X'FFFE006120',X'FFFE006120',X'FFFE006120',X'FFFE006120',X'FFFE006120','a\'b\\c\n\t é','a\'b\\c\n\t é','a\'b\\c\n\t é','a\'b\\c\n\t é','a\'b\\c\n\t é');
INSERT INTO strs VALUES (6,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO strs VALUES (7,'z',REPEAT('z',10),REPEAT('z',63),REPEAT('z',64),REPEAT('z',255),'',REPEAT('z',10),REPEAT('z',255),REPEAT('z',255),REPEAT('z',64),REPEAT('z',255),REPEAT('z',10),REPEAT(X'80',5),REPEAT(X'80',255),REPEAT(X'80',10),REPEAT(X'80',255),REPEAT(X'80',255),REPEAT(X'80',255),REPEAT(X'80',255),REPEAT(X'80',255),REPEAT('z',60),REPEAT('z',255),REPEAT('z',255),REPEAT('z',70000),REPEAT('z',255));
INSERT INTO strs VALUES (8,'a','ab  ','ab  ','ab  ','ab  ','','ab  ','ab  ','ab  ','ab  ','ab  ','ab  ',X'61620000',X'61620000',X'61620000',X'61620000',X'61620000',X'61620000',X'61620000',X'61620000','ab  ','ab  ','ab  ','ab  ','ab  ');
-- @only mysql-5.7 mysql-8.0 mysql-9.7 mariadb
INSERT INTO js (j,k) VALUES ('null','{"n":4}');
-- @only mysql-5.7 mysql-8.0 mysql-9.7 mariadb
INSERT INTO js (j,k) VALUES ('true','{"n":4}');
-- @only mysql-5.7 mysql-8.0 mysql-9.7 mariadb
INSERT INTO js (j,k) VALUES ('false','{"n":5}');
-- @only mysql-5.7 mysql-8.0 mysql-9.7 mariadb
INSERT INTO js (j,k) VALUES ('0','{"n":1}');
-- @only mysql-5.7 mysql-8.0 mysql-9.7 mariadb
INSERT INTO js (j,k) VALUES ('-1','{"n":2}');
-- @only mysql-5.7 mysql-8.0 mysql-9.7 mariadb
INSERT INTO js (j,k) VALUES ('65535','{"n":5}');
-- @only mysql-5.7 mysql-8.0 mysql-9.7 mariadb
INSERT INTO js (j,k) VALUES ('-32769','{"n":6}');
-- @only mysql-5.7 mysql-8.0 mysql-9.7 mariadb
INSERT INTO js (j,k) VALUES ('2147483648','{"n":10}');
-- @only mysql-5.7 mysql-8.0 mysql-9.7 mariadb
INSERT INTO js (j,k) VALUES ('18446744073709551615','{"n":20}');
-- @only mysql-5.7 mysql-8.0 mysql-9.7 mariadb
INSERT INTO js (j,k) VALUES ('-9223372036854775808','{"n":20}');
-- @only mysql-5.7 mysql-8.0 mysql-9.7 mariadb
INSERT INTO js (j,k) VALUES ('1.5','{"n":3}');
-- @only mysql-5.7 mysql-8.0 mysql-9.7 mariadb
INSERT INTO js (j,k) VALUES ('-0.0','{"n":4}');
-- @only mysql-5.7 mysql-8.0 mysql-9.7 mariadb
INSERT INTO js (j,k) VALUES ('1e300','{"n":5}');
-- @only mysql-5.7 mysql-8.0 mysql-9.7 mariadb
INSERT INTO js (j,k) VALUES ('3.14159','{"n":7}');
-- @only mysql-5.7 mysql-8.0 mysql-9.7 mariadb
INSERT INTO js (j,k) VALUES ('""','{"n":2}');
-- @only mysql-5.7 mysql-8.0 mysql-9.7 mariadb
INSERT INTO js (j,k) VALUES ('"str"','{"n":5}');
-- @only mysql-5.7 mysql-8.0 mysql-9.7 mariadb
INSERT INTO js (j,k) VALUES ('"\\u00e9\\ud83d\\ude00 \\" \\\\ \\n"','{"n":29}');
-- @only mysql-5.7 mysql-8.0 mysql-9.7 mariadb
INSERT INTO js (j,k) VALUES ('[]','{"n":2}');
-- @only mysql-5.7 mysql-8.0 mysql-9.7 mariadb
INSERT INTO js (j,k) VALUES ('{}','{"n":2}');
-- @only mysql-5.7 mysql-8.0 mysql-9.7 mariadb
INSERT INTO js (j,k) VALUES ('[1,[2,[3,[4,{"a":[null,true]}]]]]','{"n":33}');
-- @only mysql-5.7 mysql-8.0 mysql-9.7 mariadb
INSERT INTO js (j,k) VALUES ('{"a":1,"b":"two","c":[1,2,{"d":null}],"e":{"f":{"g":{"h":-1.25}}},"":"emptykey","\\u00fcn\\u00ef":"x"}','{"n":100}');
-- @only mysql-5.7 mysql-8.0 mysql-9.7 mariadb
INSERT INTO js (j,k) VALUES ('[-300, -293, -286, -279, -272, -265, -258, -251, -244, -237, -230, -223, -216, -209, -202, -195, -188, -181, -174, -167, -160, -153, -146, -139, -132, -125, -118, -111, -104, -97, -90, -83, -76, -69, -62, -55, -48, -41, -34, -27, -20, -13, -6, 1, 8, 15, 22, 29, 36, 43, 50, 57, 64, 71, 78, 85, 92, 99, 106, 113, 120, 127, 134, 141, 148, 155, 162, 169, 176, 183, 190, 197, 204, 211, 218, 225, 232, 239, 246, 253, 260, 267, 274, 281, 288, 295]','{"n":441}');
-- @only mysql-5.7 mysql-8.0 mysql-9.7 mariadb
INSERT INTO js (j,k) VALUES ('{"key00000":0,"key00001":1,"key00002":8,"key00003":27,"key00004":64,"key00005":125,"key00006":216,"key00007":343,"key00008":512,"key00009":729,"key00010":1000,"key00011":1331,"key00012":1728,"key00013":2197,"key00014":2744,"key00015":3375,"key00016":4096,"key00017":4913,"key00018":5832,"key00019":6859,"key00020":8000,"key00021":9261,"key00022":10648,"key00023":12167,"key00024":13824,"key00025":15625,"key00026":17576,"key00027":19683,"key00028":21952,"key00029":24389,"key00030":27000,"key00031":29791,"key00032":32768,"key00033":35937,"key00034":39304,"key00035":42875,"key00036":46656,"key00037":50653,"key00038":54872,"key00039":59319,"key00040":64000,"key00041":68921,"key00042":74088,"key00043":79507,"key00044":85184,"key00045":91125,"key00046":97336,"key00047":103823,"key00048":110592,"key00049":117649,"key00050":125000,"key00051":132651,"key00052":140608,"key00053":148877,"key00054":157464,"key00055":166375,"key00056":175616,"key00057":185193,"key00058":195112,"key00059":205379}','{"n":60}');
-- @only mysql-5.7 mysql-8.0 mysql-9.7 mariadb
INSERT INTO js (j,k) VALUES (CONCAT('"',REPEAT('x',20000),'"'),'{"n":20002}');
-- @only mysql-5.7 mysql-8.0 mysql-9.7 mariadb
INSERT INTO js (j,k) VALUES (CONCAT('{"long":"',REPEAT('v',70000),'","after":[1,2.5,null,"x"]}'),'{"n":70030}');
-- @only mysql-5.7 mysql-8.0 mysql-9.7 mariadb
INSERT INTO js (j,k) VALUES (CONCAT('[',REPEAT('{"id":1,"v":"y"},',300),'0]'),'{"n":301}');
-- @only mysql-5.7 mysql-8.0 mysql-9.7 mariadb
INSERT INTO js (j) VALUES (NULL);
-- @only mysql-5.7 mysql-8.0 mysql-9.7
INSERT INTO js (j) VALUES (CAST(CAST('2024-02-29' AS DATE) AS JSON));
-- @only mysql-5.7 mysql-8.0 mysql-9.7
INSERT INTO js (j) VALUES (CAST(CAST('23:59:59.123456' AS TIME(6)) AS JSON));
-- MySQL 5.7 and 8.0 store other hours if a negative TIME of more than a few days becomes JSON.
-- @only mysql-9.7
INSERT INTO js (j) VALUES (CAST(CAST('-838:59:59' AS TIME) AS JSON));
-- @only mysql-5.7 mysql-8.0
INSERT INTO js (j) VALUES (CAST(CAST('-24:59:59' AS TIME) AS JSON));
-- @only mysql-5.7 mysql-8.0 mysql-9.7
INSERT INTO js (j) VALUES (CAST(CAST('2024-02-29 12:34:56.789' AS DATETIME(6)) AS JSON));
-- @only mysql-5.7 mysql-8.0 mysql-9.7
INSERT INTO js (j) VALUES (CAST(12345.678900 AS JSON));
-- @only mysql-5.7 mysql-8.0 mysql-9.7
INSERT INTO js (j) VALUES (CAST(CAST('99999999999999999999999999999.123' AS DECIMAL(40,3)) AS JSON));
-- @only mysql-5.7 mysql-8.0 mysql-9.7
INSERT INTO js (j) VALUES (CAST(X'00ff10' AS JSON));
-- @only mysql-5.7 mysql-8.0 mysql-9.7
INSERT INTO js (j) VALUES (CAST(b'1010' AS JSON));
-- @only mysql-5.7 mysql-8.0 mysql-9.7
INSERT INTO js (j) VALUES (JSON_OBJECT('d',CAST('2024-01-01' AS DATE),'dec',1.10,'b',CAST('abc' AS BINARY)));
-- @only mysql-5.7 mysql-8.0 mysql-9.7
INSERT INTO js (j) VALUES (JSON_ARRAY(CAST(1 AS UNSIGNED),CAST(-1 AS SIGNED),1.0e0,CAST('2000-01-01 00:00:00' AS DATETIME)));
-- @only mysql-5.7 mysql-8.0 mysql-9.7
INSERT INTO js (j) VALUES (CAST(ST_GeomFromText('POINT(1 2)') AS JSON));
-- @only mysql-5.7 mysql-8.0 mysql-9.7
INSERT INTO js (j) VALUES (CAST(TIMESTAMP'2024-01-01 00:00:00.5' AS JSON));
-- @only mysql-9.7
INSERT INTO js (j) VALUES (CAST(CAST(2024 AS YEAR) AS JSON));
-- @only mysql-9.7
INSERT INTO vec (v,w) VALUES (STRING_TO_VECTOR('[1,2,3,4]'),STRING_TO_VECTOR('[0.1,-1.5e10,3]')),(STRING_TO_VECTOR('[0,-0.5,1e-30,3.4e38]'),NULL),(NULL,NULL);
-- @only mariadb-11.8
INSERT INTO vec (v,w) VALUES (VEC_FromText('[1,2,3,4]'),NULL),(VEC_FromText('[0,-0.5,1e-30,3.4e38]'),VEC_FromText(CONCAT('[',REPEAT('0.25,',299),'1]')));
-- @only mariadb-10.5 mariadb-10.11 mariadb-11
INSERT INTO inet (a) VALUES ('::'),('::1'),('2001:db8::ff00:42:8329'),('::ffff:192.0.2.1'),(NULL);
-- @only mariadb-10.11 mariadb-11
INSERT INTO uu (u) VALUES ('123e4567-e89b-12d3-a456-426614174000'),('00000000-0000-0000-0000-000000000000'),(NULL),('ffffffff-ffff-ffff-ffff-ffffffffffff');
-- @only mariadb-10.11 mariadb-11
INSERT INTO inet4 (a) VALUES ('0.0.0.0'),('192.0.2.1'),('255.255.255.255'),(NULL);
-- @only mariadb-10.5 mariadb-10.11 mariadb-11
INSERT INTO comp (a,b,c,d) VALUES ('short','short','short','short'),(REPEAT('abc',300),REPEAT('def',500),REPEAT('ghi',900),REPEAT('x',400)),('','','',''),(NULL,NULL,NULL,NULL);
-- @snapshot 1-after-insert
UPDATE ints SET t=t+1, bu=5 WHERE id IN (1,3,5);
UPDATE ints SET i=NULL WHERE id=2;
UPDATE decs SET d6=d6/2, f=1.5, dd=NULL WHERE id<=3;
UPDATE strs SET v10='upd', bl='newblob' WHERE id IN (1,2,3);
UPDATE strs SET c255='only char' WHERE id IN (2,6);
UPDATE strs SET lt=NULL, lb=NULL, c1='é' WHERE id=2;
UPDATE temps SET dt6='2001-02-03 04:05:06.070809', t3=NULL WHERE id IN (1,2,4);
UPDATE misc SET b9=b'101', e='b', s64='s1,s2' WHERE id IN (1,5);
UPDATE geo SET p=ST_GeomFromText('POINT(9 9)') WHERE id IN (1,2);
UPDATE nokey SET b='zz' WHERE a=1;
UPDATE ukey SET d='new' WHERE a>=2;
UPDATE ints SET id=id+100 WHERE id>=4 ORDER BY id DESC;
-- @only mysql-5.7 mysql-8.0 mysql-9.7 mariadb
UPDATE js SET k='{"upd":[1,2,3]}' WHERE id%3=0;
-- @only mysql-5.7 mysql-8.0 mysql-9.7 mariadb
UPDATE js SET j='[1]' WHERE id=2;
-- @only mysql-9.7
UPDATE vec SET v=STRING_TO_VECTOR('[5,6,7,8]') WHERE id=1;
-- @only mariadb-11.8
UPDATE vec SET v=VEC_FromText('[5,6,7,8]') WHERE id=1;
-- @only mariadb-10.5 mariadb-10.11 mariadb-11
UPDATE comp SET b='tiny' WHERE id=2;
-- @only mariadb-10.5 mariadb-10.11 mariadb-11
UPDATE inet SET a='::2' WHERE id=2;
-- @snapshot 2-after-update
DELETE FROM ints WHERE id IN (1,2);
DELETE FROM decs WHERE id IN (1,6);
DELETE FROM strs WHERE id IN (2,5,6);
DELETE FROM temps WHERE id IN (3,4);
DELETE FROM misc WHERE id IN (2,5);
DELETE FROM geo WHERE id=1;
DELETE FROM nokey;
DELETE FROM ukey WHERE a=3;
-- @only mysql-5.7 mysql-8.0 mysql-9.7 mariadb
DELETE FROM js WHERE id IN (20,21,22);
-- @only mariadb-10.5 mariadb-10.11 mariadb-11
DELETE FROM comp WHERE id=2;
