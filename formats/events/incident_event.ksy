meta:
  id: incident_event
  title: INCIDENT_EVENT
  license: MIT
  ks-version: '0.10'
  endian: le
doc: |
  Something went wrong on the source, so that the log may lack changes; a replica stops here.
  Since 5.1.
doc-ref: https://github.com/mysql/mysql-server/blob/mysql-9.4.0/libs/mysql/binlog/event/control_events.h Incident_event
-webide-representation: '{incident} {message}'
seq:
  - id: incident
    -orig-id: incident
    type: u2
    enum: incident_kind
    doc: What went wrong.
  - id: len_message
    -orig-id: message_length
    type: u1
    doc: Length of `message`, in bytes.
  - id: message
    -orig-id: message
    size: len_message
    type: str
    encoding: UTF-8
    doc: What went wrong, in words.
  - id: cache_checksum
    -orig-id: checksum
    type: u4
    if: _io.size - _io.pos == 4
    doc: |
      CRC32 of the event as it was written into the transaction's cache first, without a position
      and 4 bytes shorter. MySQL copies it into the log with these bytes and appends another checksum.
    -published-wrong: |
      No published description has these bytes.
  - id: unknown_tail
    size-eos: true
    if: not _io.eof
    doc: Bytes beyond what is known; no server writes any.
enums:
  incident_kind:
    0:
      id: none
      -orig-id: INCIDENT_NONE
      doc: No incident; never written.
    1:
      id: lost_events
      -orig-id: INCIDENT_LOST_EVENTS
      doc: Changes may be missing from the log.
