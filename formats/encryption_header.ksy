meta:
  id: encryption_header
  title: Header of an encrypted log
  application: MySQL
  license: MIT
  ks-version: '0.10'
  endian: le
doc: |
  The first 512 bytes of a binary log or relay log that MySQL encrypted (`binlog_encryption`). The
  rest of the file is an ordinary log, encrypted as one stream by AES-256 in counter mode: the byte
  at offset n of the log is the byte at offset n + 512 of the file. SHA-512 of the file password
  gives the key in its first 32 bytes and, in the next 8, the first half of the counter block; the
  other half counts blocks of 16 bytes from 0, in big-endian. Since MySQL 8.0.14.
doc-ref: https://github.com/mysql/mysql-server/blob/mysql-9.4.0/sql/rpl_log_encryption.h Rpl_encryption_header_v1
-webide-representation: 'version {version:dec}'
seq:
  - id: magic
    -orig-id: ENCRYPTION_MAGIC
    contents: [0xfd, 'bin']
    doc: What every encrypted log starts with.
  - id: version
    -orig-id: m_version
    type: u1
    valid: 1
    doc: Version of this header; 1 is the only one.
  - id: fields
    type: field
    repeat: until
    repeat-until: _.type == field_type::terminator
    doc: What the header says, up to a zero byte.
  - id: padding
    size: header_length - _io.pos
    doc: Zero bytes up to the header's end.
instances:
  header_length:
    -orig-id: Rpl_encryption_header::HEADER_SIZE
    value: 512
    doc: Length of the header in bytes, whatever its fields take of it.
types:
  field:
    doc: One thing that the header says.
    -webide-representation: '{type}'
    seq:
      - id: type
        type: u1
        enum: field_type
        doc: What it is.
      - id: value
        type:
          switch-on: type
          cases:
            'field_type::key_id': key_id
            'field_type::encrypted_password': encrypted_password
            'field_type::initialization_vector': initialization_vector
        if: type != field_type::terminator
        doc: The value.
  key_id:
    doc: Name of the key in the server's keyring.
    -webide-representation: '{name}'
    seq:
      - id: len_name
        type: u1
        doc: Length of the name in bytes.
      - id: name
        -orig-id: m_key_id
        size: len_name
        type: str
        encoding: UTF-8
        doc: '`MySQLReplicationKey_`, the UUID of the server, `_`, and the number of the key.'
  encrypted_password:
    doc: The password of the file.
    seq:
      - id: data
        -orig-id: m_encrypted_password
        size: 32
        doc: The password, encrypted by AES-256-CBC without padding under the key.
  initialization_vector:
    doc: What the password was encrypted with, besides the key.
    seq:
      - id: data
        -orig-id: m_iv
        size: 16
        doc: The initialization vector.
enums:
  field_type:
    0:
      id: terminator
      doc: No more fields.
    1:
      id: key_id
      -orig-id: KEY_ID
      doc: Name of the key.
    2:
      id: encrypted_password
      -orig-id: ENCRYPTED_FILE_PASSWORD
      doc: The file password.
    3:
      id: initialization_vector
      -orig-id: IV_FOR_FILE_PASSWORD
      doc: Initialization vector of the file password.
