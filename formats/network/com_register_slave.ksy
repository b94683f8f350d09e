meta:
  id: com_register_slave
  title: COM_REGISTER_SLAVE
  license: MIT
  ks-version: '0.10'
  endian: le
doc: |
  A replica registers itself before it requests the stream, for SHOW REPLICAS. The whole
  message, without the header of its packet.
doc-ref: https://github.com/mysql/mysql-server/blob/mysql-9.4.0/sql/rpl_source.cc register_replica
-webide-representation: 'server {server_id:dec}'
seq:
  - id: command
    -orig-id: COM_REGISTER_SLAVE
    contents: [0x15]
    doc: Number of the command. An old description of the protocol says 0x14, which is COM_CONNECT_OUT.
  - id: server_id
    -orig-id: server_id
    type: u4
    doc: The `server_id` of the replica.
  - id: len_host
    -orig-id: host
    type: u1
    doc: Length of `host`, in bytes.
  - id: host
    -orig-id: host
    size: len_host
    type: str
    encoding: UTF-8
    doc: The replica's option `report_host`, usually empty.
  - id: len_user
    -orig-id: user
    type: u1
    doc: Length of `user`, in bytes.
  - id: user
    -orig-id: user
    size: len_user
    type: str
    encoding: UTF-8
    doc: The replica's option `report_user`, usually empty.
  - id: len_password
    -orig-id: password
    type: u1
    doc: Length of `password`, in bytes.
  - id: password
    -orig-id: password
    size: len_password
    type: str
    encoding: UTF-8
    doc: The replica's option `report_password`, usually empty.
  - id: port
    -orig-id: port
    type: u2
    doc: The replica's option `report_port`.
  - id: rank
    -orig-id: rpl_recovery_rank
    type: u4
    doc: Not used.
  - id: source_id
    -orig-id: master_id
    type: u4
    doc: The `server_id` of the source as the replica knows it; 0 lets the source put in its own.
  - id: unknown_tail
    size-eos: true
    if: not _io.eof
    doc: Bytes that newer replicas may add.
