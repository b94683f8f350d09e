meta:
  id: heartbeat_event_v2
  title: HEARTBEAT_LOG_EVENT_V2
  license: MIT
  ks-version: '0.10'
  imports:
    - /common/packed_integer
  endian: le
doc: |
  Sent by an idle source over the network, never written to a log: how far its log goes, with
  positions past 4 GiB. A list of typed fields up to an end marker. Since 8.0.26.
doc-ref: https://github.com/mysql/mysql-server/blob/mysql-9.4.0/libs/mysql/binlog/event/codecs/binary.cpp Heartbeat
seq:
  - id: fields
    -orig-id: OTW_HB_HEADER
    type: field(_index)
    repeat: until
    repeat-until: _.is_end
    doc: What the source reports, each fact once, then the end marker.
  - id: unknown_tail
    size-eos: true
    if: not _io.eof
    doc: Bytes beyond what is known; no server writes any.
types:
  field:
    -webide-representation: '{value}'
    params:
      - id: index
        type: s4
        doc: Index among the fields, from 0.
    seq:
      - id: refusal
        size: 0
        valid:
          eq: 'index >= 256 ? [0x00].as<bytes> : [].as<bytes>'
        doc: No bytes; a list of more fields than any server knows is refused here.
      - id: key
        -orig-id: type
        type: packed_integer
        doc: What the field is about; readers skip a number that they do not know.
      - id: len_value
        -orig-id: length
        type: packed_integer
        if: not is_end
        doc: Length of `value`, in bytes.
      - id: value
        -orig-id: value
        size: len_value.value
        type:
          switch-on: kind
          cases:
            'field_kind::log_name': log_name
            'field_kind::position': log_position
            _: unknown_field
        if: not is_end
        doc: The value, by its kind.
    instances:
      kind:
        value: key.value
        enum: field_kind
        doc: The meaning of `key`.
      is_end:
        value: kind == field_kind::end_mark
  log_name:
    seq:
      - id: log
        -orig-id: OTW_HB_LOG_FILENAME_FIELD
        size-eos: true
        type: str
        encoding: UTF-8
        doc: File name of the source's current log.
  log_position:
    seq:
      - id: position
        -orig-id: OTW_HB_LOG_POSITION_FIELD
        type: packed_integer
        doc: End of the source's log, in bytes.
      - id: unknown_tail
        size-eos: true
        if: not _io.eof
        doc: Bytes that newer servers may add.
  unknown_field:
    seq:
      - id: data
        size-eos: true
        doc: Value of a field that this grammar does not know.
enums:
  field_kind:
    0:
      id: end_mark
      -orig-id: OTW_HB_HEADER_END_MARK
      doc: Ends the list.
    1:
      id: log_name
      -orig-id: OTW_HB_LOG_FILENAME_FIELD
      doc: File name of the source's log.
    2:
      id: position
      -orig-id: OTW_HB_LOG_POSITION_FIELD
      doc: End of the source's log.
