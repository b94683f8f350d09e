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
doc-ref: sql/log_event.cc, binlog_buf_compress
-webide-representation: '{uncompressed_length:dec} bytes when uncompressed'
seq:
  - id: method
    -orig-id: Record Header
    type: u1
    valid:
      min: 0x81
      max: 0x84
    doc: |
      The top bit is set, the next three are the algorithm, the low three the size of the length.
      Servers know one algorithm, 0 for zlib, and refuse all other values.
  - id: length_1
    -orig-id: Record Original Length
    type: u1
    if: length_size == 1
    doc: Length before compression in bytes, where 1 byte holds it.
  - id: length_2
    -orig-id: Record Original Length
    type: u2
    if: length_size == 2
    doc: Length before compression in bytes, where 2 bytes hold it.
  - id: length_3
    -orig-id: Record Original Length
    type: b24
    if: length_size == 3
    doc: Length before compression in bytes, where 3 bytes hold it.
  - id: length_4
    -orig-id: Record Original Length
    type: u4
    if: length_size == 4
    doc: Length before compression in bytes, where 4 bytes hold it.
  - id: deflated
    -orig-id: Compressed Buf
    size-eos: true
    type: zlib_stream
    doc: The compressed bytes, up to the end.
instances:
  length_size:
    value: method & 0x07
    doc: Size of the length that follows, which is big-endian, 1 to 4 bytes.
  uncompressed_length:
    value: 'length_size == 1 ? length_1 : length_size == 2 ? length_2 : length_size == 3 ? length_3 : length_4'
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
