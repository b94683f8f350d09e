meta:
  id: intvar_event
  title: INTVAR_EVENT
  license: MIT
  ks-version: '0.10'
  endian: le
doc: A number that the statement after it uses, so that it gives the same result when run again. Since 3.23.
doc-ref: https://github.com/mysql/mysql-server/blob/mysql-9.4.0/libs/mysql/binlog/event/statement_events.h Intvar_event
-webide-representation: '{variable} = {value:dec}'
seq:
  - id: variable
    -orig-id: type
    type: u1
    enum: variable_kind
    valid:
      any-of:
        - variable_kind::last_insert_id
        - variable_kind::insert_id
    doc: Which of the two variables it is.
  - id: value
    -orig-id: val
    type: u8
    doc: Value of the variable.
  - id: unknown_tail
    size-eos: true
    if: not _io.eof
    doc: Bytes beyond what is known; no server writes any.
enums:
  variable_kind:
    0:
      id: invalid_int
      -orig-id: INVALID_INT_EVENT
    1:
      id: last_insert_id
      -orig-id: LAST_INSERT_ID_EVENT
      doc: What `LAST_INSERT_ID()` gives in the statement.
    2:
      id: insert_id
      -orig-id: INSERT_ID_EVENT
      doc: The first value that the statement takes for an AUTO_INCREMENT column.
