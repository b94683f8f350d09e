meta:
  id: binlog_enums
  title: Enumerations of the binary log
  license: MIT
  ks-version: '0.10'
doc: The enumerations that more than one part of the grammar uses.
doc-ref:
  - https://github.com/mysql/mysql-server/blob/mysql-9.4.0/libs/mysql/binlog/event/binlog_event.h Log_event_type
  - https://github.com/MariaDB/server/blob/mariadb-11.8.3/sql/log_event.h Log_event_type
enums:
  event_type:
    0: unknown_event
    1: start_event_v3
    2: query_event
    3: stop_event
    4: rotate_event
    5: intvar_event
    6: load_event
    7: slave_event
    8: create_file_event
    9: append_block_event
    10: exec_load_event
    11: delete_file_event
    12: new_load_event
    13: rand_event
    14: user_var_event
    15: format_description_event
    16: xid_event
    17: begin_load_query_event
    18: execute_load_query_event
    19: table_map_event
    20: pre_ga_write_rows_event
    21: pre_ga_update_rows_event
    22: pre_ga_delete_rows_event
    23: write_rows_event_v1
    24: update_rows_event_v1
    25: delete_rows_event_v1
    26: incident_event
    27: heartbeat_log_event
    28: ignorable_log_event
    29: rows_query_log_event
    30: write_rows_event
    31: update_rows_event
    32: delete_rows_event
    33: gtid_log_event
    34: anonymous_gtid_log_event
    35: previous_gtids_log_event
    36: transaction_context_event
    37: view_change_event
    38: xa_prepare_log_event
    39: partial_update_rows_event
    40: transaction_payload_event
    41: heartbeat_log_event_v2
    42: gtid_tagged_log_event
    43: large_transaction_header_event
    160: annotate_rows_event
    161: binlog_checkpoint_event
    162: gtid_event
    163: gtid_list_event
    164: start_encryption_event
    165: query_compressed_event
    166: write_rows_compressed_event_v1
    167: update_rows_compressed_event_v1
    168: delete_rows_compressed_event_v1
    169: write_rows_compressed_event
    170: update_rows_compressed_event
    171: delete_rows_compressed_event
    172: partial_row_data_event
  checksum_algorithm:
    0: 'off'
    1: crc32
    255: undefined
  year_bits:
    0: undetermined
    1: absent
    2: present
  query_status_key:
    0:
      id: flags2
      -orig-id: Q_FLAGS2_CODE
    1:
      id: sql_mode
      -orig-id: Q_SQL_MODE_CODE
    2:
      id: catalog_with_terminator
      -orig-id: Q_CATALOG_CODE
    3:
      id: auto_increment
      -orig-id: Q_AUTO_INCREMENT
    4:
      id: charset
      -orig-id: Q_CHARSET_CODE
    5:
      id: time_zone
      -orig-id: Q_TIME_ZONE_CODE
    6:
      id: catalog
      -orig-id: Q_CATALOG_NZ_CODE
    7:
      id: lc_time_names
      -orig-id: Q_LC_TIME_NAMES_CODE
    8:
      id: charset_database
      -orig-id: Q_CHARSET_DATABASE_CODE
    9:
      id: table_map_for_update
      -orig-id: Q_TABLE_MAP_FOR_UPDATE_CODE
    10:
      id: source_data_written
      -orig-id: Q_MASTER_DATA_WRITTEN_CODE
    11:
      id: invoker
      -orig-id: Q_INVOKER
    12:
      id: updated_schema_names
      -orig-id: Q_UPDATED_DB_NAMES
    13:
      id: microseconds
      -orig-id: Q_MICROSECONDS
    14:
      id: commit_timestamp
      -orig-id: Q_COMMIT_TS
    15:
      id: commit_timestamp_2
      -orig-id: Q_COMMIT_TS2
    16:
      id: explicit_defaults_for_timestamp
      -orig-id: Q_EXPLICIT_DEFAULTS_FOR_TIMESTAMP
    17:
      id: ddl_xid
      -orig-id: Q_DDL_LOGGED_WITH_XID
    18:
      id: default_collation_for_utf8mb4
      -orig-id: Q_DEFAULT_COLLATION_FOR_UTF8MB4
    19:
      id: sql_require_primary_key
      -orig-id: Q_SQL_REQUIRE_PRIMARY_KEY
    20:
      id: default_table_encryption
      -orig-id: Q_DEFAULT_TABLE_ENCRYPTION
    21:
      id: enable_cascade_triggers
      -orig-id: Q_ENABLE_CASCADE_TRIGGERS
    128:
      id: mariadb_microseconds
      -orig-id: Q_HRNOW
    129:
      id: mariadb_xid
      -orig-id: Q_XID
    130:
      id: mariadb_gtid_flags3
      -orig-id: Q_GTID_FLAGS3
    131:
      id: mariadb_character_set_collations
      -orig-id: Q_CHARACTER_SET_COLLATIONS
    255:
      id: mariadb_dummy
      -orig-id: Q_DUMMY
