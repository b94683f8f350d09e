meta:
  id: rows_event
  title: Rows event
  license: MIT
  ks-version: '0.10'
  imports:
    - /binlog_enums
    - /common/packed_integer
    - /common/table_id
    - /events/table_map_event
    - /values/extra_row_info
    - /values/image_columns
    - /values/row
  endian: le
doc: |
  Rows of one table that were inserted, updated or deleted: WRITE_ROWS_EVENT, UPDATE_ROWS_EVENT and
  DELETE_ROWS_EVENT in version 1 (since 5.1.16; all of MariaDB's) and version 2 (MySQL since 5.6), and
  PARTIAL_UPDATE_ROWS_EVENT (since 8.0.3). Since 5.1.
doc-ref: https://github.com/mysql/mysql-server/blob/mysql-9.4.0/libs/mysql/binlog/event/rows_event.h Rows_event
-webide-representation: 'table id {table_id}'
params:
  - id: type_code
    type: u1
    enum: binlog_enums::event_type
    doc: What kind of rows event it is.
  - id: len_post_header
    type: u1
    doc: |
      Length of the fixed part, in bytes; 8 in version 1, or 6 with a table id of 4 bytes, 10 in
      version 2.
  - id: table_map
    type: table_map_event
    doc: The table map that the event belongs to; null where there is none.
  - id: has_table_map
    type: bool
    doc: Whether `table_map` is there.
seq:
  - id: table_id
    -orig-id: m_table_id
    type: table_id(len_post_header)
    doc: Refers to a table map before the event, in the same statement, unless the event `is_dummy`.
  - id: flags
    -orig-id: m_flags
    type: u2
    doc: Bits described by the `is_…` and `has_…` instances.
  - id: len_extra_data
    -orig-id: var_header_len
    type: u2
    valid:
      min: 2
    if: len_post_header >= 10
    doc: Length of this field and `extra_data`, in bytes. Version 2 only.
  - id: unknown_post_header
    size: len_post_header - 10
    if: len_post_header > 10
    doc: Bytes that a newer server may add to the fixed part.
  - id: extra_data
    -orig-id: m_extra_row_info
    size: len_extra_data - 2
    type: extra_chunks
    if: len_post_header >= 10
    doc: What the event says of all its rows.
  - id: num_columns
    -orig-id: m_width
    type: packed_integer
    doc: Number of the table's columns.
  - id: columns
    -orig-id: columns_before_image
    type: image_columns(num_columns.value.as<u4>)
    doc: The columns in the images of the rows, in an update before it.
  - id: columns_after
    -orig-id: columns_after_image
    type: image_columns(num_columns.value.as<u4>)
    if: is_update
    doc: The columns in the images of the rows after an update.
  - id: images
    -orig-id: row
    size-eos: true
    doc: The images of all rows, one after the other; `rows` reads them.
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
  is_complete:
    -orig-id: COMPLETE_ROWS_F
    value: (flags & 0x0008) != 0
    doc: The images have all columns of the table.
  is_sql_foreign_key:
    -orig-id: USE_SQL_FOREIGN_KEY_F
    value: (flags & 0x0010) != 0
    doc: Foreign keys are handled above the storage engine. MySQL since 9.6.
  has_no_check_constraint_checks:
    -orig-id: NO_CHECK_CONSTRAINT_CHECKS_F
    value: (flags & 0x0080) != 0
    doc: The session had `check_constraint_checks` off. MariaDB since 10.2.
  is_write:
    value: |
      type_code == binlog_enums::event_type::write_rows_event or
      type_code == binlog_enums::event_type::write_rows_event_v1
    doc: The rows were inserted.
  is_partial_update:
    value: type_code == binlog_enums::event_type::partial_update_rows_event
    doc: The rows were updated, and JSON columns may hold what changed in them.
  is_update:
    value: |
      is_partial_update or
      type_code == binlog_enums::event_type::update_rows_event or
      type_code == binlog_enums::event_type::update_rows_event_v1
    doc: The rows were updated.
  is_dummy:
    value: table_id.is_dummy and images.length == 0
    doc: The event only ends its statement and has no rows, unless a table map has the number.
  rows_have_bytes:
    value: is_partial_update or columns.num_present > 0 or is_update and columns_after.num_present > 0
    doc: Whether an image takes any bytes; of a row without columns nothing is written.
  can_read_rows:
    value: |
      has_table_map and table_map.has_known_columns and
      table_map.num_columns.value == num_columns.value and
      (images.length > 0) == rows_have_bytes and (rows_have_bytes or is_write)
    doc: |
      Whether the table map describes the images. Of rows that are deleted without any column
      (MariaDB since 11.8, if the server computes all of them), the number is unknown.
  rows:
    pos: _io.size - images.length
    type: |
      row(
        table_map,
        columns,
        is_update ? columns_after : columns,
        not is_write,
        is_write or is_update,
        is_partial_update
      )
    repeat: until
    repeat-until: _io.eof
    if: can_read_rows
    doc: |
      The rows, read on demand. Without any bytes it is one row without columns, which
      an INSERT of defaults only gives with `binlog_row_image=MINIMAL`.
types:
  extra_chunks:
    seq:
      - id: chunks
        -orig-id: m_extra_row_info
        type: extra_row_info(_parent.is_update)
        repeat: eos
        doc: The chunks, each with its type.
