meta:
  id: binlog_checkpoint_event
  title: BINLOG_CHECKPOINT_EVENT
  license: MIT
  ks-version: '0.10'
  endian: le
doc: |
  Recovery after a crash needs no log older than the one that this event names. MariaDB 10.0;
  replicas ignore it. Since 10.0.
doc-ref: https://github.com/MariaDB/server/blob/mariadb-11.8.3/sql/log_event.h Binlog_checkpoint_log_event
-webide-representation: '{file_name}'
params:
  - id: len_post_header
    type: u1
    doc: Length of the fixed part, 4 bytes.
seq:
  - id: len_file_name
    -orig-id: binlog_file_len
    type: u4
    doc: Length of `file_name`, in bytes.
  - id: unknown_post_header
    size: len_post_header - 4
    if: len_post_header > 4
    doc: Fixed part beyond what is known; no server writes any.
  - id: file_name
    -orig-id: binlog_file_name
    size: len_file_name
    type: str
    encoding: UTF-8
    doc: Name of the oldest log that recovery needs.
  - id: unknown_tail
    size-eos: true
    if: not _io.eof
    doc: Bytes that newer servers may add.
