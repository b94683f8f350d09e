"""Numbers and moments as text: bytes, and where each text begins, without Arrow."""

from __future__ import annotations

from typing import Any

import numpy as np

from binlog_kaitai.rows.text.moment_texts import put_moments, put_numbers

#: Kinds of `kernels.put_moments`.
DATE, MOMENT, TIME = 0, 1, 2

#: A value of `put_moments` is no longer, and none of `put_numbers`.
_ROOM, _DIGITS = 32, 20


def number_texts(values: Any, valid: Any = None) -> tuple[Any, Any]:
    """Numbers (int64, none of them -2^63) in decimal; nothing where `valid` is false."""
    count = len(values)
    is_there = np.ones(count, dtype=np.bool_) if valid is None else valid
    out, offsets = np.empty(_DIGITS * count, dtype=np.uint8), np.empty(count + 1, dtype=np.int64)
    size = put_numbers.run(values, is_there, out, offsets)
    return out[:size], offsets


def moment_texts(values: Any, valid: Any, kind: int, digits: int = 0, quote: bytes = b"") -> tuple[Any, Any]:
    """Days or microseconds (int64) as text, by `kind`; see `kernels.put_moments`."""
    count = len(values)
    out, offsets = np.empty(_ROOM * count, dtype=np.uint8), np.empty(count + 1, dtype=np.int64)
    size = put_moments.run(values, valid, kind, digits, quote[0] if quote else 0, out, offsets)
    return out[:size], offsets


def clock_texts(seconds: Any) -> tuple[Any, Any]:
    """Moments (int64, since 1970-01-01 UTC) as ``YYYY-MM-DD hh:mm:ss``."""
    return moment_texts(seconds * 1_000_000, np.ones(len(seconds), dtype=np.bool_), MOMENT)
