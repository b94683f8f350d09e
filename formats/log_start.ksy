meta:
  id: log_start
  title: Start of a binary log, after the magic
  license: MIT
  ks-version: '0.10'
  imports:
    - /binlog_enums
    - /event_header
  endian: le
doc: |
  What the first event says about the version of a log. Version 2 was never released (4.0.0 and 4.0.1
  alpha versions); a log that starts otherwise has no known version.
doc-ref: https://github.com/mysql/mysql-server/blob/mysql-9.4.0/client/mysqlbinlog.cc check_header
-webide-representation: 'version {binlog_version:dec}'
seq:
  - id: first_header
    type: event_header(1, 13)
    doc: The first event's header, as far as all versions have it.
  - id: refusal
    size: 0
    valid:
      eq: 'binlog_version == 0 ? [0x00].as<bytes> : [].as<bytes>'
    doc: No bytes; a log of no known version is refused here.
instances:
  is_saved_stream:
    value: first_header.type_code == binlog_enums::event_type::rotate_event and first_header.timestamp == 0
    doc: |
      The file is what a server sent to a replica: the log begins after the ROTATE_EVENT that the server
      made up to name it. Whether that event has a checksum, only its last bytes tell.
  binlog_version:
    value: |
      is_saved_stream ? 4 :
      first_header.type_code == binlog_enums::event_type::format_description_event ? 4 :
      first_header.type_code != binlog_enums::event_type::start_event_v3 ? 0 :
      first_header.len_event == 13 + 56 ? 1 :
      first_header.len_event == 19 + 56 ? 3 : 0
    doc: |
      4 where the log starts with a format description event, or is a saved stream; else by the length of the
      START_EVENT_V3, whose body has 56 bytes after a header of 13 bytes in version 1, of 19 bytes in version 3;
      else 0.
