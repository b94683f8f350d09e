meta:
  id: row
  title: Changed row
  license: MIT
  ks-version: '0.10'
  imports:
    - /events/table_map_event
    - /values/image_columns
    - /values/row_image
  endian: le
doc: What a rows event says of one row.
doc-ref: https://github.com/mysql/mysql-server/blob/mysql-9.4.0/libs/mysql/binlog/event/rows_event.h Rows_event
params:
  - id: table_map
    type: table_map_event
    doc: The table's columns.
  - id: columns_before
    type: image_columns
    doc: The columns in `before`.
  - id: columns_after
    type: image_columns
    doc: The columns in `after`.
  - id: has_before
    type: bool
    doc: Whether the row was there before, in an update or a deletion.
  - id: has_after
    type: bool
    doc: Whether the row is there afterwards, in an insertion or an update.
  - id: is_partial
    type: bool
    doc: Whether `after` may hold changes of JSON documents.
seq:
  - id: before
    -orig-id: BI
    type: row_image(table_map, columns_before, false)
    if: has_before
    doc: The row before the change, or what identifies it.
  - id: after
    -orig-id: AI
    type: row_image(table_map, columns_after, is_partial)
    if: has_after
    doc: The row after the change, or what changed.
