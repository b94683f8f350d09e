-- Statement format: variables, random numbers, generated keys, loaded files, and every kind of session setting.
-- @servers mysql mariadb
-- @options --read-buffer-size=8192
SET SESSION binlog_format='STATEMENT';
-- @include statement_body.sql
