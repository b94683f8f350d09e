-- All column types, whole row images.
-- @servers mysql mariadb
SET SESSION binlog_row_image='FULL';
-- @include types_body.sql
