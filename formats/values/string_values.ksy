meta:
  id: string_values
  title: Strings and documents in a row image
  license: MIT
  ks-version: '0.10'
  imports:
    - /values/json_binary
    - /values/json_diff
    - /values/length_prefix
    - /values/wkb
  endian: le
doc: Values of columns that carry their length.
doc-ref: https://github.com/mysql/mysql-server/blob/mysql-9.4.0/sql/log_event.cc log_event_print_value
types:
  text:
    -webide-representation: '{data:str}'
    doc: CHAR, VARCHAR, BINARY, VARBINARY, TEXT, BLOB.
    params:
      - id: len_length
        type: u2
        doc: Size of the length, in bytes.
    seq:
      - id: len_data
        -orig-id: length
        type: length_prefix(len_length)
        doc: Length of `data`, in bytes.
      - id: data
        -orig-id: MYSQL_TYPE_STRING, MYSQL_TYPE_VARCHAR, MYSQL_TYPE_BLOB
        size: len_data.value
        doc: The value, in the column's character set; a CHAR without the spaces at its end.
  compressed_text:
    -webide-representation: '{content}'
    doc: A column with MariaDB's attribute COMPRESSED.
    params:
      - id: len_length
        type: u2
        doc: Size of the length, in bytes.
    seq:
      - id: len_content
        -orig-id: length
        type: length_prefix(len_length)
        doc: Length of what follows, in bytes.
      - id: content
        -orig-id: MYSQL_TYPE_VARCHAR_COMPRESSED, MYSQL_TYPE_BLOB_COMPRESSED
        size: len_content.value
        type: compressed_content
        doc: The value as the table stores it.
  compressed_content:
    doc: A value as the table stores it; nothing at all for an empty value.
    doc-ref: https://github.com/MariaDB/server/blob/mariadb-11.8.3/sql/field_comp.cc
    seq:
      - id: method
        -orig-id: method
        type: u1
        if: not _io.eof
        doc: |
          0 where the value is not compressed; else 0x80 for zlib, 0x08 for a stream without header and
          checksum, and the size of the length in the low three bits.
      - id: len_original
        -orig-id: length
        type: u1
        repeat: expr
        repeat-expr: len_len_original
        if: is_compressed
        doc: Length before compression, in bytes, big-endian.
      - id: data
        -orig-id: MYSQL_TYPE_VARCHAR_COMPRESSED, MYSQL_TYPE_BLOB_COMPRESSED
        size-eos: true
        doc: The value, compressed or as it is.
    instances:
      is_compressed:
        value: _io.size > 0 and (method & 0x80) != 0
      len_len_original:
        value: method & 0x07
        if: is_compressed
        doc: |
          Size of the length, in bytes. Computed separately, since in JavaScript the compiler's
          `i < method & 7` means something else.
      has_bare_stream:
        value: is_compressed and (method & 0x08) != 0
        doc: The data is a deflate stream without zlib's header and checksum.
      inflated:
        pos: 1 + len_original.size
        size-eos: true
        process: zlib
        if: is_compressed and not has_bare_stream
        doc: The value before compression.
  geometry:
    -webide-representation: '{content}'
    doc: GEOMETRY and its subtypes.
    params:
      - id: len_length
        type: u2
        doc: Size of the length, in bytes.
    seq:
      - id: len_content
        -orig-id: length
        type: length_prefix(len_length)
        doc: Length of `content`, in bytes.
      - id: content
        -orig-id: MYSQL_TYPE_GEOMETRY
        size: len_content.value
        type: geometry_content
        doc: The reference system and the shape.
  geometry_content:
    -webide-representation: 'SRID {srid:dec}'
    seq:
      - id: srid
        -orig-id: srid
        type: u4
        if: _io.size >= 4
        doc: Number of the spatial reference system; absent where the value is not a shape.
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
      - id: len_length
        type: u2
        doc: Size of the length, in bytes.
    seq:
      - id: len_content
        -orig-id: length
        type: length_prefix(len_length)
        doc: Length of `content`, in bytes; four times the number of dimensions.
      - id: content
        -orig-id: MYSQL_TYPE_VECTOR
        size: len_content.value
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
      - id: len_length
        type: u2
        doc: Size of the length, in bytes.
    seq:
      - id: len_document
        -orig-id: length
        type: length_prefix(len_length)
        doc: Length of `document`, in bytes.
      - id: document
        -orig-id: MYSQL_TYPE_JSON
        size: len_document.value
        type: json_binary
        if: len_document.value > 0
        doc: The document; absent where the server accepted an invalid value, which counts as JSON null.
  json_diffs:
    -webide-representation: '{content}'
    doc: What an update changed in a JSON document, with `binlog_row_value_options=PARTIAL_JSON`.
    params:
      - id: len_length
        type: u2
        doc: Size of the length, in bytes.
    seq:
      - id: len_content
        -orig-id: length
        type: length_prefix(len_length)
        doc: Length of `content`, in bytes; 0 where nothing changed.
      - id: content
        -orig-id: Json_diff_vector
        size: len_content.value
        type: diff_list
        doc: The changes.
  diff_list:
    seq:
      - id: diffs
        -orig-id: Json_diff
        type: json_diff
        repeat: eos
        doc: The changes, in the order in which to apply them.
