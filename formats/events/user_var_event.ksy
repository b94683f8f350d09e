meta:
  id: user_var_event
  title: USER_VAR_EVENT
  license: MIT
  ks-version: '0.10'
  endian: le
doc: A user variable that the statement after it uses, and its value. Since 4.1.
doc-ref: https://github.com/mysql/mysql-server/blob/mysql-9.4.0/libs/mysql/binlog/event/statement_events.h User_var_event
-webide-representation: '@{name}'
seq:
  - id: len_name
    -orig-id: name_len
    type: u4
    doc: Length of `name`, in bytes.
  - id: name
    -orig-id: name
    size: len_name
    type: str
    encoding: UTF-8
    doc: Name of the variable, without the at sign.
  - id: is_null
    -orig-id: is_null
    type: u1
    doc: 1 if the value is NULL, which ends the event; else 0.
  - id: value_type
    -orig-id: type
    type: u1
    enum: result_type
    valid:
      any-of:
        - result_type::string
        - result_type::real
        - result_type::int
        - result_type::decimal
    if: is_null == 0
    doc: How the value is written.
  - id: collation_id
    -orig-id: charset_number
    type: u4
    if: is_null == 0
    doc: Number of the value's character set and collation; 63 is binary.
  - id: len_value
    -orig-id: val_len
    type: u4
    if: is_null == 0
    doc: Length of `value`, in bytes.
  - id: value
    -orig-id: val
    size: len_value
    type:
      switch-on: value_type
      cases:
        'result_type::string': string_value
        'result_type::real': real_value
        'result_type::int': int_value
        'result_type::decimal': decimal_value
    if: is_null == 0
    doc: The value, by `value_type`.
  - id: first_attribute
    -orig-id: flags
    type: attribute
    if: has_attributes
    doc: What else is known of the value's type. Absent in logs older than 5.5.
  - id: second_attribute
    -orig-id: flags
    type: attribute
    if: not _io.eof
    doc: MariaDB, the name of the type after the sign.
  - id: unknown_tail
    size-eos: true
    if: not _io.eof
    doc: Bytes beyond what is known; no server writes any.
instances:
  has_attributes:
    value: is_null == 0 and _io.size > 4 + len_name + 1 + 9 + len_value
    doc: Whether anything follows the value.
  is_unsigned:
    -orig-id: UNSIGNED_F
    value: has_attributes and first_attribute.kind == attribute_kind::unsigned
    doc: Whether an integer is to be read as `unsigned_number`.
types:
  attribute:
    doc: MySQL has one byte `flags` here, 0 or 1, after integers; MariaDB has up to two of these.
    -webide-representation: '{kind} {data_type_name.name}'
    seq:
      - id: kind
        -orig-id: flags
        type: u1
        enum: attribute_kind
        doc: What the attribute says.
      - id: data_type_name
        -orig-id: data_type_name
        type: data_type_name
        if: kind == attribute_kind::data_type_name
        doc: Name of the value's type, where that is not one of the five kinds.
      - id: unknown
        size-eos: true
        if: kind != attribute_kind::signed and kind != attribute_kind::unsigned and kind != attribute_kind::data_type_name
        doc: Everything after an unknown kind.
  data_type_name:
    doc: MariaDB since 2024 (10.5.25, 10.6.18, 10.11.8, 11.4), where the type is a plugin's or a geometry.
    seq:
      - id: len_name
        -orig-id: m_data_type_name
        type: u1
        doc: Length of `name`, in bytes; its own byte in front.
      - id: name
        -orig-id: m_data_type_name
        size: len_name
        type: str
        encoding: UTF-8
        doc: Name of the type, such as `inet6` or `point`.
  string_value:
    seq:
      - id: data
        -orig-id: val
        size-eos: true
        doc: Text in the value's character set, or bytes.
    instances:
      text:
        value: data.to_s("UTF-8")
        doc: The value read as UTF-8.
  real_value:
    -webide-representation: '{number}'
    seq:
      - id: number
        -orig-id: val
        type: f8
        doc: The value.
      - id: unknown_tail
        size-eos: true
        if: not _io.eof
        doc: Bytes after the value; no server writes any.
  int_value:
    -webide-representation: '{number:dec}'
    seq:
      - id: number
        -orig-id: val
        type: s8
        doc: The value, unless the event's `is_unsigned` holds.
      - id: unknown_tail
        size-eos: true
        if: not _io.eof
        doc: Bytes after the value; no server writes any.
    instances:
      unsigned_number:
        pos: 0
        type: u8
        doc: The value, if the event's `is_unsigned` holds.
  decimal_value:
    seq:
      - id: precision
        -orig-id: val
        type: u1
        doc: Number of digits in all, 1 to 65.
      - id: scale
        -orig-id: val
        type: u1
        doc: Number of digits after the decimal point, 0 to 30.
      - id: digits
        -orig-id: val
        size-eos: true
        doc: The digits as a DECIMAL column stores them.
enums:
  result_type:
    0:
      id: string
      -orig-id: STRING_RESULT
    1:
      id: real
      -orig-id: REAL_RESULT
    2:
      id: int
      -orig-id: INT_RESULT
    3:
      id: row
      -orig-id: ROW_RESULT
      doc: Never written.
    4:
      id: decimal
      -orig-id: DECIMAL_RESULT
  attribute_kind:
    0:
      id: signed
      -orig-id: CHUNK_SIGNED
    1:
      id: unsigned
      -orig-id: CHUNK_UNSIGNED
    2:
      id: data_type_name
      -orig-id: CHUNK_DATA_TYPE_NAME
