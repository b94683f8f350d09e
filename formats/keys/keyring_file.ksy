meta:
  id: keyring_file
  title: Keyring of the keyring_file plugin
  application: MySQL
  license: MIT
  ks-version: '0.10'
  endian: le
doc: |
  The keys of a server with the plugin keyring_file. Since MySQL 5.7.11; up to 8.3, component_keyring_file
  after it keeps JSON instead.
doc-ref: https://github.com/mysql/mysql-server/blob/mysql-8.0.42/plugin/keyring/buffered_file_io.cc Buffered_file_io
seq:
  - id: magic
    -orig-id: file_version
    contents: 'Keyring file version:'
    doc: What every such file starts with.
  - id: version
    -orig-id: file_version
    size: 3
    type: str
    encoding: ASCII
    valid:
      any-of: ['"1.0"', '"2.0"']
    doc: From 2.0 on a digest ends the file.
  - id: entries
    type: entry(_io.pos)
    repeat: until
    repeat-until: _io.size - _io.pos <= len_end
    if: _io.size - _io.pos > len_end
    doc: The keys.
  - id: end_tag
    -orig-id: eofTAG
    contents: 'EOF'
    doc: Ends the keys.
  - id: digest
    size: 32
    if: has_digest
    doc: SHA-256 of the keys as they were when they were last written.
instances:
  has_digest:
    value: version == "2.0"
    doc: The file ends with a digest.
  len_end:
    value: 'has_digest ? 35 : 3'
    doc: Size of what follows the keys, in bytes.
types:
  entry:
    doc: One key.
    -webide-representation: '{key_id}'
    params:
      - id: start
        type: s8
        doc: Where it begins.
    seq:
      - id: len_entry
        -orig-id: key_pod_size
        type: u8
        doc: Size of the entry with its padding, a multiple of 8 bytes.
      - id: len_key_id
        type: u8
        doc: Length of the key's name in bytes.
      - id: len_key_type
        type: u8
        doc: Length of its type in bytes.
      - id: len_user_id
        type: u8
        doc: Length of its owner's name in bytes.
      - id: len_key
        type: u8
        doc: Length of the key in bytes.
      - id: key_id
        size: len_key_id
        type: str
        encoding: UTF-8
        doc: Name of the key.
      - id: key_type
        size: len_key_type
        type: str
        encoding: UTF-8
        doc: Such as `AES`.
      - id: user_id
        size: len_user_id
        type: str
        encoding: UTF-8
        doc: Owner; empty for the server's own keys.
      - id: obfuscated_key
        -orig-id: key
        size: len_key
        doc: The key, XORed with the text `*305=Ljt0*!@$Hnm(*-9-w;:` repeated.
      - id: padding
        size: start + len_entry - _io.pos
        doc: Zero bytes.
