meta:
  id: compressed_integer
  title: Compressed integer of MariaDB
  license: MIT
  ks-version: '0.10'
  endian: le
doc: |
  An unsigned integer of 1 to 9 bytes. The lowest 3 bits of the first byte count the bytes that follow, where 7
  stands for 8; the bits above and the following bytes are the number, least significant first. MariaDB 12.3.
doc-ref: https://github.com/MariaDB/server/blob/282795d4b292838de5e17b6a747fd4e24be9b512/Docs/replication/binlog.md
-webide-representation: '{value:dec}'
seq:
  - id: first
    type: u1
    doc: How many bytes follow, and the lowest 5 bits of the number.
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
  - id: last_4
    type: u4
    if: num_more == 8
    doc: The last 4 bytes, of 9 in all.
instances:
  num_more:
    value: '(first & 0x07) == 7 ? 8 : first & 0x07'
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
      num_more == 8 ? last_4 : 0).as<u4>
    doc: The upper 32 bits of the bytes after the first.
  more:
    value: (more_low.as<u8> + (more_high.as<u8> * 0x100000000.as<u8>).as<u8>).as<u8>
    doc: The bytes after the first as one number.
  value:
    value: ((first >> 3).as<u8> + (more * 32.as<u8>).as<u8>).as<u8>
    doc: The number. Of one in 9 bytes, the upper 3 bits do not count.
