meta:
  id: column_types
  title: Types of columns
  license: MIT
  ks-version: '0.10'
doc: The numbers of column types, as table maps and JSON documents use them.
doc-ref: https://github.com/mysql/mysql-server/blob/mysql-9.4.0/include/field_types.h enum_field_types
enums:
  column_type:
    0:
      id: decimal
      -orig-id: MYSQL_TYPE_DECIMAL
      doc: DECIMAL before 5.0, of digits. Nothing in a log says how long it is.
    1:
      id: tiny
      -orig-id: MYSQL_TYPE_TINY
      doc: TINYINT, BOOL.
    2:
      id: short
      -orig-id: MYSQL_TYPE_SHORT
      doc: SMALLINT.
    3:
      id: long
      -orig-id: MYSQL_TYPE_LONG
      doc: INT.
    4:
      id: float
      -orig-id: MYSQL_TYPE_FLOAT
      doc: FLOAT.
    5:
      id: double
      -orig-id: MYSQL_TYPE_DOUBLE
      doc: DOUBLE.
    6:
      id: 'null'
      -orig-id: MYSQL_TYPE_NULL
      doc: No value but NULL.
    7:
      id: timestamp
      -orig-id: MYSQL_TYPE_TIMESTAMP
      doc: TIMESTAMP as before 5.6.4.
    8:
      id: longlong
      -orig-id: MYSQL_TYPE_LONGLONG
      doc: BIGINT.
    9:
      id: int24
      -orig-id: MYSQL_TYPE_INT24
      doc: MEDIUMINT.
    10:
      id: date
      -orig-id: MYSQL_TYPE_DATE
      doc: DATE.
    11:
      id: time
      -orig-id: MYSQL_TYPE_TIME
      doc: TIME as before 5.6.4.
    12:
      id: datetime
      -orig-id: MYSQL_TYPE_DATETIME
      doc: DATETIME as before 5.6.4.
    13:
      id: year
      -orig-id: MYSQL_TYPE_YEAR
      doc: YEAR.
    14:
      id: newdate
      -orig-id: MYSQL_TYPE_NEWDATE
      doc: DATE, as elements of a multi-valued index name it.
    15:
      id: varchar
      -orig-id: MYSQL_TYPE_VARCHAR
      doc: VARCHAR, VARBINARY.
    16:
      id: bit
      -orig-id: MYSQL_TYPE_BIT
      doc: BIT.
    17:
      id: timestamp2
      -orig-id: MYSQL_TYPE_TIMESTAMP2
      doc: TIMESTAMP since 5.6.4, with fractional seconds.
    18:
      id: datetime2
      -orig-id: MYSQL_TYPE_DATETIME2
      doc: DATETIME since 5.6.4, with fractional seconds.
    19:
      id: time2
      -orig-id: MYSQL_TYPE_TIME2
      doc: TIME since 5.6.4, with fractional seconds.
    20:
      id: typed_array
      -orig-id: MYSQL_TYPE_TYPED_ARRAY
      doc: Hidden column of a multi-valued index, a JSON array. Since 8.0.17.
    140:
      id: blob_compressed
      -orig-id: MYSQL_TYPE_BLOB_COMPRESSED
      doc: TEXT or BLOB, column attribute COMPRESSED. MariaDB since 10.3.2.
    141:
      id: varchar_compressed
      -orig-id: MYSQL_TYPE_VARCHAR_COMPRESSED
      doc: VARCHAR or VARBINARY, column attribute COMPRESSED. MariaDB since 10.3.2.
    242:
      id: vector
      -orig-id: MYSQL_TYPE_VECTOR
      doc: VECTOR. MySQL since 9.0.
    243:
      id: invalid
      -orig-id: MYSQL_TYPE_INVALID
      doc: Never in a log.
    244:
      id: bool
      -orig-id: MYSQL_TYPE_BOOL
      doc: Never in a log; BOOL is `tiny`.
    245:
      id: json
      -orig-id: MYSQL_TYPE_JSON
      doc: JSON. MySQL since 5.7.8.
    246:
      id: newdecimal
      -orig-id: MYSQL_TYPE_NEWDECIMAL
      doc: DECIMAL since 5.0.
    247:
      id: enum
      -orig-id: MYSQL_TYPE_ENUM
      doc: ENUM; a table map has `string` and names this type in the metadata.
    248:
      id: set
      -orig-id: MYSQL_TYPE_SET
      doc: SET; a table map has `string` and names this type in the metadata.
    249:
      id: tiny_blob
      -orig-id: MYSQL_TYPE_TINY_BLOB
      doc: TINYTEXT, TINYBLOB; a table map has `blob`.
    250:
      id: medium_blob
      -orig-id: MYSQL_TYPE_MEDIUM_BLOB
      doc: MEDIUMTEXT, MEDIUMBLOB; a table map has `blob`.
    251:
      id: long_blob
      -orig-id: MYSQL_TYPE_LONG_BLOB
      doc: LONGTEXT, LONGBLOB; a table map has `blob`.
    252:
      id: blob
      -orig-id: MYSQL_TYPE_BLOB
      doc: TEXT or BLOB of any size; the metadata has the size of the length.
    253:
      id: var_string
      -orig-id: MYSQL_TYPE_VAR_STRING
      doc: VARCHAR before 5.0.3.
    254:
      id: string
      -orig-id: MYSQL_TYPE_STRING
      doc: CHAR, BINARY, ENUM, SET; MariaDB's UUID and INET.
    255:
      id: geometry
      -orig-id: MYSQL_TYPE_GEOMETRY
      doc: GEOMETRY and its subtypes.
