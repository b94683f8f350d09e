meta:
  id: gtid_tagged_event
  title: GTID_TAGGED_LOG_EVENT
  license: MIT
  ks-version: '0.10'
  imports:
    - /common/varlen_integer
  endian: le
doc: |
  The start of a transaction whose GTID has a tag. It says what a GTID_LOG_EVENT says, in the
  format of MySQL's serialization library: fields with a number before each, integers of
  variable length, and fields left out where they have their default. Since 8.3.
doc-ref: https://github.com/mysql/mysql-server/blob/mysql-9.4.0/libs/mysql/binlog/event/control_events.h Gtid_event::define_fields
-webide-representation: '{fields.uuid}:{tag}:{gno:dec}'
seq:
  - id: serialization_version
    -orig-id: serialization_format_version
    type: varlen_integer
    doc: Version of the serialization format, 1.
  - id: len_message
    -orig-id: serializable_field_size
    type: varlen_integer
    doc: Length of the message from `serialization_version` on, in bytes.
  - id: last_non_ignorable_field_id
    -orig-id: last_non_ignorable_field_id
    type: varlen_integer
    doc: A reader that does not know this field must not go on; 0 where it may skip all that it does not know.
  - id: fields
    -orig-id: define_fields
    size: len_message.value - serialization_version.num_bytes - len_message.num_bytes - last_non_ignorable_field_id.num_bytes
    type: field_list
    doc: The fields of the message, each with its number.
  - id: unknown_tail
    size-eos: true
    if: not _io.eof
    doc: Bytes that newer servers may add.
instances:
  flags:
    -orig-id: gtid_flags
    value: fields.flags.number.value
  may_have_statements:
    -orig-id: FLAG_MAY_HAVE_SBR
    value: (flags & 0x01) != 0
    doc: The transaction may hold changes as statements; otherwise it holds rows alone.
  tag:
    value: fields.tag.text
    doc: Tag of the GTID, between the UUID and the number; of lower case letters, digits and underscores.
  gno:
    -orig-id: rpl_gtid_gno
    value: fields.gno.number.signed_value
    doc: Number of the transaction among those of its server with its tag, 1 to 2^63 - 2.
  last_committed:
    -orig-id: last_committed
    value: fields.last_committed.number.signed_value
    doc: |
      `sequence_number` of the newest transaction in this log that must be committed before
      this one may start on a replica; 0 at the start of a log.
  sequence_number:
    -orig-id: sequence_number
    value: fields.sequence_number.number.signed_value
    doc: Number of the transaction in this log, from 1.
  immediate_commit_timestamp:
    -orig-id: immediate_commit_timestamp
    value: fields.immediate_commit_timestamp.number.value
    doc: When the server that wrote this log committed the transaction, in microseconds since 1970-01-01 UTC.
  original_commit_timestamp:
    -orig-id: original_commit_timestamp
    value: |
      (fields.has_original_commit_timestamp ? fields.original_commit_timestamp.number.value
      : immediate_commit_timestamp).as<u8>
    doc: When the server of the UUID committed the transaction, in microseconds since 1970-01-01 UTC.
  len_transaction:
    -orig-id: transaction_length
    value: fields.len_transaction.number.value
    doc: Length of the whole transaction from the start of this event, with headers and checksums, in bytes.
  immediate_server_version:
    -orig-id: immediate_server_version
    value: fields.immediate_server_version.number.value
    doc: Version of the server that wrote this log, 90001 for 9.0.1.
  original_server_version:
    -orig-id: original_server_version
    value: |
      (fields.has_original_server_version ? fields.original_server_version.number.value
      : immediate_server_version).as<u8>
    doc: Version of the server of the UUID.
  commit_group_ticket:
    -orig-id: commit_group_ticket
    value: fields.commit_group_ticket.number.value
    if: fields.has_commit_group_ticket
    doc: Ticket that puts the transaction into a group commit, for Group Replication; never 0.
types:
  field_list:
    doc: The fields in the order of their numbers.
    seq:
      - id: flags
        -orig-id: gtid_flags
        type: number_field(0)
        doc: Bits described by `may_have_statements`.
      - id: uuid
        -orig-id: Uuid::bytes
        type: uuid_field
        doc: UUID of the server where the transaction began.
      - id: gno
        -orig-id: rpl_gtid_gno
        type: number_field(2)
        doc: Number of the transaction among those of its server with its tag, signed, 1 to 2^63 - 2.
      - id: tag
        -orig-id: tag
        type: tag_field
        doc: Tag of the GTID, between the UUID and the number.
      - id: last_committed
        -orig-id: last_committed
        type: number_field(4)
        doc: '`sequence_number` of the newest transaction that must be committed before, signed.'
      - id: sequence_number
        -orig-id: sequence_number
        type: number_field(5)
        doc: Number of the transaction in this log, signed, from 1.
      - id: immediate_commit_timestamp
        -orig-id: immediate_commit_timestamp
        type: number_field(6)
        doc: |
          When the server that wrote this log committed the transaction, in microseconds
          since 1970-01-01 UTC.
      - id: original_commit_timestamp
        -orig-id: original_commit_timestamp
        type: number_field(7)
        if: has_original_commit_timestamp
        doc: Left out where it is the same as the immediate one.
      - id: len_transaction
        -orig-id: transaction_length
        type: number_field(8)
        doc: Length of the whole transaction with this event, in bytes.
      - id: immediate_server_version
        -orig-id: immediate_server_version
        type: number_field(9)
        doc: Version of the server that wrote this log, 90001 for 9.0.1.
      - id: original_server_version
        -orig-id: original_server_version
        type: number_field(10)
        if: has_original_server_version
        doc: Left out where it is the same as the immediate one.
      - id: commit_group_ticket
        -orig-id: commit_group_ticket
        type: number_field(11)
        if: has_commit_group_ticket
        doc: Left out where the transaction has none.
      - id: unknown_fields
        size-eos: true
        if: not _io.eof
        doc: Fields of newer servers, from number 12 on.
    instances:
      id_after_immediate_commit_timestamp:
        pos: _io.pos
        type: u1
        doc: The next field's `id`, read ahead.
      id_after_immediate_server_version:
        pos: _io.pos
        type: u1
        if: not _io.eof
      id_after_original_server_version:
        pos: _io.pos
        type: u1
        if: not _io.eof
      has_original_commit_timestamp:
        value: id_after_immediate_commit_timestamp == 7 * 2
      has_original_server_version:
        value: not _io.eof and id_after_immediate_server_version == 10 * 2
      has_commit_group_ticket:
        value: not _io.eof and id_after_original_server_version == 11 * 2
  number_field:
    -webide-representation: '{number}'
    params:
      - id: field
        type: u1
        doc: Number of the field.
    seq:
      - id: id
        -orig-id: field_id
        type: u1
        valid: field * 2
        doc: Number of the field, which a variable-length integer stores doubled.
      - id: number
        -orig-id: field_data
        type: varlen_integer
        doc: The field's value.
  uuid_field:
    -webide-representation: '{text}'
    seq:
      - id: id
        -orig-id: field_id
        type: u1
        valid: 1 * 2
        doc: Number of the field, which a variable-length integer stores doubled.
      - id: bytes
        -orig-id: Uuid::bytes
        type: varlen_integer
        repeat: expr
        repeat-expr: 16
        doc: The bytes of the UUID in the order in which it is printed; those from 128 on take two bytes each.
    instances:
      text:
        value: |
          bytes[0].hex + bytes[1].hex + bytes[2].hex + bytes[3].hex + '-'
          + bytes[4].hex + bytes[5].hex + '-' + bytes[6].hex + bytes[7].hex + '-'
          + bytes[8].hex + bytes[9].hex + '-' + bytes[10].hex + bytes[11].hex
          + bytes[12].hex + bytes[13].hex + bytes[14].hex + bytes[15].hex
        doc: The UUID as it is printed, in lower case.
  tag_field:
    -webide-representation: '{text}'
    seq:
      - id: id
        -orig-id: field_id
        type: u1
        valid: 3 * 2
        doc: Number of the field, which a variable-length integer stores doubled.
      - id: len_text
        -orig-id: tag_length
        type: varlen_integer
        doc: Length of the tag, 1 to 32, in bytes; 0 where the event has none after all.
      - id: text
        -orig-id: tag
        size: len_text.value
        type: str
        encoding: UTF-8
        doc: The tag, of lower case letters, digits and underscores.
