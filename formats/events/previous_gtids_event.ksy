meta:
  id: previous_gtids_event
  title: PREVIOUS_GTIDS_LOG_EVENT
  license: MIT
  ks-version: '0.10'
  imports:
    - /common/gtid_set
  endian: le
doc: |
  Near the start of every log: the GTIDs of all transactions in the logs before it. In a relay
  log, those that the replica had received. Since 5.6.
doc-ref: https://github.com/mysql/mysql-server/blob/mysql-9.4.0/libs/mysql/binlog/event/control_events.h Previous_gtids_event
-webide-representation: '{gtids}'
seq:
  - id: gtids
    -orig-id: buf
    type: gtid_set
    doc: The GTIDs of all transactions in earlier logs.
  - id: unknown_tail
    size-eos: true
    if: not _io.eof
    doc: Bytes that newer servers may add.
