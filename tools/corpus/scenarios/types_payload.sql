-- All column types in compressed transactions.
-- @servers mysql-9.7
SET SESSION binlog_transaction_compression=ON;
-- @include types_body.sql
