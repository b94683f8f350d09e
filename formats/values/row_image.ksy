meta:
  id: row_image
  title: Row image
  license: MIT
  ks-version: '0.10'
  imports:
    - /common/packed_integer
    - /events/table_map_event
    - /values/column_types
    - /values/image_columns
    - /values/numeric_values
    - /values/string_values
    - /values/temporal_values
  endian: le
doc: A row at one moment. It does not state its types; the table map does.
doc-ref: https://github.com/mysql/mysql-server/blob/mysql-9.4.0/sql/rpl_record.cc unpack_row
params:
  - id: table_map
    type: table_map_event
    doc: The table's columns.
  - id: columns
    type: image_columns
    doc: The columns that the image has.
  - id: is_partial
    type: bool
    doc: Whether the image may hold changes of JSON documents.
seq:
  - id: value_options
    -orig-id: value_options
    type: packed_integer
    if: is_partial
    doc: Bit 0 set where JSON documents are given as what changed in them.
  - id: partial_bits
    -orig-id: partial_bits
    size: (table_map.num_json_columns + 7) / 8
    if: has_partial_bits
    doc: |
      A bit for each JSON column of the table, set where the column is given as what changed in it;
      the first is the lowest bit of the first byte.
  - id: null_bits
    -orig-id: null_bits
    size: (columns.num_present + 7) / 8
    doc: A bit for each column of the image, set where it is NULL; the first is the lowest bit of the first byte.
  - id: cells
    -orig-id: Field
    type: cell(_index)
    repeat: expr
    repeat-expr: columns.num_columns
    doc: One for each column of the table; those that are not in the image or NULL have no bytes.
instances:
  has_partial_bits:
    value: is_partial and (value_options.value & 1) == 1
types:
  cell:
    -webide-representation: '{name} = {value}{diffs}'
    params:
      - id: index
        type: u4
        doc: Index of the column in the table, from 0.
    seq:
      - id: value
        type:
          switch-on: column.real_type
          cases:
            'column_types::column_type::tiny': numeric_values::int_1(column.is_unsigned)
            'column_types::column_type::short': numeric_values::int_2(column.is_unsigned)
            'column_types::column_type::int24': numeric_values::int_3(column.is_unsigned)
            'column_types::column_type::long': numeric_values::int_4(column.is_unsigned)
            'column_types::column_type::longlong': numeric_values::int_8(column.is_unsigned)
            'column_types::column_type::float': numeric_values::float_4
            'column_types::column_type::double': numeric_values::float_8
            'column_types::column_type::newdecimal': numeric_values::decimal(column.metadata.precision, column.metadata.scale)
            'column_types::column_type::bit': numeric_values::bit(column.metadata.len_bytes)
            'column_types::column_type::enum': numeric_values::enum(column.metadata.length)
            'column_types::column_type::set': numeric_values::set(column.metadata.length)
            'column_types::column_type::year': temporal_values::year
            'column_types::column_type::date': temporal_values::date
            'column_types::column_type::newdate': temporal_values::date
            'column_types::column_type::time': temporal_values::time(column.old_fractional_digits)
            'column_types::column_type::datetime': temporal_values::datetime(column.old_fractional_digits)
            'column_types::column_type::timestamp': temporal_values::timestamp(column.old_fractional_digits)
            'column_types::column_type::time2': temporal_values::time2(column.metadata.fractional_digits)
            'column_types::column_type::datetime2': temporal_values::datetime2(column.metadata.fractional_digits)
            'column_types::column_type::timestamp2': temporal_values::timestamp2(column.metadata.fractional_digits)
            'column_types::column_type::varchar': string_values::text(column.metadata.len_length)
            'column_types::column_type::string': string_values::text(column.metadata.len_length)
            'column_types::column_type::tiny_blob': string_values::text(column.metadata.len_length)
            'column_types::column_type::medium_blob': string_values::text(column.metadata.len_length)
            'column_types::column_type::long_blob': string_values::text(column.metadata.len_length)
            'column_types::column_type::blob': string_values::text(column.metadata.len_length)
            'column_types::column_type::varchar_compressed': string_values::compressed_text(column.metadata.len_length)
            'column_types::column_type::blob_compressed': string_values::compressed_text(column.metadata.len_length)
            'column_types::column_type::geometry': string_values::geometry(column.metadata.len_length)
            'column_types::column_type::vector': string_values::vector(column.metadata.len_length)
            'column_types::column_type::json': string_values::json(column.metadata.len_length)
            'column_types::column_type::typed_array': string_values::json(column.metadata.len_length)
            _: no_bytes
        if: has_value and not is_partial
        doc: The value.
      - id: diffs
        -orig-id: Json_diff_vector
        type: string_values::json_diffs(column.metadata.len_length)
        if: has_value and is_partial
        doc: What changed in the JSON document.
    instances:
      column:
        value: _parent.table_map.columns[index]
        doc: What the table map says of the column.
      name:
        value: 'column.has_name ? column.name : "@" + (index + 1).to_s'
        doc: The column's name where the log has it; else its number from 1, as in `@1`.
      ordinal:
        value: _parent.columns.columns[index].ordinal
        doc: Index in the image, if the column is present.
      is_present:
        value: _parent.columns.columns[index].is_present
        doc: Whether the image has the column.
      is_null:
        value: is_present and ((_parent.null_bits[ordinal / 8] >> (ordinal % 8)) & 1) == 1
        doc: Whether the value is NULL.
      has_value:
        value: is_present and not is_null
      is_partial:
        value: |
          _parent.has_partial_bits and column.is_json and
          ((_parent.partial_bits[column.json_ordinal / 8] >> (column.json_ordinal % 8)) & 1) == 1
        doc: Whether the JSON document is given as what changed in it.
  no_bytes:
    doc: A value of the type NULL, which has no bytes.
