meta:
  id: temporal_values
  title: Dates and times in a row image
  license: MIT
  ks-version: '0.10'
  endian: le
doc: |
  Values of date and time columns. The types of 5.6.4 (of MariaDB 10.1.2) and later are big-endian, so
  that their bytes sort; the older ones are little-endian.

  The older types have no fraction in MySQL. MariaDB had one (5.3 to 10.1.1, later with
  `mysql56_temporal_format=OFF`): longer, big-endian values under the same type numbers. A table map does
  not distinguish them, so rows of such tables cannot be read by it.
doc-ref:
  - https://github.com/mysql/mysql-server/blob/mysql-9.4.0/sql-common/my_time.cc my_datetime_packed_from_binary
  - https://github.com/MariaDB/server/blob/mariadb-11.8.3/sql/field.cc Field_time_hires
types:
  year:
    -webide-representation: '{value:dec}'
    seq:
      - id: years
        -orig-id: MYSQL_TYPE_YEAR
        type: u1
        doc: Years since 1900, 1 to 255; 0 for the year 0.
    instances:
      value:
        value: 'years == 0 ? 0 : 1900 + years'
  date:
    -webide-representation: '{year:dec}-{month:dec}-{day:dec}'
    seq:
      - id: day
        -orig-id: day
        type: b5le
        doc: 0 to 31; 0 where no day is given.
      - id: month
        -orig-id: month
        type: b4le
        doc: 0 to 12; 0 where no month is given.
      - id: year
        -orig-id: year
        type: b15le
        doc: 0 to 9999.
  time:
    -webide-representation: '{number:dec}'
    doc: TIME as before 5.6.4, in MariaDB also since then with `mysql56_temporal_format` off.
    params:
      - id: fractional_digits
        type: u1
        doc: Number of digits of the fraction, 0 to 6; above 0 in MariaDB only.
    seq:
      - id: number
        -orig-id: MYSQL_TYPE_TIME
        type: b24le
        if: fractional_digits == 0
        doc: The decimal digits HHHMMSS, in two's complement where negative.
      - id: packed
        -orig-id: MYSQL_TYPE_TIME
        size: 'fractional_digits < 3 ? 4 : fractional_digits < 6 ? 5 : 6'
        if: fractional_digits > 0
        doc: |
          A big-endian number: the time in units of its last digit, plus 1 and the longest time
          838:59:59.999999 in that unit.
    instances:
      is_negative:
        value: number >= 0x800000
        if: fractional_digits == 0
      magnitude:
        value: 'is_negative ? 0x1000000 - number : number'
        if: fractional_digits == 0
        doc: The digits without the sign.
      hour:
        value: magnitude / 10000
        if: fractional_digits == 0
      minute:
        value: magnitude / 100 % 100
        if: fractional_digits == 0
      second:
        value: magnitude % 100
        if: fractional_digits == 0
  datetime:
    -webide-representation: '{number:dec}'
    doc: DATETIME as before 5.6.4, in MariaDB also since then with `mysql56_temporal_format` off.
    params:
      - id: fractional_digits
        type: u1
        doc: Number of digits of the fraction, 0 to 6; above 0 in MariaDB only.
    seq:
      - id: number
        -orig-id: MYSQL_TYPE_DATETIME
        type: u8
        if: fractional_digits == 0
        doc: The decimal digits YYYYMMDDhhmmss.
      - id: packed
        -orig-id: MYSQL_TYPE_DATETIME
        size: 'fractional_digits < 3 ? 6 : fractional_digits < 6 ? 7 : 8'
        if: fractional_digits > 0
        doc: |
          A big-endian number in units of the last digit: the year times 13 plus the month, that times
          32 plus the day, and from there hours, minutes and seconds as they are.
    instances:
      year:
        value: '(number.as<s8> / 10000000000).as<u4>'
        if: fractional_digits == 0
      month:
        value: '(number.as<s8> / 100000000 % 100).as<u4>'
        if: fractional_digits == 0
      day:
        value: '(number.as<s8> / 1000000 % 100).as<u4>'
        if: fractional_digits == 0
      hour:
        value: '(number.as<s8> / 10000 % 100).as<u4>'
        if: fractional_digits == 0
      minute:
        value: '(number.as<s8> / 100 % 100).as<u4>'
        if: fractional_digits == 0
      second:
        value: '(number.as<s8> % 100).as<u4>'
        if: fractional_digits == 0
  timestamp:
    -webide-representation: '{seconds:dec}'
    doc: TIMESTAMP as before 5.6.4, in MariaDB also since then with `mysql56_temporal_format` off.
    params:
      - id: fractional_digits
        type: u1
        doc: Number of digits of the fraction, 0 to 6; above 0 in MariaDB only.
    seq:
      - id: seconds_le
        -orig-id: MYSQL_TYPE_TIMESTAMP
        type: u4
        if: fractional_digits == 0
        doc: The seconds, where no fraction follows.
      - id: seconds_be
        -orig-id: MYSQL_TYPE_TIMESTAMP
        type: u4be
        if: fractional_digits > 0
        doc: The seconds, where a fraction follows.
      - id: packed_fraction
        -orig-id: sec_part
        size: (fractional_digits + 1) / 2
        if: fractional_digits > 0
        doc: A big-endian number, the fraction in units of its last digit.
    instances:
      seconds:
        value: 'fractional_digits == 0 ? seconds_le : seconds_be'
        doc: Seconds since 1970-01-01 00:00:00 UTC; 0 stands for the zero date.
  time2:
    -webide-representation: '{hour:dec}:{minute:dec}:{second:dec}'
    doc: |
      TIME. The bytes with the fraction are one number, to which half its range is added to make it
      positive, so that the parts of a negative time are found by taking it away again.
    params:
      - id: fractional_digits
        type: u1
        doc: Number of digits of the fraction, 0 to 6.
    seq:
      - id: packed
        -orig-id: intpart
        type: b24be
        doc: 0x800000 plus a sign bit, hours (10 bits), minutes (6) and seconds (6).
      - id: fraction
        -orig-id: frac
        type: fraction(fractional_digits)
        doc: The fraction of the second, in two's complement where the time is negative.
    instances:
      is_negative:
        value: packed < 0x800000
      magnitude:
        value: |
          not is_negative ? packed - 0x800000 :
          fraction.value == 0 ? 0x800000 - packed : 0x7fffff - packed
        doc: Hours, minutes and seconds without the sign, packed.
      has_spare_bit:
        value: magnitude >= 0x400000
        doc: Whether the bit above the hours is set, which it is in no time that a server writes.
      hour:
        value: (magnitude >> 12) & 0x3ff
        doc: 0 to 838.
      minute:
        value: (magnitude >> 6) & 0x3f
      second:
        value: magnitude & 0x3f
      microsecond:
        value: 'is_negative and fraction.value != 0 ? (fraction.modulus - fraction.value) * fraction.unit : fraction.microsecond'
  datetime2:
    -webide-representation: '{year:dec}-{month:dec}-{day:dec} {hour:dec}:{minute:dec}:{second:dec}'
    doc: DATETIME.
    params:
      - id: fractional_digits
        type: u1
        doc: Number of digits of the fraction, 0 to 6.
    seq:
      - id: is_positive
        -orig-id: DATETIMEF_INT_OFS
        type: b1
        doc: Always 1.
      - id: year_month
        -orig-id: ym
        type: b17
        doc: The year times 13 plus the month.
      - id: day
        -orig-id: day
        type: b5
        doc: 0 to 31; 0 where no day is given.
      - id: hour
        -orig-id: hour
        type: b5
        doc: 0 to 23.
      - id: minute
        -orig-id: minute
        type: b6
        doc: 0 to 59.
      - id: second
        -orig-id: second
        type: b6
        doc: 0 to 59.
      - id: fraction
        -orig-id: frac
        type: fraction(fractional_digits)
        doc: The fraction of the second.
    instances:
      year:
        value: '(year_month / 13).as<u4>'
        doc: 0 to 9999.
      month:
        value: '(year_month % 13).as<u4>'
        doc: 0 to 12; 0 where no month is given.
      microsecond:
        value: fraction.microsecond
  timestamp2:
    -webide-representation: '{seconds:dec}'
    doc: TIMESTAMP.
    params:
      - id: fractional_digits
        type: u1
        doc: Number of digits of the fraction, 0 to 6.
    seq:
      - id: seconds
        -orig-id: m_tv_sec
        type: u4be
        doc: Seconds since 1970-01-01 00:00:00 UTC; 0 stands for the zero date.
      - id: fraction
        -orig-id: m_tv_usec
        type: fraction(fractional_digits)
        doc: The fraction of the second.
    instances:
      microsecond:
        value: fraction.microsecond
  fraction:
    -webide-representation: '{value:dec}'
    doc: Fraction of a second, to an even number of digits.
    params:
      - id: fractional_digits
        type: u1
        doc: Number of digits that the column is declared with, 0 to 6.
    seq:
      - id: hundredths
        -orig-id: frac
        type: u1
        if: fractional_digits == 1 or fractional_digits == 2
        doc: The fraction, of a column with 1 or 2 digits.
      - id: ten_thousandths
        -orig-id: frac
        type: u2be
        if: fractional_digits == 3 or fractional_digits == 4
        doc: The fraction, of a column with 3 or 4 digits.
      - id: millionths
        -orig-id: frac
        type: b24be
        if: fractional_digits > 4
        doc: The fraction, of a column with 5 or 6 digits.
    instances:
      value:
        value: |
          (fractional_digits == 0 ? 0 : fractional_digits < 3 ? hundredths :
          fractional_digits < 5 ? ten_thousandths : millionths).as<u4>
        doc: The fraction, in `unit`.
      unit:
        value: 'fractional_digits < 3 ? 10000 : fractional_digits < 5 ? 100 : 1'
        doc: What `value` counts, in microseconds.
      modulus:
        value: 'fractional_digits < 3 ? 0x100 : fractional_digits < 5 ? 0x10000 : 0x1000000'
        doc: Number of values that the bytes can have.
      microsecond:
        value: value * unit
