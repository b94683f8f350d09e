-- All column types, smallest row images.
-- @servers mysql-5.6 mysql-9.7 mariadb-11.8
SET SESSION binlog_row_image='MINIMAL';
-- @include types_body.sql
