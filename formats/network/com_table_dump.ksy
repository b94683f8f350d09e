meta:
  id: com_table_dump
  title: COM_TABLE_DUMP
  license: MIT
  ks-version: '0.10'
  endian: le
doc: |
  A replica's request for the contents of a whole table, for LOAD TABLE … FROM MASTER. The whole
  message, without the header of its packet. MySQL 3.23 to 5.1; later servers do not know it.
doc-ref: https://github.com/mysql/mysql-server/blob/mysql-9.4.0/sql/sql_parse.cc dispatch_command
-webide-representation: '{schema_name}.{table_name}'
seq:
  - id: command
    -orig-id: COM_TABLE_DUMP
    contents: [0x13]
    doc: Number of the command.
  - id: len_schema_name
    -orig-id: db_len
    type: u1
    doc: Length of `schema_name`, in bytes.
  - id: schema_name
    -orig-id: db
    size: len_schema_name
    type: str
    encoding: UTF-8
    doc: Schema of the table.
  - id: len_table_name
    -orig-id: tbl_len
    type: u1
    doc: Length of `table_name`, in bytes.
  - id: table_name
    -orig-id: tbl_name
    size: len_table_name
    type: str
    encoding: UTF-8
    doc: Name of the table.
  - id: unknown_tail
    size-eos: true
    if: not _io.eof
    doc: Bytes that newer replicas may add.
