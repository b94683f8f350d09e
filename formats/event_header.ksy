meta:
  id: event_header
  title: Binary log event header
  license: MIT
  ks-version: '0.10'
  imports:
    - binlog_enums
  endian: le
doc: |
  The common header that starts every event. Version 1 logs (MySQL 3.23) stop after
  `len_event`, at 13 bytes; later versions have 19 bytes, and a version 4 log may
  declare a longer header in its format description event.
doc-ref: https://github.com/mysql/mysql-server/blob/mysql-9.4.0/libs/mysql/binlog/event/binlog_event.h Log_event_header
-webide-representation: '{type_code} server {server_id:dec}, {len_event:dec} bytes'
params:
  - id: binlog_version
    type: u2
    doc: Version of the log's format, 1, 3 or 4.
  - id: len_header
    type: u1
    doc: Length of the header as the format description event declares it, in bytes; 13 in version 1.
seq:
  - id: timestamp
    -orig-id: when
    type: u4
    doc: Start of the statement, in seconds since 1970-01-01 00:00:00 UTC; 0 in artificial events.
  - id: type_code
    -orig-id: type_code
    type: u1
    enum: binlog_enums::event_type
    doc: What the event is, which decides how its body reads.
  - id: server_id
    -orig-id: unmasked_server_id
    type: u4
    doc: The `server_id` of the server that first wrote the event; it breaks circles in replication.
  - id: len_event
    -orig-id: data_written
    type: u4
    doc: Length of the whole event with its header and checksum, in bytes.
  - id: next_position
    -orig-id: log_pos
    type: u4
    if: binlog_version > 1
    doc: |
      Version 4: the offset of the event's end in the log that it was first written to, modulo 4 GiB;
      0 in artificial events. Version 3: the offset of the event's start.
    -published-wrong: |
      Often given as the position of the next event in the file. It is the start of the event in
      version 3, wraps at 4 GiB, is a position in the source's log in relay logs, and 0 in most
      events of MariaDB 11.4 and later.
  - id: flags
    -orig-id: flags
    type: u2
    if: binlog_version > 1
    doc: Bits described by the `is_…` instances.
  - id: extra_headers
    size: len_header - 19
    if: len_header > 19
    doc: Bytes beyond the 19 that are defined; no released server writes any.
instances:
  is_in_use:
    -orig-id: LOG_EVENT_BINLOG_IN_USE_F
    value: binlog_version > 1 and (flags & 0x0001) != 0
    doc: |
      Only in a format description event: the file is being written or was not closed.
      It counts as 0 in that event's checksum.
  is_forced_rotate:
    -orig-id: LOG_EVENT_FORCED_ROTATE_F
    value: binlog_version > 1 and (flags & 0x0002) != 0
    doc: Obsolete since 4.1.1.
  is_thread_specific:
    -orig-id: LOG_EVENT_THREAD_SPECIFIC_F
    value: binlog_version > 1 and (flags & 0x0004) != 0
    doc: The statement depends on its connection, through a temporary table.
  is_use_suppressed:
    -orig-id: LOG_EVENT_SUPPRESS_USE_F
    value: binlog_version > 1 and (flags & 0x0008) != 0
    doc: The statement needs no default database (CREATE DATABASE and the like).
  is_table_map_version_updated:
    -orig-id: LOG_EVENT_UPDATE_TABLE_MAP_VERSION_F
    value: binlog_version > 1 and (flags & 0x0010) != 0
    doc: Obsolete since 5.1.
  is_artificial:
    -orig-id: LOG_EVENT_ARTIFICIAL_F
    value: binlog_version > 1 and (flags & 0x0020) != 0
    doc: Made up by the server for a replica, and nowhere in the log as it stands.
  is_relay_log:
    -orig-id: LOG_EVENT_RELAY_LOG_F
    value: binlog_version > 1 and (flags & 0x0040) != 0
    doc: Written by the receiver thread of a replica into its relay log.
  is_ignorable:
    -orig-id: LOG_EVENT_IGNORABLE_F
    value: binlog_version > 1 and (flags & 0x0080) != 0
    doc: A replica that does not know the type may skip the event. Since 5.6.
  is_no_filter:
    -orig-id: LOG_EVENT_NO_FILTER_F
    value: binlog_version > 1 and (flags & 0x0100) != 0
    doc: Replication filters do not apply to the event.
  is_mts_isolate:
    -orig-id: LOG_EVENT_MTS_ISOLATE_F
    value: binlog_version > 1 and (flags & 0x0200) != 0
    doc: A parallel applier runs the event on its own.
  is_own_accepted:
    -orig-id: LOG_EVENT_ACCEPT_OWN_F
    value: binlog_version > 1 and (flags & 0x4000) != 0
    doc: MariaDB, a replica applies the event though it bears its own server id.
  is_skipped_for_replication:
    -orig-id: LOG_EVENT_SKIP_REPLICATION_F
    value: binlog_version > 1 and (flags & 0x8000) != 0
    doc: MariaDB, session variable `skip_replication`.
