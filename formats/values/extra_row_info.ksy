meta:
  id: extra_row_info
  title: Extra data of a rows event
  license: MIT
  ks-version: '0.10'
  endian: le
doc: One chunk of what a version 2 rows event says of all its rows. Since 5.6.
doc-ref: https://github.com/mysql/mysql-server/blob/mysql-9.4.0/libs/mysql/binlog/event/rows_event.h Rows_event::Extra_row_info
-webide-representation: '{type}'
params:
  - id: is_update
    type: bool
    doc: Whether the event is an update, which has two partitions.
seq:
  - id: type
    -orig-id: EXTRA_ROW_INFO_TYPECODE
    type: u1
    enum: info_type
    doc: What the chunk is about.
  - id: content
    type:
      switch-on: type
      cases:
        'info_type::ndb': ndb
        'info_type::partition': partition
        _: unknown_info
    doc: The chunk, by its type.
types:
  ndb:
    seq:
      - id: len_info
        -orig-id: EXTRA_ROW_INFO_LEN_OFFSET
        type: u1
        valid:
          min: 2
        doc: Length of this part, itself included, in bytes.
      - id: format
        -orig-id: EXTRA_ROW_INFO_FORMAT_OFFSET
        type: u1
        doc: What `data` is; 0 for the NDB binlog thread.
      - id: data
        -orig-id: m_extra_row_ndb_info
        size: len_info - 2
        doc: NDB Cluster's own.
  partition:
    seq:
      - id: partition_id
        -orig-id: m_partition_id
        type: u2
        doc: The partition of the rows, or of the rows after an update. Since 8.0.16.
      - id: source_partition_id
        -orig-id: m_source_partition_id
        type: u2
        if: _parent.is_update
        doc: The partition of the rows before an update.
  unknown_info:
    doc: A chunk of a type that this grammar does not know; the chunks after it cannot be found.
    seq:
      - id: data
        size-eos: true
        doc: The rest of the extra data.
enums:
  info_type:
    0:
      id: ndb
      -orig-id: NDB
    1:
      id: partition
      -orig-id: PART
