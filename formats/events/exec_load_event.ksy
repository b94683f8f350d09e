meta:
  id: exec_load_event
  title: EXEC_LOAD_EVENT
  license: MIT
  ks-version: '0.10'
  endian: le
doc: The file of an earlier CREATE_FILE_EVENT is complete; load it. MySQL 4.0 to 5.0.2. Since 4.0.
doc-ref: sql/log_event.cc (MySQL 5.5), Execute_load_log_event
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
