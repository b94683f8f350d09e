meta:
  id: heartbeat_event
  title: HEARTBEAT_LOG_EVENT
  license: MIT
  ks-version: '0.10'
  endian: le
doc: |
  Sent by an idle source over the network, never written to a log: how far its log goes. The
  header's `next_position` is the position. Since 5.5.

  MariaDB (10.5 and later) sets that to 0 where the position needs more than 32 bits and puts
  it before the name; the zero in its top byte shows it, since no name contains one.
-published-wrong: |
  Given as an event without payload. Its body is the name of the log.
doc-ref:
  - https://github.com/mysql/mysql-server/blob/mysql-9.4.0/libs/mysql/binlog/event/control_events.h Heartbeat_event
  - https://github.com/MariaDB/server/blob/mariadb-11.8.3/sql/sql_repl.cc send_heartbeat_event
-webide-representation: '{log}'
seq:
  - id: position
    -orig-id: log_pos
    type: u8
    if: has_position
    doc: End of the source's log, in bytes. MariaDB, past 4 GiB.
  - id: log
    -orig-id: log_ident
    size-eos: true
    type: str
    encoding: UTF-8
    doc: File name of the source's current log.
instances:
  position_top_byte:
    pos: 7
    type: u1
    if: _io.size >= 8
  has_position:
    value: _io.size >= 8 and position_top_byte == 0
