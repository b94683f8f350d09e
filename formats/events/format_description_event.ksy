meta:
  id: format_description_event
  title: FORMAT_DESCRIPTION_EVENT
  license: MIT
  ks-version: '0.10'
  imports:
    - /binlog_enums
  endian: le
doc: |
  The first event of a version 4 log: how all events after it are laid out. In a relay log
  a second one, of the source server, changes the layout of what follows.

  The event describes itself: its own entry in `len_post_headers` is 57 plus the length
  of that table, so that what follows the table (nothing, or the checksum algorithm and the
  event's own checksum) is known without looking at the server's version. Since 5.0.
doc-ref: https://github.com/mysql/mysql-server/blob/mysql-9.4.0/libs/mysql/binlog/event/control_events.h Format_description_event
-webide-representation: 'version {binlog_version:dec}, server {server_version}'
seq:
  - id: binlog_version
    -orig-id: binlog_version
    type: u2
    doc: Version of the log format, 4.
  - id: server_version
    -orig-id: server_version
    size: 50
    type: strz
    encoding: UTF-8
    doc: Version of the server that wrote the log, such as `8.0.34-debug`, padded with zeros.
  - id: create_timestamp
    -orig-id: created
    type: u4
    doc: Start of the server in the first log after it, in seconds since 1970-01-01 UTC; else 0.
  - id: len_header
    -orig-id: common_header_len
    type: u1
    doc: Length of the header of all later events but ROTATE and format descriptions, in bytes, 19.
  - id: len_post_headers
    -orig-id: post_header_len
    type: u1
    repeat: expr
    repeat-expr: num_event_types
    doc: For each event type from 1 on, the length of the fixed part after the header, in bytes.
    -published-wrong: |
      The number of entries is given as len_event - len_header - 2 - 50 - 4 - 1. That is 5 too
      many since MySQL 5.6.1 and MariaDB 5.3, where the checksum algorithm and a CRC32 follow. A
      description of 8.0.34 gives 39 entries; the dump beside it has 41.
  - id: checksum_algorithm
    -orig-id: checksum_alg
    type: u1
    enum: binlog_enums::checksum_algorithm
    valid:
      any-of:
        - binlog_enums::checksum_algorithm::off
        - binlog_enums::checksum_algorithm::crc32
        - binlog_enums::checksum_algorithm::undefined
    if: not _io.eof
    doc: |
      What the four bytes at the end of every event are; servers without checksums (before
      MySQL 5.6 and MariaDB 5.3) have no such byte. The format description event itself ends
      with a CRC32 wherever the byte exists, even where it says `off`.
instances:
  len_own_post_header:
    pos: 71
    type: u1
    doc: The table's entry 15, for this type of event.
  num_event_types:
    value: len_own_post_header - 57
    doc: Length of the table.
  has_permuted_types:
    value: num_event_types >= 16 and len_post_headers[15] != 0
    doc: Whether types 16 to 22 are numbered as in some 5.1 alpha versions, see `effective_type`.
  sixth_version_character:
    pos: 7
    type: u1
    doc: Of `server_version`; in 8.0.20 to 8.0.27 the last digit.
  year_bits:
    value: |
      num_event_types < 40 ? binlog_enums::year_bits::absent :
      num_event_types > 40 ? binlog_enums::year_bits::present :
      sixth_version_character == 0x30 ? binlog_enums::year_bits::absent :
      sixth_version_character >= 0x33 and sixth_version_character <= 0x37 ? binlog_enums::year_bits::present :
      binlog_enums::year_bits::undetermined
    doc: |
      Whether the server writes a bit for YEAR columns in the signedness of table maps: MariaDB, and MySQL
      since 8.0.23; MySQL up to 8.0.20 does not, and which of the two 8.0.21 and 8.0.22 do is not known.
      40 event types are those of 8.0.20 to 8.0.27.
  has_checksums:
    value: |
      _io.size > 57 + num_event_types and
      checksum_algorithm == binlog_enums::checksum_algorithm::crc32
    doc: Whether every later event ends with a CRC32 of all its bytes before.
