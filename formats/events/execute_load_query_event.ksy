meta:
  id: execute_load_query_event
  title: EXECUTE_LOAD_QUERY_EVENT
  license: MIT
  ks-version: '0.10'
  imports:
    - /events/query_status_vars
  endian: le
doc: |
  A LOAD DATA statement, after the events that carry its file. It reads like QUERY_EVENT and
  says which part of the statement names the file. Since 5.0.
doc-ref: https://github.com/mysql/mysql-server/blob/mysql-9.4.0/libs/mysql/binlog/event/load_data_events.h Execute_load_query_event
-webide-representation: 'file {file_id:dec}: {query_text}'
params:
  - id: len_post_header
    type: u1
    doc: Length of the fixed part, in bytes, 26.
seq:
  - id: thread_id
    -orig-id: thread_id
    type: u4
    doc: Connection that ran the statement.
  - id: execution_time
    -orig-id: query_exec_time
    type: u4
    doc: Time from the statement's start until it was logged, in seconds.
  - id: len_schema_name
    -orig-id: db_len
    type: u1
    doc: Length of `schema_name`, in bytes.
  - id: error_code
    -orig-id: error_code
    type: u2
    doc: Number of the error that the statement ended with, 0 if none.
  - id: len_status_vars
    -orig-id: status_vars_len
    type: u2
    doc: Length of `status_vars`, in bytes.
  - id: file_id
    -orig-id: file_id
    type: u4
    doc: Number of the file; the same in all events of one LOAD DATA.
  - id: ofs_file_name
    -orig-id: fn_pos_start
    type: u4
    doc: |
      Offset in `query` of the part to replace, which names the file, from 'INFILE' or
      'LOCAL INFILE' up to 'INTO', in bytes.
  - id: ofs_file_name_end
    -orig-id: fn_pos_end
    type: u4
    doc: Offset in `query` of the end of that part, in bytes.
  - id: duplicate_handling
    -orig-id: dup_handling
    type: u1
    enum: duplicate_action
    doc: What happens to a row whose key exists; LOCAL changes what the statement itself says.
  - id: unknown_post_header
    size: len_post_header - 26
    if: len_post_header > 26
    doc: Fixed part beyond what is known; no server writes any.
  - id: status_vars
    -orig-id: status_vars
    size: len_status_vars
    type: query_status_vars
    doc: Variables of the session that the statement depends on.
  - id: schema_name
    -orig-id: db
    size: len_schema_name
    type: str
    encoding: UTF-8
    doc: Default schema of the session; may be empty.
  - id: schema_name_terminator
    -orig-id: db
    type: u1
    doc: 0, after the name; servers do not check it.
  - id: query
    -orig-id: query
    size-eos: true
    doc: The statement, in the character set of the status variable `charset`.
instances:
  query_text:
    value: query.to_s("UTF-8")
    doc: The statement read as UTF-8.
enums:
  duplicate_action:
    0:
      id: error
      -orig-id: LOAD_DUP_ERROR
    1:
      id: ignore
      -orig-id: LOAD_DUP_IGNORE
    2:
      id: replace
      -orig-id: LOAD_DUP_REPLACE
