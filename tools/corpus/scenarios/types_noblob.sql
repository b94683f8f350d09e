-- All column types, row images without untouched blobs.
-- @servers mysql-9.7 mariadb-10.11
SET SESSION binlog_row_image='NOBLOB';
-- @include types_body.sql
