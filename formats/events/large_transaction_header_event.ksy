meta:
  id: large_transaction_header_event
  title: LARGE_TRANSACTION_HEADER_EVENT
  license: MIT
  ks-version: '0.10'
  endian: le
  imports:
    - /binlog_enums
doc: |
  At the start of a log that holds one very large transaction: where that ends, so that recovery
  need not read it all. Its padding fills a space that was kept free before the size of the
  other events was known. In the source of MySQL after 9.7.
doc-ref: libs/mysql/binlog/event/large_transaction_header_event.h, Large_transaction_header_event
-webide-representation: 'ends with {terminating_event_type} at {terminating_event_offset:dec}'
seq:
  - id: version
    -orig-id: m_version
    type: u1
    doc: Version of this event's layout, 1.
  - id: terminating_event_offset
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
    doc: Bytes without meaning.
