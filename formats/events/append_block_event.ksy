meta:
  id: append_block_event
  title: APPEND_BLOCK_EVENT, BEGIN_LOAD_QUERY_EVENT
  license: MIT
  ks-version: '0.10'
  endian: le
doc: |
  A piece of a file that LOAD DATA reads, 128 KiB or less. BEGIN_LOAD_QUERY_EVENT (since 5.0)
  has the same layout and starts the file, APPEND_BLOCK_EVENT continues it. Since 4.0.
doc-ref: https://github.com/mysql/mysql-server/blob/mysql-9.4.0/libs/mysql/binlog/event/load_data_events.h Append_block_event, Begin_load_query_event
-webide-representation: 'file {file_id:dec}'
seq:
  - id: file_id
    -orig-id: file_id
    type: u4
    doc: Number of the file; the same in all events of one LOAD DATA.
  - id: block
    -orig-id: block
    size-eos: true
    doc: The piece of the file.
