-- Mixed format: the server chooses between statements and rows.
-- @servers mysql mariadb
-- @options --read-buffer-size=8192
SET SESSION binlog_format='MIXED';
-- @include statement_body.sql
