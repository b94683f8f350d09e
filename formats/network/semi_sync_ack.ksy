meta:
  id: semi_sync_ack
  title: Acknowledgement of semi-synchronous replication
  license: MIT
  ks-version: '0.10'
  endian: le
doc: |
  What a replica sends to its source when it has an event that wants it, and all before it, safe
  in its relay log. The whole message, without the header of its packet.
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
    doc: The event's end in the source's log, as an offset.
  - id: file_name
    -orig-id: REPLY_BINLOG_NAME
    type: str
    size-eos: true
    encoding: UTF-8
    doc: Name of that log.
