meta:
  id: com_binlog_dump
  title: COM_BINLOG_DUMP
  license: MIT
  ks-version: '0.10'
  endian: le
doc: |
  A replica's request for the stream of events from a place in a log. The whole message, without
  the header of its packet.
doc-ref: https://github.com/mysql/mysql-server/blob/mysql-9.4.0/sql/rpl_source.cc com_binlog_dump
-webide-representation: '{file_name}:{position:dec}'
seq:
  - id: command
    -orig-id: COM_BINLOG_DUMP
    contents: [0x12]
    doc: Number of the command.
  - id: position
    -orig-id: pos
    type: u4
    doc: Where to start in the log, as an offset, from 4.
  - id: flags
    -orig-id: flags
    type: u2
    doc: Bits described by the instances.
  - id: server_id
    -orig-id: server_id
    type: u4
    doc: The `server_id` of the replica; 0 where the client is none and asks not to wait for new events.
  - id: file_name
    -orig-id: log_file_name
    size-eos: true
    type: str
    encoding: UTF-8
    doc: Name of the log; empty means the oldest that the server has.
instances:
  is_non_blocking:
    -orig-id: BINLOG_DUMP_NON_BLOCK
    value: (flags & 0x0001) != 0
    doc: The stream ends after the newest event, instead of waiting for more.
  wants_annotations:
    -orig-id: BINLOG_SEND_ANNOTATE_ROWS_EVENT
    value: (flags & 0x0002) != 0
    doc: To MariaDB; the stream is to have the ANNOTATE_ROWS events too.
  wants_long_heartbeats:
    -orig-id: USE_HEARTBEAT_EVENT_V2
    value: (flags & 0x0002) != 0
    doc: To MySQL from 8.0.26 on, the same bit; heartbeats are to be HEARTBEAT_LOG_EVENT_V2.
