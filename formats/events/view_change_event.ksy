meta:
  id: view_change_event
  title: VIEW_CHANGE_EVENT
  license: MIT
  ks-version: '0.10'
  endian: le
doc: |
  A member joined or left the group of Group Replication: from here on there is a new view of
  who belongs to it. MySQL 5.7 to 8.0; later servers log an empty transaction instead. Since 5.7.
doc-ref: https://github.com/mysql/mysql-server/blob/mysql-9.4.0/libs/mysql/binlog/event/control_events.h View_change_event
-webide-representation: '{view_id}'
params:
  - id: len_post_header
    type: u1
    doc: Length of the fixed part, 52 bytes.
seq:
  - id: view_id
    -orig-id: view_id
    size: 40
    type: strz
    encoding: UTF-8
    doc: Identifier of the view, padded with zeros.
  - id: sequence_number
    -orig-id: seq_number
    type: u8
    doc: Number of the next transaction in the group's conflict detection.
  - id: num_certification_info
    -orig-id: cert_info_len
    type: u4
    doc: Number of entries in `certification_info`.
  - id: unknown_post_header
    size: len_post_header - 52
    if: len_post_header > 52
    doc: Fixed part beyond what is known; no server writes any.
  - id: certification_info
    -orig-id: certification_info
    type: entry
    repeat: expr
    repeat-expr: num_certification_info
    doc: What a member needs to take part in conflict detection.
  - id: unknown_tail
    size-eos: true
    if: not _io.eof
    doc: Bytes that newer servers may add.
types:
  entry:
    seq:
      - id: len_key
        -orig-id: key_len
        type: u2
        doc: Length of `key`, in bytes.
      - id: key
        -orig-id: key
        size: len_key
        doc: Hash of a primary key, or a name of the server's own.
      - id: len_value
        -orig-id: value_len
        type: u4
        doc: Length of `value`, in bytes.
      - id: value
        -orig-id: value
        size: len_value
        doc: The GTIDs that the row's last change had seen, encoded as in `gtid_set`.
