meta:
  id: start_event_v3
  title: START_EVENT_V3
  license: MIT
  ks-version: '0.10'
  endian: le
doc: |
  The first event of a log before version 4 (MySQL 3.23 to 4.1). Its size gives the version of
  the headers: 13 + 56 bytes in version 1, 19 + 56 in version 3. Since 3.23.
doc-ref: https://github.com/mysql/mysql-server/blob/mysql-5.5.62/sql/log_event.cc Start_log_event_v3
-webide-representation: 'version {binlog_version:dec}, server {server_version}'
seq:
  - id: binlog_version
    -orig-id: binlog_version
    type: u2
    doc: Version of the log format, 1 to 3.
  - id: server_version
    -orig-id: server_version
    size: 50
    type: strz
    encoding: UTF-8
    doc: Version of the server that wrote the log, such as `4.0.27-log`, padded with zeros.
  - id: create_timestamp
    -orig-id: created
    type: u4
    doc: Start of the server in the first log after it, in seconds since 1970-01-01 UTC; else 0.
  - id: unknown_tail
    size-eos: true
    if: not _io.eof
    doc: Bytes beyond what is known; no server writes any.
