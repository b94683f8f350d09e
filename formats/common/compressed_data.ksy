meta:
  id: compressed_data
  title: Compressed part of a MariaDB event
  license: MIT
  ks-version: '0.10'
  endian: be
doc: |
  Bytes as MariaDB writes them with `log_bin_compress`: a byte that says how, the length
  before compression, and a zlib stream up to the end of the surrounding bytes. Since 10.2.3.

  A reader that wants structure in the uncompressed bytes takes them from `deflated._io`
  by `process: zlib`.
doc-ref: https://github.com/MariaDB/server/blob/mariadb-11.8.3/sql/log_event.cc binlog_buf_compress
-webide-representation: '{len_uncompressed:dec} bytes when uncompressed'
seq:
  - id: method
    -orig-id: Record Header
    type: u1
    valid:
      min: 0x81
      max: 0x84
    doc: |
      The top bit is set, the next three are `algorithm`, the low three the size of the length.
      Servers know one algorithm, 0 for zlib, and refuse all other values.
  - id: len_1
    -orig-id: Record Original Length
    type: u1
    if: len_length == 1
    doc: Length before compression in bytes, where 1 byte holds it.
  - id: len_2
    -orig-id: Record Original Length
    type: u2
    if: len_length == 2
    doc: Length before compression in bytes, where 2 bytes hold it.
  - id: len_3
    -orig-id: Record Original Length
    type: b24
    if: len_length == 3
    doc: Length before compression in bytes, where 3 bytes hold it.
  - id: len_4
    -orig-id: Record Original Length
    type: u4
    if: len_length == 4
    doc: Length before compression in bytes, where 4 bytes hold it.
  - id: deflated
    -orig-id: Compressed Buf
    size-eos: true
    type: zlib_stream
    doc: The compressed bytes, up to the end.
instances:
  algorithm:
    value: (method >> 4) & 0x07
    doc: How the data is compressed, 0 for zlib.
  len_length:
    value: method & 0x07
    doc: Size of the length that follows, which is big-endian, 1 to 4 bytes.
  len_uncompressed:
    value: 'len_length == 1 ? len_1 : len_length == 2 ? len_2 : len_length == 3 ? len_3 : len_4'
    doc: Length before compression, in bytes.
types:
  zlib_stream:
    seq:
      - id: data
        -orig-id: Compressed Buf
        size-eos: true
        doc: The compressed bytes, a zlib stream.
    instances:
      inflated:
        pos: 0
        size-eos: true
        process: zlib
        doc: The bytes before compression.
