meta:
  id: rand_event
  title: RAND_EVENT
  license: MIT
  ks-version: '0.10'
  endian: le
doc: The state of `RAND()` before the statement after it. Since 4.0.
doc-ref: https://github.com/mysql/mysql-server/blob/mysql-9.4.0/libs/mysql/binlog/event/statement_events.h Rand_event
-webide-representation: '{seed1:dec}, {seed2:dec}'
seq:
  - id: seed1
    -orig-id: seed1
    type: u8
    doc: The variable `rand_seed1`.
  - id: seed2
    -orig-id: seed2
    type: u8
    doc: The variable `rand_seed2`.
  - id: unknown_tail
    size-eos: true
    if: not _io.eof
    doc: Bytes beyond what is known; no server writes any.
