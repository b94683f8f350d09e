meta:
  id: transaction_payload_event
  title: TRANSACTION_PAYLOAD_EVENT
  license: MIT
  ks-version: '0.10'
  imports:
    - /common/packed_integer
  endian: le
doc: |
  All events of a transaction but its GTID event, compressed as one. The events inside have no
  checksums, and their positions say nothing. MySQL 8.0.20, with `binlog_transaction_compression`.

  The format description event declares a fixed part of 40 bytes for this type, and there is none:
  the body begins with fields of kind, length and value, up to an end marker. Since 8.0.20.
doc-ref: https://github.com/mysql/mysql-server/blob/mysql-9.4.0/libs/mysql/binlog/event/codecs/binary.cpp Transaction_payload
-webide-representation: '{len_uncompressed:dec} bytes when uncompressed'
seq:
  - id: fields
    -orig-id: OTW_PAYLOAD_HEADER
    type: |
      field(
        _index,
        _index == 0 ? 0.as<u8> : fields[_index - 1].len_payload,
        _index == 0 ? 255.as<u8> : fields[_index - 1].compression_type_number,
        _index == 0 ? 0.as<u8> : fields[_index - 1].len_uncompressed
      )
    repeat: until
    repeat-until: _.is_end
    doc: What is known of the payload, each fact once and in any order, then the end marker.
  - id: payload
    -orig-id: m_payload
    size-eos: true
    doc: The events, one after the other, as the compression left them.
instances:
  len_payload:
    -orig-id: m_payload_size
    value: fields.last.len_payload
    doc: Length of `payload`, in bytes.
  compression_type:
    -orig-id: m_compression_type
    value: fields.last.compression_type_number
    enum: compression_algorithm
    doc: How the payload is compressed; not at all where no field says.
  len_uncompressed:
    -orig-id: m_uncompressed_size
    value: fields.last.len_uncompressed
    doc: Length of the payload before compression, in bytes; 0 where no field says.
types:
  field:
    params:
      - id: index
        type: s4
        doc: Index among the fields, from 0.
      - id: previous_len_payload
        type: u8
        doc: The length that the fields before this one say, in bytes.
      - id: previous_compression_type
        type: u8
        doc: The compression that the fields before this one say.
      - id: previous_len_uncompressed
        type: u8
        doc: The length before compression that the fields before this one say, in bytes.
    seq:
      - id: refusal
        size: 0
        valid:
          eq: 'index >= 256 ? [0x00].as<bytes> : [].as<bytes>'
        doc: No bytes; a list of more fields than any server knows is refused here.
      - id: kind
        -orig-id: type
        type: packed_integer
        doc: What the field is about; readers skip a number that they do not know.
      - id: len_value
        -orig-id: length
        type: packed_integer
        if: not is_end
        doc: Length of the value, in bytes.
      - id: value
        -orig-id: value
        size: len_value.value
        type:
          switch-on: fact
          cases:
            'payload_fact::len_payload': number_value
            'payload_fact::compression_type': number_value
            'payload_fact::len_uncompressed': number_value
            _: unknown_value
        if: not is_end
        doc: The fact, by its kind.
    instances:
      fact:
        value: kind.value
        enum: payload_fact
        doc: The meaning of `kind`.
      is_end:
        value: fact == payload_fact::end_mark
      len_payload:
        value: '(fact == payload_fact::len_payload ? value.as<number_value>.number.value : previous_len_payload).as<u8>'
      compression_type_number:
        value: '(fact == payload_fact::compression_type ? value.as<number_value>.number.value : previous_compression_type).as<u8>'
      len_uncompressed:
        value: '(fact == payload_fact::len_uncompressed ? value.as<number_value>.number.value : previous_len_uncompressed).as<u8>'
  number_value:
    seq:
      - id: number
        -orig-id: value
        type: packed_integer
        doc: Sizes in bytes; 0 for zstd and 255 for none where it is the compression.
      - id: unknown_tail
        size-eos: true
        if: not _io.eof
        doc: Bytes that newer servers may add.
  unknown_value:
    seq:
      - id: data
        size-eos: true
        doc: A fact that newer servers add.
enums:
  payload_fact:
    0:
      id: end_mark
      -orig-id: OTW_PAYLOAD_HEADER_END_MARK
      doc: Ends the list.
    1:
      id: len_payload
      -orig-id: OTW_PAYLOAD_SIZE_FIELD
      doc: Length of the payload.
    2:
      id: compression_type
      -orig-id: OTW_PAYLOAD_COMPRESSION_TYPE_FIELD
      doc: How the payload is compressed.
    3:
      id: len_uncompressed
      -orig-id: OTW_PAYLOAD_UNCOMPRESSED_SIZE_FIELD
      doc: Length of the payload before compression.
  compression_algorithm:
    0: zstd
    255: none
