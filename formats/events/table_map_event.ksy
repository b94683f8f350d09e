meta:
  id: table_map_event
  ks-version: '0.10'
  endian: le
  imports:
    - /common/packed_integer
params:
  - id: post_header_length
    type: u1
seq:
  - id: table_id
    size: 6
  - id: rest
    size-eos: true
