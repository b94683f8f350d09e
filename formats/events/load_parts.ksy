meta:
  id: load_parts
  title: Options of an old LOAD DATA
  license: MIT
  ks-version: '0.10'
  endian: le
doc: What LOAD_EVENT, NEW_LOAD_EVENT and CREATE_FILE_EVENT say of the statement after their fixed part. Since 3.23.
doc-ref: https://github.com/mysql/mysql-server/blob/mysql-5.5.62/sql/log_event.cc sql_ex_info, Load_log_event
params:
  - id: has_long_separators
    type: bool
    doc: Whether the separators have a length of their own, rather than one byte each.
  - id: num_fields
    type: u4
    doc: Number of columns that the statement lists, or 0.
  - id: len_table_name
    type: u1
    doc: Length of the table's name, in bytes.
  - id: len_schema_name
    type: u1
    doc: Length of the schema's name, in bytes.
seq:
  - id: short_separators
    -orig-id: old_sql_ex
    type: one_byte_separators
    if: not has_long_separators
    doc: The separators, a byte each, of a LOAD_EVENT.
  - id: long_separators
    -orig-id: sql_ex_info
    type: counted_separators
    if: has_long_separators
    doc: The separators, with their lengths, of a NEW_LOAD_EVENT or CREATE_FILE_EVENT.
  - id: len_field_names
    -orig-id: field_lens
    type: u1
    repeat: expr
    repeat-expr: num_fields
    doc: Length of each listed column's name, in bytes.
  - id: field_names
    -orig-id: fields
    type: terminated_name(len_field_names[_index])
    repeat: expr
    repeat-expr: num_fields
    doc: The columns that the statement lists.
  - id: table
    -orig-id: table_name
    type: terminated_name(len_table_name)
    doc: The table to load into.
  - id: schema
    -orig-id: db
    type: terminated_name(len_schema_name)
    doc: The schema of the table.
instances:
  table_name:
    value: table.name
  schema_name:
    value: schema.name
  option_flags:
    value: 'has_long_separators ? long_separators.option_flags : short_separators.option_flags'
    doc: Bits described by the instances below.
  is_dump_file:
    -orig-id: DUMPFILE_FLAG
    value: (option_flags & 0x01) != 0
    doc: Never set; it belongs to SELECT … INTO DUMPFILE.
  is_optionally_enclosed:
    -orig-id: OPT_ENCLOSED_FLAG
    value: (option_flags & 0x02) != 0
    doc: OPTIONALLY ENCLOSED BY.
  is_replace:
    -orig-id: REPLACE_FLAG
    value: (option_flags & 0x04) != 0
    doc: LOAD DATA REPLACE.
  is_ignore:
    -orig-id: IGNORE_FLAG
    value: (option_flags & 0x08) != 0
    doc: LOAD DATA IGNORE.
types:
  one_byte_separators:
    doc: Separators of one byte; `empty_flags` says which of them are empty instead.
    seq:
      - id: field_terminator
        -orig-id: field_term
        size: 1
        doc: FIELDS TERMINATED BY.
      - id: enclosure
        -orig-id: enclosed
        size: 1
        doc: ENCLOSED BY.
      - id: line_terminator
        -orig-id: line_term
        size: 1
        doc: LINES TERMINATED BY.
      - id: line_start
        -orig-id: line_start
        size: 1
        doc: LINES STARTING BY.
      - id: escape
        -orig-id: escaped
        size: 1
        doc: ESCAPED BY.
      - id: option_flags
        -orig-id: opt_flags
        type: u1
        doc: Bits described by the instances of `load_parts`.
      - id: empty_flags
        -orig-id: empty_flags
        type: u1
        doc: Which separators are empty; bits described by the instances.
    instances:
      is_field_terminator_empty:
        -orig-id: FIELD_TERM_EMPTY
        value: (empty_flags & 0x01) != 0
        doc: '`field_terminator` is empty, regardless of its byte.'
      is_enclosure_empty:
        -orig-id: ENCLOSED_EMPTY
        value: (empty_flags & 0x02) != 0
        doc: '`enclosure` is empty, regardless of its byte.'
      is_line_terminator_empty:
        -orig-id: LINE_TERM_EMPTY
        value: (empty_flags & 0x04) != 0
        doc: '`line_terminator` is empty, regardless of its byte.'
      is_line_start_empty:
        -orig-id: LINE_START_EMPTY
        value: (empty_flags & 0x08) != 0
        doc: '`line_start` is empty, regardless of its byte.'
      is_escape_empty:
        -orig-id: ESCAPED_EMPTY
        value: (empty_flags & 0x10) != 0
        doc: '`escape` is empty, regardless of its byte.'
  counted_separators:
    doc: Separators of up to 255 bytes each.
    seq:
      - id: field_terminator
        -orig-id: field_term
        type: counted_bytes
        doc: FIELDS TERMINATED BY.
      - id: enclosure
        -orig-id: enclosed
        type: counted_bytes
        doc: ENCLOSED BY.
      - id: line_terminator
        -orig-id: line_term
        type: counted_bytes
        doc: LINES TERMINATED BY.
      - id: line_start
        -orig-id: line_start
        type: counted_bytes
        doc: LINES STARTING BY.
      - id: escape
        -orig-id: escaped
        type: counted_bytes
        doc: ESCAPED BY.
      - id: option_flags
        -orig-id: opt_flags
        type: u1
        doc: Bits described by the instances of `load_parts`.
  counted_bytes:
    seq:
      - id: len_value
        -orig-id: field_term_len and so on
        type: u1
        doc: Length of `value`, in bytes.
      - id: value
        -orig-id: field_term and so on
        size: len_value
        doc: The separator; may be empty.
  terminated_name:
    params:
      - id: len_name
        type: u1
        doc: Length of the name, in bytes.
    seq:
      - id: name
        -orig-id: fields, table_name, db
        size: len_name
        type: str
        encoding: UTF-8
        doc: The name.
      - id: terminator
        -orig-id: fields, table_name, db
        type: u1
        doc: 0, after the name; servers do not check it.
