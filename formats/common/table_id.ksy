meta:
  id: table_id
  title: Table id
  license: MIT
  ks-version: '0.10'
  endian: le
doc: |
  The number that ties a rows event to its table map. A server gives it when it opens a table; it
  means nothing beyond the statement. 4 bytes in some sources before 5.1.4, where the fixed part of
  the event has 6 bytes; else 6 bytes.
doc-ref: https://github.com/mysql/mysql-server/blob/mysql-9.4.0/libs/mysql/binlog/event/table_id.h Table_id
-webide-representation: '{value:dec}'
params:
  - id: len_post_header
    type: u1
    doc: Length of the fixed part that starts with this number, in bytes.
seq:
  - id: low
    -orig-id: m_id
    type: u4
    doc: The lower 32 bits of `m_id`.
  - id: high
    -orig-id: m_id
    type: u2
    if: len_post_header != 6
    doc: The upper 16 bits of `m_id`.
instances:
  value:
    value: '(len_post_header == 6 ? low.as<u8> : (low.as<u8> + (high.as<u8> * 0x100000000.as<u8>).as<u8>).as<u8>).as<u8>'
    doc: The number, up to 48 bits.
  is_dummy:
    value: value == 0x00ffffff
    doc: |
      The number of no table, in a rows event without rows that only ends a statement, unless a table map
      has it.
