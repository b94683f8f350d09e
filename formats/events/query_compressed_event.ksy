meta:
  id: query_compressed_event
  title: QUERY_COMPRESSED_EVENT
  license: MIT
  ks-version: '0.10'
  imports:
    - /common/compressed_data
    - /events/query_status_vars
  endian: le
doc: |
  A QUERY_EVENT with the statement compressed; all before the statement is the same. MariaDB
  10.2.3, with `log_bin_compress`. Since 10.2.3.
doc-ref: https://github.com/MariaDB/server/blob/mariadb-11.8.3/sql/log_event.h Query_compressed_log_event
-webide-representation: '{schema_name}: {query_text}'
params:
  - id: len_post_header
    type: u1
    doc: Length of the fixed part, 13 bytes.
seq:
  - id: thread_id
    -orig-id: thread_id
    type: u4
    doc: Connection that ran the statement; temporary tables belong to it.
  - id: execution_time
    -orig-id: exec_time
    type: u4
    doc: Time from the statement's start until it was logged, in seconds.
  - id: len_schema_name
    -orig-id: db_len
    type: u1
    doc: Length of `schema_name`, in bytes.
  - id: error_code
    -orig-id: error_code
    type: u2
    doc: Number of the error that the statement ended with, 0 if none; a replica expects the same.
  - id: len_status_vars
    -orig-id: status_vars_len
    type: u2
    doc: Length of `status_vars`, in bytes.
  - id: unknown_post_header
    size: len_post_header - 13
    if: len_post_header > 13
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
  - id: compressed_query
    -orig-id: query
    type: compressed_data
    doc: The statement, compressed; `query` is the original.
instances:
  query:
    value: compressed_query.deflated.inflated
    doc: The statement, in the character set of the status variable `charset`.
  query_text:
    value: query.to_s("UTF-8")
    doc: The statement read as UTF-8.
