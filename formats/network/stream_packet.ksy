meta:
  id: stream_packet
  title: Message of the binary log stream
  license: MIT
  ks-version: '0.10'
  imports:
    - /binlog_event
    - /common/packed_integer
    - /events/table_map_event
  endian: le
doc: |
  What a server sends to a replica after COM_BINLOG_DUMP or COM_BINLOG_DUMP_GTID: event after
  event, and at last the end of the stream or an error. The stream holds one whole message, without
  the headers of its packets (`network_packet`).
doc-ref: https://github.com/mysql/mysql-server/blob/mysql-9.4.0/sql/rpl_binlog_sender.cc Binlog_sender
-webide-representation: '{body}'
params:
  - id: has_semi_sync
    type: bool
    doc: Whether the replica asked for semi-synchronous replication and the server granted it.
  - id: binlog_version
    type: u2
    doc: Version of the log's format, 1, 3 or 4. This and all that follows is as in `binlog_event`.
  - id: len_header
    type: u1
    doc: Length of the event's header, in bytes.
  - id: len_post_header
    type: u1
    doc: The format description's entry for the event's type, in bytes; 0 where it has none.
  - id: is_checksummed
    type: bool
    doc: Whether events of the stream end with a checksum.
  - id: has_permuted_types
    type: bool
    doc: Whether the source numbers its event types as early 5.1 alpha versions did.
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
  - id: kind
    -orig-id: event_ptr
    type: u1
    enum: packet_kind
    valid:
      any-of:
        - packet_kind::event
        - packet_kind::end_of_stream
        - packet_kind::error
    doc: What the message is.
  - id: body
    type:
      switch-on: kind
      cases:
        'packet_kind::event': streamed_event
        'packet_kind::end_of_stream': end_of_stream
        'packet_kind::error': error
    doc: The message, by its kind.
types:
  streamed_event:
    -webide-representation: '{event}'
    seq:
      - id: semi_sync
        -orig-id: reserve_header
        type: semi_sync_header
        if: _parent.has_semi_sync
        doc: The header of semi-synchronous replication.
      - id: event
        -orig-id: event_ptr
        type: |
          binlog_event(
            _parent.binlog_version,
            _parent.len_header,
            _parent.len_post_header,
            _parent.is_checksummed,
            _parent.has_permuted_types,
            _parent.year_bits,
            _parent.table_map,
            _parent.has_table_map
          )
        doc: The event, as in the log.
      - id: unknown_tail
        size-eos: true
        if: not _io.eof
        doc: Nothing in a sound stream, since the event's header says its length.
  semi_sync_header:
    doc: What a source with semi-synchronous replication puts before each event.
    doc-ref: https://github.com/mysql/mysql-server/blob/mysql-9.4.0/plugin/semisync/semisync.h ReplSemiSyncBase
    seq:
      - id: magic
        -orig-id: kPacketMagicNum
        contents: [0xef]
        doc: Marks the header.
      - id: flags
        -orig-id: kPacketFlagSync
        type: u1
        doc: Bits described by `is_ack_wanted`.
    instances:
      is_ack_wanted:
        -orig-id: kPacketFlagSync
        value: (flags & 0x01) != 0
        doc: The source waits until a replica has the event, and wants a `semi_sync_ack`.
  end_of_stream:
    doc: |
      End of the stream, where the replica asked not to wait for new events. A client that agreed
      on CLIENT_DEPRECATE_EOF gets the long form.
    doc-ref: https://github.com/mysql/mysql-server/blob/mysql-9.4.0/sql/protocol_classic.cc net_send_eof and net_send_ok
    -webide-representation: 'status {status_flags:hex}'
    seq:
      - id: affected_rows
        -orig-id: affected_rows
        type: packed_integer
        if: is_long
        doc: Number of rows that a statement changed; 0 here.
      - id: last_insert_id
        -orig-id: id
        type: packed_integer
        if: is_long
        doc: Value of an AUTO_INCREMENT column that a statement made; 0 here.
      - id: status_flags_of_long_form
        -orig-id: server_status
        type: u2
        if: is_long
        doc: Where the long form has `status_flags`, before the number of warnings.
      - id: warnings
        -orig-id: statement_warn_count
        type: u2
        if: not _io.eof
        doc: Number of warnings.
      - id: status_flags_of_short_form
        -orig-id: server_status
        type: u2
        if: not is_long and not _io.eof
        doc: Where the short form has `status_flags`, after the number of warnings.
      - id: info
        -orig-id: message
        size-eos: true
        if: not _io.eof
        doc: Human-readable text, and changes of the session's state.
    instances:
      is_long:
        value: _io.size >= 7
      status_flags:
        -orig-id: server_status
        value: 'is_long ? status_flags_of_long_form : status_flags_of_short_form'
        if: has_status_flags
        doc: State of the session, described by the instances that follow.
      has_status_flags:
        value: _io.size >= 5
        doc: Whether the message holds `status_flags`; before 4.1 it did not.
      is_in_transaction:
        -orig-id: SERVER_STATUS_IN_TRANS
        value: (status_flags & 0x0001) != 0
        if: has_status_flags
        doc: The session is in a transaction.
      is_autocommit:
        -orig-id: SERVER_STATUS_AUTOCOMMIT
        value: (status_flags & 0x0002) != 0
        if: has_status_flags
        doc: The session commits each statement on its own (autocommit).
      has_more_results:
        -orig-id: SERVER_MORE_RESULTS_EXISTS
        value: (status_flags & 0x0008) != 0
        if: has_status_flags
        doc: Another result follows.
      is_without_good_index:
        -orig-id: SERVER_QUERY_NO_GOOD_INDEX_USED
        value: (status_flags & 0x0010) != 0
        if: has_status_flags
        doc: The query found no good index.
      is_without_index:
        -orig-id: SERVER_QUERY_NO_INDEX_USED
        value: (status_flags & 0x0020) != 0
        if: has_status_flags
        doc: The query used no index.
      has_cursor:
        -orig-id: SERVER_STATUS_CURSOR_EXISTS
        value: (status_flags & 0x0040) != 0
        if: has_status_flags
        doc: A cursor is open for the result.
      is_last_row_sent:
        -orig-id: SERVER_STATUS_LAST_ROW_SENT
        value: (status_flags & 0x0080) != 0
        if: has_status_flags
        doc: The cursor has no more rows.
      is_database_dropped:
        -orig-id: SERVER_STATUS_DB_DROPPED
        value: (status_flags & 0x0100) != 0
        if: has_status_flags
        doc: A database was dropped.
      has_no_backslash_escapes:
        -orig-id: SERVER_STATUS_NO_BACKSLASH_ESCAPES
        value: (status_flags & 0x0200) != 0
        if: has_status_flags
        doc: The session's `sql_mode` has NO_BACKSLASH_ESCAPES.
      is_metadata_changed:
        -orig-id: SERVER_STATUS_METADATA_CHANGED
        value: (status_flags & 0x0400) != 0
        if: has_status_flags
        doc: A prepared statement was prepared again and has other columns now.
      is_slow_query:
        -orig-id: SERVER_QUERY_WAS_SLOW
        value: (status_flags & 0x0800) != 0
        if: has_status_flags
        doc: The query took longer than `long_query_time`.
      has_out_params:
        -orig-id: SERVER_PS_OUT_PARAMS
        value: (status_flags & 0x1000) != 0
        if: has_status_flags
        doc: The result holds OUT parameters of a procedure. Since MySQL 5.5.
      is_read_only_transaction:
        -orig-id: SERVER_STATUS_IN_TRANS_READONLY
        value: (status_flags & 0x2000) != 0
        if: has_status_flags
        doc: The transaction is read-only. Since MySQL 5.6.
      is_session_state_changed:
        -orig-id: SERVER_SESSION_STATE_CHANGED
        value: (status_flags & 0x4000) != 0
        if: has_status_flags
        doc: '`info` holds changes of the session''s state. Since MySQL 5.7.'
      has_ansi_quotes:
        -orig-id: SERVER_STATUS_ANSI_QUOTES
        value: (status_flags & 0x8000) != 0
        if: has_status_flags
        doc: The session's `sql_mode` has ANSI_QUOTES. MariaDB alone.
  error:
    doc-ref: https://github.com/mysql/mysql-server/blob/mysql-9.4.0/sql/protocol_classic.cc net_send_error_packet
    -webide-representation: '{error_code:dec} {message}'
    seq:
      - id: error_code
        -orig-id: sql_errno
        type: u2
        doc: Number of the error, 1236 where the server cannot read the log as asked.
      - id: sql_state_marker
        -orig-id: sqlstate
        type: u1
        if: has_sql_state
        doc: The character `#`.
      - id: sql_state
        -orig-id: sqlstate
        size: 5
        type: str
        encoding: ASCII
        if: has_sql_state
        doc: Class of the error by the SQL standard. Since 4.1.
      - id: message
        -orig-id: err
        size-eos: true
        type: str
        encoding: UTF-8
        doc: What happened, in words.
    instances:
      upcoming:
        pos: 3
        type: u1
        doc: What follows the number, read ahead.
      has_sql_state:
        value: _io.size > 3 and upcoming == 0x23
enums:
  packet_kind:
    0: event
    0xfe: end_of_stream
    0xff: error
