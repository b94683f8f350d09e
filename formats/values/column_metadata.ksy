meta:
  id: column_metadata
  title: Metadata of a column
  license: MIT
  ks-version: '0.10'
  imports:
    - /values/column_types
  endian: le
doc: |
  What a table map says of a column beyond its type; 0, 1 or 2 bytes by the type, up to 4 for the
  hidden column of a multi-valued index. The byte order differs by type.
doc-ref: https://github.com/mysql/mysql-server/blob/mysql-9.4.0/sql/rpl_utility.cc read_field_metadata
-webide-representation: '{real_type}'
params:
  - id: column_type
    type: u1
    enum: column_types::column_type
    doc: The type as the table map lists it.
  - id: has_metadata
    type: bool
    doc: Whether the type may have metadata; false for most columns, of which nothing more need be asked.
seq:
  - id: element_type
    -orig-id: m_elt_type
    type: u1
    enum: column_types::column_type
    if: is_array
    doc: Type of the array's elements.
  - id: len_pack
    -orig-id: pack_length
    type: u1
    if: has_metadata and has_len_pack
    doc: |
      Size of the length before a value, 1 to 4 bytes; of a FLOAT or DOUBLE the size of the
      value itself.
  - id: max_length
    -orig-id: field_length
    type: u2
    if: has_metadata and is_varchar and not is_array
    doc: The longest value, in bytes; from 256 on, the length before a value has 2 bytes.
  - id: max_len_element
    -orig-id: field_length
    type: b24le
    if: has_metadata and is_varchar and is_array
    doc: The longest element, in bytes.
  - id: bits
    -orig-id: bit_len
    type: u1
    valid:
      max: 7
    if: has_metadata and is_bit
    doc: Number of bits beyond the whole bytes, 0 to 7.
  - id: bytes
    -orig-id: bytes_in_rec
    type: u1
    valid:
      min: 'bits == 0 ? 1 : 0'
      max: 'bits == 0 ? 8 : 7'
    if: has_metadata and is_bit
    doc: Number of whole bytes, 0 to 8; a BIT has 1 to 64 bits.
  - id: precision
    -orig-id: precision
    type: u1
    valid:
      max: 65
    if: has_metadata and is_decimal
    doc: Number of digits in all, 1 to 65.
  - id: scale
    -orig-id: decimals
    type: u1
    valid:
      max: precision
    if: has_metadata and is_decimal
    doc: Number of digits after the decimal point, 0 to 38, and not above `precision`.
  - id: fractional_digits
    -orig-id: decimals
    type: u1
    valid:
      max: 6
    if: has_metadata and has_fractional_digits
    doc: Number of digits of the second's fraction, 0 to 6.
  - id: real_type_and_length
    -orig-id: real_type
    type: u1
    if: has_metadata and is_string
    doc: The real type; bits 4 and 5, inverted, are bits 8 and 9 of the length.
  - id: len_low
    -orig-id: field_length
    type: u1
    if: has_metadata and is_string
    doc: Bits 0 to 7 of the length.
  - id: refusal
    size: 0
    valid:
      eq: 'is_choice and not has_choice_length ? [0x00].as<bytes> : [].as<bytes>'
    if: has_metadata and is_string
    doc: No bytes; an ENUM or SET of a length that no server writes is refused here.
instances:
  is_array:
    value: column_type == column_types::column_type::typed_array
  described_type:
    value: 'is_array ? element_type : column_type'
    doc: The type that the rest of the metadata belongs to.
  is_varchar:
    value: |
      described_type == column_types::column_type::varchar or
      described_type == column_types::column_type::varchar_compressed
  is_decimal:
    value: described_type == column_types::column_type::newdecimal
  is_bit:
    value: described_type == column_types::column_type::bit
  has_len_pack:
    value: |
      described_type == column_types::column_type::float or
      described_type == column_types::column_type::double or
      described_type == column_types::column_type::tiny_blob or
      described_type == column_types::column_type::medium_blob or
      described_type == column_types::column_type::long_blob or
      described_type == column_types::column_type::blob or
      described_type == column_types::column_type::blob_compressed or
      described_type == column_types::column_type::geometry or
      described_type == column_types::column_type::json or
      described_type == column_types::column_type::vector
  has_fractional_digits:
    value: |
      described_type == column_types::column_type::timestamp2 or
      described_type == column_types::column_type::datetime2 or
      described_type == column_types::column_type::time2
  is_string:
    value: |
      described_type == column_types::column_type::string or
      described_type == column_types::column_type::var_string or
      described_type == column_types::column_type::enum or
      described_type == column_types::column_type::set
  length:
    value: 'is_string ? len_low + (((real_type_and_length & 0x30) ^ 0x30) << 4) : 0'
    doc: Of CHAR and BINARY the longest value, up to 1023, of ENUM and SET a value, in bytes; else 0.
  is_choice:
    value: real_type == column_types::column_type::enum or real_type == column_types::column_type::set
  has_choice_length:
    value: |
      length == 1 or length == 2 or
      real_type == column_types::column_type::set and (length == 3 or length == 4 or length == 8)
    doc: Whether the length is one of an ENUM, 1 or 2 bytes, or of a SET, 1 to 4 or 8 bytes.
  len_length:
    value: |
      is_array ? 4 :
      has_len_pack ? len_pack :
      is_string ? (length > 255 ? 2 : 1) :
      is_varchar ? (max_length > 255 ? 2 : 1) : 0
    doc: Size of the length before a value, in bytes; 0 where there is none.
  len_bytes:
    value: 'is_bit ? bytes + (bits > 0 ? 1 : 0) : 0'
    doc: Length of a BIT value, in bytes; else 0.
  string_type_number:
    value: 'is_string ? real_type_and_length | 0x30 : 0'
    doc: Number of the type in `real_type_and_length`; 0 for other types.
  real_type:
    value: |
      not is_string ? column_type :
      string_type_number == column_types::column_type::enum.to_i ? column_types::column_type::enum :
      string_type_number == column_types::column_type::set.to_i ? column_types::column_type::set :
      column_types::column_type::string
    doc: The type that a value's layout goes by; ENUM and SET are stored as `string`.
