"""Columns of cells as text: equal to the text of each value."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import binlog_kaitai as bk
from binlog_kaitai.core.filters import Filters
from binlog_kaitai.render.sql.statement_text import arguments
from binlog_kaitai.rows.column_cells import CellError, Cells
from binlog_kaitai.rows.image_walk import ABSENT, NULL, MismatchError, walk
from binlog_kaitai.rows.log_pages import RowsPages
from binlog_kaitai.rows.table_maps import Table
from binlog_kaitai.rows.text.moment_texts import MOMENT, TIME, ByteTexts, moment_texts
from binlog_kaitai.rows.text.sql_literals import as_arguments, literals, sql_style
from binlog_kaitai.rows.text.text_styles import HEX, clock, digits, joined, written
from binlog_kaitai.values.charsets import decode, encoder_of
from binlog_kaitai.values.sql_text import SqlDialect, literal
from binlog_kaitai.values.temporal import datetime_text, time_text
from tests.columns.support import all_files, use_plain_kernels
from tests.extent import sample
from tests.values.literals import LITERAL, value_of

WORDS = ("types", "charsets", "json", "metadata", "invisible")
FILES = [path for path in all_files() if path.parent.name.startswith(WORDS)]
STYLE = sql_style(SqlDialect())


def columns_of(path: Path) -> Iterator[Cells]:
    try:
        for page in RowsPages(path, Filters()):
            for table, events in page.runs():
                if isinstance(table, Table):
                    for found in walk(page.images, events, len(table.schema.columns)):
                        for column in table.schema.columns:
                            yield Cells(table, column, found.data, found.starts[column.index])
    except (bk.BinlogError, MismatchError):
        return


def is_same(text: bytes, value: bytes, charset: str | None) -> bool:
    """Whether a literal is equivalent to another.

    An expression may replace the text of a document (test_json_kernels compares expressions), and bytes in a
    character set may replace text if several byte sequences have that text.
    """
    if text.startswith((b"CAST(CAST(", b"JSON_SET(CAST(")):
        return True
    if text == value or charset is None or encoder_of(charset) is not None:
        return text == value
    parts = LITERAL.fullmatch(text.decode())
    assert parts is not None
    assert parts[2] == charset
    return decode(value_of(text.decode()), charset) == value_of(value.decode()).decode()


def check(cells: Cells) -> int:
    rows = np.arange(len(cells))
    try:
        found = STYLE.texts(cells).to_pylist()
        values = cells.by_reader(rows, lambda value: STYLE.value(value, cells.column))
    except CellError:
        return 0
    for text, value, start in zip(found, values, cells.starts.tolist(), strict=True):
        if start in (NULL, ABSENT):
            assert text == (None if start == ABSENT else b"NULL")
        else:
            assert is_same(text, value, cells.column.charset), cells.column
    return len(found)


@pytest.mark.parametrize(
    "path", FILES, ids=lambda path: f"{path.parent.parent.name}/{path.parent.name}/{path.name}"
)
def test_literals_of_columns_are_those_of_values(path: Path) -> None:
    for cells in columns_of(path):
        check(cells)


def test_plain_kernels_write_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    use_plain_kernels(monkeypatch)
    assert sum(check(cells) for path in sample(FILES[::4], 2) for cells in columns_of(path)) > 100


@given(st.lists(st.none() | st.binary(max_size=60)))
def test_bytes_by_a_table(values: list[bytes | None]) -> None:
    array = pa.array(values, pa.binary())
    hexed = written(array, HEX, b"0x", b"", empty=b"''").to_pylist()
    assert hexed == [None if one is None else hexadecimal(one) for one in values]
    table = ByteTexts.of({10: b"\\n", 39: b"''"})
    quoted = written(array.slice(1), table, b"'", b"'").to_pylist()
    assert quoted == [one if one is None else b"'" + escaped(one) + b"'" for one in values[1:]]


TEXTS = st.lists(st.none() | st.text(max_size=40) | st.text("ab'\\\n\x7fé", max_size=40))


@pytest.mark.parametrize("mode", ["plain", "compiled"])
@given(values=TEXTS)
def test_literals_of_texts(mode: str, values: list[str | None]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        if mode == "plain":
            use_plain_kernels(patch)
        found = literals(pa.array(["x", *values]).slice(1), "_utf8mb4 ").to_pylist()
    assert found == [None if one is None else literal(one).encode() for one in values]


@pytest.mark.parametrize("mode", ["plain", "compiled"])
@given(values=st.lists(st.binary(max_size=60) | st.text("ab'\\é", max_size=40).map(str.encode)))
def test_texts_as_arguments_of_concat(mode: str, values: list[bytes]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        if mode == "plain":
            use_plain_kernels(patch)
        found = as_arguments(pa.array([b"x", *values], pa.binary()).slice(1)).to_pylist()
    assert found == [arguments(one) for one in values]
    for text, value in zip(found, values, strict=True):
        pieces = [one[0] for one in LITERAL.finditer(text.decode())]
        assert b"".join(map(value_of, pieces)) == value
        assert ", ".join(pieces) == text.decode()


def hexadecimal(value: bytes) -> bytes:
    return b"0x" + value.hex().upper().encode() if value else b"''"


def escaped(value: bytes) -> bytes:
    return value.replace(b"\n", b"\\n").replace(b"'", b"''")


@given(st.lists(st.tuples(st.none() | st.binary(max_size=40), st.binary(max_size=3))), st.booleans())
def test_texts_put_together(rows: list[tuple[bytes | None, bytes]], has_nulls: bool) -> None:
    rows = [row for row in rows if has_nulls or row[0] is not None]
    first, second = (pa.array([b"~", *(row[at] for row in rows)], pa.binary()).slice(1) for at in (0, 1))
    found = joined(b"(", b"a=", first, b", ", second, first, b")").to_pylist()
    assert found == [None if a is None else b"(a=" + a + b", " + b + a + b")" for a, b in rows]


@given(st.lists(st.integers(1 - (1 << 63), (1 << 63) - 1)))
def test_digits(values: list[int]) -> None:
    assert digits(np.array(values, dtype=np.int64)).to_pylist() == [b"%d" % value for value in values]


@given(st.lists(st.integers(0, (1 << 32) - 1)))
def test_moments_of_whole_seconds(values: list[int]) -> None:
    texts = clock(np.array(values, dtype=np.int64)).to_pylist()
    assert texts == [str(datetime.fromtimestamp(value, UTC))[:19].encode() for value in values]


def quoted_texts(micros: NDArray[np.int64], kind: int, digits: int) -> list[str]:
    text, offsets = moment_texts(micros, np.ones(len(micros), dtype=np.bool_), kind, digits, b"'")
    return [text[start:end].tobytes().decode() for start, end in pairwise(offsets)]


@given(st.lists(st.datetimes()), st.integers(0, 6))
def test_moments(values: list[datetime], digits: int) -> None:
    micros = np.array(values, dtype="datetime64[us]").astype(np.int64)
    assert quoted_texts(micros, MOMENT, digits) == [f"'{datetime_text(value, digits)}'" for value in values]


#: As many hours as the ten bits of a TIME(n) can hold, more than servers allow.
HOURS = timedelta(hours=1023)


@given(st.lists(st.timedeltas(-HOURS, HOURS)), st.integers(0, 6))
def test_times(values: list[timedelta], digits: int) -> None:
    micros = np.array(values, dtype="timedelta64[us]").astype(np.int64)
    assert quoted_texts(micros, TIME, digits) == [f"'{time_text(value, digits)}'" for value in values]
