meta:
  id: annotate_rows_event
  title: ANNOTATE_ROWS_EVENT
  license: MIT
  ks-version: '0.10'
  endian: le
doc: |
  The statement that caused the row events after it, for human readers. MariaDB, with
  `binlog_annotate_row_events`. Since MariaDB 5.3.
doc-ref: https://github.com/MariaDB/server/blob/mariadb-11.8.3/sql/log_event.h Annotate_rows_log_event
-webide-representation: '{query_text}'
seq:
  - id: query
    -orig-id: m_query_txt
    size-eos: true
    doc: The statement, in the character set of the session that sent it.
instances:
  query_text:
    value: query.to_s("UTF-8")
    doc: The statement read as UTF-8.
