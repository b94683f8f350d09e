-- Mixed format: the server chooses between statements and rows.
-- @servers mysql-5.6 mysql-9.7 mariadb-10.5 mariadb-10.11 mariadb-11.8
-- @options --read-buffer-size=8192
SET SESSION binlog_format='MIXED';
-- @include statement_body.sql
