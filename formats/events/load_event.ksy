meta:
  id: load_event
  title: LOAD_EVENT, NEW_LOAD_EVENT
  license: MIT
  ks-version: '0.10'
  imports:
    - /events/load_parts
  endian: le
doc: |
  LOAD DATA as MySQL before 5.0.3 logged it: the options, without the file. LOAD_EVENT
  (3.23) has separators of one character; NEW_LOAD_EVENT (4.0) of any length. Since 3.23.
doc-ref: https://github.com/mysql/mysql-server/blob/mysql-5.5.62/sql/log_event.cc Load_log_event
-webide-representation: '{target.schema_name}.{target.table_name} from {file_name}'
params:
  - id: len_post_header
    type: u1
    doc: Length of the fixed part, in bytes, 18.
  - id: has_long_separators
    type: bool
    doc: Whether it is a NEW_LOAD_EVENT.
seq:
  - id: thread_id
    -orig-id: slave_proxy_id
    type: u4
    doc: Connection that ran the statement.
  - id: execution_time
    -orig-id: exec_time
    type: u4
    doc: Time that the statement took, in seconds.
  - id: skipped_lines
    -orig-id: skip_lines
    type: u4
    doc: Number of lines to skip at the start of the file.
  - id: len_table_name
    -orig-id: table_name_len
    type: u1
    doc: Length of the table's name, in bytes.
  - id: len_schema_name
    -orig-id: db_len
    type: u1
    doc: Length of the schema's name, in bytes.
  - id: num_fields
    -orig-id: num_fields
    type: u4
    valid:
      max: 4096
    doc: Number of columns that the statement lists, or 0; a table has at most 4096.
  - id: unknown_post_header
    size: len_post_header - 18
    if: len_post_header > 18
    doc: Fixed part beyond what is known; no server writes any.
  - id: target
    type: load_parts(has_long_separators, num_fields, len_table_name, len_schema_name)
    doc: How the file is written and where it goes.
  - id: file_name
    -orig-id: fname
    size-eos: true
    type: str
    encoding: UTF-8
    doc: Name of the file as the statement gives it.
