"""Text that kernels make of values is what Python makes of them."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from binlog_kaitai.columns.lines import Pool, Program, write_lines
from binlog_kaitai.columns.rows.float_texts import NUMBER_ROOM, put_floats
from binlog_kaitai.columns.rows.string_kernels import find_text
from binlog_kaitai.values.numbers import shortest_float
from binlog_kaitai.values.sql_text import double_sql

EDGES = [
    0.0,
    -0.0,
    1e-4,
    9.9e-5,
    1e15,
    999999999999999.0,
    1e6,
    999999.5,
    0.1,
    float("nan"),
    float("inf"),
    5e-324,
]


def numbers(rng: random.Random) -> Iterator[float]:
    for _ in range(1500):
        yield round(rng.uniform(-1e6, 1e6), rng.randrange(8))
        yield float(rng.randrange(-(10 ** rng.randrange(1, 17)), 10**17))
        yield rng.uniform(-1, 1) * 10.0 ** rng.randrange(-8, 18)
    yield from EDGES


@pytest.mark.parametrize("mode", ["plain", "compiled"])
@pytest.mark.parametrize("is_bare", [False, True])
@pytest.mark.parametrize("is_single", [False, True])
def test_floats_are_those_of_json_and_sql(mode: str, is_single: bool, is_bare: bool) -> None:
    values = np.array(list(numbers(random.Random(5))), dtype=np.float32 if is_single else np.float64)
    valid = np.arange(len(values)) % 7 != 3
    out, offsets = np.empty(NUMBER_ROOM * len(values), dtype=np.uint8), np.empty(len(values) + 1, np.int64)
    is_left = np.empty(len(values), dtype=np.bool_)
    limits = 1e-4, 1e6 if is_single else 1e15, is_single, is_bare
    getattr(put_floats, mode)(values.astype(np.float64), valid, *limits, out, offsets, is_left)
    made = 0
    for index, value in enumerate(values.tolist()):
        text = bytes(out[offsets[index] : offsets[index + 1]]).decode()
        if not valid[index] or is_left[index]:
            assert text == ""
            continue
        made += 1
        short = shortest_float(value) if is_single else value
        assert text == (double_sql(short) if is_bare else json.dumps(short))
    assert made > 200


@pytest.mark.parametrize("mode", ["plain", "compiled"])
def test_text_that_json_holds_as_it_is(mode: str) -> None:
    texts = [b"", b"plain", b'a"b', b"back\\slash", b"new\nline", "é".encode(), b"\x7f ~", b"x" * 200]
    data = np.frombuffer(b"".join(bytes([len(text)]) + text for text in texts), dtype=np.uint8)
    starts = np.cumsum([0] + [1 + len(text) for text in texts[:-1]] + [0])
    starts[-1] = -1
    places, sizes = np.empty((2, len(starts)), dtype=np.int64)
    left = getattr(find_text, mode)(data, starts, 1, -5, 4, places, sizes)
    found: list[Any] = [
        bytes(data[at : at + size]) if size >= 0 else None for at, size in zip(places, sizes, strict=True)
    ]
    wanted = [
        text if all(32 <= byte < 128 and byte not in b'"\\' for byte in text) else None for text in texts
    ]
    assert found[:-1] == wanted
    assert (places[-1], sizes[-1]) == (-5, 4)
    assert left == wanted.count(None)


def test_what_is_true_of_an_event_has_room_in_each_of_its_lines() -> None:
    pool = Pool()
    column = pool.verbatim([b'"3e11fa47-71ca-11e1-9e33-c80aa9429562:23"'], by_event=True)
    lines, zeros = 5000, np.zeros(5000, dtype=np.int64)
    text, ends = write_lines(zeros.view(np.uint8), pool, [Program(pool).column(column)], zeros, zeros, zeros)
    assert len(ends) == lines
    assert bytes(text) == pool.read(*pool.place(b'"3e11fa47-71ca-11e1-9e33-c80aa9429562:23"')) * lines
