"""Decoders of values for bytes and Python's ints, generated from formats/, and the lengths of values.

This module imports nothing, so that the event reader does not need NumPy.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any


def for_arrays() -> ModuleType:
    """The module `decoders`, which needs NumPy."""
    from binlog_grammar import decoders

    return decoders


def byte(data: Any, at: Any) -> Any:
    """A number of one byte."""
    return data[at]


def signed(value: Any, bits: Any) -> Any:
    """The signed number with the same bits."""
    half = 1 << (bits - 1)
    return (value ^ half) - half


def little_2(data: Any, at: Any) -> Any:
    """A little-endian number of two bytes."""
    return int.from_bytes(data[at : at + 2], "little")


def little_3(data: Any, at: Any) -> Any:
    """A little-endian number of three bytes."""
    return int.from_bytes(data[at : at + 3], "little")


def little_4(data: Any, at: Any) -> Any:
    """A little-endian number of four bytes."""
    return int.from_bytes(data[at : at + 4], "little")


def little_8(data: Any, at: Any) -> Any:
    """A little-endian number of eight bytes; as in `decoders`, that of the same bits."""
    return int.from_bytes(data[at : at + 8], "little", signed=True)


def big_2(data: Any, at: Any) -> Any:
    """A big-endian number of two bytes."""
    return int.from_bytes(data[at : at + 2], "big")


def big_3(data: Any, at: Any) -> Any:
    """A big-endian number of three bytes."""
    return int.from_bytes(data[at : at + 3], "big")


def big_4(data: Any, at: Any) -> Any:
    """A big-endian number of four bytes."""
    return int.from_bytes(data[at : at + 4], "big")


def big_5(data: Any, at: Any) -> Any:
    """A big-endian number of five bytes."""
    return int.from_bytes(data[at : at + 5], "big")


def year(data: Any, at: Any) -> Any:
    """years, value of a `temporal_values::year`."""
    years = byte(data, at)
    value = 0 if (years == 0) else (1900 + years)
    return years, value


def date(data: Any, at: Any) -> Any:
    """year, month, day of a `temporal_values::date`."""
    bits = little_3(data, at)
    year = bits >> 9
    month = (bits >> 5) & 0xf
    day = bits & 0x1f
    return year, month, day


def time(data: Any, at: Any) -> Any:
    """is_negative, hour, minute, second of a `temporal_values::time`."""
    number = little_3(data, at)
    is_negative = number >= 8388608
    magnitude = (16777216 - number) if is_negative else number
    hour = magnitude // 10000
    minute = (magnitude // 100) % 100
    second = magnitude % 100
    return is_negative, hour, minute, second


def datetime(data: Any, at: Any) -> Any:
    """year, month, day, hour, minute, second of a `temporal_values::datetime`."""
    number = little_8(data, at)
    year = number // 10000000000
    month = (number // 100000000) % 100
    day = (number // 1000000) % 100
    hour = (number // 10000) % 100
    minute = (number // 100) % 100
    second = number % 100
    return year, month, day, hour, minute, second


def timestamp(data: Any, at: Any) -> Any:
    """seconds of a `temporal_values::timestamp`."""
    seconds_le = little_4(data, at)
    return seconds_le


def time2(data: Any, at: Any, fractional_digits: Any) -> Any:
    """has_spare_bit, is_negative, hour, minute, second, microsecond of a `temporal_values::time2`."""
    packed = big_3(data, at)
    is_negative = packed < 8388608
    fraction_value = 0 if (fractional_digits == 0) else (byte(data, at + 3) if (fractional_digits < 3) else (big_2(data, at + 3) if (fractional_digits < 5) else big_3(data, at + 3)))
    magnitude = (packed - 8388608) if (not is_negative) else ((8388608 - packed) if (fraction_value == 0) else (8388607 - packed))
    has_spare_bit = magnitude >= 4194304
    hour = (magnitude >> 12) & 1023
    minute = (magnitude >> 6) & 63
    second = magnitude & 63
    fraction_modulus = 256 if (fractional_digits < 3) else (65536 if (fractional_digits < 5) else 16777216)
    fraction_unit = 10000 if (fractional_digits < 3) else (100 if (fractional_digits < 5) else 1)
    fraction_microsecond = fraction_value * fraction_unit
    microsecond = ((fraction_modulus - fraction_value) * fraction_unit) if (is_negative and (fraction_value != 0)) else fraction_microsecond
    return has_spare_bit, is_negative, hour, minute, second, microsecond


def datetime2(data: Any, at: Any, fractional_digits: Any) -> Any:
    """is_positive, year, month, day, hour, minute, second, microsecond of a `temporal_values::datetime2`."""
    bits = big_5(data, at)
    is_positive = bits >> 39
    year_month = (bits >> 22) & 0x1ffff
    year = year_month // 13
    month = year_month % 13
    day = (bits >> 17) & 0x1f
    hour = (bits >> 12) & 0x1f
    minute = (bits >> 6) & 0x3f
    second = bits & 0x3f
    fraction_value = 0 if (fractional_digits == 0) else (byte(data, at + 5) if (fractional_digits < 3) else (big_2(data, at + 5) if (fractional_digits < 5) else big_3(data, at + 5)))
    fraction_unit = 10000 if (fractional_digits < 3) else (100 if (fractional_digits < 5) else 1)
    fraction_microsecond = fraction_value * fraction_unit
    return is_positive, year, month, day, hour, minute, second, fraction_microsecond


def timestamp2(data: Any, at: Any, fractional_digits: Any) -> Any:
    """seconds, microsecond of a `temporal_values::timestamp2`."""
    seconds = big_4(data, at)
    fraction_value = 0 if (fractional_digits == 0) else (byte(data, at + 4) if (fractional_digits < 3) else (big_2(data, at + 4) if (fractional_digits < 5) else big_3(data, at + 4)))
    fraction_unit = 10000 if (fractional_digits < 3) else (100 if (fractional_digits < 5) else 1)
    fraction_microsecond = fraction_value * fraction_unit
    return seconds, fraction_microsecond


def int_1(data: Any, at: Any, is_unsigned: Any) -> Any:
    """value of a `numeric_values::int_1`."""
    value = byte(data, at) if is_unsigned else signed(byte(data, at), 8)
    return value


def int_2(data: Any, at: Any, is_unsigned: Any) -> Any:
    """value of a `numeric_values::int_2`."""
    value = little_2(data, at) if is_unsigned else signed(little_2(data, at), 16)
    return value


def int_3(data: Any, at: Any, is_unsigned: Any) -> Any:
    """value of a `numeric_values::int_3`."""
    number = little_3(data, at)
    value = number if (is_unsigned or (number < 8388608)) else (number - 16777216)
    return value


def int_4(data: Any, at: Any, is_unsigned: Any) -> Any:
    """value of a `numeric_values::int_4`."""
    value = little_4(data, at) if is_unsigned else signed(little_4(data, at), 32)
    return value


def int_8(data: Any, at: Any) -> Any:
    """value of a `numeric_values::int_8`."""
    high_signed = signed(little_4(data, at + 4), 32)
    low = little_4(data, at)
    value = (high_signed * 4294967296) + low
    return value


def enum(data: Any, at: Any, num_bytes: Any) -> Any:
    """value of a `numeric_values::enum`."""
    value = byte(data, at) if (num_bytes < 2) else little_2(data, at)
    return value


def decimal_groups(precision: Any, scale: Any) -> Any:
    """num_groups, num_integer_groups of a `numeric_values::decimal`."""
    integer_digits = (precision - scale) if (precision > scale) else 0
    num_integer_groups = (integer_digits + 8) // 9
    num_groups = num_integer_groups + ((scale + 8) // 9)
    return num_groups, num_integer_groups


def decimal_sign(data: Any, at: Any, digits_length: Any) -> Any:
    """is_negative of a `numeric_values::decimal`."""
    is_negative = (digits_length > 0) and ((byte(data, at) & 128) == 0)
    return is_negative


def digit_group(index: Any, precision: Any, scale: Any) -> Any:
    """num_digits, len_group, ofs_group of a `numeric_values::digit_group`."""
    outer_integer_digits = (precision - scale) if (precision > scale) else 0
    outer_num_integer_groups = (outer_integer_digits + 8) // 9
    is_integer = index < outer_num_integer_groups
    outer_num_groups = outer_num_integer_groups + ((scale + 8) // 9)
    num_digits = (((outer_integer_digits - 1) % 9) + 1) if (is_integer and (index == 0)) else ((((scale - 1) % 9) + 1) if ((index == (outer_num_groups - 1)) and (not is_integer)) else 9)
    len_group = 4 if (num_digits == 9) else ((num_digits + 1) >> 1)
    outer_len_integer = ((outer_integer_digits // 9) * 4) + (((outer_integer_digits % 9) + 1) >> 1)
    ofs_group = (outer_len_integer + ((index - outer_num_integer_groups) * 4)) if (not is_integer) else (0 if (index == 0) else (outer_len_integer - ((outer_num_integer_groups - index) * 4)))
    return num_digits, len_group, ofs_group


def digits_value(data: Any, at: Any, index: Any, ofs_group: Any, len_group: Any, is_negative: Any) -> Any:
    """value of a `numeric_values::digit_group`."""
    modulus = 256 if (len_group == 1) else (65536 if (len_group == 2) else (16777216 if (len_group == 3) else 4294967296))
    stored = (byte(data, at + ofs_group) & 255) if (len_group == 1) else ((((byte(data, at + ofs_group) & 255) * 256) + (byte(data, at + (ofs_group + 1)) & 255)) if (len_group == 2) else (((((byte(data, at + ofs_group) & 255) * 65536) + ((byte(data, at + (ofs_group + 1)) & 255) * 256)) + (byte(data, at + (ofs_group + 2)) & 255)) if (len_group == 3) else (((((byte(data, at + ofs_group) & 255) * 16777216) + ((byte(data, at + (ofs_group + 1)) & 255) * 65536)) + ((byte(data, at + (ofs_group + 2)) & 255) * 256)) + (byte(data, at + (ofs_group + 3)) & 255))))
    value = (((modulus - 1) - stored) if is_negative else stored) - ((modulus >> 1) if (index == 0) else 0)
    return value


def json_container(data: Any, at: Any, is_large: Any, is_object: Any) -> Any:
    """num_elements.value, len_container.value, len_table of a `json_binary::container`."""
    num_elements_value = little_4(data, at) if is_large else little_2(data, at)
    len_container_value = little_4(data, at + (2 if (not is_large) else 0) + (4 if is_large else 0)) if is_large else little_2(data, at + (2 if (not is_large) else 0) + (4 if is_large else 0))
    len_value_entry = 5 if is_large else 3
    len_key_entry = 6 if is_large else 4
    len_table = (8 if is_large else 4) + (num_elements_value * (len_value_entry + (len_key_entry if is_object else 0)))
    return num_elements_value, len_container_value, len_table


def json_entries(data: Any, at: Any, is_large: Any) -> Any:
    """@key_entries of a `json_binary::container`."""
    return at + (2 if (not is_large) else 0) + (4 if is_large else 0) + (2 if (not is_large) else 0) + (4 if is_large else 0)


def len_json_entries(is_large: Any) -> Any:
    """len_key_entry, len_value_entry of a `json_binary::container`."""
    len_key_entry = 6 if is_large else 4
    len_value_entry = 5 if is_large else 3
    return len_key_entry, len_value_entry


def json_key(data: Any, at: Any, is_large: Any) -> Any:
    """ofs_key.value, len_key of a `json_binary::key_entry`."""
    ofs_key_value = little_4(data, at) if is_large else little_2(data, at)
    len_key = little_2(data, at + (2 if (not is_large) else 0) + (4 if is_large else 0))
    return ofs_key_value, len_key


def json_value(data: Any, at: Any, is_large: Any) -> Any:
    """type, is_inlined, ofs_value.value, @inlined of a `json_binary::value_entry`."""
    type = byte(data, at)
    is_wide = (type == 7) or (type == 8)
    is_inlined = (((type == 4) or (type == 5)) or (type == 6)) or (is_large and is_wide)
    ofs_value_value = little_4(data, at + 1) if is_large else little_2(data, at + 1)
    return type, is_inlined, ofs_value_value, at + 1


def json_int16(data: Any, at: Any) -> Any:
    """value of a `json_binary::int16_value`."""
    value = signed(little_2(data, at), 16)
    return value


def json_uint16(data: Any, at: Any) -> Any:
    """value of a `json_binary::uint16_value`."""
    value = little_2(data, at)
    return value


def json_int32(data: Any, at: Any) -> Any:
    """value of a `json_binary::int32_value`."""
    value = signed(little_4(data, at), 32)
    return value


def json_uint32(data: Any, at: Any) -> Any:
    """value of a `json_binary::uint32_value`."""
    value = little_4(data, at)
    return value


def json_int64(data: Any, at: Any) -> Any:
    """value of a `json_binary::int64_value`."""
    number_high_signed = signed(little_4(data, at + 4), 32)
    number_low = little_4(data, at)
    number_value = (number_high_signed * 4294967296) + number_low
    return number_value


def json_uint64(data: Any, at: Any) -> Any:
    """value of a `json_binary::uint64_value`."""
    value = little_8(data, at)
    return value


def json_opaque(data: Any, at: Any) -> Any:
    """type, @len_value of a `json_binary::opaque`."""
    type = byte(data, at)
    return type, at + 1


def json_decimal_number(data: Any, at: Any) -> Any:
    """@number of a `json_opaque::decimal`."""
    return at + 2


def json_decimal(data: Any, at: Any) -> Any:
    """precision, scale, #number of a `json_opaque::decimal`."""
    precision = byte(data, at)
    scale = byte(data, at + 1)
    number_integer_digits = (precision - scale) if (precision > scale) else 0
    number_len_integer = ((number_integer_digits // 9) * 4) + (((number_integer_digits % 9) + 1) >> 1)
    number_len_fraction = ((scale // 9) * 4) + (((scale % 9) + 1) >> 1)
    return precision, scale, (number_len_integer + number_len_fraction)


def json_datetime_end(data: Any, at: Any) -> Any:
    """@unknown_tail of a `json_opaque::datetime`."""
    return at + 8


def json_datetime(data: Any, at: Any) -> Any:
    """year, month, day, hour, minute, second, microsecond of a `json_opaque::datetime`."""
    bits = little_8(data, at)
    year_month = (bits >> 46) & 0x1ffff
    year = year_month // 13
    month = year_month % 13
    day = (bits >> 41) & 0x1f
    hour = (bits >> 36) & 0x1f
    minute = (bits >> 30) & 0x3f
    second = (bits >> 24) & 0x3f
    microsecond = bits & 0xffffff
    return year, month, day, hour, minute, second, microsecond


def json_time_end(data: Any, at: Any) -> Any:
    """@unknown_tail of a `json_opaque::time`."""
    return at + 8


def json_time(data: Any, at: Any) -> Any:
    """is_negative, hour, minute, second, microsecond of a `json_opaque::time`."""
    sign = signed(byte(data, at + 7), 8)
    is_negative = sign < 0
    packed = signed(little_4(data, at + 3), 32)
    fraction = little_3(data, at)
    magnitude = packed if (not is_negative) else ((-packed) if (fraction == 0) else ((-packed) - 1))
    hour = (magnitude >> 12) & 1023
    minute = (magnitude >> 6) & 63
    second = magnitude & 63
    microsecond = (16777216 - fraction) if (is_negative and (fraction != 0)) else fraction
    return is_negative, hour, minute, second, microsecond


def packed_integer(data: Any, at: Any) -> Any:
    """!first, value, @end of a `packed_integer`."""
    first = byte(data, at)
    value = little_2(data, at + 1) if (first == 252) else (little_3(data, at + 1) if (first == 253) else (little_8(data, at + 1) if (first == 254) else first))
    return (first <= 254), value, at + (2 if (first == 252) else 0) + (3 if (first == 253) else 0) + (8 if (first == 254) else 0) + 1


def length_prefix(data: Any, at: Any, num_bytes: Any) -> Any:
    """value of a `length_prefix`."""
    value = byte(data, at) if (num_bytes == 1) else (little_2(data, at) if (num_bytes == 2) else (little_3(data, at) if (num_bytes == 3) else little_4(data, at)))
    return value


def len_null_bits(columns_num_present: Any) -> Any:
    """#null_bits of a `row_image`."""
    return ((columns_num_present + 7) >> 3)


def is_null(data: Any, at: Any, ordinal: Any) -> Any:
    """is_null of a `row_image::cell`."""
    is_null = ((byte(data, at + (ordinal >> 3)) >> (ordinal & 7)) & 1) == 1
    return is_null


def len_partial_bits(table_map_num_json_columns: Any) -> Any:
    """#partial_bits of a `row_image`."""
    return ((table_map_num_json_columns + 7) >> 3)


def is_partial(data: Any, at: Any, column_json_ordinal: Any) -> Any:
    """is_partial of a `row_image::cell`."""
    is_partial = ((byte(data, at + (column_json_ordinal >> 3)) >> (column_json_ordinal & 7)) & 1) == 1
    return is_partial


def value_options(data: Any, at: Any) -> Any:
    """!value_options.first, value_options.is_null, @partial_bits of a `row_image`."""
    value_options_first = byte(data, at)
    value_options_is_null = value_options_first == 251
    return (value_options_first <= 254), value_options_is_null, at + (2 if (value_options_first == 252) else 0) + (3 if (value_options_first == 253) else 0) + (8 if (value_options_first == 254) else 0) + 1


def has_partial_bits(data: Any, at: Any) -> Any:
    """has_partial_bits of a `row_image`."""
    value_options_first = byte(data, at)
    value_options_value = little_2(data, at + 1) if (value_options_first == 252) else (little_3(data, at + 1) if (value_options_first == 253) else (little_8(data, at + 1) if (value_options_first == 254) else value_options_first))
    has_partial_bits = (value_options_value & 1) == 1
    return has_partial_bits


def _width_0(column: Any) -> Any:
    return (1 if (not column.is_unsigned) else 0) + (1 if column.is_unsigned else 0), 0


def _width_1(column: Any) -> Any:
    return (2 if (not column.is_unsigned) else 0) + (2 if column.is_unsigned else 0), 0


def _width_2(column: Any) -> Any:
    return 3, 0


def _width_3(column: Any) -> Any:
    return (4 if (not column.is_unsigned) else 0) + (4 if column.is_unsigned else 0), 0


def _width_4(column: Any) -> Any:
    return (4 if (not column.is_unsigned) else 0) + (4 if column.is_unsigned else 0) + 4, 0


def _width_5(column: Any) -> Any:
    return 4, 0


def _width_6(column: Any) -> Any:
    return 8, 0


def _width_7(column: Any) -> Any:
    integer_digits = (column.metadata.precision - column.metadata.scale) if (column.metadata.precision > column.metadata.scale) else 0
    len_integer = ((integer_digits // 9) * 4) + (((integer_digits % 9) + 1) >> 1)
    len_fraction = ((column.metadata.scale // 9) * 4) + (((column.metadata.scale % 9) + 1) >> 1)
    return (len_integer + len_fraction), 0


def _width_8(column: Any) -> Any:
    return column.metadata.len_bytes, 0


def _width_9(column: Any) -> Any:
    return (1 if (column.metadata.length < 2) else 0) + (2 if (column.metadata.length >= 2) else 0), 0


def _width_10(column: Any) -> Any:
    return (1 if (column.metadata.length == 1) else 0) + (2 if (column.metadata.length == 2) else 0) + (3 if (column.metadata.length == 3) else 0) + (4 if (column.metadata.length == 4) else 0) + (8 if ((column.metadata.length == 0) or (column.metadata.length > 4)) else 0), 0


def _width_11(column: Any) -> Any:
    return 1, 0


def _width_12(column: Any) -> Any:
    return 3, 0


def _width_13(column: Any) -> Any:
    return (3 if (column.old_fractional_digits == 0) else 0) + ((4 if (column.old_fractional_digits < 3) else (5 if (column.old_fractional_digits < 6) else 6)) if (column.old_fractional_digits > 0) else 0), 0


def _width_14(column: Any) -> Any:
    return (8 if (column.old_fractional_digits == 0) else 0) + ((6 if (column.old_fractional_digits < 3) else (7 if (column.old_fractional_digits < 6) else 8)) if (column.old_fractional_digits > 0) else 0), 0


def _width_15(column: Any) -> Any:
    return (4 if (column.old_fractional_digits == 0) else 0) + (4 if (column.old_fractional_digits > 0) else 0) + (((column.old_fractional_digits + 1) >> 1) if (column.old_fractional_digits > 0) else 0), 0


def _width_16(column: Any) -> Any:
    return (1 if ((column.metadata.fractional_digits == 1) or (column.metadata.fractional_digits == 2)) else 0) + (2 if ((column.metadata.fractional_digits == 3) or (column.metadata.fractional_digits == 4)) else 0) + (3 if (column.metadata.fractional_digits > 4) else 0) + 3, 0


def _width_17(column: Any) -> Any:
    return (1 if ((column.metadata.fractional_digits == 1) or (column.metadata.fractional_digits == 2)) else 0) + (2 if ((column.metadata.fractional_digits == 3) or (column.metadata.fractional_digits == 4)) else 0) + (3 if (column.metadata.fractional_digits > 4) else 0) + 5, 0


def _width_18(column: Any) -> Any:
    return (1 if ((column.metadata.fractional_digits == 1) or (column.metadata.fractional_digits == 2)) else 0) + (2 if ((column.metadata.fractional_digits == 3) or (column.metadata.fractional_digits == 4)) else 0) + (3 if (column.metadata.fractional_digits > 4) else 0) + 4, 0


def _width_19(column: Any) -> Any:
    return 0, (1 if (column.metadata.len_length == 1) else 0) + (2 if (column.metadata.len_length == 2) else 0) + (3 if (column.metadata.len_length == 3) else 0) + (4 if ((column.metadata.len_length == 0) or (column.metadata.len_length > 3)) else 0)


def _width_20(column: Any) -> Any:
    return 0, (1 if (column.metadata.len_length == 1) else 0) + (2 if (column.metadata.len_length == 2) else 0) + (3 if (column.metadata.len_length == 3) else 0) + (4 if ((column.metadata.len_length == 0) or (column.metadata.len_length > 3)) else 0)


def _width_21(column: Any) -> Any:
    return 0, (1 if (column.metadata.len_length == 1) else 0) + (2 if (column.metadata.len_length == 2) else 0) + (3 if (column.metadata.len_length == 3) else 0) + (4 if ((column.metadata.len_length == 0) or (column.metadata.len_length > 3)) else 0)


def _width_22(column: Any) -> Any:
    return 0, (1 if (column.metadata.len_length == 1) else 0) + (2 if (column.metadata.len_length == 2) else 0) + (3 if (column.metadata.len_length == 3) else 0) + (4 if ((column.metadata.len_length == 0) or (column.metadata.len_length > 3)) else 0)


def _width_23(column: Any) -> Any:
    return 0, (1 if (column.metadata.len_length == 1) else 0) + (2 if (column.metadata.len_length == 2) else 0) + (3 if (column.metadata.len_length == 3) else 0) + (4 if ((column.metadata.len_length == 0) or (column.metadata.len_length > 3)) else 0)


def _width_24(column: Any) -> Any:
    return 0, 0


#: By column type (None: any other), the function that returns, for a column of the grammar's table map, the
#: length of its values and the size of their length prefix; one of the two is 0.
WIDTHS: dict[int | None, Any] = {
    1: _width_0,  # numeric_values::int_1(column.is_unsigned)
    2: _width_1,  # numeric_values::int_2(column.is_unsigned)
    9: _width_2,  # numeric_values::int_3(column.is_unsigned)
    3: _width_3,  # numeric_values::int_4(column.is_unsigned)
    8: _width_4,  # numeric_values::int_8(column.is_unsigned)
    4: _width_5,  # numeric_values::float_4
    5: _width_6,  # numeric_values::float_8
    246: _width_7,  # numeric_values::decimal(column.metadata.precision, column.metadata.scale)
    16: _width_8,  # numeric_values::bit(column.metadata.len_bytes)
    247: _width_9,  # numeric_values::enum(column.metadata.length)
    248: _width_10,  # numeric_values::set(column.metadata.length)
    13: _width_11,  # temporal_values::year
    10: _width_12,  # temporal_values::date
    14: _width_12,  # temporal_values::date
    11: _width_13,  # temporal_values::time(column.old_fractional_digits)
    12: _width_14,  # temporal_values::datetime(column.old_fractional_digits)
    7: _width_15,  # temporal_values::timestamp(column.old_fractional_digits)
    19: _width_16,  # temporal_values::time2(column.metadata.fractional_digits)
    18: _width_17,  # temporal_values::datetime2(column.metadata.fractional_digits)
    17: _width_18,  # temporal_values::timestamp2(column.metadata.fractional_digits)
    15: _width_19,  # string_values::text(column.metadata.len_length)
    254: _width_19,  # string_values::text(column.metadata.len_length)
    249: _width_19,  # string_values::text(column.metadata.len_length)
    250: _width_19,  # string_values::text(column.metadata.len_length)
    251: _width_19,  # string_values::text(column.metadata.len_length)
    252: _width_19,  # string_values::text(column.metadata.len_length)
    141: _width_20,  # string_values::compressed_text(column.metadata.len_length)
    140: _width_20,  # string_values::compressed_text(column.metadata.len_length)
    255: _width_21,  # string_values::geometry(column.metadata.len_length)
    242: _width_22,  # string_values::vector(column.metadata.len_length)
    245: _width_23,  # string_values::json(column.metadata.len_length)
    20: _width_23,  # string_values::json(column.metadata.len_length)
    None: _width_24,  # no_bytes
}
