meta:
  id: json_binary
  title: Binary JSON document
  license: MIT
  ks-version: '0.10'
  imports:
    - /values/column_types
    - /values/json_opaque
    - /values/numeric_values
  endian: le
doc: |
  A JSON document as MySQL stores it, since 5.7.8. An object or array starts with a table of its
  members; what does not fit into the table is found by an offset from the start of that object or
  array. Members are read on demand, so that offsets cannot form a cycle.
doc-ref: https://github.com/mysql/mysql-server/blob/mysql-9.4.0/sql-common/json_binary.h
-webide-representation: '{type} {content}'
seq:
  - id: type
    -orig-id: type
    type: u1
    enum: value_type
    doc: What the document is.
  - id: content
    -orig-id: value
    type: value(type, 1)
    doc: The document.
  - id: unknown_tail
    size-eos: true
    if: not _io.eof
    doc: Bytes after the document.
types:
  value:
    -webide-representation: '{content}'
    params:
      - id: value_type
        type: u1
        enum: value_type
        doc: What the value is.
      - id: ofs_content
        type: u4
        doc: Where the value starts.
    seq:
      - id: content
        type:
          switch-on: value_type
          cases:
            'value_type::small_object': container(false, true, ofs_content)
            'value_type::large_object': container(true, true, ofs_content)
            'value_type::small_array': container(false, false, ofs_content)
            'value_type::large_array': container(true, false, ofs_content)
            'value_type::literal': literal_value
            'value_type::int16': int16_value
            'value_type::uint16': uint16_value
            'value_type::int32': int32_value
            'value_type::uint32': uint32_value
            'value_type::int64': int64_value
            'value_type::uint64': uint64_value
            'value_type::double': double_value
            'value_type::string': text
            'value_type::opaque': opaque
            _: unknown_value
        doc: The value, by its type.
  container:
    -webide-representation: '{num_elements}'
    doc: An object or array.
    params:
      - id: is_large
        type: bool
        doc: Whether numbers and offsets have 4 bytes instead of 2.
      - id: is_object
        type: bool
        doc: Whether there are keys.
      - id: ofs_container
        type: u4
        doc: Where the object or array starts.
    seq:
      - id: num_elements
        -orig-id: element_count
        type: sized_number(is_large)
        doc: Number of members.
      - id: len_container
        -orig-id: bytes
        type: sized_number(is_large)
        doc: Length of the whole object or array, in bytes.
      - id: key_entries
        -orig-id: key-entry
        type: key_entry(is_large)
        repeat: expr
        repeat-expr: num_elements.value
        if: is_object
        doc: Where the keys are, in the order of their length, then of their bytes.
      - id: value_entries
        -orig-id: value-entry
        type: value_entry(is_large)
        repeat: expr
        repeat-expr: num_elements.value
        doc: What and where the values are.
      - id: contents
        -orig-id: key, value
        size: len_container.value - len_table
        doc: The keys, and the values that the table has no room for.
    instances:
      len_table:
        value: |
          ((is_large ? 8 : 4) + num_elements.value * (len_value_entry + (is_object ? len_key_entry : 0))).as<u4>
        doc: Length of what stands before `contents`, in bytes.
      len_key_entry:
        value: 'is_large ? 6 : 4'
        doc: Length of an entry of a key, in bytes.
      len_value_entry:
        value: 'is_large ? 5 : 3'
        doc: Length of an entry of a value, in bytes.
  sized_number:
    -webide-representation: '{value:dec}'
    params:
      - id: is_large
        type: bool
        doc: Whether it has 4 bytes instead of 2.
    seq:
      - id: number_2
        -orig-id: uint16
        type: u2
        if: not is_large
        doc: The number in a small object or array.
      - id: number_4
        -orig-id: uint32
        type: u4
        if: is_large
        doc: The number in a large object or array.
    instances:
      value:
        value: '(is_large ? number_4 : number_2).as<u4>'
  key_entry:
    -webide-representation: '{key}'
    params:
      - id: is_large
        type: bool
        doc: Whether offsets have 4 bytes instead of 2.
    seq:
      - id: ofs_key
        -orig-id: key-offset
        type: sized_number(is_large)
        doc: Where the key is, from the start of the object, in bytes.
      - id: len_key
        -orig-id: key-length
        type: u2
        doc: Length of the key, in bytes.
    instances:
      key:
        pos: _parent.ofs_container + ofs_key.value
        size: len_key
        type: str
        encoding: UTF-8
        doc: Name of the member.
  value_entry:
    -webide-representation: '{inlined}{value}'
    params:
      - id: is_large
        type: bool
        doc: Whether offsets have 4 bytes instead of 2.
    seq:
      - id: type
        -orig-id: type
        type: u1
        enum: value_type
        doc: What the value is.
      - id: inlined
        -orig-id: offset-or-inlined-value
        type:
          switch-on: type
          cases:
            'value_type::literal': literal_value
            'value_type::int16': int16_value
            'value_type::uint16': uint16_value
            'value_type::int32': int32_value
            'value_type::uint32': uint32_value
        if: is_inlined
        doc: The value itself, where it is short enough.
      - id: padding
        -orig-id: offset-or-inlined-value
        size: '(is_large ? 4 : 2) - (type == value_type::literal ? 1 : is_wide ? 4 : 2)'
        if: is_inlined
        doc: The rest of the space for an offset; in a negative number its sign.
      - id: ofs_value
        -orig-id: offset-or-inlined-value
        type: sized_number(is_large)
        if: not is_inlined
        doc: Where the value is, from the start of the object or array, in bytes.
    instances:
      is_wide:
        value: type == value_type::int32 or type == value_type::uint32
      is_inlined:
        value: |
          type == value_type::literal or type == value_type::int16 or type == value_type::uint16 or
          is_large and is_wide
        doc: Whether the value stands in the table.
      value:
        pos: _parent.ofs_container + ofs_value.value
        type: value(type, _parent.ofs_container + ofs_value.value)
        if: not is_inlined
        doc: The value, read on demand.
  literal_value:
    -webide-representation: '{value}'
    doc: null, true or false.
    seq:
      - id: value
        -orig-id: literal
        type: u1
        enum: literal
        doc: Which of the three literals.
  int16_value:
    -webide-representation: '{value:dec}'
    doc: A signed number of 2 bytes.
    seq:
      - id: value
        -orig-id: number
        type: s2
        doc: The number.
  uint16_value:
    -webide-representation: '{value:dec}'
    doc: An unsigned number of 2 bytes.
    seq:
      - id: value
        -orig-id: number
        type: u2
        doc: The number.
  int32_value:
    -webide-representation: '{value:dec}'
    doc: A signed number of 4 bytes.
    seq:
      - id: value
        -orig-id: number
        type: s4
        doc: The number.
  uint32_value:
    -webide-representation: '{value:dec}'
    doc: An unsigned number of 4 bytes.
    seq:
      - id: value
        -orig-id: number
        type: u4
        doc: The number.
  int64_value:
    -webide-representation: '{value:dec}'
    doc: A signed number of 8 bytes.
    seq:
      - id: number
        -orig-id: number
        type: numeric_values::int_8(false)
        doc: The number, in two halves.
    instances:
      value:
        value: number.value
        doc: The number.
  uint64_value:
    -webide-representation: '{value:dec}'
    doc: An unsigned number of 8 bytes.
    seq:
      - id: value
        -orig-id: number
        type: u8
        doc: The number.
  double_value:
    -webide-representation: '{value}'
    doc: A floating-point number.
    seq:
      - id: value
        -orig-id: number
        type: f8
        doc: The number.
  text:
    -webide-representation: '{value}'
    seq:
      - id: len_value
        -orig-id: data-length
        type: length
        doc: Length of `value`, in bytes.
      - id: value
        -orig-id: utf8mb4-data
        size: len_value.value
        type: str
        encoding: UTF-8
        doc: The text, in utf8mb4.
  opaque:
    -webide-representation: '{type} {value}'
    doc: A value that JSON has no type for.
    seq:
      - id: type
        -orig-id: field_type
        type: u1
        enum: column_types::column_type
        doc: The type that a column of such values would have.
      - id: len_value
        -orig-id: data-length
        type: length
        doc: Length of `value`, in bytes.
      - id: value
        -orig-id: binary-data
        size: len_value.value
        type: json_opaque(type)
        doc: The value, as a column of its type would have it.
  unknown_value:
    doc: A value of a type that this grammar does not know, and everything after it.
    seq:
      - id: data
        size-eos: true
        doc: The bytes up to the end of the document.
  length:
    -webide-representation: '{value:dec}'
    doc: A length in groups of 7 bits, the lowest first; up to 5 bytes.
    doc-ref: https://github.com/mysql/mysql-server/blob/mysql-9.4.0/sql-common/json_binary.cc read_variable_length
    seq:
      - id: groups
        -orig-id: data-length
        type: group(_index)
        repeat: until
        repeat-until: not _.has_next
        doc: The bytes of the length.
    instances:
      value:
        value: |
          ((groups[0].bits +
          (groups.size > 1 ? groups[1].bits * 0x80 : 0) +
          (groups.size > 2 ? groups[2].bits * 0x4000 : 0)).as<u4> +
          (groups.size > 3 ? groups[3].bits * 0x200000 : 0).as<u4> +
          (groups.size > 4 ? (groups[4].bits & 0x0f) * 0x10000000.as<u4> : 0).as<u4>).as<u4>
        doc: The length.
  group:
    params:
      - id: index
        type: u4
        doc: Index among the groups, from 0.
    seq:
      - id: octet
        -orig-id: data-length
        type: u1
        doc: The top bit says that another group follows.
    instances:
      has_next:
        value: (octet & 0x80) != 0 and index < 4
      bits:
        value: octet & 0x7f
enums:
  value_type:
    0x00:
      id: small_object
      -orig-id: JSONB_TYPE_SMALL_OBJECT
    0x01:
      id: large_object
      -orig-id: JSONB_TYPE_LARGE_OBJECT
    0x02:
      id: small_array
      -orig-id: JSONB_TYPE_SMALL_ARRAY
    0x03:
      id: large_array
      -orig-id: JSONB_TYPE_LARGE_ARRAY
    0x04:
      id: literal
      -orig-id: JSONB_TYPE_LITERAL
    0x05:
      id: int16
      -orig-id: JSONB_TYPE_INT16
    0x06:
      id: uint16
      -orig-id: JSONB_TYPE_UINT16
    0x07:
      id: int32
      -orig-id: JSONB_TYPE_INT32
    0x08:
      id: uint32
      -orig-id: JSONB_TYPE_UINT32
    0x09:
      id: int64
      -orig-id: JSONB_TYPE_INT64
    0x0a:
      id: uint64
      -orig-id: JSONB_TYPE_UINT64
    0x0b:
      id: double
      -orig-id: JSONB_TYPE_DOUBLE
    0x0c:
      id: string
      -orig-id: JSONB_TYPE_STRING
    0x0f:
      id: opaque
      -orig-id: JSONB_TYPE_OPAQUE
  literal:
    0:
      id: null_literal
      -orig-id: JSONB_NULL_LITERAL
    1:
      id: true_literal
      -orig-id: JSONB_TRUE_LITERAL
    2:
      id: false_literal
      -orig-id: JSONB_FALSE_LITERAL
