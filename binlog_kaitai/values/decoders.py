"""The generated value decoders, for kernels; see `binlog_grammar.decoders`.

They check no bounds; callers check the width of the value first, or ask `length_at`.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType

from binlog_kaitai.core.grammar import plain_decoders
from binlog_kaitai.kernels.arrays import Bytes, Number
from binlog_kaitai.kernels.compile import inlined

_GENERATED = {
    name: inlined(function)
    for name, function in vars(plain_decoders.for_arrays()).items()
    if isinstance(function, FunctionType)
}


def _decoder(name: str) -> Callable[..., Number]:
    return _GENERATED[name]


year = _decoder("year")
date = _decoder("date")
old_time = _decoder("time")
old_datetime = _decoder("datetime")
old_timestamp = _decoder("timestamp")
time = _decoder("time2")
datetime = _decoder("datetime2")
timestamp = _decoder("timestamp2")
decimal_groups = _decoder("decimal_groups")
decimal_sign = _decoder("decimal_sign")
digit_group = _decoder("digit_group")
digits_value = _decoder("digits_value")
packed_integer = _decoder("packed_integer")
length_prefix = _decoder("length_prefix")
len_null_bits = _decoder("len_null_bits")
is_null = _decoder("is_null")
len_partial_bits = _decoder("len_partial_bits")
is_partial = _decoder("is_partial")
value_options = _decoder("value_options")
has_partial_bits = _decoder("has_partial_bits")
int_1 = _decoder("int_1")
int_2 = _decoder("int_2")
int_3 = _decoder("int_3")
int_4 = _decoder("int_4")
int_8 = _decoder("int_8")
enum = _decoder("enum")
json_container = _decoder("json_container")
json_entries = _decoder("json_entries")
len_json_entries = _decoder("len_json_entries")
json_key = _decoder("json_key")
json_value = _decoder("json_value")
json_int16 = _decoder("json_int16")
json_uint16 = _decoder("json_uint16")
json_int32 = _decoder("json_int32")
json_uint32 = _decoder("json_uint32")
json_int64 = _decoder("json_int64")
json_uint64 = _decoder("json_uint64")
json_opaque = _decoder("json_opaque")
json_decimal_number = _decoder("json_decimal_number")
json_decimal = _decoder("json_decimal")
json_datetime_end = _decoder("json_datetime_end")
json_datetime = _decoder("json_datetime")
json_time_end = _decoder("json_time_end")
json_time = _decoder("json_time")


def length_at(data: Bytes, start: int, prefix: int) -> int:
    """The length in `prefix` bytes, 1 to 4, at `start`; -1 if the prefix or the value exceeds the data."""
    if start < 0 or start + prefix > data.shape[0]:
        return -1
    length = length_prefix(data, start, prefix)
    return length if start + prefix + length <= data.shape[0] else -1
