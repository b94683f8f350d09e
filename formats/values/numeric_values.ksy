meta:
  id: numeric_values
  title: Numbers in a row image
  license: MIT
  ks-version: '0.10'
  endian: le
doc: |
  Values of columns that are stored as numbers. Only newer logs say whether an integer is unsigned;
  otherwise it is read as signed.
doc-ref: https://github.com/mysql/mysql-server/blob/mysql-9.4.0/sql/log_event.cc log_event_print_value
types:
  int_1:
    -webide-representation: '{value:dec}'
    doc: TINYINT.
    params:
      - id: is_unsigned
        type: bool
        doc: Whether the column is UNSIGNED.
    seq:
      - id: signed_number
        -orig-id: MYSQL_TYPE_TINY
        type: s1
        if: not is_unsigned
        doc: The number, -128 to 127.
      - id: unsigned_number
        -orig-id: MYSQL_TYPE_TINY
        type: u1
        if: is_unsigned
        doc: The number, 0 to 255.
    instances:
      value:
        value: '(is_unsigned ? unsigned_number.as<s4> : signed_number.as<s4>).as<s4>'
  int_2:
    -webide-representation: '{value:dec}'
    doc: SMALLINT.
    params:
      - id: is_unsigned
        type: bool
        doc: Whether the column is UNSIGNED.
    seq:
      - id: signed_number
        -orig-id: MYSQL_TYPE_SHORT
        type: s2
        if: not is_unsigned
        doc: The number, -32768 to 32767.
      - id: unsigned_number
        -orig-id: MYSQL_TYPE_SHORT
        type: u2
        if: is_unsigned
        doc: The number, 0 to 65535.
    instances:
      value:
        value: '(is_unsigned ? unsigned_number.as<s4> : signed_number.as<s4>).as<s4>'
  int_3:
    -webide-representation: '{value:dec}'
    doc: MEDIUMINT.
    params:
      - id: is_unsigned
        type: bool
        doc: Whether the column is UNSIGNED.
    seq:
      - id: number
        -orig-id: MYSQL_TYPE_INT24
        type: b24le
        doc: The number, in two's complement where it is signed.
    instances:
      value:
        value: '(is_unsigned or number < 0x800000 ? number.as<s4> : number.as<s4> - 0x1000000).as<s4>'
  int_4:
    -webide-representation: '{value:dec}'
    doc: INT.
    params:
      - id: is_unsigned
        type: bool
        doc: Whether the column is UNSIGNED.
    seq:
      - id: signed_number
        -orig-id: MYSQL_TYPE_LONG
        type: s4
        if: not is_unsigned
        doc: The number, -2147483648 to 2147483647.
      - id: unsigned_number
        -orig-id: MYSQL_TYPE_LONG
        type: u4
        if: is_unsigned
        doc: The number, 0 to 4294967295.
    instances:
      value:
        value: '(is_unsigned ? unsigned_number.as<s8> : signed_number.as<s8>).as<s8>'
  int_8:
    -webide-representation: '{value:dec}'
    doc: |
      BIGINT. In two halves, since the JavaScript runtime reads some negative numbers of 8 bytes wrong.
    params:
      - id: is_unsigned
        type: bool
        doc: Whether the column is UNSIGNED.
    seq:
      - id: low
        -orig-id: MYSQL_TYPE_LONGLONG
        type: u4
        doc: The lower 32 bits.
      - id: high_signed
        -orig-id: MYSQL_TYPE_LONGLONG
        type: s4
        if: not is_unsigned
        doc: The upper 32 bits of a signed number.
      - id: high_unsigned
        -orig-id: MYSQL_TYPE_LONGLONG
        type: u4
        if: is_unsigned
        doc: The upper 32 bits of an unsigned number.
    instances:
      high:
        value: '(is_unsigned ? high_unsigned.as<s8> : high_signed.as<s8>).as<s8>'
        doc: The upper 32 bits.
      value:
        value: (high * 0x100000000.as<s8> + low).as<s8>
        doc: |
          The number. In languages with 64-bit integers only, an unsigned one beyond the signed range
          comes out negative.
  float_4:
    -webide-representation: '{value}'
    doc: FLOAT.
    seq:
      - id: value
        -orig-id: MYSQL_TYPE_FLOAT
        type: f4
        doc: The number, an IEEE 754 single.
  float_8:
    -webide-representation: '{value}'
    doc: DOUBLE.
    seq:
      - id: value
        -orig-id: MYSQL_TYPE_DOUBLE
        type: f8
        doc: The number, an IEEE 754 double.
  decimal:
    -webide-representation: '{digits}'
    doc: |
      DECIMAL. Nine digits take 4 bytes, big-endian; the digits left over before the integer part
      and after the fraction take 1 byte for 1 or 2, 2 for 3 or 4, 3 for 5 or 6, 4 for 7 or 8. The
      first bit is inverted; it is 0 in a negative number, whose other bits are all inverted too.
    doc-ref: https://github.com/mysql/mysql-server/blob/mysql-9.4.0/strings/decimal.cc decimal2bin
    params:
      - id: precision
        type: u1
        doc: Number of digits in all.
      - id: scale
        type: u1
        doc: Number of digits after the decimal point.
    seq:
      - id: digits
        -orig-id: MYSQL_TYPE_NEWDECIMAL
        size: len_integer + len_fraction
        doc: The number.
    instances:
      integer_digits:
        value: 'precision > scale ? precision - scale : 0'
        doc: Number of digits before the decimal point.
      len_integer:
        value: integer_digits / 9 * 4 + (integer_digits % 9 + 1) / 2
        doc: Length of the integer part, in bytes.
      len_fraction:
        value: scale / 9 * 4 + (scale % 9 + 1) / 2
        doc: Length of the fraction, in bytes.
      is_negative:
        value: digits.length > 0 and (digits[0] & 0x80) == 0
      num_integer_groups:
        value: (integer_digits + 8) / 9
        doc: Number of groups of digits before the decimal point.
      num_groups:
        value: num_integer_groups + (scale + 8) / 9
        doc: Number of groups of digits.
      groups:
        type: digit_group(_index)
        repeat: expr
        repeat-expr: num_groups
        doc: The digits, group by group; no bytes of their own.
  digit_group:
    -webide-representation: '{value:dec}'
    doc: Digits of a DECIMAL that are stored as one number.
    params:
      - id: index
        type: u4
        doc: Index among the groups, from 0.
    instances:
      is_integer:
        value: index < _parent.num_integer_groups
        doc: Whether the digits are before the decimal point.
      num_digits:
        value: |
          is_integer and index == 0 ? (_parent.integer_digits - 1) % 9 + 1 :
          index == _parent.num_groups - 1 and not is_integer ? (_parent.scale - 1) % 9 + 1 : 9
        doc: Number of digits, 1 to 9.
      len_group:
        value: 'num_digits == 9 ? 4 : (num_digits + 1) / 2'
        doc: Length, in bytes.
      ofs_group:
        value: |
          not is_integer ? _parent.len_integer + (index - _parent.num_integer_groups) * 4 :
          index == 0 ? 0 : _parent.len_integer - (_parent.num_integer_groups - index) * 4
        doc: Where the group begins in `digits`, in bytes.
      modulus:
        value: |
          (len_group == 1 ? 0x100.as<s8> : len_group == 2 ? 0x10000.as<s8> :
          len_group == 3 ? 0x1000000.as<s8> : 0x100000000.as<s8>).as<s8>
        doc: Number of values that the bytes can have.
      stored:
        # A byte is 0 to 255 but in C++, where the index of bytes gives a signed one.
        value: |
          (len_group == 1 ? (_parent.digits[ofs_group] & 0xff).as<s8> :
          len_group == 2 ? (_parent.digits[ofs_group] & 0xff).as<s8> * 0x100 + (_parent.digits[ofs_group + 1] & 0xff) :
          len_group == 3 ? (_parent.digits[ofs_group] & 0xff).as<s8> * 0x10000 + (_parent.digits[ofs_group + 1] & 0xff).as<s8> * 0x100 +
          (_parent.digits[ofs_group + 2] & 0xff) :
          (_parent.digits[ofs_group] & 0xff).as<s8> * 0x1000000 + (_parent.digits[ofs_group + 1] & 0xff).as<s8> * 0x10000 +
          (_parent.digits[ofs_group + 2] & 0xff).as<s8> * 0x100 + (_parent.digits[ofs_group + 3] & 0xff)).as<s8>
        doc: The bytes as they are, a big-endian number.
      value:
        value: |
          ((_parent.is_negative ? modulus - 1 - stored : stored) -
          (index == 0 ? modulus / 2 : 0)).as<s8>
        doc: The digits as a number. Without the first group's top bit, which is always set by now.
  bit:
    -webide-representation: '{bits}'
    doc: BIT.
    params:
      - id: len_bits
        type: u2
        doc: Length, in bytes.
    seq:
      - id: bits
        -orig-id: MYSQL_TYPE_BIT
        size: len_bits
        doc: The bits, the highest first, with zeros in front.
  enum:
    -webide-representation: '{value:dec}'
    doc: ENUM.
    params:
      - id: num_bytes
        type: u2
        doc: Length, in bytes; 1 up to 255 members, else 2.
    seq:
      - id: number_1
        -orig-id: MYSQL_TYPE_ENUM
        type: u1
        if: num_bytes < 2
        doc: Number of the member, from 1, of up to 255; 0 for a wrong value.
      - id: number_2
        -orig-id: MYSQL_TYPE_ENUM
        type: u2
        if: num_bytes >= 2
        doc: Number of the member, from 1, of up to 65535; 0 for a wrong value.
    instances:
      value:
        value: 'num_bytes < 2 ? number_1 : number_2'
        doc: Number of the member, from 1; 0 for the empty string that stands for a wrong value.
  set:
    -webide-representation: '{value:dec}'
    doc: SET.
    params:
      - id: num_bytes
        type: u2
        doc: Length, in bytes; 1, 2, 3, 4 or 8 for up to 8, 16, 24, 32 or 64 members.
    seq:
      - id: members_1
        -orig-id: MYSQL_TYPE_SET
        type: u1
        if: num_bytes == 1
        doc: A bit for each member, of up to 8.
      - id: members_2
        -orig-id: MYSQL_TYPE_SET
        type: u2
        if: num_bytes == 2
        doc: A bit for each member, of up to 16.
      - id: members_3
        -orig-id: MYSQL_TYPE_SET
        type: b24le
        if: num_bytes == 3
        doc: A bit for each member, of up to 24.
      - id: members_4
        -orig-id: MYSQL_TYPE_SET
        type: u4
        if: num_bytes == 4
        doc: A bit for each member, of up to 32.
      - id: members_8
        -orig-id: MYSQL_TYPE_SET
        type: u8
        if: num_bytes == 0 or num_bytes > 4
        doc: A bit for each member, of up to 64.
    instances:
      value:
        value: |
          (num_bytes == 1 ? members_1.as<u8> :
          num_bytes == 2 ? members_2.as<u8> :
          num_bytes == 3 ? members_3.as<u8> :
          num_bytes == 4 ? members_4.as<u8> : members_8).as<u8>
        doc: A bit for each member, the first is the lowest.
