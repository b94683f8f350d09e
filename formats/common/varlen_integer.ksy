meta:
  id: varlen_integer
  title: Variable-length integer of MySQL's serialization library
  license: MIT
  ks-version: '0.10'
  endian: le
doc: |
  An integer of 1 to 9 bytes. The trailing one bits of the first byte count the bytes that
  follow; a zero bit ends the count, unless it is 8. The bits above and the following bytes
  are the number, least significant first. Since MySQL 8.3.

  A field that the server declares as signed holds the sign in the number's lowest bit; its
  value is `signed_value`.
doc-ref: https://github.com/mysql/mysql-server/blob/mysql-9.4.0/libs/mysql/serialization/variable_length_integers.h
-webide-representation: '{value:dec}'
seq:
  - id: first
    type: u1
    doc: How many bytes follow, and the lowest bits of the number.
  - id: next_1
    type: u1
    if: num_more == 1
    doc: The 1 byte after the first, of 2 in all.
  - id: next_2
    type: u2
    if: num_more == 2
    doc: The 2 bytes after the first, of 3 in all.
  - id: next_3
    type: b24le
    if: num_more == 3
    doc: The 3 bytes after the first, of 4 in all.
  - id: next_4
    type: u4
    if: num_more >= 4
    doc: The 4 bytes after the first, of 5 to 9 in all.
  - id: last_1
    type: u1
    if: num_more == 5
    doc: The last byte, of 6 in all.
  - id: last_2
    type: u2
    if: num_more == 6
    doc: The last 2 bytes, of 7 in all.
  - id: last_3
    type: b24le
    if: num_more == 7
    doc: The last 3 bytes, of 8 in all.
  - id: last_4
    type: u4
    if: num_more == 8
    doc: The last 4 bytes, of 9 in all.
instances:
  num_more:
    value: |
      (first & 0x01) == 0 ? 0 :
      (first & 0x03) == 0x01 ? 1 :
      (first & 0x07) == 0x03 ? 2 :
      (first & 0x0f) == 0x07 ? 3 :
      (first & 0x1f) == 0x0f ? 4 :
      (first & 0x3f) == 0x1f ? 5 :
      (first & 0x7f) == 0x3f ? 6 :
      first == 0x7f ? 7 : 8
    doc: Number of bytes after the first.
  num_bytes:
    value: num_more + 1
    doc: Number of bytes in all.
  more_low:
    value: |
      (num_more == 0 ? 0 :
      num_more == 1 ? next_1 :
      num_more == 2 ? next_2 :
      num_more == 3 ? next_3 : next_4).as<u4>
    doc: The lower 32 bits of the bytes after the first.
  more_high:
    value: |
      (num_more == 5 ? last_1 :
      num_more == 6 ? last_2 :
      num_more == 7 ? last_3 :
      num_more == 8 ? last_4 : 0).as<u4>
    doc: The upper 32 bits of the bytes after the first.
  more:
    value: (more_low.as<u8> + (more_high.as<u8> * 0x100000000.as<u8>).as<u8>).as<u8>
    doc: The bytes after the first as one number.
  value:
    value: |
      (num_more == 8 ? more :
      ((first >> num_bytes).as<u8> + (more * (1 << (7 - num_more)).as<u8>).as<u8>).as<u8>).as<u8>
    doc: The number, where it is unsigned.
  is_negative:
    value: '(num_more < 7 ? first >> num_bytes : next_4 & 1) % 2 == 1'
    doc: The lowest bit of the number, which is the sign where it is signed.
  magnitude:
    value: |
      (num_more < 7
      ? ((first >> num_bytes >> 1).as<s8> + (more.as<s8> * (1 << (6 - num_more)).as<s8>).as<s8>).as<s8>
      : ((more_low / 2).as<s8> + (more_high.as<s8> * 0x80000000.as<s8>).as<s8>).as<s8>).as<s8>
    doc: |
      The number without its lowest bit. It is computed from the parts, since a shift or a division of an unsigned
      number of 64 bits is wrong in languages that have signed ones only, and rounds in JavaScript.
  signed_value:
    value: '(is_negative ? (-1.as<s8> - magnitude).as<s8> : magnitude).as<s8>'
    doc: The number, where it is signed.
  hex:
    value: |
      '0123456789abcdef'.substring((value.as<u1> >> 4) & 0x0f, ((value.as<u1> >> 4) & 0x0f) + 1)
      + '0123456789abcdef'.substring(value.as<u1> & 0x0f, (value.as<u1> & 0x0f) + 1)
    if: num_more <= 1
    doc: The lowest 8 bits as two hexadecimal digits, for numbers that are bytes of something longer.
