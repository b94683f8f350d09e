meta:
  id: gtid_event
  title: GTID_LOG_EVENT and ANONYMOUS_GTID_LOG_EVENT
  license: MIT
  ks-version: '0.10'
  imports:
    - /common/packed_integer
  endian: le
doc: |
  The start of a transaction: its global identifier, which transactions it may be applied in parallel with,
  when it was committed, and how long it is. An anonymous transaction has zeros for its identifier.

  The event grew: MySQL 5.6 ends it after `gno`, 5.7 after `sequence_number`; the commit
  timestamps came in 8.0.1, the length in 8.0.2, the server versions in 8.0.14, then the ticket.
  Transactions with a tag have a GTID_TAGGED_LOG_EVENT instead. Since 5.6.
doc-ref: https://github.com/mysql/mysql-server/blob/mysql-9.4.0/libs/mysql/binlog/event/control_events.h Gtid_event
-webide-representation: '{uuid:uuid}:{gno:dec}'
params:
  - id: len_post_header
    type: u1
    doc: Length of the fixed part, 25 in MySQL 5.6, 42 since 5.7.5, in bytes.
seq:
  - id: flags
    -orig-id: gtid_flags
    type: u1
    doc: Bits described by `may_have_statements`.
  - id: uuid
    -orig-id: Uuid::bytes
    size: 16
    doc: UUID of the server where the transaction began, in the order in which it is printed.
  - id: gno
    -orig-id: rpl_gtid_gno
    type: s8
    doc: Number of the transaction among those of its server, 1 to 2^63 - 2; 0 when anonymous.
  - id: logical_clock_type
    -orig-id: lc_typecode
    type: u1
    enum: logical_clock
    if: len_post_header > 25
    doc: Form of the logical clock that follows. Since 5.7.
  - id: last_committed
    -orig-id: last_committed
    type: s8
    if: has_logical_clock
    doc: |
      `sequence_number` of the newest transaction in this log that must be committed before
      this one may start on a replica; 0 at the start of a log.
  - id: sequence_number
    -orig-id: sequence_number
    type: s8
    if: has_logical_clock
    doc: Number of the transaction in this log, from 1.
  - id: unknown_post_header
    size: len_post_header - len_known_post_header
    if: len_post_header > len_known_post_header
    doc: Fixed part beyond what is known; early 5.7 versions wrote a shorter logical clock there.
  - id: immediate_commit_timestamp_low
    -orig-id: immediate_commit_timestamp
    type: u4
    if: has_commit_timestamps
    doc: Lowest 32 bits of `immediate_commit_timestamp`. Since 8.0.1.
  - id: immediate_commit_timestamp_middle
    -orig-id: immediate_commit_timestamp
    type: u2
    if: has_commit_timestamps
    doc: The next 16 bits of `immediate_commit_timestamp`.
  - id: immediate_commit_timestamp_high
    -orig-id: immediate_commit_timestamp
    type: u1
    if: has_commit_timestamps
    doc: The highest 7 bits of `immediate_commit_timestamp`; the top bit is set where an original one follows.
  - id: original_commit_timestamp_low
    -orig-id: original_commit_timestamp
    type: u4
    if: has_original_commit_timestamp
    doc: Lowest 32 bits of `original_commit_timestamp`. Since 8.0.1.
  - id: original_commit_timestamp_middle
    -orig-id: original_commit_timestamp
    type: u2
    if: has_original_commit_timestamp
    doc: The next 16 bits of `original_commit_timestamp`.
  - id: original_commit_timestamp_high
    -orig-id: original_commit_timestamp
    type: u1
    if: has_original_commit_timestamp
    doc: The highest 8 bits of `original_commit_timestamp`.
  - id: packed_len_transaction
    -orig-id: transaction_length
    type: packed_integer
    if: has_len_transaction
    doc: The stored form of `len_transaction`, in bytes. Since 8.0.2.
  - id: immediate_server_version_low
    -orig-id: immediate_server_version
    type: b24le
    if: has_server_versions
    doc: Lowest 24 bits of `immediate_server_version`. Since 8.0.14.
  - id: immediate_server_version_high
    -orig-id: immediate_server_version
    type: u1
    if: has_server_versions
    doc: The highest 7 bits of `immediate_server_version`; the top bit is set where an original one follows.
  - id: original_server_version_if_other
    -orig-id: original_server_version
    type: u4
    if: has_original_server_version
    doc: The stored form of `original_server_version`.
  - id: commit_group_ticket
    -orig-id: commit_group_ticket
    type: u8
    if: has_server_versions and not _io.eof
    doc: Ticket that puts the transaction into a group commit, for Group Replication; never 0. Since 8.0.
  - id: unknown_tail
    size-eos: true
    if: not _io.eof
    doc: Bytes that newer servers may add.
instances:
  may_have_statements:
    -orig-id: FLAG_MAY_HAVE_SBR
    value: (flags & 0x01) != 0
    doc: The transaction may hold changes as statements; otherwise it holds rows alone.
  has_logical_clock:
    value: len_post_header >= 42 and logical_clock_type == logical_clock::logical_timestamps
  len_known_post_header:
    value: 'len_post_header <= 25 ? 25 : has_logical_clock ? 42 : 26'
    doc: How much of the fixed part the fields above describe, in bytes.
  has_commit_timestamps:
    value: has_logical_clock and _io.size > len_post_header
  has_original_commit_timestamp:
    value: has_commit_timestamps and (immediate_commit_timestamp_high & 0x80) != 0
    doc: Whether the transaction came from another server, and was committed there first.
  ofs_len_transaction:
    value: 'len_post_header + (has_original_commit_timestamp ? 14 : 7)'
    doc: Bytes of the body before `packed_len_transaction`.
  has_len_transaction:
    value: has_commit_timestamps and _io.size > ofs_len_transaction
  len_len_transaction:
    value: |
      packed_len_transaction.first <= 251 ? 1 :
      packed_len_transaction.first == 252 ? 3 :
      packed_len_transaction.first == 253 ? 4 : 9
    if: has_len_transaction
    doc: Length of `packed_len_transaction`, in bytes.
  has_server_versions:
    value: has_len_transaction and _io.size > ofs_len_transaction + len_len_transaction
  has_original_server_version:
    value: has_server_versions and (immediate_server_version_high & 0x80) != 0
    doc: Whether the transaction came from a server of another version.
  immediate_commit_timestamp:
    -orig-id: immediate_commit_timestamp
    value: |
      ((immediate_commit_timestamp_low.as<u8>
      + (immediate_commit_timestamp_middle.as<u8> * 0x100000000.as<u8>).as<u8>).as<u8>
      + ((immediate_commit_timestamp_high & 0x7f).as<u8> * 0x1000000000000.as<u8>).as<u8>).as<u8>
    if: has_commit_timestamps
    doc: When the server that wrote this log committed the transaction, in microseconds since 1970-01-01 UTC.
  original_commit_timestamp:
    -orig-id: original_commit_timestamp
    value: |
      (not has_original_commit_timestamp ? immediate_commit_timestamp :
      ((original_commit_timestamp_low.as<u8>
      + (original_commit_timestamp_middle.as<u8> * 0x100000000.as<u8>).as<u8>).as<u8>
      + (original_commit_timestamp_high.as<u8> * 0x1000000000000.as<u8>).as<u8>).as<u8>).as<u8>
    if: has_commit_timestamps
    doc: |
      When the server of `uuid` committed the transaction, in microseconds since 1970-01-01 UTC;
      0 where that is not known.
  len_transaction:
    -orig-id: transaction_length
    value: packed_len_transaction.value
    if: has_len_transaction
    doc: Length of the whole transaction from the start of this event, with headers and checksums, in bytes.
  immediate_server_version:
    -orig-id: immediate_server_version
    value: |
      (immediate_server_version_low.as<u4>
      + ((immediate_server_version_high & 0x7f).as<u4> * 0x1000000.as<u4>).as<u4>).as<u4>
    if: has_server_versions
    doc: Version of the server that wrote this log, 80034 for 8.0.34.
  original_server_version:
    -orig-id: original_server_version
    value: '(has_original_server_version ? original_server_version_if_other : immediate_server_version).as<u4>'
    if: has_server_versions
    doc: Version of the server of `uuid`; 999999 where that server was too old to report it, 0 where it is not known.
enums:
  logical_clock:
    1:
      id: commit_timestamp
      -orig-id: G_COMMIT_TS
      doc: One number of 8 bytes, in 5.7 versions before 5.7.5; servers accept it and ignore it.
    2:
      id: logical_timestamps
      -orig-id: LOGICAL_TIMESTAMP_TYPECODE
      doc: '`last_committed` and `sequence_number`.'
