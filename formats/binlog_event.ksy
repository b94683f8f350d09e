meta:
  id: binlog_event
  title: One event of a binary log
  license: MIT
  ks-version: '0.10'
  imports:
    - binlog_enums
    - event_header
    - event_body
    - common/effective_type
    - events/table_map_event
  endian: le
doc: |
  Header, body and checksum of one event, given what the events before it said. Stands by
  itself in the network stream, in a transaction payload, and in a file (`mysql_binlog`).
doc-ref: https://github.com/mysql/mysql-server/blob/mysql-9.4.0/libs/mysql/binlog/event/binlog_event.h Binary_log_event
-webide-representation: '{header.type_code} {body}'
params:
  - id: binlog_version
    type: u2
    doc: Version of the log's format, 1, 3 or 4.
  - id: len_header
    type: u1
    doc: Length of the event's header, in bytes.
  - id: len_post_header
    type: u1
    doc: The format description's entry for the event's type, in bytes; 0 where it has none.
  - id: is_checksummed
    type: bool
    doc: Whether events of this log end with a checksum. A format description event states this itself.
  - id: has_permuted_types
    type: bool
    doc: Whether the log numbers its event types as early 5.1 alpha versions did.
  - id: year_bits
    type: u1
    enum: binlog_enums::year_bits
    doc: Whether the signedness of table maps has a bit for YEAR columns, as the format description event states.
  - id: table_map
    type: table_map_event
    doc: The table map that a rows event belongs to; null where there is none.
  - id: has_table_map
    type: bool
    doc: Whether `table_map` is there.
seq:
  - id: header
    -orig-id: m_header
    type: event_header(binlog_version, len_header)
    doc: When and where the event was written, what it is, and how long it is.
  - id: body
    size: 'header.len_event - len_header - (has_checksum ? 4 : 0)'
    type: event_body(event_type.value, binlog_version, len_post_header, year_bits, table_map, has_table_map)
    doc: Everything between header and checksum, by the event's type.
  - id: checksum
    -orig-id: checksum
    type: u4
    if: has_checksum
    doc: |
      CRC32 (zlib's) of all bytes of the event before this field. In a format description event,
      the bit `is_in_use` of the flags counts as 0, since closing the file clears it.
    -published-wrong: |
      Given as the CRC32 of the bytes as they stand in the file. That is wrong for a format
      description event of a log in use.
instances:
  is_format_description:
    value: header.type_code == binlog_enums::event_type::format_description_event
    doc: The length of such an event decides whether it has a checksum.
  len_own_post_header:
    pos: _io.pos + 71
    type: u1
    if: is_format_description and header.len_event >= 19 + 72
    doc: Read ahead, from the table in the body of a format description event.
  has_checksum:
    value: |
      is_format_description
      ? header.len_event >= 19 + 72 and header.len_event == 19 + len_own_post_header + 5
      : is_checksummed
    doc: Whether the event ends with a checksum.
  event_type:
    type: effective_type(header.type_code, has_permuted_types)
    doc: What the event is; no bytes.
