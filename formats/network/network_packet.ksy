meta:
  id: network_packet
  title: Packet of the client/server protocol
  license: MIT
  ks-version: '0.10'
  endian: le
doc: |
  How every message travels between client and server: a length and a number before its bytes.
  A message of 16777215 bytes or more takes several packets; all but the last are of that length,
  and joined payloads make the message.
doc-ref: https://github.com/mysql/mysql-server/blob/mysql-9.4.0/sql-common/net_serv.cc
-webide-representation: '#{sequence_id:dec}, {len_payload:dec} bytes'
seq:
  - id: len_payload
    -orig-id: len
    type: b24le
    doc: Length of `payload`, in bytes.
  - id: sequence_id
    -orig-id: pkt_nr
    type: u1
    doc: Number of the packet, from 0 at each command, modulo 256.
  - id: payload
    -orig-id: packet
    size: len_payload
    doc: A message, such as `stream_packet`, or a part of one.
instances:
  is_continued:
    value: len_payload == 0xffffff
    doc: The message goes on in the next packet.
