"""The generated value decoders, for kernels; see `binlog_grammar.decoders`.

They check no bounds; callers check the width of the value first, or ask `length_at`.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType

from binlog_kaitai.core.grammar import plain_decoders
from binlog_kaitai.kernels.arrays import Bytes, Number
from binlog_kaitai.kernels.compile import inlined

_DECODERS: dict[str, Callable[..., Number]] = {
    name: inlined(function)
    for name, function in vars(plain_decoders.for_arrays()).items()
    if isinstance(function, FunctionType)
}

year = _DECODERS["year"]
date = _DECODERS["date"]
old_time = _DECODERS["time"]
old_datetime = _DECODERS["datetime"]
old_timestamp = _DECODERS["timestamp"]
time = _DECODERS["time2"]
datetime = _DECODERS["datetime2"]
timestamp = _DECODERS["timestamp2"]
decimal_groups = _DECODERS["decimal_groups"]
decimal_sign = _DECODERS["decimal_sign"]
digit_group = _DECODERS["digit_group"]
digits_value = _DECODERS["digits_value"]
packed_integer = _DECODERS["packed_integer"]
length_prefix = _DECODERS["length_prefix"]
len_null_bits = _DECODERS["len_null_bits"]
is_null = _DECODERS["is_null"]
len_partial_bits = _DECODERS["len_partial_bits"]
is_partial = _DECODERS["is_partial"]
value_options = _DECODERS["value_options"]
has_partial_bits = _DECODERS["has_partial_bits"]
int_1 = _DECODERS["int_1"]
int_2 = _DECODERS["int_2"]
int_3 = _DECODERS["int_3"]
int_4 = _DECODERS["int_4"]
int_8 = _DECODERS["int_8"]
enum = _DECODERS["enum"]
json_container = _DECODERS["json_container"]
json_entries = _DECODERS["json_entries"]
len_json_entries = _DECODERS["len_json_entries"]
json_key = _DECODERS["json_key"]
json_value = _DECODERS["json_value"]
json_int16 = _DECODERS["json_int16"]
json_uint16 = _DECODERS["json_uint16"]
json_int32 = _DECODERS["json_int32"]
json_uint32 = _DECODERS["json_uint32"]
json_int64 = _DECODERS["json_int64"]
json_uint64 = _DECODERS["json_uint64"]
json_opaque = _DECODERS["json_opaque"]
json_decimal_number = _DECODERS["json_decimal_number"]
json_decimal = _DECODERS["json_decimal"]
json_datetime_end = _DECODERS["json_datetime_end"]
json_datetime = _DECODERS["json_datetime"]
json_time_end = _DECODERS["json_time_end"]
json_time = _DECODERS["json_time"]


def length_at(data: Bytes, start: int, prefix: int) -> int:
    """The length in `prefix` bytes, 1 to 4, at `start`; -1 if the prefix or the value exceeds the data."""
    if start < 0 or start + prefix > data.shape[0]:
        return -1
    length = length_prefix(data, start, prefix)
    return length if start + prefix + length <= data.shape[0] else -1
