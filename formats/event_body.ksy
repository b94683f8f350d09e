meta:
  id: event_body
  title: Body of an event, by its type
  license: MIT
  ks-version: '0.10'
  endian: le
  imports:
    - binlog_enums
    - events/format_description_event
    - events/table_map_event
    - events/rows_event
doc: Everything between an event's header and its checksum.
-webide-representation: '{content}'
params:
  - id: type_code
    type: u1
    enum: binlog_enums::event_type
  - id: binlog_version
    type: u2
  - id: post_header_length
    type: u1
  - id: table_map
    type: table_map_event
seq:
  - id: content
    type:
      switch-on: type_code
      cases:
        'binlog_enums::event_type::format_description_event': format_description_event
        'binlog_enums::event_type::table_map_event': table_map_event(post_header_length)
        'binlog_enums::event_type::write_rows_event': rows_event(post_header_length, table_map)
        _: unknown_event
types:
  unknown_event:
    doc: An event of a type that this grammar does not know.
    seq:
      - id: data
        size-eos: true
