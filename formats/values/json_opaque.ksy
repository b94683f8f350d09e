meta:
  id: json_opaque
  title: Value in a JSON document that JSON has no type for
  license: MIT
  ks-version: '0.10'
  imports:
    - /values/column_types
    - /values/numeric_values
  endian: le
doc: Decimals, dates and times, and any other column's value as bytes.
doc-ref: https://github.com/mysql/mysql-server/blob/mysql-9.4.0/sql-common/json_dom.cc Json_decimal and Json_datetime
-webide-representation: '{content}'
params:
  - id: column_type
    type: u1
    enum: column_types::column_type
    doc: The type that a column of such values would have.
seq:
  - id: content
    type:
      switch-on: column_type
      cases:
        'column_types::column_type::newdecimal': decimal
        'column_types::column_type::date': datetime
        'column_types::column_type::datetime': datetime
        'column_types::column_type::timestamp': datetime
        'column_types::column_type::time': time
        _: other
    doc: The value, by its type.
types:
  decimal:
    seq:
      - id: precision
        -orig-id: precision
        type: u1
        doc: Number of digits in all, 1 to 65.
      - id: scale
        -orig-id: scale
        type: u1
        doc: Number of digits after the decimal point, 0 to 30.
      - id: number
        -orig-id: MYSQL_TYPE_NEWDECIMAL
        type: numeric_values::decimal(precision, scale)
        doc: The digits.
      - id: unknown_tail
        size-eos: true
        if: not _io.eof
        doc: Bytes after the number.
  datetime:
    -webide-representation: '{year:dec}-{month:dec}-{day:dec} {hour:dec}:{minute:dec}:{second:dec}'
    doc: One number of 8 bytes, from the microsecond in its lowest bits to the year.
    seq:
      - id: microsecond
        -orig-id: second_part
        type: b24le
        doc: 0 to 999999.
      - id: second
        -orig-id: second
        type: b6le
        doc: 0 to 59.
      - id: minute
        -orig-id: minute
        type: b6le
        doc: 0 to 59.
      - id: hour
        -orig-id: hour
        type: b5le
        doc: 0 to 23.
      - id: day
        -orig-id: day
        type: b5le
        doc: 0 to 31; 0 where no day is given.
      - id: year_month
        -orig-id: ym
        type: b17le
        doc: The year times 13 plus the month.
      - id: sign
        -orig-id: neg
        type: b1le
        doc: Always 0.
      - id: unknown_tail
        size-eos: true
        if: not _io.eof
        doc: Bytes after the number.
    instances:
      year:
        value: '(year_month / 13).as<u4>'
      month:
        value: '(year_month % 13).as<u4>'
  time:
    -webide-representation: '{hour:dec}:{minute:dec}:{second:dec}'
    doc: One number of 8 bytes, in two's complement where the time is negative.
    seq:
      - id: fraction
        -orig-id: second_part
        type: b24le
        doc: The microseconds, if the time is not negative.
      - id: packed
        -orig-id: hms
        type: s4
        doc: Hours, minutes and seconds, if the time is not negative.
      - id: sign
        -orig-id: neg
        type: s1
        doc: 0, or -1 where the time is negative.
      - id: unknown_tail
        size-eos: true
        if: not _io.eof
        doc: Bytes after the number.
    instances:
      is_negative:
        value: sign < 0
      magnitude:
        value: '(not is_negative ? packed : fraction == 0 ? -packed : -packed - 1).as<s4>'
        doc: Hours (10 bits), minutes (6) and seconds (6), without the sign.
      hour:
        value: (magnitude >> 12) & 0x3ff
      minute:
        value: (magnitude >> 6) & 0x3f
      second:
        value: magnitude & 0x3f
      microsecond:
        value: 'is_negative and fraction != 0 ? 0x1000000 - fraction : fraction'
  other:
    seq:
      - id: data
        -orig-id: binary-data
        size-eos: true
        doc: The value's bytes.
