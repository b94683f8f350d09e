-- All column types, smallest row images.
-- @servers mysql mariadb-11.8
SET SESSION binlog_row_image='MINIMAL';
-- @include types_body.sql
