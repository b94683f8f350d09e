meta:
  id: stop_event
  title: STOP_EVENT
  license: MIT
  ks-version: '0.10'
  endian: le
doc: The server shut down in order; the last event of a log. It has no body. Since 3.23.
doc-ref: https://github.com/mysql/mysql-server/blob/mysql-9.4.0/libs/mysql/binlog/event/control_events.h Stop_event
seq:
  - id: unknown_tail
    size-eos: true
    if: not _io.eof
    doc: Bytes beyond what is known; no server writes any.
