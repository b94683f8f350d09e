-- All column types, whole row images.
-- @servers mysql-5 mysql-9.7 mariadb-10 mariadb-11.8
SET SESSION binlog_row_image='FULL';
-- @include types_body.sql
