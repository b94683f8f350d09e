meta:
  id: rows_query_event
  title: ROWS_QUERY_LOG_EVENT
  license: MIT
  ks-version: '0.10'
  endian: le
doc: |
  The statement that caused the rows events after it, where `binlog_rows_query_log_events` is on.
  Since 5.6. MariaDB's counterpart is ANNOTATE_ROWS_EVENT.
doc-ref: https://github.com/mysql/mysql-server/blob/mysql-9.4.0/libs/mysql/binlog/event/rows_event.h Rows_query_event
-webide-representation: '{query_text}'
seq:
  - id: len_query
    -orig-id: m_rows_query length
    type: u1
    doc: Low byte of the statement's length, or 255 if it is longer; readers go to the end of the event.
  - id: query
    -orig-id: m_rows_query
    size-eos: true
    doc: The statement, in the client's character set.
instances:
  query_text:
    value: query.to_s("UTF-8")
    doc: The statement read as UTF-8.
