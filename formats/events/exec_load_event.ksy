meta:
  id: exec_load_event
  title: EXEC_LOAD_EVENT
  license: MIT
  ks-version: '0.10'
  endian: le
doc: The file of an earlier CREATE_FILE_EVENT is complete; load it. MySQL 4.0 to 5.0.2. Since 4.0.
doc-ref: https://github.com/mysql/mysql-server/blob/mysql-5.5.62/sql/log_event.cc Execute_load_log_event
-webide-representation: 'file {file_id:dec}'
seq:
  - id: file_id
    -orig-id: file_id
    type: u4
    doc: Number of the file to load.
  - id: unknown_tail
    size-eos: true
    if: not _io.eof
    doc: Bytes beyond what is known; no server writes any.
