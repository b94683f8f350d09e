meta:
  id: query_status_vars
  title: Status variables of a statement
  license: MIT
  ks-version: '0.10'
  imports:
    - /binlog_enums
    - /events/sql_mode
  endian: le
doc: |
  The session variables that a statement depends on: pairs of a one-byte key and a value whose
  layout the key decides. Keys from 128 on are MariaDB's. Values do not state their length, so an
  unknown key keeps all bytes after it. Since 5.0.
doc-ref:
  - https://github.com/mysql/mysql-server/blob/mysql-9.4.0/libs/mysql/binlog/event/statement_events.h Query_event
  - https://github.com/MariaDB/server/blob/mariadb-11.8.3/sql/log_event.h Q_…
seq:
  - id: variables
    -orig-id: status_vars
    type: variable
    repeat: eos
    doc: The variables, each with its key.
types:
  variable:
    -webide-representation: '{key}: {value}'
    seq:
      - id: key
        -orig-id: Query_event_status_vars
        type: u1
        enum: binlog_enums::query_status_key
        doc: Which variable it is.
      - id: value
        type:
          switch-on: key
          cases:
            'binlog_enums::query_status_key::flags2': flags2
            'binlog_enums::query_status_key::sql_mode': sql_mode
            'binlog_enums::query_status_key::catalog_with_terminator': catalog_with_terminator
            'binlog_enums::query_status_key::auto_increment': auto_increment
            'binlog_enums::query_status_key::charset': charset
            'binlog_enums::query_status_key::time_zone': time_zone
            'binlog_enums::query_status_key::catalog': catalog
            'binlog_enums::query_status_key::lc_time_names': lc_time_names
            'binlog_enums::query_status_key::charset_database': charset_database
            'binlog_enums::query_status_key::table_map_for_update': table_map_for_update
            'binlog_enums::query_status_key::source_data_written': source_data_written
            'binlog_enums::query_status_key::invoker': invoker
            'binlog_enums::query_status_key::updated_schema_names': updated_schema_names
            'binlog_enums::query_status_key::microseconds': fraction_of_second
            'binlog_enums::query_status_key::commit_timestamp': commit_timestamp
            'binlog_enums::query_status_key::commit_timestamp_2': commit_timestamp_2
            'binlog_enums::query_status_key::explicit_defaults_for_timestamp': explicit_defaults_for_timestamp
            'binlog_enums::query_status_key::ddl_xid': ddl_xid
            'binlog_enums::query_status_key::default_collation_for_utf8mb4': default_collation_for_utf8mb4
            'binlog_enums::query_status_key::sql_require_primary_key': sql_require_primary_key
            'binlog_enums::query_status_key::default_table_encryption': default_table_encryption
            'binlog_enums::query_status_key::enable_cascade_triggers': enable_cascade_triggers
            'binlog_enums::query_status_key::mariadb_microseconds': fraction_of_second
            'binlog_enums::query_status_key::mariadb_xid': ddl_xid
            'binlog_enums::query_status_key::mariadb_gtid_flags3': mariadb_gtid_flags3
            'binlog_enums::query_status_key::mariadb_character_set_collations': mariadb_character_set_collations
            'binlog_enums::query_status_key::mariadb_dummy': mariadb_dummy
            _: unknown
        doc: Value of the variable.
  flags2:
    -webide-representation: '{flags:hex}'
    seq:
      - id: flags
        -orig-id: flags2
        type: u4
        doc: Bits described by the instances.
    instances:
      is_sql_auto_is_null:
        -orig-id: OPTION_AUTO_IS_NULL
        value: (flags & 0x4000) != 0
        doc: The variable `sql_auto_is_null`.
      is_autocommit_off:
        -orig-id: OPTION_NOT_AUTOCOMMIT
        value: (flags & 0x80000) != 0
        doc: '`autocommit` is 0.'
      is_foreign_key_checks_off:
        -orig-id: OPTION_NO_FOREIGN_KEY_CHECKS
        value: (flags & 0x4000000) != 0
        doc: '`foreign_key_checks` is 0.'
      is_unique_checks_off:
        -orig-id: OPTION_RELAXED_UNIQUE_CHECKS
        value: (flags & 0x8000000) != 0
        doc: '`unique_checks` is 0.'
      is_check_constraint_checks_off:
        -orig-id: OPTION_NO_CHECK_CONSTRAINT_CHECKS
        value: (flags & 0x8000) != 0
        doc: MariaDB, `check_constraint_checks` is 0.
      is_explicit_defaults_for_timestamp:
        -orig-id: OPTION_EXPLICIT_DEF_TIMESTAMP
        value: (flags & 0x1000000) != 0
        doc: MariaDB, the variable `explicit_defaults_for_timestamp`.
      is_sql_if_exists:
        -orig-id: OPTION_IF_EXISTS
        value: (flags & 0x10000000) != 0
        doc: MariaDB, the variable `sql_if_exists`.
      is_system_versioning_insert_history:
        -orig-id: OPTION_INSERT_HISTORY
        value: (flags & 0x40000000) != 0
        doc: MariaDB, the variable `system_versioning_insert_history`.
  catalog:
    doc: Since 5.0.4.
    -webide-representation: '{name}'
    seq:
      - id: len_name
        -orig-id: catalog_len
        type: u1
        doc: Length of `name`, in bytes.
      - id: name
        -orig-id: catalog
        size: len_name
        type: str
        encoding: UTF-8
        doc: Catalog of the session, always `std`.
  catalog_with_terminator:
    doc: 5.0.0 to 5.0.3.
    -webide-representation: '{name}'
    seq:
      - id: len_name
        -orig-id: catalog_len
        type: u1
        doc: Length of `name`, in bytes.
      - id: name
        -orig-id: catalog
        size: len_name
        type: str
        encoding: UTF-8
        doc: Catalog of the session, always `std`.
      - id: terminator
        -orig-id: catalog
        type: u1
        doc: 0, after the name; servers do not check it.
  auto_increment:
    -webide-representation: 'by {increment:dec} from {offset:dec}'
    seq:
      - id: increment
        -orig-id: auto_increment_increment
        type: u2
        doc: The variable `auto_increment_increment`.
      - id: offset
        -orig-id: auto_increment_offset
        type: u2
        doc: The variable `auto_increment_offset`.
  charset:
    doc: Numbers of character sets with collations, as `information_schema.collations` lists them.
    -webide-representation: '{client:dec}, {connection:dec}, {server:dec}'
    seq:
      - id: client
        -orig-id: charset[0]
        type: u2
        doc: The variable `character_set_client`, in which the statement is written.
      - id: connection
        -orig-id: charset[2]
        type: u2
        doc: The variable `collation_connection`.
      - id: server
        -orig-id: charset[4]
        type: u2
        doc: The variable `collation_server`.
  time_zone:
    -webide-representation: '{name}'
    seq:
      - id: len_name
        -orig-id: time_zone_len
        type: u1
        doc: Length of `name`, in bytes.
      - id: name
        -orig-id: time_zone_str
        size: len_name
        type: str
        encoding: UTF-8
        doc: The variable `time_zone`.
  lc_time_names:
    -webide-representation: '{number:dec}'
    seq:
      - id: number
        -orig-id: lc_time_names_number
        type: u2
        doc: Number of the variable `lc_time_names`, as the server's list of locales has it; 0 is en_US.
  charset_database:
    -webide-representation: '{collation_id:dec}'
    seq:
      - id: collation_id
        -orig-id: charset_database_number
        type: u2
        doc: Number of the variable `collation_database`.
  table_map_for_update:
    -webide-representation: '{tables:hex}'
    seq:
      - id: tables
        -orig-id: table_map_for_update
        type: u8
        doc: A bit for each table that an UPDATE of several tables changes.
  source_data_written:
    -webide-representation: '{len_event:dec}'
    seq:
      - id: len_event
        -orig-id: master_data_written
        type: u4
        doc: |
          Size of the event as the source wrote it, in bytes. Only in relay logs of a source older
          than 5.0.
  invoker:
    doc: Who defines a routine, view, trigger or event. Since 5.5; in MariaDB also a role, without host.
    -webide-representation: '{user}@{host}'
    seq:
      - id: len_user
        -orig-id: user_len
        type: u1
        doc: Length of `user`, in bytes.
      - id: user
        -orig-id: user
        size: len_user
        type: str
        encoding: UTF-8
        doc: User name.
      - id: len_host
        -orig-id: host_len
        type: u1
        doc: Length of `host`, in bytes.
      - id: host
        -orig-id: host
        size: len_host
        type: str
        encoding: UTF-8
        doc: Host name.
  updated_schema_names:
    doc: Schemas that the statement changes, for appliers that run in parallel. Since 5.6.
    -webide-representation: '{names}'
    seq:
      - id: num_names
        -orig-id: mts_accessed_dbs
        type: u1
        doc: Number of schemas, 1 to 16; 254 stands for more than 16, and none are named.
        -published-wrong: |
          Given as a plain count of names. With 254 no name follows.
      - id: names
        -orig-id: mts_accessed_db_names
        type: strz
        encoding: UTF-8
        repeat: expr
        repeat-expr: 'has_too_many ? 0 : num_names'
        doc: Names of the schemas.
    instances:
      has_too_many:
        -orig-id: OVER_MAX_DBS_IN_EVENT_MTS
        value: num_names == 254
  fraction_of_second:
    doc: Part of the header's timestamp. MySQL since 5.6, MariaDB since 5.3.
    -webide-representation: '{microseconds:dec}'
    seq:
      - id: microseconds
        -orig-id: tv_usec
        type: b24le
        doc: 0 to 999999.
  commit_timestamp:
    doc: Only in milestones of 5.7, before GTID events took it over.
    -webide-representation: '{sequence:dec}'
    seq:
      - id: sequence
        -orig-id: commit_seq_no
        type: u8
        doc: Logical clock of the commit.
  commit_timestamp_2:
    doc: Only in milestones of 5.7, before GTID events took it over.
    -webide-representation: '{last_committed:dec}, {sequence_number:dec}'
    seq:
      - id: last_committed
        -orig-id: last_committed
        type: u8
        doc: Logical clock of the commit that this one came after.
      - id: sequence_number
        -orig-id: sequence_number
        type: u8
        doc: Logical clock of this commit.
  explicit_defaults_for_timestamp:
    doc: Since 8.0.
    -webide-representation: '{is_on:dec}'
    seq:
      - id: is_on
        -orig-id: explicit_defaults_ts
        type: u1
        doc: The variable `explicit_defaults_for_timestamp`, 0 or 1.
  ddl_xid:
    doc: MySQL since 8.0, MariaDB since 10.6.
    -webide-representation: '{xid:dec}'
    seq:
      - id: xid
        -orig-id: ddl_xid
        type: u8
        doc: Number of the transaction that a crash-safe definition ran in.
  default_collation_for_utf8mb4:
    doc: Since 8.0.
    -webide-representation: '{collation_id:dec}'
    seq:
      - id: collation_id
        -orig-id: default_collation_for_utf8mb4_number
        type: u2
        doc: Number of the variable `default_collation_for_utf8mb4`.
  sql_require_primary_key:
    doc: Since 8.0.13.
    -webide-representation: '{is_on:dec}'
    seq:
      - id: is_on
        -orig-id: sql_require_primary_key
        type: u1
        doc: The variable `sql_require_primary_key`, 0 or 1.
  default_table_encryption:
    doc: Since 8.0.16.
    -webide-representation: '{is_on:dec}'
    seq:
      - id: is_on
        -orig-id: default_table_encryption
        type: u1
        doc: The variable `default_table_encryption`, 0 or 1.
  enable_cascade_triggers:
    doc: Since 9.7.
    -webide-representation: '{is_on:dec}'
    seq:
      - id: is_on
        -orig-id: enable_cascade_triggers
        type: u1
        doc: The variable `enable_cascade_triggers`, 0 or 1.
  mariadb_gtid_flags3:
    doc: How the two halves of an ALTER TABLE that replicas begin early belong together. Since 10.8.
    -webide-representation: '{flags:hex}'
    seq:
      - id: flags
        -orig-id: gtid_flags_extra
        type: u1
        doc: Bits described by the instances; they are those of `extra_flags` in the GTID event.
      - id: start_sequence_number
        -orig-id: sa_seq_no
        type: u8
        if: is_commit_alter or is_rollback_alter
        doc: Sequence number of the GTID of the event that started it.
    instances:
      is_start_alter:
        -orig-id: FL_START_ALTER_E1
        value: (flags & 0x02) != 0
        doc: First half of an ALTER TABLE, for replicas to run while the source does.
      is_commit_alter:
        -orig-id: FL_COMMIT_ALTER_E1
        value: (flags & 0x04) != 0
        doc: Second half of an ALTER TABLE that succeeded; only this changes the table.
      is_rollback_alter:
        -orig-id: FL_ROLLBACK_ALTER_E1
        value: (flags & 0x08) != 0
        doc: Second half of an ALTER TABLE that failed.
  mariadb_character_set_collations:
    doc: The variable `character_set_collations`. Since 11.2.
    -webide-representation: '{collations}'
    seq:
      - id: num_collations
        -orig-id: m_count
        type: u1
        doc: Number of pairs, up to 8.
      - id: collations
        -orig-id: m_element
        type: collation
        repeat: expr
        repeat-expr: num_collations
        doc: Pairs of a character set and its default collation.
    types:
      collation:
        seq:
          - id: charset_id
            -orig-id: m_from
            type: u2
            doc: Number of a character set, which is that of its compiled default collation.
          - id: collation_id
            -orig-id: m_to
            type: u2
            doc: Number of the collation that is its default in the session.
  mariadb_dummy:
    doc: |
      Padding without a value. A server that sends an old replica a BEGIN in place of a longer
      GTID event pads the rest with it.
  unknown:
    doc: Value of a key that this grammar does not know, and all after it.
    seq:
      - id: data
        size-eos: true
        doc: The value, and any variables after it.
