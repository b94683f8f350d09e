"""The decoders of `plain_decoders` for arrays: they return parts of the value at `data[at:]` (uint8).

A decoder checks no bounds: the value must be inside `data`. Numbers are int64; unsigned numbers of eight
bytes have the same bits. All functions are plain Python that Numba can compile.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any

import numpy as np
from binlog_grammar import plain_decoders

# Numba generates code for negative indexes unless an index is unsigned.
_1, _2, _3, _4 = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
_5, _6, _7 = np.uint64(5), np.uint64(6), np.uint64(7)


def byte(data: Any, at: Any) -> Any:
    """A number of one byte."""
    return np.int64(data[np.uint64(at)])


def signed(value: Any, bits: Any) -> Any:
    """The signed number with the same bits."""
    half = 1 << (bits - 1)
    return (value ^ half) - half


def little_2(data: Any, at: Any) -> Any:
    """A little-endian number of two bytes."""
    place = np.uint64(at)
    return np.int64(data[place]) | np.int64(data[place + _1]) << 8


def little_3(data: Any, at: Any) -> Any:
    """A little-endian number of three bytes."""
    place = np.uint64(at)
    return np.int64(data[place]) | np.int64(data[place + _1]) << 8 | np.int64(data[place + _2]) << 16


def little_4(data: Any, at: Any) -> Any:
    """A little-endian number of four bytes."""
    place = np.uint64(at)
    return (
        np.int64(data[place])
        | np.int64(data[place + _1]) << 8
        | np.int64(data[place + _2]) << 16
        | np.int64(data[place + _3]) << 24
    )


def little_8(data: Any, at: Any) -> Any:
    """A little-endian number of eight bytes."""
    place = np.uint64(at)
    return (
        np.int64(data[place])
        | np.int64(data[place + _1]) << 8
        | np.int64(data[place + _2]) << 16
        | np.int64(data[place + _3]) << 24
        | np.int64(data[place + _4]) << 32
        | np.int64(data[place + _5]) << 40
        | np.int64(data[place + _6]) << 48
        | np.int64(data[place + _7]) << 56
    )


def big_2(data: Any, at: Any) -> Any:
    """A big-endian number of two bytes."""
    place = np.uint64(at)
    return np.int64(data[place]) << 8 | np.int64(data[place + _1])


def big_3(data: Any, at: Any) -> Any:
    """A big-endian number of three bytes."""
    place = np.uint64(at)
    return np.int64(data[place]) << 16 | np.int64(data[place + _1]) << 8 | np.int64(data[place + _2])


def big_4(data: Any, at: Any) -> Any:
    """A big-endian number of four bytes."""
    place = np.uint64(at)
    return (
        np.int64(data[place]) << 24
        | np.int64(data[place + _1]) << 16
        | np.int64(data[place + _2]) << 8
        | np.int64(data[place + _3])
    )


def big_5(data: Any, at: Any) -> Any:
    """A big-endian number of five bytes."""
    place = np.uint64(at)
    return (
        np.int64(data[place]) << 32
        | np.int64(data[place + _1]) << 24
        | np.int64(data[place + _2]) << 16
        | np.int64(data[place + _3]) << 8
        | np.int64(data[place + _4])
    )


# The same code, which calls the functions above instead of those of its own module.
for _name, _plain in vars(plain_decoders).items():
    if isinstance(_plain, FunctionType) and _name not in globals():
        globals()[_name] = FunctionType(_plain.__code__, globals(), _name)
