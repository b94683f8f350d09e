"""Columns of cells as text: equal to the text of each value."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from binlog_kaitai.render.sql.change_statements import SqlStyle
from binlog_kaitai.render.sql.statement_text import arguments, inside
from binlog_kaitai.rows.column_cells import CellError
from binlog_kaitai.rows.image_walk import ABSENT, NULL
from binlog_kaitai.text.moment_texts import clock_texts
from binlog_kaitai.text.sql_kernels import put_literal
from binlog_kaitai.values.charsets import decode, encoder_of
from binlog_kaitai.values.sql_text import SqlDialect, hexed, is_plain, literal
from tests.extent import sample
from tests.support import all_files, use_plain_kernels
from tests.text.sql_literals import WalkedColumn, walked_columns
from tests.values.literals import LITERAL, value_of

WORDS = ("types", "charsets", "json", "metadata", "invisible")
FILES = [path for path in all_files() if path.parent.name.startswith(WORDS)]
STYLE = SqlStyle.of(SqlDialect(), is_quoted=False)


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


def check(walked: WalkedColumn) -> int:
    cells, literals = walked
    column = cells.column
    try:
        values = cells.by_reader(np.arange(len(cells)), lambda value: STYLE.text(value, column))
    except CellError:
        assert literals is None
        return 0
    assert literals is not None
    for text, value, start in zip(literals, values, cells.starts.tolist(), strict=True):
        if start in (NULL, ABSENT):
            assert text == (b"" if start == ABSENT else b"NULL")
        else:
            assert is_same(text, value, column.charset), column
    return len(values)


@pytest.mark.parametrize(
    "path", FILES, ids=lambda path: f"{path.parent.parent.name}/{path.parent.name}/{path.name}"
)
def test_literals_of_columns_are_those_of_values(path: Path) -> None:
    for walked in walked_columns(path):
        check(walked)


def test_plain_kernels_write_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    use_plain_kernels(monkeypatch)
    assert sum(check(walked) for path in sample(FILES[::4], 2) for walked in walked_columns(path)) > 100


@pytest.mark.parametrize("path", sample(FILES[::5], 6), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_literals_in_quotes_have_their_quotes_doubled(path: Path) -> None:
    pairs = zip(walked_columns(path), walked_columns(path, is_quoted=True), strict=True)
    for (_, literals), (_, quoted) in pairs:
        assert quoted == (None if literals is None else [text.replace(b"'", b"''") for text in literals])


@pytest.mark.parametrize("mode", ["plain", "compiled"])
@given(
    value=st.binary(max_size=60) | st.text("ab'\\\n\x7fé", max_size=40).map(str.encode),
    quotes=st.integers(1, 2),
)
def test_literals_of_texts(mode: str, value: bytes, quotes: int) -> None:
    data, before = np.frombuffer(b"x" + value, dtype=np.uint8), np.frombuffer(b"_binary ", dtype=np.uint8)
    out = np.empty(400, dtype=np.uint8)
    end = getattr(put_literal, mode)(data, 1, len(data), before, quotes, out, 0)
    is_text = is_plain(value.decode("latin-1"))
    expected = literal(value.decode()) if is_text else "_binary " + hexed(value)
    assert bytes(out[:end]).decode() == expected.replace("'", "'" * quotes)


@given(st.text("ab'\\é\x00", max_size=40).map(str.encode))
def test_parts_of_statements_as_arguments_of_concat(value: bytes) -> None:
    arguments_of_it = b"'(" + inside(value) + b")'"
    assert arguments_of_it == arguments(b"(" + value + b")")
    pieces = [one[0] for one in LITERAL.finditer(arguments_of_it.decode())]
    assert b"".join(map(value_of, pieces)) == b"(" + value + b")"


@given(st.lists(st.integers(0, (1 << 32) - 1)))
def test_moments_of_whole_seconds(values: list[int]) -> None:
    text, offsets = clock_texts(np.array(values, dtype=np.int64))
    texts = [text[start:end].tobytes() for start, end in pairwise(offsets)]
    assert texts == [str(datetime.fromtimestamp(value, UTC))[:19].encode() for value in values]
