meta:
  id: transaction_context_event
  title: TRANSACTION_CONTEXT_EVENT
  license: MIT
  ks-version: '0.10'
  imports:
    - /common/gtid_set
  endian: le
doc: |
  What Group Replication needs to see whether a transaction conflicts with others: what it had
  seen, read and written. It travels between the group's members and is not kept in their logs.
  Since 5.7.
doc-ref: https://github.com/mysql/mysql-server/blob/mysql-9.4.0/libs/mysql/binlog/event/control_events.h Transaction_context_event
-webide-representation: '{server_uuid}, {num_write_set:dec} writes'
params:
  - id: len_post_header
    type: u1
    doc: Length of the fixed part, 18 bytes.
seq:
  - id: len_server_uuid
    -orig-id: server_uuid_len
    type: u1
    doc: Length of `server_uuid`, in bytes.
  - id: thread_id
    -orig-id: thread_id
    type: u4
    doc: Connection that runs the transaction.
  - id: gtid_specified
    -orig-id: gtid_specified
    type: u1
    doc: 1 where the session chose the GTID by `gtid_next`, else 0.
  - id: len_snapshot_version
    -orig-id: encoded_snapshot_version_length
    type: u4
    doc: Length of `snapshot_version`, in bytes.
  - id: num_write_set
    -orig-id: write_set_len
    type: u4
    doc: Number of entries in `write_set`.
  - id: num_read_set
    -orig-id: read_set_len
    type: u4
    doc: Number of entries in `read_set`.
  - id: unknown_post_header
    size: len_post_header - 18
    if: len_post_header > 18
    doc: Fixed part beyond what is known; no server writes any.
  - id: server_uuid
    -orig-id: server_uuid
    size: len_server_uuid
    type: str
    encoding: UTF-8
    doc: UUID of the member that runs the transaction, as text.
  - id: snapshot_version
    -orig-id: encoded_snapshot_version
    size: len_snapshot_version
    type: snapshot
    doc: The GTIDs that the member had executed when the transaction was about to commit.
  - id: write_set
    -orig-id: write_set
    type: item
    repeat: expr
    repeat-expr: num_write_set
    doc: Hashes of the primary keys that the transaction changed.
  - id: read_set
    -orig-id: read_set
    type: item
    repeat: expr
    repeat-expr: num_read_set
    doc: Hashes of the primary keys that the transaction read; servers leave it empty.
  - id: unknown_tail
    size-eos: true
    if: not _io.eof
    doc: Bytes that newer servers may add.
types:
  snapshot:
    seq:
      - id: gtids
        -orig-id: snapshot_version
        type: gtid_set
        if: not _io.eof
        doc: The set of GTIDs; absent where the member sent none.
      - id: unknown_tail
        size-eos: true
        if: not _io.eof
        doc: Bytes that newer servers may add.
  item:
    seq:
      - id: len_hash
        -orig-id: len
        type: u2
        doc: Length of `hash`, in bytes.
      - id: hash
        -orig-id: hash
        size: len_hash
        doc: Hash of a row's primary or unique key.
