meta:
  id: table_map_event
  title: TABLE_MAP_EVENT
  license: MIT
  ks-version: '0.10'
  imports:
    - /binlog_enums
    - /common/packed_integer
    - /common/table_id
    - /events/table_map_metadata
    - /values/column_metadata
    - /values/column_types
  endian: le
doc: |
  Names a table and the types of its columns for the rows events that follow in the same
  statement. Since 5.1.5.
doc-ref: https://github.com/mysql/mysql-server/blob/mysql-9.4.0/libs/mysql/binlog/event/rows_event.h Table_map_event
-webide-representation: '{schema_name}.{table_name}, id {table_id}'
params:
  - id: len_post_header
    type: u1
    doc: Length of the fixed part, in bytes; 8, or 6 with a table id of 4 bytes.
  - id: server_year_bits
    type: u1
    enum: binlog_enums::year_bits
    doc: Whether the server writes a bit for YEAR columns in the field `signedness`.
seq:
  - id: table_id
    -orig-id: m_table_id
    type: table_id(len_post_header)
    doc: What rows events refer to the table by.
  - id: flags
    -orig-id: m_flags
    type: u2
    doc: Bits described by the `is_…` and `has_…` instances.
  - id: unknown_post_header
    size: len_post_header - 8
    if: len_post_header > 8
    doc: Bytes that a newer server may add to the fixed part.
  - id: len_schema_name
    -orig-id: m_dblen
    type: packed_integer
    doc: Length of `schema_name`, in bytes.
  - id: schema_name
    -orig-id: m_dbnam
    size: len_schema_name.value
    type: str
    encoding: UTF-8
    doc: Name of the table's database.
  - id: schema_name_end
    -orig-id: m_dbnam
    type: u1
    doc: 0, after the name.
  - id: len_table_name
    -orig-id: m_tbllen
    type: packed_integer
    doc: Length of `table_name`, in bytes.
  - id: table_name
    -orig-id: m_tblnam
    size: len_table_name.value
    type: str
    encoding: UTF-8
    doc: Name of the table.
  - id: table_name_end
    -orig-id: m_tblnam
    type: u1
    doc: 0, after the name.
  - id: num_columns
    -orig-id: m_colcnt
    type: packed_integer
    doc: Number of columns, hidden ones included; up to 4096.
  - id: refusal
    size: 0
    valid:
      eq: 'num_columns.value.as<s8> < 0 or num_columns.value.as<s8> > 4096 ? [0x00].as<bytes> : [].as<bytes>'
    doc: No bytes; a table of more columns than any server allows is refused here.
  - id: column_types
    -orig-id: m_coltype
    type: u1
    enum: column_types::column_type
    repeat: expr
    repeat-expr: num_columns.value
    doc: The type of each column.
  - id: len_metadata
    -orig-id: m_field_metadata_size
    type: packed_integer
    if: has_metadata
    doc: Length of `metadata`, in bytes. Absent before 5.1.16 or so, together with all that follows.
  - id: metadata
    -orig-id: m_field_metadata
    size: len_metadata.value
    type: metadata_block
    if: has_metadata
    doc: Lengths, precisions and the like, by column.
  - id: null_bits
    -orig-id: m_null_bits
    size: (num_columns.value.as<s8> + 7) / 8
    if: has_metadata
    doc: Whether each column may be NULL; the first column is the lowest bit of the first byte.
  - id: optional_metadata
    -orig-id: m_optional_metadata
    type: |
      table_map_metadata(
        _index,
        num_columns.value.as<u2>,
        _index == 0 ? -1 : optional_metadata[_index - 1].signedness_index,
        _index == 0 ? -1 : optional_metadata[_index - 1].column_name_index,
        _index == 0 ? -1 : optional_metadata[_index - 1].column_visibility_index
      )
    repeat: eos
    doc: |
      More about the columns, by the variable `binlog_row_metadata`. MySQL since 8.0.1, MariaDB
      since 10.5.0.
instances:
  is_bit_length_exact:
    -orig-id: TM_BIT_LEN_EXACT_F
    value: (flags & 0x0001) != 0
    doc: BIT columns take whole bytes only; all servers set this.
  has_referencing_keys:
    -orig-id: TM_REFERRED_FK_DB_F
    value: (flags & 0x0002) != 0
    doc: A foreign key of another database refers to the table. MySQL since 5.6.
  has_generated_invisible_primary_key:
    -orig-id: TM_GENERATED_INVISIBLE_PK_F
    value: (flags & 0x0004) != 0
    doc: The first column is an invisible primary key that the server made up. MySQL since 8.0.30.
  has_triggers:
    -orig-id: TM_BIT_HAS_TRIGGERS_F
    value: (flags & 0x4000) != 0
    doc: The table has triggers. MariaDB since 10.1.
  has_metadata:
    value: not _io.eof
    doc: Whether anything follows the types; computed right after them and kept.
  has_signedness:
    value: optional_metadata.size > 0 and optional_metadata.last.signedness_index >= 0
    doc: Whether the event says which numbers are signed.
  signedness:
    value: optional_metadata[optional_metadata.last.signedness_index].value.as<table_map_metadata::bitmap>
    if: has_signedness
    doc: The last field of this kind, if there is one.
  column_names:
    value: optional_metadata[optional_metadata.last.column_name_index].value.as<table_map_metadata::name_list>
    if: optional_metadata.size > 0 and optional_metadata.last.column_name_index >= 0
    doc: The last field of this kind, if there is one.
  column_visibility:
    value: |
      optional_metadata[optional_metadata.last.column_visibility_index].value.as<table_map_metadata::bitmap>
    if: optional_metadata.size > 0 and optional_metadata.last.column_visibility_index >= 0
    doc: The last field of this kind, if there is one.
  columns:
    type: |
      column(
        _index,
        _index == 0 ? 0 : columns[_index - 1].next_number_ordinal,
        _index == 0 ? 0 : columns[_index - 1].next_year_ordinal,
        _index == 0 ? 0 : columns[_index - 1].next_json_ordinal,
        _index == 0 ? true : columns[_index - 1].is_known,
        _index == 0 ? true : columns[_index - 1].are_years_set
      )
    repeat: expr
    repeat-expr: num_columns.value
    if: has_metadata
    doc: What the parts of the event say of each column; no bytes of their own.
  num_numbers:
    value: 'has_metadata and num_columns.value != 0 ? columns.last.next_number_ordinal : 0'
    doc: Number of columns of numeric types, without YEAR.
  num_sign_bits_with_years:
    value: 'has_metadata and num_columns.value != 0 ? columns.last.next_number_ordinal + columns.last.next_year_ordinal : 0'
    doc: Number of columns of numeric types, with YEAR.
  matches_with_years:
    value: |
      has_signedness and signedness.bits.length != 0 and signedness.bits.length == (num_sign_bits_with_years + 7) / 8 and
      (signedness.bits[signedness.bits.length - 1] & (0xff >> ((num_sign_bits_with_years - 1) % 8 + 1))) == 0 and columns.last.are_years_set
    doc: |
      The field `signedness` may have bits for YEAR columns: it has as many bytes as that takes, no bit is set
      after those of the columns, and those of the YEAR columns are set, as servers always do.
  matches_without_years:
    value: |
      has_signedness and signedness.bits.length != 0 and signedness.bits.length == (num_numbers + 7) / 8 and
      (signedness.bits[signedness.bits.length - 1] & (0xff >> ((num_numbers - 1) % 8 + 1))) == 0
    doc: |
      The field `signedness` may have no bits for YEAR columns: it has as many bytes as that takes, and no bit
      is set after those of the columns.
  year_bits:
    value: |
      matches_with_years == matches_without_years ? server_year_bits :
      matches_with_years ? binlog_enums::year_bits::present : binlog_enums::year_bits::absent
    doc: |
      Whether the field `signedness` has a bit for YEAR columns: as the field itself shows, or else as the
      server does.
  num_json_columns:
    value: 'has_metadata and num_columns.value != 0 ? columns.last.next_json_ordinal : 0'
    doc: Number of columns of the type JSON.
  has_known_columns:
    value: 'has_metadata and (num_columns.value == 0 or columns.last.is_known)'
    doc: Whether the lengths of all columns' values are known, so that rows can be read.
types:
  metadata_block:
    seq:
      - id: columns
        -orig-id: m_field_metadata
        type: >-
          column_metadata(_parent.column_types[_index], not (
          _parent.column_types[_index] == column_types::column_type::long or
          _parent.column_types[_index] == column_types::column_type::longlong or
          _parent.column_types[_index] == column_types::column_type::tiny or
          _parent.column_types[_index] == column_types::column_type::short or
          _parent.column_types[_index] == column_types::column_type::int24 or
          _parent.column_types[_index] == column_types::column_type::date or
          _parent.column_types[_index] == column_types::column_type::year or
          _parent.column_types[_index] == column_types::column_type::timestamp or
          _parent.column_types[_index] == column_types::column_type::datetime or
          _parent.column_types[_index] == column_types::column_type::time or
          _parent.column_types[_index] == column_types::column_type::newdate or
          _parent.column_types[_index] == column_types::column_type::null))
        repeat: expr
        repeat-expr: _parent.num_columns.value
        doc: One for each column; many have no bytes.
      - id: unknown_tail
        size-eos: true
        if: not _io.eof
        doc: Metadata of types that this grammar does not know.
  column:
    -webide-representation: '{name} {column_type}'
    params:
      - id: index
        type: u4
        doc: Index among the columns, from 0.
      - id: number_ordinal
        type: u4
        doc: Number of columns of numeric types before this one, without YEAR.
      - id: year_ordinal
        type: u4
        doc: Number of YEAR columns before this one.
      - id: json_ordinal
        type: u4
        doc: Number of JSON columns before this one.
      - id: are_previous_known
        type: bool
        doc: Whether the types of all columns before this one are known.
      - id: are_previous_years_set
        type: bool
        doc: Whether the bits of all YEAR columns before this one are set, if the field `signedness` has any.
    instances:
      column_type:
        value: _parent.column_types[index]
      metadata:
        value: _parent.metadata.columns[index]
      real_type:
        value: metadata.real_type
        doc: The type; of what the table map calls `string`, the real one.
      old_fractional_digits:
        value: 0
        doc: |
          Number of digits of the fraction of a TIME, DATETIME or TIMESTAMP in MariaDB's old format. The
          log does not state it, so this is 0; a reader that knows the table's definition puts the
          number here before it reads rows.
      is_nullable:
        value: ((_parent.null_bits[index / 8] >> (index % 8)) & 1) == 1
      is_number:
        value: |
          column_type == column_types::column_type::long or
          column_type == column_types::column_type::longlong or
          column_type == column_types::column_type::tiny or
          column_type == column_types::column_type::short or
          column_type == column_types::column_type::float or
          column_type == column_types::column_type::double or
          column_type == column_types::column_type::int24 or
          column_type == column_types::column_type::newdecimal
        doc: The type is numeric, so that the column has a bit in the field `signedness`.
      next_number_ordinal:
        value: 'is_number ? number_ordinal + 1 : number_ordinal'
      is_year:
        value: column_type == column_types::column_type::year
        doc: The type is YEAR, which has a bit in the field `signedness` of newer servers, always 1.
      next_year_ordinal:
        value: 'is_year ? year_ordinal + 1 : year_ordinal'
      are_years_set:
        value: are_previous_years_set and (not is_year or is_unsigned_with_years)
        doc: Whether the bits of all YEAR columns up to this one are set, if the field `signedness` has any.
      is_json:
        value: column_type == column_types::column_type::json
      next_json_ordinal:
        value: 'is_json ? json_ordinal + 1 : json_ordinal'
      sign_ordinal_with_years:
        value: number_ordinal + year_ordinal
        doc: Index of the column's bit in the field `signedness`, if that has bits for YEAR columns.
      has_sign_with_years:
        value: _parent.has_signedness and sign_ordinal_with_years / 8 < _parent.signedness.bits.length
      is_unsigned_with_years:
        value: |
          has_sign_with_years and
          ((_parent.signedness.bits[sign_ordinal_with_years / 8] >> (7 - sign_ordinal_with_years % 8)) & 1) == 1
        doc: The column's bit, if the field `signedness` has bits for YEAR columns.
      has_sign_without_years:
        value: _parent.has_signedness and number_ordinal / 8 < _parent.signedness.bits.length
      is_unsigned_without_years:
        value: |
          has_sign_without_years and
          ((_parent.signedness.bits[number_ordinal / 8] >> (7 - number_ordinal % 8)) & 1) == 1
        doc: The column's bit, if the field `signedness` has no bits for YEAR columns.
      has_signedness:
        value: |
          is_number and (
            _parent.year_bits == binlog_enums::year_bits::present ? has_sign_with_years :
            _parent.year_bits == binlog_enums::year_bits::absent ? has_sign_without_years :
            has_sign_with_years and is_unsigned_with_years == is_unsigned_without_years
          )
        doc: |
          Whether the log says if the number is signed. It does not where that depends on whether the field
          `signedness` has bits for YEAR columns, and this is unknown.
      is_unsigned:
        value: |
          has_signedness and (
            _parent.year_bits == binlog_enums::year_bits::present ? is_unsigned_with_years : is_unsigned_without_years
          )
        doc: The column is declared UNSIGNED; false where the log does not say.
      has_visibility:
        value: |
          _parent.optional_metadata.size > 0 and
          _parent.optional_metadata.last.column_visibility_index >= 0 and
          index / 8 < _parent.column_visibility.bits.length
        doc: Whether the log says if the column is visible.
      is_visible:
        value: |
          not has_visibility or ((_parent.column_visibility.bits[index / 8] >> (7 - index % 8)) & 1) == 1
        doc: The column is not declared INVISIBLE; true where the log does not say. MySQL since 8.0.23.
      has_name:
        value: |
          _parent.optional_metadata.size > 0 and
          _parent.optional_metadata.last.column_name_index >= 0 and
          index < _parent.column_names.names.size
      name:
        value: _parent.column_names.names[index].text
        if: has_name
        doc: Present where `binlog_row_metadata` was FULL.
      has_known_length:
        value: |
          column_type == column_types::column_type::varchar or
          column_type == column_types::column_type::blob or
          column_type == column_types::column_type::string or
          column_type == column_types::column_type::timestamp2 or
          column_type == column_types::column_type::datetime2 or
          column_type == column_types::column_type::date or
          column_type == column_types::column_type::json or
          column_type == column_types::column_type::null or
          column_type == column_types::column_type::timestamp or
          column_type == column_types::column_type::time or
          column_type == column_types::column_type::datetime or
          column_type == column_types::column_type::newdate or
          column_type == column_types::column_type::bit or
          column_type == column_types::column_type::time2 or
          column_type == column_types::column_type::typed_array or
          column_type == column_types::column_type::blob_compressed or
          column_type == column_types::column_type::varchar_compressed or
          column_type == column_types::column_type::vector or
          column_type == column_types::column_type::enum or
          column_type == column_types::column_type::set or
          column_type == column_types::column_type::tiny_blob or
          column_type == column_types::column_type::medium_blob or
          column_type == column_types::column_type::long_blob or
          column_type == column_types::column_type::var_string or
          column_type == column_types::column_type::geometry
        doc: Whether the type, which is neither numeric nor YEAR, is one whose values have a known length.
      is_known:
        value: |
          are_previous_known and (is_number or is_year or has_known_length)
        doc: Whether the lengths of values are known, of this column and of all before it.
