meta:
  id: ignorable_event
  title: IGNORABLE_LOG_EVENT
  license: MIT
  ks-version: '0.10'
  endian: le
doc: |
  An event that a replica skips without harm. The type stands for a whole class of events and
  has no content of its own. Since 5.6.
doc-ref: https://github.com/mysql/mysql-server/blob/mysql-9.4.0/libs/mysql/binlog/event/control_events.h Ignorable_event
seq:
  - id: unknown_data
    size-eos: true
    doc: Whatever the writer put there; normally nothing.
