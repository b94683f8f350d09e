SET sql_mode='NO_ENGINE_SUBSTITUTION';
CREATE DATABASE `t` CHARACTER SET utf8mb4;
USE `t`;
CREATE TABLE a (id INT PRIMARY KEY, v VARCHAR(30));
XA START 'g1';
INSERT INTO a VALUES (1,'one');
XA END 'g1';
XA PREPARE 'g1';
XA COMMIT 'g1';
XA START 'g2','b2',7;
INSERT INTO a VALUES (2,'two');
XA END 'g2','b2',7;
XA COMMIT 'g2','b2',7 ONE PHASE;
XA START X'00ff27','b''q';
INSERT INTO a VALUES (3,'three');
XA END X'00ff27','b''q';
XA PREPARE X'00ff27','b''q';
XA ROLLBACK X'00ff27','b''q';
/*B*/ XA START 'detached';
/*B*/ INSERT INTO a VALUES (4,'four');
/*B*/ XA END 'detached';
/*B*/ XA PREPARE 'detached';
-- @close B
-- @sleep 0.3
INSERT INTO a VALUES (9,'between');
XA START 'empty';
XA END 'empty';
XA PREPARE 'empty';
XA COMMIT 'empty';
