meta:
  id: image_columns
  title: Columns of a row image
  license: MIT
  ks-version: '0.10'
  endian: le
doc: Which columns of the table are in the row images of an event.
doc-ref: https://github.com/mysql/mysql-server/blob/mysql-9.4.0/libs/mysql/binlog/event/rows_event.h Rows_event
-webide-representation: '{bitmap}'
params:
  - id: num_columns
    type: u4
    doc: Number of the table's columns.
seq:
  - id: bitmap
    -orig-id: columns_before_image, columns_after_image
    size: (num_columns + 7) / 8
    doc: A bit for each column; the first is the lowest bit of the first byte.
instances:
  columns:
    type: 'column(_index, _index == 0 ? 0 : columns[_index - 1].next_ordinal)'
    repeat: expr
    repeat-expr: num_columns
    doc: The bits, one by one; no bytes of their own.
  num_present:
    value: 'num_columns == 0 ? 0 : columns.last.next_ordinal'
    doc: Number of columns that the images have.
types:
  column:
    params:
      - id: index
        type: u4
        doc: Index among the table's columns, from 0.
      - id: ordinal
        type: u4
        doc: Number of present columns before this one, which is its index in an image.
    instances:
      is_present:
        value: ((_parent.bitmap[index / 8] >> (index % 8)) & 1) == 1
      next_ordinal:
        value: 'is_present ? ordinal + 1 : ordinal'
