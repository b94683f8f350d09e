meta:
  id: packed_integer
  title: Packed integer
  license: MIT
  ks-version: '0.10'
  endian: le
doc: |
  An unsigned integer of 1, 3, 4 or 9 bytes; the protocol calls it a length-encoded integer.
  The first byte is the value up to 250, or says how many bytes hold it. 251 stands for NULL
  where a value may be absent, 255 never starts one.
-published-wrong: |
  Ranges are given as 251 to 0xffff after 252, 0xffff to 0xfffff after 253, and 0xfffff to 2^64 - 1
  after 254. The first byte alone says how many bytes follow: 2, 3 or 8.
doc-ref: https://github.com/mysql/mysql-server/blob/mysql-9.4.0/mysys/pack.cc net_field_length_ll
-webide-representation: '{value:dec}'
seq:
  - id: first
    type: u1
    valid:
      max: 254
    doc: The value itself up to 250; 251 is NULL; 252, 253 and 254 announce 2, 3 and 8 bytes.
  - id: value_2
    type: u2
    if: first == 252
    doc: The value from 251 to 65535.
  - id: value_3
    type: b24le
    if: first == 253
    doc: The value from 65536 to 16777215.
  - id: value_8
    type: u8
    if: first == 254
    doc: The value from 16777216 on.
instances:
  is_null:
    value: first == 251
  value:
    value: |
      (first == 252 ? value_2.as<u8> : first == 253 ? value_3.as<u8> : first == 254 ? value_8 : first.as<u8>).as<u8>
    doc: The number; meaningless where `is_null`.
