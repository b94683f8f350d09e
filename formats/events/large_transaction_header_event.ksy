meta:
  id: large_transaction_header_event
  title: LARGE_TRANSACTION_HEADER_EVENT
  license: MIT
  ks-version: '0.10'
  imports:
    - /binlog_enums
  endian: le
doc: |
  At the start of a log that holds one very large transaction: where that ends, so that recovery
  need not read it all. Its padding fills a space that was kept free before the size of the
  other events was known. In the source of MySQL after 9.7.
doc-ref: https://github.com/mysql/mysql-server/blob/f2df3cd2ff29f54d0397b65aa8bf910f90bafee1/libs/mysql/binlog/event/large_transaction_header_event.h Large_transaction_header_event
-webide-representation: 'ends with {terminating_event_type} at {ofs_terminating_event:dec}'
seq:
  - id: version
    -orig-id: m_version
    type: u1
    doc: Version of this event's layout, 1.
  - id: ofs_terminating_event
    -orig-id: m_terminating_event_offset
    type: u8
    doc: Offset in this file of the event that ends the transaction, in bytes.
  - id: terminating_event_type
    -orig-id: m_terminating_event_type
    type: u1
    enum: binlog_enums::event_type
    doc: Type of the event that ends the transaction.
  - id: padding
    -orig-id: m_padding_size
    size-eos: true
    doc: Meaningless bytes.
