"""Kernels format values like Python."""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator
from math import isfinite
from pathlib import Path

import numpy as np
import pytest

from binlog_kaitai.core.grammar import ColumnType, EventType
from binlog_kaitai.lines.row_line_kernel import MAX_LENGTH, put_printable
from binlog_kaitai.text.float_texts import (
    REPR_LEAST,
    REPR_MOST,
    put_shortest,
    put_single,
)
from binlog_kaitai.text.line_arrays import LineProgram, Pool, write_lines
from binlog_kaitai.text.output_text import printable
from binlog_kaitai.values.numbers import shortest_float
from binlog_kaitai.values.sql_text import double_sql, float_sql
from tests.corpus_files import case
from tests.grammar.row_bytes import table_map_bytes
from tests.log_maker import LogMaker, events_of
from tests.rows.test_rows_hostile import row_event
from tests.support import use_plain_kernels
from tests.text.sql_literals import walked_columns

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
@pytest.mark.parametrize("is_single", [False, True])
def test_floats_in_sql_have_the_digits_that_identify_them(
    mode: str, is_single: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if mode == "plain":
        use_plain_kernels(monkeypatch)
    values = np.array(list(numbers(random.Random(5)))[:: 1 if mode == "compiled" else 20], dtype=np.float64)
    values = np.append(values[np.isfinite(values)], [-0.0, 1e15, 1e-5, 1e-7, 1e16, 123.0])
    if is_single:
        values = values.astype(np.float32)
    layout, groups = events_of(case("mysql-9.7", "no_checksum").logs[0])
    log = LogMaker(layout)
    log.add_all(groups[0])
    column = (ColumnType.float, "04") if is_single else (ColumnType.double, "08")
    log.add(row_event(EventType.table_map_event, table_map_bytes([column[0]], column[1])))
    images = b"".join(b"\x00" + value.tobytes() for value in values)
    log.add(row_event(EventType.write_rows_event, bytes.fromhex("070000000000 0100 0200 01 ff") + images))
    path = log.write(tmp_path / "binlog.000001")
    for is_exact in (False, True):
        ((_, literals),) = walked_columns(path, is_exact=is_exact)
        as_text = float_sql if is_single and not is_exact else double_sql
        assert literals == [as_text(value).encode() for value in values.tolist()]


@pytest.mark.parametrize("mode", ["plain", "compiled"])
def test_doubles_have_the_digits_of_repr(mode: str) -> None:
    rng = random.Random(7)
    values = [struct.unpack("<d", rng.randbytes(8))[0] for _ in range(1500)]
    values += [2.0**power for power in range(-1074, 1024, 9)] + [10.0**power for power in range(-320, 309, 7)]
    values += [*numbers(rng), 9007199254740993.0, 1.7976931348623157e308, 2.2250738585072014e-308]
    out = np.empty(40, dtype=np.uint8)
    for value in values:
        bits = np.float64(value).view(np.int64)
        end = getattr(put_shortest, mode)(bits, REPR_LEAST, REPR_MOST, out, 0)
        assert (bytes(out[:end]).decode() if end >= 0 else None) == (repr(value) if isfinite(value) else None)


@pytest.mark.parametrize("mode", ["plain", "compiled"])
def test_floats_have_the_digits_that_distinguish_them(mode: str) -> None:
    rng = random.Random(8)
    made, out = 0, np.empty(40, dtype=np.uint8)
    for value in [
        *numbers(rng),
        *(rng.uniform(0, 10.0**power) for power in range(-4, 9) for _ in range(200)),
    ]:
        single = float(np.float32(value))
        end = getattr(put_single, mode)(np.float64(single), out, 0)
        made += end >= 0
        assert end < 0 or bytes(out[:end]).decode() == repr(shortest_float(single))
    assert made > 3000


@pytest.mark.parametrize("mode", ["plain", "compiled"])
def test_people_see_what_is_printable(mode: str) -> None:
    rng = random.Random(9)
    letters = "abc \t\n\x00\x1b\x7f\x85\xa0é\u061c\u1680\u2003\u200e\u2028\u202e\u205f\u2066\u3000€😀"
    put = getattr(put_printable, mode)
    for _ in range(400):
        text = "".join(rng.choices(letters, k=rng.choice([0, 1, 5, 59, 60, 61, 90])))
        cut = text if len(text) <= MAX_LENGTH else text[: MAX_LENGTH - 1] + "…"
        for is_last in (False, True):
            data = text.encode()
            out = np.zeros(len(data) + 1100, dtype=np.uint8)
            out[5 : 5 + len(data)] = list(data)
            end = put(out, 5, 5 + len(data), is_last)
            assert bytes(out[5:end]).decode() == printable(cut.rstrip() if is_last else cut)


def test_what_is_true_of_an_event_has_room_in_each_of_its_lines() -> None:
    pool = Pool()
    column = pool.verbatim([b'"3e11fa47-71ca-11e1-9e33-c80aa9429562:23"'], by_event=True)
    lines, zeros = 5000, np.zeros(5000, dtype=np.int64)
    text, ends = write_lines(
        zeros.view(np.uint8), pool, [LineProgram(pool).column(column)], zeros, zeros, zeros
    )
    assert len(ends) == lines
    assert bytes(text) == pool.read(*pool.add(b'"3e11fa47-71ca-11e1-9e33-c80aa9429562:23"')) * lines
