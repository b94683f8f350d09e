meta:
  id: slave_event
  title: SLAVE_EVENT
  license: MIT
  ks-version: '0.10'
  endian: le
doc: |
  Where a replica stood in its source's log. Only MySQL 4.0 and 4.1 could write it, and rarely
  did; it has been obsolete since. Since 3.23.
doc-ref: https://github.com/mysql/mysql-server/blob/mysql-5.1.73/sql/log_event.cc Slave_log_event
-webide-representation: '{source_host}:{source_port:dec} {source_log} {source_position:dec}'
seq:
  - id: source_position
    -orig-id: master_pos
    type: u8
    doc: Position in the source's log, in bytes.
  - id: source_port
    -orig-id: master_port
    type: u2
    doc: TCP port of the source.
  - id: source_host
    -orig-id: master_host
    type: strz
    encoding: UTF-8
    doc: Host name of the source.
  - id: source_log
    -orig-id: master_log
    size-eos: true
    type: str
    encoding: UTF-8
    doc: File name of the source's log.
