meta:
  id: gtid_set
  title: Set of GTIDs
  license: MIT
  ks-version: '0.10'
  imports:
    - /common/varlen_integer
  endian: le
doc: |
  A set of MySQL's global transaction identifiers: for each source (a server's UUID, and a tag
  since 8.3) the intervals of transaction numbers. A set without any tag is written in the older,
  untagged form, which has one 8-byte number at the start and no tag lengths.
doc-ref: https://github.com/mysql/mysql-server/blob/mysql-9.4.0/sql/rpl_gtid_set.cc Gtid_set::encode
-webide-representation: '{num_sources:dec} sources'
seq:
  - id: first
    -orig-id: n_sids_encoded
    type: u1
    doc: Tagged form, the same 1 as in `format`; untagged form, lowest byte of the number of sources.
  - id: num_low
    -orig-id: n_sids_encoded
    type: u4
    doc: The next four bytes of the number of sources; the first four in the tagged form.
  - id: num_high
    -orig-id: n_sids_encoded
    type: u2
    doc: Bytes 5 and 6 of `n_sids_encoded`; the highest two bytes of the number of sources.
  - id: format
    -orig-id: Gtid_format
    type: u1
    enum: set_format
    valid:
      any-of:
        - set_format::untagged
        - set_format::tagged
    doc: |
      The form of the set. In the untagged form it is the eighth byte of the number of sources,
      which never gets that far.
  - id: sources
    -orig-id: tsid
    type: source
    repeat: expr
    repeat-expr: num_sources
    doc: The sources with their intervals, in the order of UUID and tag.
instances:
  is_tagged:
    value: format == set_format::tagged
  count:
    value: (num_low.as<u8> + (num_high.as<u8> * 0x100000000.as<u8>).as<u8>).as<u8>
    doc: Bytes 1 to 6 as a number.
  num_sources:
    -orig-id: n_sids
    value: '(is_tagged ? count : (first.as<u8> + (count * 0x100.as<u8>).as<u8>).as<u8>).as<u8>'
    doc: How many pairs of UUID and tag the set names.
types:
  source:
    -webide-representation: '{uuid:uuid} {tag}'
    seq:
      - id: uuid
        -orig-id: sid
        size: 16
        doc: UUID of the server that the transactions come from, in the order in which it is printed.
      - id: len_tag
        -orig-id: tag_length
        type: varlen_integer
        if: _parent.is_tagged
        doc: Length of the tag in bytes, 0 to 32; 0 where the transactions have none.
        -published-wrong: |
          Given as a byte that holds twice the length. It is a variable-length integer, which looks
          like that below 64.
      - id: tag
        -orig-id: tag
        size: len_tag.value
        type: str
        encoding: UTF-8
        if: _parent.is_tagged
        doc: Tag, of lower case letters, digits and underscores.
      - id: num_intervals
        -orig-id: n_intervals
        type: u8
        doc: How many intervals of this source the set has.
      - id: intervals
        -orig-id: Interval
        type: interval
        repeat: expr
        repeat-expr: num_intervals
        doc: The intervals, in ascending order; they neither overlap nor touch.
  interval:
    -webide-representation: '{start:dec}-{last:dec}'
    seq:
      - id: start
        -orig-id: start
        type: s8
        doc: First transaction number of the interval, from 1.
      - id: stop
        -orig-id: end
        type: s8
        doc: The number after the interval's last.
    instances:
      last:
        value: (stop - 1.as<s8>).as<s8>
        doc: Last transaction number of the interval.
enums:
  set_format:
    0: untagged
    1: tagged
