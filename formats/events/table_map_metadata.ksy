meta:
  id: table_map_metadata
  title: Optional metadata field of a table map
  license: MIT
  ks-version: '0.10'
  imports:
    - /common/packed_integer
  endian: le
doc: |
  One field of what a table map says beyond the types, such as names and character sets. Fields
  come in any order; a list counts only the columns that its field is about. Since 8.0.1.
doc-ref: https://github.com/mysql/mysql-server/blob/mysql-9.4.0/libs/mysql/binlog/event/rows_event.h Table_map_event::Optional_metadata_fields
-webide-representation: '{type} {value}'
params:
  - id: index
    type: s4
    doc: Index among the fields, from 0.
  - id: num_columns
    type: u2
    doc: Number of the table's columns.
  - id: previous_signedness_index
    type: s4
    doc: Index of the newest field of this kind before, or -1.
  - id: previous_column_name_index
    type: s4
    doc: Index of the newest field of this kind before, or -1.
  - id: previous_column_visibility_index
    type: s4
    doc: Index of the newest field of this kind before, or -1.
seq:
  - id: refusal
    size: 0
    valid:
      eq: 'index >= 256 ? [0x00].as<bytes> : [].as<bytes>'
    doc: No bytes; a field after one of each type is refused here.
  - id: type
    -orig-id: type
    type: u1
    enum: field_type
    doc: What the field is about.
  - id: len_value
    -orig-id: len
    type: packed_integer
    doc: Length of `value`, in bytes.
  - id: value
    size: len_value.value
    type:
      switch-on: type
      cases:
        'field_type::signedness': bitmap
        'field_type::default_charset': default_collation
        'field_type::column_charset': number_list
        'field_type::column_name': name_list
        'field_type::set_str_value': member_lists
        'field_type::enum_str_value': member_lists
        'field_type::geometry_type': number_list
        'field_type::simple_primary_key': number_list
        'field_type::primary_key_with_prefix': prefixed_key
        'field_type::enum_and_set_default_charset': default_collation
        'field_type::enum_and_set_column_charset': number_list
        'field_type::column_visibility': bitmap
        'field_type::vector_dimensionality': number_list
        _: unknown_field
    doc: The field, by its type.
instances:
  signedness_index:
    value: 'type == field_type::signedness ? index : previous_signedness_index'
    doc: Index of the newest field of this kind up to here, or -1.
  column_name_index:
    value: 'type == field_type::column_name ? index : previous_column_name_index'
    doc: Index of the newest field of this kind up to here, or -1.
  column_visibility_index:
    value: 'type == field_type::column_visibility ? index : previous_column_visibility_index'
    doc: Index of the newest field of this kind up to here, or -1.
types:
  bitmap:
    doc: A bit for each column that the field is about; the first is the highest bit of the first byte.
    seq:
      - id: bits
        -orig-id: m_signedness, m_column_visibility
        size-eos: true
        doc: Eight columns in each byte.
  number_list:
    doc: |
      A number for each column that the field is about: a collation, a type of geometry, a number of
      dimensions; or the indexes of the columns of a primary key.
    seq:
      - id: refusal
        size: 0
        valid:
          eq: '_io.size > 9 * _parent.num_columns ? [0x00].as<bytes> : [].as<bytes>'
        doc: No bytes; a list that is longer than one number for each column is refused here.
      - id: numbers
        -orig-id: m_column_charset, m_geometry_type, m_primary_key, m_enum_and_set_column_charset, m_vector_dimensionality
        type: packed_integer
        repeat: eos
        doc: The numbers, in the order of the columns.
  default_collation:
    doc: The collation of most columns, and the exceptions.
    seq:
      - id: collation
        -orig-id: default_charset
        type: packed_integer
        doc: Number of the collation of all columns but the exceptions.
      - id: refusal
        size: 0
        valid:
          eq: '_io.size > 9 * (1 + 2 * _parent.num_columns) ? [0x00].as<bytes> : [].as<bytes>'
        doc: No bytes; a list that is longer than one exception for each column is refused here.
      - id: exceptions
        -orig-id: charset_pairs
        type: exception
        repeat: eos
        doc: The columns with another collation.
  exception:
    seq:
      - id: column
        -orig-id: col_index
        type: packed_integer
        doc: Index among the columns that the field is about, from 0.
      - id: collation
        -orig-id: col_charset
        type: packed_integer
        doc: Number of the column's collation.
  name_list:
    seq:
      - id: names
        -orig-id: m_column_name
        type: name(_index)
        repeat: eos
        doc: The names of all columns.
  name:
    -webide-representation: '{text}'
    params:
      - id: index
        type: s4
        doc: Index among the names, from 0.
    seq:
      - id: refusal
        size: 0
        valid:
          eq: 'index >= _parent._parent.num_columns ? [0x00].as<bytes> : [].as<bytes>'
        doc: No bytes; a name after one for each column is refused here.
      - id: len_text
        -orig-id: len
        type: packed_integer
        doc: Length of `text`, in bytes.
      - id: text
        -orig-id: m_column_name
        size: len_text.value
        type: str
        encoding: UTF-8
        doc: The column's name.
  member_lists:
    seq:
      - id: columns
        -orig-id: m_enum_str_value, m_set_str_value
        type: 'member_list(_index, _index == 0 ? 0 : columns[_index - 1].next_index)'
        repeat: eos
        doc: The members of each ENUM column, or of each SET column.
  member_list:
    params:
      - id: index
        type: s4
        doc: Index among the ENUM or SET columns, from 0.
      - id: first_index
        type: s4
        doc: Number of members of the columns before this one.
    seq:
      - id: refusal
        size: 0
        valid:
          eq: 'index >= _parent._parent.num_columns ? [0x00].as<bytes> : [].as<bytes>'
        doc: No bytes; a list after one for each column is refused here.
      - id: num_members
        -orig-id: count
        type: packed_integer
        doc: Number of members of one column.
      - id: member_refusal
        size: 0
        valid:
          eq: 'num_members.value.as<s8> < 0 or num_members.value.as<s8> > 0x20000 - first_index ? [0x00].as<bytes> : [].as<bytes>'
        doc: No bytes; a table of more members than two columns can have is refused here.
      - id: members
        -orig-id: str_vector
        type: member
        repeat: expr
        repeat-expr: num_members.value
        doc: The members, in the order of the column's declaration.
    instances:
      next_index:
        value: (first_index + num_members.value.as<s4>).as<s4>
        doc: Number of members of the columns up to this one.
  member:
    -webide-representation: '{value}'
    seq:
      - id: len_value
        -orig-id: len1
        type: packed_integer
        doc: Length of `value`, in bytes.
      - id: value
        -orig-id: m_enum_str_value, m_set_str_value
        size: len_value.value
        doc: The member, in the column's character set.
  prefixed_key:
    seq:
      - id: refusal
        size: 0
        valid:
          eq: '_io.size > 2 * 9 * _parent.num_columns ? [0x00].as<bytes> : [].as<bytes>'
        doc: No bytes; a key that is longer than one part for each column is refused here.
      - id: parts
        -orig-id: m_primary_key
        type: key_part
        repeat: eos
        doc: The columns of the primary key.
  key_part:
    seq:
      - id: column
        -orig-id: col_index
        type: packed_integer
        doc: Index among all columns, from 0.
      - id: len_prefix
        -orig-id: col_prefix
        type: packed_integer
        doc: Number of characters of the column that count; 0 for all.
  unknown_field:
    doc: A field of a kind that this grammar does not know.
    seq:
      - id: data
        size-eos: true
        doc: The bytes of the field.
enums:
  field_type:
    1:
      id: signedness
      -orig-id: SIGNEDNESS
      doc: Which numeric columns are unsigned.
    2:
      id: default_charset
      -orig-id: DEFAULT_CHARSET
      doc: Collations of character columns, short where most are the same.
    3:
      id: column_charset
      -orig-id: COLUMN_CHARSET
      doc: Collations of character columns, one by one.
    4:
      id: column_name
      -orig-id: COLUMN_NAME
      doc: Names of all columns.
    5:
      id: set_str_value
      -orig-id: SET_STR_VALUE
      doc: Members of SET columns.
    6:
      id: enum_str_value
      -orig-id: ENUM_STR_VALUE
      doc: Members of ENUM columns.
    7:
      id: geometry_type
      -orig-id: GEOMETRY_TYPE
      doc: Types of geometry columns.
    8:
      id: simple_primary_key
      -orig-id: SIMPLE_PRIMARY_KEY
      doc: Columns of a primary key without prefixes.
    9:
      id: primary_key_with_prefix
      -orig-id: PRIMARY_KEY_WITH_PREFIX
      doc: Columns of a primary key, some of them prefixes.
    10:
      id: enum_and_set_default_charset
      -orig-id: ENUM_AND_SET_DEFAULT_CHARSET
      doc: Collations of ENUM and SET columns, short where most are the same.
    11:
      id: enum_and_set_column_charset
      -orig-id: ENUM_AND_SET_COLUMN_CHARSET
      doc: Collations of ENUM and SET columns, one by one.
    12:
      id: column_visibility
      -orig-id: COLUMN_VISIBILITY
      doc: Which columns are visible. MySQL since 8.0.23.
    13:
      id: vector_dimensionality
      -orig-id: VECTOR_DIMENSIONALITY
      doc: Numbers of dimensions of VECTOR columns. MySQL since 9.0.
