meta:
  id: event_body
  title: Body of an event, by its type
  license: MIT
  ks-version: '0.10'
  imports:
    - /binlog_enums
    - /events/annotate_rows_event
    - /events/append_block_event
    - /events/binlog_checkpoint_event
    - /events/compressed_rows_event
    - /events/create_file_event
    - /events/delete_file_event
    - /events/exec_load_event
    - /events/execute_load_query_event
    - /events/format_description_event
    - /events/gtid_event
    - /events/gtid_tagged_event
    - /events/heartbeat_event
    - /events/heartbeat_event_v2
    - /events/ignorable_event
    - /events/incident_event
    - /events/intvar_event
    - /events/large_transaction_header_event
    - /events/load_event
    - /events/mariadb_gtid_event
    - /events/mariadb_gtid_list_event
    - /events/partial_row_data_event
    - /events/pre_ga_rows_event
    - /events/previous_gtids_event
    - /events/query_compressed_event
    - /events/query_event
    - /events/rand_event
    - /events/rotate_event
    - /events/rows_event
    - /events/rows_query_event
    - /events/slave_event
    - /events/start_encryption_event
    - /events/start_event_v3
    - /events/stop_event
    - /events/table_map_event
    - /events/transaction_context_event
    - /events/transaction_payload_event
    - /events/user_var_event
    - /events/view_change_event
    - /events/xa_prepare_event
    - /events/xid_event
  endian: le
doc: Everything between an event's header and its checksum.
doc-ref:
  - https://github.com/mysql/mysql-server/blob/mysql-9.4.0/sql/binlog_reader.cc binlog_event_deserialize
  - https://github.com/MariaDB/server/blob/mariadb-11.8.3/sql/log_event.cc Log_event::read_log_event
-webide-representation: '{content}'
params:
  - id: type_code
    type: u1
    enum: binlog_enums::event_type
    doc: What the event is, in the numbering of all versions but some 5.1 alphas.
  - id: binlog_version
    type: u2
    doc: Version of the log's format, 1, 3 or 4.
  - id: len_post_header
    type: u1
    doc: The format description's entry for the type, in bytes; 0 where it has none.
  - id: year_bits
    type: u1
    enum: binlog_enums::year_bits
    doc: Whether the signedness of table maps has a bit for YEAR columns, as the format description event states.
  - id: table_map
    type: table_map_event
    doc: The table map that a rows event belongs to; null where there is none.
  - id: has_table_map
    type: bool
    doc: Whether `table_map` is there.
seq:
  - id: content
    type:
      switch-on: type_code
      cases:
        'binlog_enums::event_type::start_event_v3': start_event_v3
        'binlog_enums::event_type::query_event': query_event(len_fixed)
        'binlog_enums::event_type::stop_event': stop_event
        'binlog_enums::event_type::rotate_event': rotate_event(binlog_version, len_fixed)
        'binlog_enums::event_type::intvar_event': intvar_event
        'binlog_enums::event_type::load_event': load_event(len_fixed, false)
        'binlog_enums::event_type::slave_event': slave_event
        'binlog_enums::event_type::create_file_event': create_file_event
        'binlog_enums::event_type::append_block_event': append_block_event
        'binlog_enums::event_type::exec_load_event': exec_load_event
        'binlog_enums::event_type::delete_file_event': delete_file_event
        'binlog_enums::event_type::new_load_event': load_event(len_fixed, true)
        'binlog_enums::event_type::rand_event': rand_event
        'binlog_enums::event_type::user_var_event': user_var_event
        'binlog_enums::event_type::format_description_event': format_description_event
        'binlog_enums::event_type::xid_event': xid_event
        'binlog_enums::event_type::begin_load_query_event': append_block_event
        'binlog_enums::event_type::execute_load_query_event': execute_load_query_event(len_fixed)
        'binlog_enums::event_type::table_map_event': table_map_event(len_fixed, year_bits)
        'binlog_enums::event_type::pre_ga_write_rows_event': pre_ga_rows_event(type_code, len_fixed, table_map)
        'binlog_enums::event_type::pre_ga_update_rows_event': pre_ga_rows_event(type_code, len_fixed, table_map)
        'binlog_enums::event_type::pre_ga_delete_rows_event': pre_ga_rows_event(type_code, len_fixed, table_map)
        'binlog_enums::event_type::write_rows_event_v1': rows_event(type_code, len_fixed, table_map, has_table_map)
        'binlog_enums::event_type::update_rows_event_v1': rows_event(type_code, len_fixed, table_map, has_table_map)
        'binlog_enums::event_type::delete_rows_event_v1': rows_event(type_code, len_fixed, table_map, has_table_map)
        'binlog_enums::event_type::incident_event': incident_event
        'binlog_enums::event_type::heartbeat_log_event': heartbeat_event
        'binlog_enums::event_type::ignorable_log_event': ignorable_event
        'binlog_enums::event_type::rows_query_log_event': rows_query_event
        'binlog_enums::event_type::write_rows_event': rows_event(type_code, len_fixed, table_map, has_table_map)
        'binlog_enums::event_type::update_rows_event': rows_event(type_code, len_fixed, table_map, has_table_map)
        'binlog_enums::event_type::delete_rows_event': rows_event(type_code, len_fixed, table_map, has_table_map)
        'binlog_enums::event_type::gtid_log_event': gtid_event(len_fixed)
        'binlog_enums::event_type::anonymous_gtid_log_event': gtid_event(len_fixed)
        'binlog_enums::event_type::previous_gtids_log_event': previous_gtids_event
        'binlog_enums::event_type::transaction_context_event': transaction_context_event(len_fixed)
        'binlog_enums::event_type::view_change_event': view_change_event(len_fixed)
        'binlog_enums::event_type::xa_prepare_log_event': xa_prepare_event
        'binlog_enums::event_type::partial_update_rows_event': rows_event(type_code, len_fixed, table_map, has_table_map)
        'binlog_enums::event_type::transaction_payload_event': transaction_payload_event
        'binlog_enums::event_type::heartbeat_log_event_v2': heartbeat_event_v2
        'binlog_enums::event_type::gtid_tagged_log_event': gtid_tagged_event
        'binlog_enums::event_type::large_transaction_header_event': large_transaction_header_event
        'binlog_enums::event_type::annotate_rows_event': annotate_rows_event
        'binlog_enums::event_type::binlog_checkpoint_event': binlog_checkpoint_event(len_fixed)
        'binlog_enums::event_type::gtid_event': mariadb_gtid_event(len_fixed)
        'binlog_enums::event_type::gtid_list_event': mariadb_gtid_list_event(len_fixed)
        'binlog_enums::event_type::start_encryption_event': start_encryption_event
        'binlog_enums::event_type::query_compressed_event': query_compressed_event(len_fixed)
        'binlog_enums::event_type::write_rows_compressed_event_v1': compressed_rows_event(type_code, len_fixed, table_map, has_table_map)
        'binlog_enums::event_type::update_rows_compressed_event_v1': compressed_rows_event(type_code, len_fixed, table_map, has_table_map)
        'binlog_enums::event_type::delete_rows_compressed_event_v1': compressed_rows_event(type_code, len_fixed, table_map, has_table_map)
        'binlog_enums::event_type::write_rows_compressed_event': compressed_rows_event(type_code, len_fixed, table_map, has_table_map)
        'binlog_enums::event_type::update_rows_compressed_event': compressed_rows_event(type_code, len_fixed, table_map, has_table_map)
        'binlog_enums::event_type::delete_rows_compressed_event': compressed_rows_event(type_code, len_fixed, table_map, has_table_map)
        'binlog_enums::event_type::partial_row_data_event': partial_row_data_event(len_fixed)
        _: unknown_event
    doc: The event, by its type.
instances:
  len_fixed:
    value: 'len_post_header > 0 ? len_post_header : len_usual_fixed'
    doc: |
      Length of the fixed part at the start of the body, in bytes. Logs before version 4 have no
      format description, and a table that is too short has no entry.
  len_usual_fixed:
    value: |
      type_code == binlog_enums::event_type::query_event ? (binlog_version < 4 ? 11 : 13) :
      type_code == binlog_enums::event_type::rotate_event ? (binlog_version < 3 ? 0 : 8) :
      type_code == binlog_enums::event_type::load_event ? 18 :
      type_code == binlog_enums::event_type::new_load_event ? 18 :
      type_code == binlog_enums::event_type::execute_load_query_event ? 26 :
      type_code == binlog_enums::event_type::table_map_event ? 8 :
      type_code == binlog_enums::event_type::pre_ga_write_rows_event ? 8 :
      type_code == binlog_enums::event_type::pre_ga_update_rows_event ? 8 :
      type_code == binlog_enums::event_type::pre_ga_delete_rows_event ? 8 :
      type_code == binlog_enums::event_type::write_rows_event_v1 ? 8 :
      type_code == binlog_enums::event_type::update_rows_event_v1 ? 8 :
      type_code == binlog_enums::event_type::delete_rows_event_v1 ? 8 :
      type_code == binlog_enums::event_type::write_rows_event ? 10 :
      type_code == binlog_enums::event_type::update_rows_event ? 10 :
      type_code == binlog_enums::event_type::delete_rows_event ? 10 :
      type_code == binlog_enums::event_type::partial_update_rows_event ? 10 :
      type_code == binlog_enums::event_type::gtid_log_event ? 42 :
      type_code == binlog_enums::event_type::anonymous_gtid_log_event ? 42 :
      type_code == binlog_enums::event_type::transaction_context_event ? 18 :
      type_code == binlog_enums::event_type::view_change_event ? 52 :
      type_code == binlog_enums::event_type::binlog_checkpoint_event ? 4 :
      type_code == binlog_enums::event_type::gtid_event ? 19 :
      type_code == binlog_enums::event_type::gtid_list_event ? 4 :
      type_code == binlog_enums::event_type::partial_row_data_event ? 9 :
      type_code == binlog_enums::event_type::query_compressed_event ? 13 :
      type_code == binlog_enums::event_type::write_rows_compressed_event_v1 ? 8 :
      type_code == binlog_enums::event_type::update_rows_compressed_event_v1 ? 8 :
      type_code == binlog_enums::event_type::delete_rows_compressed_event_v1 ? 8 :
      type_code == binlog_enums::event_type::write_rows_compressed_event ? 10 :
      type_code == binlog_enums::event_type::update_rows_compressed_event ? 10 :
      type_code == binlog_enums::event_type::delete_rows_compressed_event ? 10 : 0
    doc: What servers use for the type, in bytes.
types:
  unknown_event:
    doc: An event of a type that this grammar does not know.
    seq:
      - id: data
        size-eos: true
        doc: All bytes between header and checksum.
