meta:
  id: innodb_log
  title: Binary log inside InnoDB
  application: MariaDB
  file-extension: ibb
  license: MIT
  ks-version: '0.10'
  imports:
    - /common/compressed_integer
  endian: le
doc: |
  A binary log that InnoDB keeps (`binlog_storage_engine=innodb`). It consists of pages: a header, and pages of
  chunks. One or more chunks are a record, which may go on in the next page and in the next file.

  A commit record has the events of a group, from its GTID event on. Of a large group it has the first events
  only. The others stand in out-of-band records, written before it and perhaps in earlier files: the nodes of
  perfect binary trees, whose order is left, right, the node itself. The left-most leaf of a tree points to the
  tree before it. Joined so, the events are those of a log of version 4 without checksums. Since 12.3.
doc-ref: https://github.com/MariaDB/server/blob/282795d4b292838de5e17b6a747fd4e24be9b512/Docs/replication/binlog.md
-webide-representation: 'file {header.file_number:dec}'
seq:
  - id: header
    size: header_length
    type: file_header
    doc: What all pages have in common.
  - id: header_rest
    size: page_size - header_length - 4
    doc: The rest of the first page, zeros.
  - id: header_page_crc32c
    type: u4
    doc: CRC-32C of the first page up to here.
  - id: pages
    size: page_size
    type: page
    repeat: eos
    doc: The pages with data.
instances:
  header_length:
    value: 512
    doc: Length of the header in bytes, which is read before the page size is known.
  page_size:
    value: 1 << header.page_size_bits
    doc: Size of a page in bytes.
types:
  file_header:
    doc: The start of the first page.
    -webide-representation: 'file {file_number:dec}, version {version_major:dec}.{version_minor:dec}'
    seq:
      - id: magic
        contents: [0xfe, 0xfe, 0x0d, 0x01]
        doc: What every such log starts with.
      - id: page_size_bits
        type: u4
        valid:
          min: 10
          max: 16
        doc: Binary logarithm of the page size; servers write 14, for 16 KiB.
      - id: version_major
        type: u4
        valid: 1
        doc: Version of the format; a reader of one version cannot read another.
      - id: version_minor
        type: u4
        doc: Minor version, 0; any can be read.
      - id: file_number
        -orig-id: file_no
        type: u8
        doc: The number in the file's name, counted from 0.
      - id: num_pages
        type: u8
        doc: Size of the file in pages when it was created; FLUSH BINARY LOGS may truncate it.
      - id: lsn
        type: u8
        doc: The log sequence number of InnoDB at the start of the file.
      - id: state_interval
        type: u8
        doc: Value of `innodb_binlog_state_interval`, the distance between records of the GTID state.
      - id: earliest_file
        type: u8
        doc: Number of the earliest file that groups of this one may begin in.
      - id: earliest_xa_file
        type: u8
        doc: Number of the earliest file with XA transactions that may be pending.
      - id: unused
        size: 508 - 64
        doc: Zeros.
      - id: crc32c
        type: u4
        doc: CRC-32C of the 508 bytes up to here.
        -published-wrong: |
          The table gives the offset as 512, after the 512 bytes that it says can be read separately. The
          server's readers and writers have it at 508.
  page:
    doc: A page of chunks. All its bytes are zero where nothing was written yet.
    seq:
      - id: chunks
        type: chunk
        repeat: until
        repeat-until: _.is_end or _io.pos > _io.size - 4 - 4
        doc: The chunks. One takes 4 bytes at least, so that none begins in the last 3 bytes before the checksum.
      - id: unused
        size: _io.size - 4 - _io.pos
        doc: Bytes 0xff, or zeros after the end of the data.
      - id: crc32c
        type: u4
        doc: CRC-32C of the page up to here, or 0 in an empty page.
  chunk:
    doc: A part of a record.
    -webide-representation: '{record_type}'
    seq:
      - id: code
        type: u1
        doc: Bits described by `record_type` and the flags.
      - id: len_data
        type: u2
        if: not is_end
        doc: Length of the data in bytes.
      - id: data
        size: len_data
        if: not is_end
        doc: The part, of a record described by `commit_head`, `oob_head`, `gtid_state` and the types for XA.
    instances:
      is_end:
        value: code == 0 or code == 0xff
        doc: No chunk, but the end of the data (0), or of the page (255).
      record_type:
        value: code & 0x3f
        enum: record_kind
        doc: What the record is.
      is_continuation:
        value: (code & 0x80) != 0
        doc: It is not the first chunk of its record.
      is_last:
        value: (code & 0x40) != 0
        doc: It is the last chunk of its record.
  location:
    doc: Where a record begins; two zeros for none.
    seq:
      - id: file_number
        type: compressed_integer
        doc: Number of the file.
      - id: offset
        type: compressed_integer
        doc: Offset of the record's first chunk in the file, in bytes.
  oob_records:
    doc: The out-of-band records of a group.
    seq:
      - id: num_records
        type: compressed_integer
        doc: Number of records.
      - id: first
        type: location
        if: num_records.value != 0
        doc: The first one.
      - id: last
        type: location
        if: num_records.value != 0
        doc: The last one, the root of the last tree.
  commit_head:
    doc: The start of a commit record. Events follow, without checksums.
    seq:
      - id: main
        type: oob_records
        doc: The out-of-band records of the group, where it is large.
      - id: other
        type: oob_records
        if: main.num_records.value != 0
        doc: Those of the other cache, where a group changed transactional and other tables.
  oob_head:
    doc: The start of an out-of-band record. Bytes of events follow.
    seq:
      - id: index
        type: compressed_integer
        doc: Number of the node, from 0 on in each group.
      - id: left
        type: location
        doc: The left child; none for a leaf.
      - id: right
        type: location
        doc: The right child; of the left-most leaf of a tree, the root of the tree before it.
    instances:
      is_leaf:
        value: left.file_number.value == 0 and left.offset.value == 0
        doc: The node has no children.
  gtid_state:
    doc: A record of the GTID state.
    seq:
      - id: num_gtids
        type: compressed_integer
        doc: Number of GTIDs.
      - id: earliest_xa_file
        type: compressed_integer
        doc: One more than the number of the earliest file with XA transactions that may be pending, or 0.
      - id: gtids
        type: gtid
        repeat: expr
        repeat-expr: num_gtids.value
        doc: The last GTID of each domain and server.
  gtid:
    doc: A GTID of MariaDB.
    seq:
      - id: domain_id
        type: compressed_integer
        doc: The replication domain.
      - id: server_id
        type: compressed_integer
        doc: The server.
      - id: sequence_number
        type: compressed_integer
        doc: The number of the group.
  xid:
    doc: Name of an XA transaction.
    seq:
      - id: format_id
        type: u4
        doc: The `formatID`.
      - id: len_gtrid
        type: u1
        doc: Length of the global transaction id in bytes.
      - id: len_bqual
        type: u1
        doc: Length of the branch qualifier in bytes.
      - id: gtrid
        size: len_gtrid
        doc: The global transaction id.
      - id: bqual
        size: len_bqual
        doc: The branch qualifier.
  xa_prepare:
    doc: A record of XA PREPARE.
    seq:
      - id: num_engines
        type: u1
        doc: How many storage engines take part.
      - id: xid
        type: xid
        doc: The transaction.
      - id: num_records
        type: compressed_integer
        doc: How many out-of-band records the transaction has.
      - id: first
        type: location
        doc: The first one.
      - id: last
        type: location
        doc: The last one.
  xa_complete:
    doc: A record of the end of a prepared transaction.
    seq:
      - id: outcome
        type: u1
        enum: xa_outcome
        doc: How it ended.
      - id: xid
        type: xid
        doc: The transaction.
enums:
  record_kind:
    0:
      id: none
      -orig-id: FSP_BINLOG_TYPE_EMPTY
      doc: No record.
    1:
      id: commit
      -orig-id: FSP_BINLOG_TYPE_COMMIT
      doc: A group of events, or its start.
    2:
      id: gtid_state
      -orig-id: FSP_BINLOG_TYPE_GTID_STATE
      doc: The GTID state; may stand inside another record.
    3:
      id: oob_data
      -orig-id: FSP_BINLOG_TYPE_OOB_DATA
      doc: Bytes of events that a commit record refers to.
    4:
      id: dummy
      -orig-id: FSP_BINLOG_TYPE_DUMMY
      doc: Nothing; may stand inside another record.
    5:
      id: xa_prepare
      doc: XA PREPARE.
    6:
      id: xa_complete
      doc: End of a prepared transaction.
  xa_outcome:
    0:
      id: commit
      doc: Committed.
    1:
      id: rollback
      doc: Rolled back.
