-- All column types, after images without unchanged columns.
-- @servers mariadb-11.8
SET SESSION binlog_row_image='FULL_NODUP';
-- @include types_body.sql
