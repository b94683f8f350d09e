meta:
  id: string_values
  title: Strings and documents in a row image
  license: MIT
  ks-version: '0.10'
  endian: le
  imports:
    - /values/json_binary
    - /values/json_diff
    - /values/length_prefix
    - /values/wkb
doc: Values of columns that carry their length.
doc-ref: sql/log_event.cc, log_event_print_value
types:
  text:
    -webide-representation: '{data:str}'
    doc: CHAR, VARCHAR, BINARY, VARBINARY, TEXT, BLOB.
    params:
      - id: length_size
        type: u2
        doc: Size of the length, in bytes.
    seq:
      - id: length
        -orig-id: length
        type: length_prefix(length_size)
        doc: Length of `data`, in bytes.
      - id: data
        -orig-id: MYSQL_TYPE_STRING, MYSQL_TYPE_VARCHAR, MYSQL_TYPE_BLOB
        size: length.value
        doc: The value, in the column's character set; a CHAR without the spaces at its end.
  compressed_text:
    -webide-representation: '{content}'
    doc: A column with MariaDB's attribute COMPRESSED.
    params:
      - id: length_size
        type: u2
        doc: Size of the length, in bytes.
    seq:
      - id: length
        -orig-id: length
        type: length_prefix(length_size)
        doc: Length of what follows, in bytes.
      - id: content
        -orig-id: MYSQL_TYPE_VARCHAR_COMPRESSED, MYSQL_TYPE_BLOB_COMPRESSED
        size: length.value
        type: compressed_content
        doc: The value as the table stores it.
  compressed_content:
    doc: A value as the table stores it; nothing at all for an empty value.
    doc-ref: sql/field_comp.cc (MariaDB)
    seq:
      - id: method
        -orig-id: method
        type: u1
        if: not _io.eof
        doc: |
          0 where the value is not compressed; else 0x80 for zlib, 0x08 for a stream without header and
          checksum, and the size of the length in the low three bits.
      - id: original_length
        -orig-id: length
        type: u1
        repeat: expr
        repeat-expr: original_length_size
        if: is_compressed
        doc: Length before compression, in bytes, big-endian.
      - id: data
        -orig-id: MYSQL_TYPE_VARCHAR_COMPRESSED, MYSQL_TYPE_BLOB_COMPRESSED
        size-eos: true
        doc: The value, compressed or as it is.
    instances:
      is_compressed:
        value: _io.size > 0 and (method & 0x80) != 0
      original_length_size:
        value: method & 0x07
        if: is_compressed
        doc: |
          Size of the length, in bytes. Computed by itself, since in JavaScript the compiler's
          `i < method & 7` is another thing.
      has_bare_stream:
        value: is_compressed and (method & 0x08) != 0
        doc: The data is a deflate stream without zlib's header and checksum.
      inflated:
        pos: 1 + original_length.size
        size-eos: true
        process: zlib
        if: is_compressed and not has_bare_stream
        doc: The value before compression.
  geometry:
    -webide-representation: '{content}'
    doc: GEOMETRY and its subtypes.
    params:
      - id: length_size
        type: u2
        doc: Size of the length, in bytes.
    seq:
      - id: length
        -orig-id: length
        type: length_prefix(length_size)
        doc: Length of `content`, in bytes.
      - id: content
        -orig-id: MYSQL_TYPE_GEOMETRY
        size: length.value
        type: geometry_content
        doc: The reference system and the shape.
  geometry_content:
    -webide-representation: 'SRID {srid:dec}'
    seq:
      - id: srid
        -orig-id: srid
        type: u4
        if: _io.size >= 4
        doc: Number of the spatial reference system; not there in what is no shape.
      - id: data
        -orig-id: wkb
        size-eos: true
        doc: The shape as well-known binary (WKB); `shape` reads it.
    instances:
      shape:
        pos: 4
        type: wkb(0)
        if: _io.size > 4
        doc: The shape.
  vector:
    -webide-representation: '{content}'
    doc: VECTOR of MySQL; MariaDB's is a VARBINARY to the log.
    params:
      - id: length_size
        type: u2
        doc: Size of the length, in bytes.
    seq:
      - id: length
        -orig-id: length
        type: length_prefix(length_size)
        doc: Length of `content`, in bytes; four times the number of dimensions.
      - id: content
        -orig-id: MYSQL_TYPE_VECTOR
        size: length.value
        type: vector_content
        doc: The elements.
  vector_content:
    doc: The numbers of a vector.
    seq:
      - id: elements
        -orig-id: MYSQL_TYPE_VECTOR
        type: f4
        repeat: eos
        doc: The elements, one for each dimension.
  json:
    -webide-representation: '{document}'
    doc: JSON of MySQL (MariaDB's is a LONGTEXT), or the hidden column of a multi-valued index.
    params:
      - id: length_size
        type: u2
        doc: Size of the length, in bytes.
    seq:
      - id: length
        -orig-id: length
        type: length_prefix(length_size)
        doc: Length of `document`, in bytes.
      - id: document
        -orig-id: MYSQL_TYPE_JSON
        size: length.value
        type: json_binary
        if: length.value > 0
        doc: The document; absent where a wrong value was let in, which counts as JSON null.
  json_diffs:
    -webide-representation: '{content}'
    doc: What an update changed in a JSON document, after `binlog_row_value_options=PARTIAL_JSON`.
    params:
      - id: length_size
        type: u2
        doc: Size of the length, in bytes.
    seq:
      - id: length
        -orig-id: length
        type: length_prefix(length_size)
        doc: Length of `content`, in bytes; 0 where nothing changed.
      - id: content
        -orig-id: Json_diff_vector
        size: length.value
        type: diff_list
        doc: The changes.
  diff_list:
    seq:
      - id: diffs
        -orig-id: Json_diff
        type: json_diff
        repeat: eos
        doc: The changes, in the order they are to be made.
