meta:
  id: rows_event
  ks-version: '0.10'
  endian: le
  imports:
    - /common/packed_integer
    - /events/table_map_event
params:
  - id: post_header_length
    type: u1
  - id: table_map
    type: table_map_event
seq:
  - id: table_id
    size: 6
  - id: rest
    size-eos: true
