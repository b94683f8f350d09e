meta:
  id: com_binlog_dump_gtid
  title: COM_BINLOG_DUMP_GTID
  license: MIT
  ks-version: '0.10'
  imports:
    - /common/gtid_set
  endian: le
doc: |
  A replica's request for all transactions that it does not have. The whole message, without the
  header of its packet. Since MySQL 5.6; in MariaDB a replica sets variables instead, and sends
  COM_BINLOG_DUMP.
doc-ref: https://github.com/mysql/mysql-server/blob/mysql-9.4.0/sql/rpl_source.cc com_binlog_dump_gtid
-webide-representation: 'all but {data}'
seq:
  - id: command
    -orig-id: COM_BINLOG_DUMP_GTID
    contents: [0x1e]
    doc: Number of the command.
  - id: flags
    -orig-id: flags
    type: u2
    doc: Bits described by the instances.
  - id: server_id
    -orig-id: server_id
    type: u4
    doc: The `server_id` of the replica.
  - id: len_file_name
    -orig-id: name_size
    type: u4
    doc: Length of `file_name`, in bytes.
  - id: file_name
    -orig-id: name
    size: len_file_name
    type: str
    encoding: UTF-8
    doc: Name of the log to start in; usually empty, since the server finds the log by the GTIDs.
  - id: position
    -orig-id: pos
    type: u8
    doc: Where to start in the log, as an offset, usually 4.
  - id: len_data
    -orig-id: data_size
    type: u4
    if: has_data
    doc: |
      Length of `data`, in bytes. Servers read it regardless of the flags; old descriptions of the
      protocol tie it to a flag.
  - id: data
    -orig-id: data
    size: len_data
    type: replica_gtids
    if: has_data
    doc: The GTIDs, as `len_data` says.
  - id: unknown_tail
    size-eos: true
    if: not _io.eof
    doc: Bytes that newer replicas may add.
instances:
  has_data:
    value: _io.size > 19 + len_file_name
  is_non_blocking:
    -orig-id: BINLOG_DUMP_NON_BLOCK
    value: (flags & 0x0001) != 0
    doc: The stream ends after the newest event, instead of waiting for more.
  wants_long_heartbeats:
    -orig-id: USE_HEARTBEAT_EVENT_V2
    value: (flags & 0x0002) != 0
    doc: |
      To MySQL from 8.0.26 on; heartbeats are to be HEARTBEAT_LOG_EVENT_V2. Old descriptions of the
      protocol call the bit BINLOG_THROUGH_POSITION.
  is_through_gtid:
    -orig-id: BINLOG_THROUGH_GTID
    value: (flags & 0x0004) != 0
    doc: Only in old descriptions of the protocol; servers do not look at it.
types:
  replica_gtids:
    seq:
      - id: gtids
        -orig-id: slave_gtid_executed
        type: gtid_set
        if: not _io.eof
        doc: The transactions that the replica has.
        -published-wrong: |
          The count of sources at its start is given as 4 bytes. It has 8.
      - id: unknown_tail
        size-eos: true
        if: not _io.eof
        doc: Bytes that newer replicas may add.
