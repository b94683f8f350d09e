meta:
  id: sql_mode
  title: The variable `sql_mode`
  license: MIT
  ks-version: '0.10'
  endian: le
doc: |
  The variable `sql_mode` of the session, in a statement's status variables. Bits from 32 on have
  other meanings in MySQL than in MariaDB. Since 5.0.
doc-ref:
  - https://github.com/mysql/mysql-server/blob/mysql-9.4.0/sql/system_variables.h MODE_REAL_AS_FLOAT and so on
  - https://github.com/MariaDB/server/blob/mariadb-11.8.3/sql/sql_class.h MODE_REAL_AS_FLOAT and so on
-webide-representation: '{modes:hex}'
seq:
  - id: modes_low
    -orig-id: sql_mode
    type: u4
    doc: The lower 32 bits of `modes`, described by the instances up to `is_pad_char_to_full_length`.
  - id: modes_high
    -orig-id: sql_mode
    type: u4
    doc: The upper 32 bits of `modes`, described by the instances from `is_time_truncate_fractional` on.
instances:
  modes:
    -orig-id: sql_mode
    value: (modes_low.as<u8> + (modes_high.as<u8> * 0x100000000.as<u8>).as<u8>).as<u8>
    doc: The whole number.
  is_real_as_float:
    -orig-id: MODE_REAL_AS_FLOAT
    value: (modes_low & 0x1) != 0
    doc: REAL is FLOAT, not DOUBLE.
  is_pipes_as_concat:
    -orig-id: MODE_PIPES_AS_CONCAT
    value: (modes_low & 0x2) != 0
    doc: '`||` joins strings.'
  is_ansi_quotes:
    -orig-id: MODE_ANSI_QUOTES
    value: (modes_low & 0x4) != 0
    doc: Double quotes enclose a name, not a string.
  is_ignore_space:
    -orig-id: MODE_IGNORE_SPACE
    value: (modes_low & 0x8) != 0
    doc: Spaces are permitted between the name of a function and its parenthesis.
  is_ignore_bad_table_options:
    -orig-id: MODE_IGNORE_BAD_TABLE_OPTIONS
    value: (modes_low & 0x10) != 0
    doc: Unknown options of a table are warnings. MariaDB since 5.2.
  is_only_full_group_by:
    -orig-id: MODE_ONLY_FULL_GROUP_BY
    value: (modes_low & 0x20) != 0
    doc: A SELECT may list only columns that GROUP BY determines.
  is_no_unsigned_subtraction:
    -orig-id: MODE_NO_UNSIGNED_SUBTRACTION
    value: (modes_low & 0x40) != 0
    doc: The difference of unsigned numbers is signed.
  is_no_dir_in_create:
    -orig-id: MODE_NO_DIR_IN_CREATE
    value: (modes_low & 0x80) != 0
    doc: DATA DIRECTORY and INDEX DIRECTORY have no effect.
  is_postgresql:
    -orig-id: MODE_POSTGRESQL
    value: (modes_low & 0x100) != 0
    doc: A set of other modes. Until MySQL 5.7; MariaDB still has it.
  is_oracle:
    -orig-id: MODE_ORACLE
    value: (modes_low & 0x200) != 0
    doc: A set of other modes; since MariaDB 10.3 its parser also reads PL/SQL. Until MySQL 5.7.
  is_mssql:
    -orig-id: MODE_MSSQL
    value: (modes_low & 0x400) != 0
    doc: A set of other modes. Until MySQL 5.7; MariaDB still has it.
  is_db2:
    -orig-id: MODE_DB2
    value: (modes_low & 0x800) != 0
    doc: A set of other modes. Until MySQL 5.7; MariaDB still has it.
  is_maxdb:
    -orig-id: MODE_MAXDB
    value: (modes_low & 0x1000) != 0
    doc: A set of other modes. Until MySQL 5.7; MariaDB still has it.
  is_no_key_options:
    -orig-id: MODE_NO_KEY_OPTIONS
    value: (modes_low & 0x2000) != 0
    doc: SHOW CREATE TABLE prints no options of keys. Until MySQL 5.7; MariaDB still has it.
  is_no_table_options:
    -orig-id: MODE_NO_TABLE_OPTIONS
    value: (modes_low & 0x4000) != 0
    doc: SHOW CREATE TABLE prints no options of tables. Until MySQL 5.7; MariaDB still has it.
  is_no_field_options:
    -orig-id: MODE_NO_FIELD_OPTIONS
    value: (modes_low & 0x8000) != 0
    doc: SHOW CREATE TABLE prints no options of columns. Until MySQL 5.7; MariaDB still has it.
  is_mysql323:
    -orig-id: MODE_MYSQL323
    value: (modes_low & 0x10000) != 0
    doc: TIMESTAMP and HIGH_NOT_PRECEDENCE as in 3.23. Until MySQL 5.7; MariaDB still has it.
  is_mysql40:
    -orig-id: MODE_MYSQL40
    value: (modes_low & 0x20000) != 0
    doc: TIMESTAMP and HIGH_NOT_PRECEDENCE as in 4.0. Until MySQL 5.7; MariaDB still has it.
  is_ansi:
    -orig-id: MODE_ANSI
    value: (modes_low & 0x40000) != 0
    doc: A set of other modes, closer to standard SQL.
  is_no_auto_value_on_zero:
    -orig-id: MODE_NO_AUTO_VALUE_ON_ZERO
    value: (modes_low & 0x80000) != 0
    doc: '0 in an AUTO_INCREMENT column is stored, and does not generate a number.'
  is_no_backslash_escapes:
    -orig-id: MODE_NO_BACKSLASH_ESCAPES
    value: (modes_low & 0x100000) != 0
    doc: A backslash is a character like any other.
  is_strict_trans_tables:
    -orig-id: MODE_STRICT_TRANS_TABLES
    value: (modes_low & 0x200000) != 0
    doc: Values that do not fit are errors in tables with transactions. Since 5.0.2.
  is_strict_all_tables:
    -orig-id: MODE_STRICT_ALL_TABLES
    value: (modes_low & 0x400000) != 0
    doc: Values that do not fit are errors in all tables. Since 5.0.2.
  is_no_zero_in_date:
    -orig-id: MODE_NO_ZERO_IN_DATE
    value: (modes_low & 0x800000) != 0
    doc: No date has the month or day 0. Since 5.0.2.
  is_no_zero_date:
    -orig-id: MODE_NO_ZERO_DATE
    value: (modes_low & 0x1000000) != 0
    doc: '0000-00-00 is not a date. Since 5.0.2.'
  is_allow_invalid_dates:
    -orig-id: MODE_ALLOW_INVALID_DATES
    value: (modes_low & 0x2000000) != 0
    doc: Each month may have 31 days. Since 5.0.2.
  is_error_for_division_by_zero:
    -orig-id: MODE_ERROR_FOR_DIVISION_BY_ZERO
    value: (modes_low & 0x4000000) != 0
    doc: Division by zero is a warning, or an error in a strict mode. Since 5.0.2.
  is_traditional:
    -orig-id: MODE_TRADITIONAL
    value: (modes_low & 0x8000000) != 0
    doc: A set of other modes, all of them strict. Since 5.0.2.
  is_no_auto_create_user:
    -orig-id: MODE_NO_AUTO_CREATE_USER
    value: (modes_low & 0x10000000) != 0
    doc: GRANT creates no user without a password. Since 5.0.2; until MySQL 5.7.
  is_high_not_precedence:
    -orig-id: MODE_HIGH_NOT_PRECEDENCE
    value: (modes_low & 0x20000000) != 0
    doc: NOT binds like `!`. Since 5.0.2.
  is_no_engine_substitution:
    -orig-id: MODE_NO_ENGINE_SUBSTITUTION
    value: (modes_low & 0x40000000) != 0
    doc: A storage engine that is missing is an error. Since 5.0.8.
  is_pad_char_to_full_length:
    -orig-id: MODE_PAD_CHAR_TO_FULL_LENGTH
    value: (modes_low & 0x80000000) != 0
    doc: CHAR values are read with their trailing spaces. Since 5.1.20.
  is_time_truncate_fractional:
    -orig-id: MODE_TIME_TRUNCATE_FRACTIONAL
    value: (modes_high & 0x1) != 0
    doc: 'MySQL: fractions of a second are truncated, not rounded. Since 8.0.'
  is_empty_string_is_null:
    -orig-id: MODE_EMPTY_STRING_IS_NULL
    value: (modes_high & 0x1) != 0
    doc: 'MariaDB, the same bit: an empty string is NULL. Since 10.3.'
  is_interpret_utf8_as_utf8mb4:
    -orig-id: MODE_INTERPRET_UTF8_AS_UTF8MB4
    value: (modes_high & 0x2) != 0
    doc: 'MySQL: the name utf8 stands for utf8mb4. Since 8.0.'
  is_simultaneous_assignment:
    -orig-id: MODE_SIMULTANEOUS_ASSIGNMENT
    value: (modes_high & 0x2) != 0
    doc: 'MariaDB, the same bit: an UPDATE assigns all columns at once. Since 10.3.'
  is_time_round_fractional:
    -orig-id: MODE_TIME_ROUND_FRACTIONAL
    value: (modes_high & 0x4) != 0
    doc: 'MariaDB: fractions of a second are rounded, not truncated. Since 10.4.'
