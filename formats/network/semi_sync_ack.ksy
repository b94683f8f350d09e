meta:
  id: semi_sync_ack
  title: Acknowledgement of semi-synchronous replication
  license: MIT
  ks-version: '0.10'
  endian: le
doc: |
  Sent by a replica to its source when an event that requests it, and all events before it, have been flushed
  to the relay log. This is the whole message, without the header of its packet.
doc-ref: https://github.com/mysql/mysql-server/blob/mysql-9.4.0/plugin/semisync/semisync_replica.cc ReplSemiSyncReplica::slaveReply
-webide-representation: '{file_name}:{position:dec}'
seq:
  - id: magic
    -orig-id: kPacketMagicNum
    contents: [0xef]
    doc: Marks the message.
  - id: position
    -orig-id: REPLY_BINLOG_POS
    type: u8
    doc: Position of the end of the event in the source's log.
  - id: file_name
    -orig-id: REPLY_BINLOG_NAME
    size-eos: true
    type: str
    encoding: UTF-8
    doc: Name of that log.
