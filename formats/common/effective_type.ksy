meta:
  id: effective_type
  title: What an event is, by its type code
  license: MIT
  ks-version: '0.10'
  imports:
    - /binlog_enums
doc: |
  The type code as it stands, but for logs of some early 5.1 alpha versions, which numbered the types
  16 to 22 in another order. The format description event of such a log reveals this: it has
  a fixed part for type 16, which in every other log is the XID event that needs none.
doc-ref: https://github.com/mysql/mysql-server/blob/mysql-5.7.44/libbinlogevents/src/control_events.cpp event_type_permutation
params:
  - id: type_code
    type: u1
    enum: binlog_enums::event_type
    doc: The code in the event's header.
  - id: has_permuted_types
    type: bool
    doc: As the format description event in force states.
instances:
  value:
    value: |
      not has_permuted_types ? type_code :
      type_code == binlog_enums::event_type::xid_event ? binlog_enums::event_type::table_map_event :
      type_code == binlog_enums::event_type::begin_load_query_event ? binlog_enums::event_type::pre_ga_write_rows_event :
      type_code == binlog_enums::event_type::execute_load_query_event ? binlog_enums::event_type::pre_ga_update_rows_event :
      type_code == binlog_enums::event_type::table_map_event ? binlog_enums::event_type::pre_ga_delete_rows_event :
      type_code == binlog_enums::event_type::pre_ga_write_rows_event ? binlog_enums::event_type::xid_event :
      type_code == binlog_enums::event_type::pre_ga_update_rows_event ? binlog_enums::event_type::begin_load_query_event :
      type_code == binlog_enums::event_type::pre_ga_delete_rows_event ? binlog_enums::event_type::execute_load_query_event :
      type_code
    doc: The type as all other versions number it.
