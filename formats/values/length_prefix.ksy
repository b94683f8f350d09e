meta:
  id: length_prefix
  title: Length in front of a value
  license: MIT
  ks-version: '0.10'
  endian: le
doc: The length of a value, in a number of bytes that the column's metadata tells.
doc-ref: libs/mysql/binlog/event/binary_log_funcs.cpp, calc_field_size
-webide-representation: '{value:dec}'
params:
  - id: size
    type: u2
    doc: Size of the length itself, 1 to 4 bytes; taken as 4 if it is none of these.
seq:
  - id: length_1
    type: u1
    if: size == 1
    doc: The length, where it has 1 byte.
  - id: length_2
    type: u2
    if: size == 2
    doc: The length, where it has 2 bytes.
  - id: length_3
    type: b24le
    if: size == 3
    doc: The length, where it has 3 bytes.
  - id: length_4
    type: u4
    if: size == 0 or size > 3
    doc: The length, where it has 4 bytes.
instances:
  value:
    value: '(size == 1 ? length_1 : size == 2 ? length_2 : size == 3 ? length_3 : length_4).as<u4>'
    doc: The length, in bytes.
