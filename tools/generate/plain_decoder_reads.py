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
