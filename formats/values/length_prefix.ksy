meta:
  id: length_prefix
  title: Length before a value
  license: MIT
  ks-version: '0.10'
  endian: le
doc: The length of a value, in a number of bytes given by the column's metadata.
doc-ref: https://github.com/mysql/mysql-server/blob/mysql-9.4.0/libs/mysql/binlog/event/binary_log_funcs.cpp calc_field_size
-webide-representation: '{value:dec}'
params:
  - id: num_bytes
    type: u2
    doc: Size of the length itself, 1 to 4 bytes; taken as 4 if it is none of these.
seq:
  - id: len_1
    type: u1
    if: num_bytes == 1
    doc: The length, where it has 1 byte.
  - id: len_2
    type: u2
    if: num_bytes == 2
    doc: The length, where it has 2 bytes.
  - id: len_3
    type: b24le
    if: num_bytes == 3
    doc: The length, where it has 3 bytes.
  - id: len_4
    type: u4
    if: num_bytes == 0 or num_bytes > 3
    doc: The length, where it has 4 bytes.
instances:
  value:
    value: '(num_bytes == 1 ? len_1 : num_bytes == 2 ? len_2 : num_bytes == 3 ? len_3 : len_4).as<u4>'
    doc: The length, in bytes.
