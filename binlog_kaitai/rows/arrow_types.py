"""Arrow types of columns, from the table of column types, and casts to them."""

from __future__ import annotations

import numpy as np

from binlog_kaitai.arrow import pa
from binlog_kaitai.errors import GrammarError
from binlog_kaitai.kernels.arrays import Array, Bools
from binlog_kaitai.values.representations import representation_of
from binlog_kaitai.values.schema import Column


def arrow_type(column: Column, zero_dates: str = "null", *, bit1_as_boolean: bool = False) -> pa.DataType:
    """Arrow type of a column; the null type if no value of the column can be decoded.

    `zero_dates`: with ``"text"``, types with a date become strings.
    `bit1_as_boolean`: BIT(1) is boolean.
    """
    if bit1_as_boolean and column.bits == 1:
        return pa.bool_()
    try:
        kind = representation_of(column).arrow(column)
    except GrammarError:
        return pa.null()  # decoding a row raises the error, with its position
    is_date = pa.types.is_date(kind) or pa.types.is_timestamp(kind)
    return pa.string() if is_date and zero_dates == "text" else kind


def of_numbers(values: Array, kind: pa.DataType | None = None, valid: Bools | None = None) -> pa.Array:
    """An Arrow array from a NumPy array, without a copy; also of another type with the same representation.

    Used instead of `pyarrow.array`, which imports pandas and `numpy.ma` to recognize their arrays.

    `valid`: bool array or None, which values are valid; None if all are.
    """
    bits = None if valid is None else pa.py_buffer(np.packbits(valid, bitorder="little"))
    kind = kind or pa.from_numpy_dtype(values.dtype)
    return pa.Array.from_buffers(kind, len(values), [bits, pa.py_buffer(values)])


def cast(array: pa.Array, kind: pa.DataType) -> pa.Array:
    """Values as another type; numbers as strings in the format of the servers.

    Raises `pyarrow.ArrowInvalid` and `pyarrow.ArrowNotImplementedError`: a value is not representable.
    """
    if pa.types.is_decimal(array.type) and (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        # Arrow prints 0E-30.
        return pa.array([None if value is None else f"{value:f}" for value in array.to_pylist()], kind)
    return array.cast(kind)
