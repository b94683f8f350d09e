meta:
  id: rotate_event
  title: ROTATE_EVENT
  license: MIT
  ks-version: '0.10'
  endian: le
doc: |
  Where the log goes on. Ends a log that was rotated; made up by the server at the start of a
  network stream, to name the log that follows. Since 3.23.
doc-ref: https://github.com/mysql/mysql-server/blob/mysql-9.4.0/libs/mysql/binlog/event/control_events.h Rotate_event
-webide-representation: '{next_log} at {position:dec}'
params:
  - id: binlog_version
    type: u2
    doc: Version of the log's format, 1, 3 or 4.
  - id: len_post_header
    type: u1
    doc: Length of the fixed part, in bytes; 0 in version 1 logs, else 8.
seq:
  - id: position
    -orig-id: pos
    type: u8
    if: len_post_header >= 8
    doc: Where to go on in the next log, in bytes. Absent in version 1 logs, where it is 4.
  - id: unknown_post_header
    size: len_post_header - 8
    if: len_post_header > 8
    doc: Fixed part beyond what is known; no server writes any.
  - id: next_log
    -orig-id: new_log_ident
    size-eos: true
    type: str
    encoding: UTF-8
    doc: File name of the next log, without its directory.
