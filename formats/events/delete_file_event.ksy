meta:
  id: delete_file_event
  title: DELETE_FILE_EVENT
  license: MIT
  ks-version: '0.10'
  endian: le
doc: LOAD DATA failed on the source; forget its file. Since 4.0.
doc-ref: https://github.com/mysql/mysql-server/blob/mysql-9.4.0/libs/mysql/binlog/event/load_data_events.h Delete_file_event
-webide-representation: 'file {file_id:dec}'
seq:
  - id: file_id
    -orig-id: file_id
    type: u4
    doc: Number of the file to forget.
  - id: unknown_tail
    size-eos: true
    if: not _io.eof
    doc: Bytes beyond what is known; no server writes any.
