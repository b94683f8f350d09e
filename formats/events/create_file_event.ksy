meta:
  id: create_file_event
  title: CREATE_FILE_EVENT
  license: MIT
  ks-version: '0.10'
  imports:
    - /events/load_parts
  endian: le
doc: |
  LOAD DATA as MySQL 4.0 to 5.0.2 logged it: the options and the first piece of the file.
  APPEND_BLOCK_EVENTs may follow; EXEC_LOAD_EVENT or DELETE_FILE_EVENT ends the file. Since 4.0.
doc-ref: https://github.com/mysql/mysql-server/blob/mysql-5.5.62/sql/log_event.cc Create_file_log_event
-webide-representation: 'file {file_id:dec}: {target.schema_name}.{target.table_name} from {file_name}'
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
  - id: file_id
    -orig-id: file_id
    type: u4
    doc: |
      Number of the file; the same in all events of one LOAD DATA. The format description counts
      only these 4 bytes for the type, and the 18 before them for LOAD_EVENT.
  - id: target
    type: load_parts(true, num_fields, len_table_name, len_schema_name)
    doc: How the file is written and where it goes.
  - id: file_name
    -orig-id: fname
    type: strz
    encoding: UTF-8
    doc: Name of the file as the statement gives it.
  - id: block
    -orig-id: block
    size-eos: true
    doc: The first piece of the file.
