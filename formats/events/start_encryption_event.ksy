meta:
  id: start_encryption_event
  title: START_ENCRYPTION_EVENT
  license: MIT
  ks-version: '0.10'
  endian: le
doc: |
  All events after this one are encrypted, each on its own and without a change of length. MariaDB
  10.1; second in the log, after its format description event. Since 10.1.
doc-ref: https://github.com/MariaDB/server/blob/mariadb-11.8.3/sql/log_event.h Start_encryption_log_event
-webide-representation: 'scheme {scheme:dec}, key version {key_version:dec}'
seq:
  - id: scheme
    -orig-id: crypto_scheme
    type: u1
    doc: How the key and the initialization vector are derived; 1 is the only scheme.
  - id: key_version
    -orig-id: key_version
    type: u4
    doc: Version of the key with number 1, as the key management plugin counts them.
  - id: nonce
    -orig-id: nonce
    size: 12
    doc: Random bytes; with an event's position they make its initialization vector.
  - id: unknown_tail
    size-eos: true
    if: not _io.eof
    doc: Bytes that newer servers may add.
