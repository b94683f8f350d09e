meta:
  id: pre_ga_rows_event
  title: Rows event before the first release of 5.1
  license: MIT
  ks-version: '0.10'
  imports:
    - /binlog_enums
    - /common/packed_integer
    - /common/table_id
    - /events/table_map_event
    - /values/image_columns
  endian: le
doc: |
  PRE_GA_WRITE_ROWS_EVENT, PRE_GA_UPDATE_ROWS_EVENT and PRE_GA_DELETE_ROWS_EVENT: rows of one table
  as 5.1.5 to 5.1.15 wrote them. The images stay bytes: they start with the null bits of the server's
  internal record, whose number takes the table's definition, and hold fields that are NULL too.
  Since 5.1.
doc-ref: https://github.com/mysql/mysql-server/blob/mysql-5.7.44/sql/log_event_old.cc Old_rows_log_event
-webide-representation: 'table id {table_id}'
params:
  - id: type_code
    type: u1
    enum: binlog_enums::event_type
    doc: What kind of rows event it is.
  - id: len_post_header
    type: u1
    doc: Length of the fixed part, in bytes; 8, or 6 with a table id of 4 bytes.
  - id: table_map
    type: table_map_event
    doc: The table map that the event belongs to; null where there is none.
seq:
  - id: table_id
    -orig-id: m_table_id
    type: table_id(len_post_header)
    doc: Refers to a table map before the event, in the same statement.
  - id: flags
    -orig-id: m_flags
    type: u2
    doc: Bits described by the `is_…` and `has_…` instances.
  - id: unknown_post_header
    size: len_post_header - 8
    if: len_post_header > 8
    doc: Bytes beyond the known fixed part; no known server writes any.
  - id: num_columns
    -orig-id: m_width
    type: packed_integer
    doc: Number of the table's columns.
  - id: columns
    -orig-id: m_cols
    type: image_columns(num_columns.value.as<u4>)
    doc: The columns in the images of the rows; also in an update there is one list only.
  - id: images
    -orig-id: m_rows_buf
    size-eos: true
    doc: The images of all rows, one after the other.
instances:
  is_statement_end:
    -orig-id: STMT_END_F
    value: (flags & 0x0001) != 0
    doc: The last rows event of its statement; the table maps before it end here.
  has_no_foreign_key_checks:
    -orig-id: NO_FOREIGN_KEY_CHECKS_F
    value: (flags & 0x0002) != 0
    doc: The session had `foreign_key_checks` off.
  has_relaxed_unique_checks:
    -orig-id: RELAXED_UNIQUE_CHECKS_F
    value: (flags & 0x0004) != 0
    doc: The session had `unique_checks` off.
  is_write:
    value: type_code == binlog_enums::event_type::pre_ga_write_rows_event
    doc: The rows were inserted.
  is_update:
    value: type_code == binlog_enums::event_type::pre_ga_update_rows_event
    doc: The rows were updated; each has an image before and one after.
