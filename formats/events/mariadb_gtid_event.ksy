meta:
  id: mariadb_gtid_event
  title: GTID_EVENT
  license: MIT
  ks-version: '0.10'
  endian: le
doc: |
  The start of a transaction, or of a statement that stands alone, in MariaDB: its global
  identifier and how replicas may apply it. The GTID is domain, the header's `server_id`, and
  sequence number. A transaction ends with an XID or a COMMIT; it has no BEGIN of its own. Since 10.0.

  The event is never shorter than 19 bytes: without a commit identifier, what follows `flags`
  takes at least six bytes, zeros where there is nothing to say.
doc-ref: https://github.com/MariaDB/server/blob/mariadb-11.8.3/sql/log_event.cc Gtid_log_event
-webide-representation: '{domain_id:dec}-{sequence_number:dec}'
params:
  - id: len_post_header
    type: u1
    doc: Length of the fixed part, 19 bytes.
seq:
  - id: sequence_number
    -orig-id: seq_no
    type: u8
    doc: Number of the transaction in its domain.
  - id: domain_id
    -orig-id: domain_id
    type: u4
    doc: Replication domain; each has its own order of transactions.
  - id: flags
    -orig-id: flags2
    type: u1
    doc: Bits described by the instances up to `is_completed_xa`.
  - id: commit_id
    -orig-id: commit_id
    type: u8
    if: has_commit_id
    doc: The same number for all transactions that the server committed together.
  - id: xid
    -orig-id: xid
    type: xa_identifier
    if: is_prepared_xa or is_completed_xa
    doc: Identifier of the XA transaction.
  - id: extra_flags
    -orig-id: flags_extra
    type: u1
    if: has_extra_flags
    doc: Bits described by the instances from `has_extra_engines` on. 10.8; zero where older servers pad.
  - id: num_extra_engines
    -orig-id: extra_engines
    type: u1
    if: has_extra_engines
    doc: How many storage engines beyond the first the transaction changed; 255 where the server does not say.
  - id: start_alter_sequence_number
    -orig-id: sa_seq_no
    type: u8
    if: is_commit_alter or is_rollback_alter
    doc: The `sequence_number` of the ALTER TABLE's first half.
  - id: thread_id
    -orig-id: thread_id
    type: u4
    if: has_thread_id
    doc: Connection that ran the transaction. Since 11.5.
  - id: padding
    -orig-id: GTID_HEADER_LEN
    size: len_post_header - _io.pos
    if: _io.pos < len_post_header
    doc: Zeros.
  - id: unknown_tail
    size-eos: true
    if: not _io.eof
    doc: Bytes that newer servers may add.
instances:
  is_standalone:
    -orig-id: FL_STANDALONE
    value: (flags & 0x01) != 0
    doc: One event follows, with no COMMIT or XID to end it.
  has_commit_id:
    -orig-id: FL_GROUP_COMMIT_ID
    value: (flags & 0x02) != 0
    doc: The transaction was committed together with others.
  is_transactional:
    -orig-id: FL_TRANSACTIONAL
    value: (flags & 0x04) != 0
    doc: The transaction can be rolled back; it changed tables of transactional engines alone.
  is_parallel_allowed:
    -orig-id: FL_ALLOW_PARALLEL
    value: (flags & 0x08) != 0
    doc: Session variable `skip_parallel_replication` was off.
  has_waited:
    -orig-id: FL_WAITED
    value: (flags & 0x10) != 0
    doc: The transaction waited for a lock of another.
  is_ddl:
    -orig-id: FL_DDL
    value: (flags & 0x20) != 0
    doc: The transaction holds a definition (CREATE, ALTER, DROP …).
  is_prepared_xa:
    -orig-id: FL_PREPARED_XA
    value: (flags & 0x40) != 0
    doc: An XA transaction up to its XA PREPARE. Since 10.5.
  is_completed_xa:
    -orig-id: FL_COMPLETED_XA
    value: (flags & 0x80) != 0
    doc: The XA COMMIT or XA ROLLBACK of a prepared XA transaction. Since 10.5.
  has_extra_flags:
    value: |
      _io.size > 13 + (has_commit_id ? 8 : 0)
      + (is_prepared_xa or is_completed_xa ? 6 + xid.len_gtrid + xid.len_bqual : 0)
  has_extra_engines:
    -orig-id: FL_EXTRA_MULTI_ENGINE_E1
    value: has_extra_flags and (extra_flags & 0x01) != 0
  is_start_alter:
    -orig-id: FL_START_ALTER_E1
    value: has_extra_flags and (extra_flags & 0x02) != 0
    doc: First half of an ALTER TABLE, for replicas to run while the source does; `binlog_alter_two_phase`.
  is_commit_alter:
    -orig-id: FL_COMMIT_ALTER_E1
    value: has_extra_flags and (extra_flags & 0x04) != 0
    doc: Second half of an ALTER TABLE that succeeded.
  is_rollback_alter:
    -orig-id: FL_ROLLBACK_ALTER_E1
    value: has_extra_flags and (extra_flags & 0x08) != 0
    doc: Second half of an ALTER TABLE that failed.
  has_thread_id:
    -orig-id: FL_EXTRA_THREAD_ID
    value: has_extra_flags and (extra_flags & 0x10) != 0
types:
  xa_identifier:
    seq:
      - id: format_id
        -orig-id: formatID
        type: u4
        doc: Third part of the identifier as XA statements write it.
      - id: len_gtrid
        -orig-id: gtrid_length
        type: u1
        doc: Length of `gtrid`, 1 to 64 bytes.
      - id: len_bqual
        -orig-id: bqual_length
        type: u1
        doc: Length of `bqual`, up to 64 bytes.
      - id: gtrid
        -orig-id: data
        size: len_gtrid
        doc: Global transaction identifier, the first part.
      - id: bqual
        -orig-id: data
        size: len_bqual
        doc: Branch qualifier, the second part.
