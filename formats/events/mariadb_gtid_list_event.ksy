meta:
  id: mariadb_gtid_list_event
  title: GTID_LIST_EVENT
  license: MIT
  ks-version: '0.10'
  endian: le
doc: |
  Near the start of every log of MariaDB: for each domain and server the newest GTID in the logs
  before it. Among the entries of one domain, the last is the newest. Since 10.0.
doc-ref: https://github.com/MariaDB/server/blob/mariadb-11.8.3/sql/log_event.h Gtid_list_log_event
-webide-representation: '{num_gtids:dec} GTIDs'
params:
  - id: len_post_header
    type: u1
    doc: Length of the fixed part, 4 bytes.
seq:
  - id: count_and_flags
    -orig-id: count
    type: u4
    doc: The number of GTIDs in 28 bits, four bits of flags above.
  - id: unknown_post_header
    size: len_post_header - 4
    if: len_post_header > 4
    doc: Fixed part beyond what is known; no server writes any.
  - id: gtids
    -orig-id: list
    type: gtid
    repeat: expr
    repeat-expr: num_gtids
    doc: The newest GTID of each server in each domain.
  - id: padding
    -orig-id: GTID_LIST_HEADER_LEN
    size: 2
    if: num_gtids == 0 and not _io.eof
    doc: Two zeros in an empty list, since old replicas do not accept a shorter event.
  - id: unknown_tail
    size-eos: true
    if: not _io.eof
    doc: Bytes that newer servers may add.
instances:
  num_gtids:
    value: count_and_flags & 0x0fffffff
  is_until_reached:
    -orig-id: FLAG_UNTIL_REACHED
    value: (count_and_flags & 0x10000000) != 0
    doc: Only in the network stream; the replica has reached the position of START SLAVE UNTIL.
  is_ignored_gtids:
    -orig-id: FLAG_IGN_GTIDS
    value: (count_and_flags & 0x20000000) != 0
    doc: The replica is to note the GTIDs as done, since their transactions were filtered away.
types:
  gtid:
    -webide-representation: '{domain_id:dec}-{server_id:dec}-{sequence_number:dec}'
    seq:
      - id: domain_id
        -orig-id: domain_id
        type: u4
        doc: Replication domain; each has its own order of transactions.
      - id: server_id
        -orig-id: server_id
        type: u4
        doc: The `server_id` of the server that wrote the transaction.
      - id: sequence_number
        -orig-id: seq_no
        type: u8
        doc: Number of the transaction in its domain.
