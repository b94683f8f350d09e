meta:
  id: xa_prepare_event
  title: XA_PREPARE_LOG_EVENT
  license: MIT
  ks-version: '0.10'
  endian: le
doc: |
  The end of an XA transaction's changes: XA PREPARE, or XA COMMIT … ONE PHASE, which has no
  prepare of its own. MySQL 5.7, MariaDB 10.5. Since 5.7.
doc-ref: https://github.com/mysql/mysql-server/blob/mysql-9.4.0/libs/mysql/binlog/event/control_events.h XA_prepare_event
-webide-representation: '{gtrid},{bqual},{format_id:dec}'
seq:
  - id: one_phase
    -orig-id: one_phase
    type: u1
    doc: 1 for XA COMMIT … ONE PHASE, 0 for XA PREPARE.
  - id: format_id
    -orig-id: formatID
    type: u4
    doc: Third part of the identifier as XA statements write it.
  - id: len_gtrid
    -orig-id: gtrid_length
    type: u4
    doc: Length of `gtrid`, 1 to 64 bytes.
  - id: len_bqual
    -orig-id: bqual_length
    type: u4
    doc: Length of `bqual`, up to 64 bytes.
  - id: gtrid
    -orig-id: data
    size: len_gtrid
    doc: Global transaction identifier, the first part.
  - id: bqual
    -orig-id: data
    size: len_bqual
    doc: Branch qualifier, the second part.
  - id: unknown_tail
    size-eos: true
    if: not _io.eof
    doc: Bytes that newer servers may add.
instances:
  is_one_phase:
    value: one_phase != 0
