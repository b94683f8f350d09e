meta:
  id: xid_event
  title: XID_EVENT
  license: MIT
  ks-version: '0.10'
  endian: le
doc: The commit of a transaction that changed a transactional table. Since 5.0.
doc-ref: https://github.com/mysql/mysql-server/blob/mysql-9.4.0/libs/mysql/binlog/event/control_events.h Xid_event
-webide-representation: '{xid:dec}'
seq:
  - id: xid
    -orig-id: xid
    type: u8
    doc: |
      Number of the transaction in the server that ran it. Written in that machine's byte order,
      so on a big-endian one the number reads reversed.
  - id: unknown_tail
    size-eos: true
    if: not _io.eof
    doc: Bytes beyond what is known; no server writes any.
