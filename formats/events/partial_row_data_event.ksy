meta:
  id: partial_row_data_event
  title: PARTIAL_ROW_DATA_EVENT
  license: MIT
  ks-version: '0.10'
  endian: le
doc: |
  A piece of a rows event that is longer than `binlog_row_event_fragment_threshold`. The pieces stand
  one after the other; their data, joined, is the rows event from its header on, without a checksum
  of its own. MariaDB 12.3.

  The comments of the server's source put the piece's own number first, MariaDB's documentation puts
  the number of pieces first. Since a piece's own number cannot be the greater, the instances are
  right either way. Since 12.3.
doc-ref: https://github.com/MariaDB/server/blob/mariadb-11.8.3/sql/log_event.h Partial_rows_log_event
-webide-representation: '{fragment_number:dec} of {num_fragments:dec}'
params:
  - id: len_post_header
    type: u1
    doc: Length of the fixed part, 9 bytes.
seq:
  - id: number_1
    -orig-id: seq_no or total_fragments
    type: u4
    doc: One of `fragment_number` and `num_fragments`.
  - id: number_2
    -orig-id: total_fragments or seq_no
    type: u4
    doc: The other.
  - id: flags
    -orig-id: flags2
    type: u1
    doc: Bits described by `has_len_original`.
  - id: unknown_post_header
    size: len_post_header - 9
    if: len_post_header > 9
    doc: Fixed part beyond what is known; no server writes any.
  - id: len_original
    -orig-id: original_event_size
    type: u8
    if: has_len_original
    doc: Length of the rows event that the pieces make up, in bytes.
  - id: data
    -orig-id: Rows_log_event
    size-eos: true
    doc: The piece.
instances:
  has_len_original:
    -orig-id: FL_ORIG_EVENT_SIZE
    value: (flags & 0x01) != 0
    doc: Only in the first piece.
  fragment_number:
    -orig-id: seq_no
    value: '(number_1 < number_2 ? number_1 : number_2).as<u4>'
    doc: Number of this piece, from 1.
  num_fragments:
    -orig-id: total_fragments
    value: '(number_1 < number_2 ? number_2 : number_1).as<u4>'
    doc: Number of pieces.
