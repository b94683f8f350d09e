"""Text that is invalid in its character set, valid UTF-8 or not: one answer in all readers and outputs."""

from __future__ import annotations

import csv
import io
import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds
import pytest

import binlog_kaitai as bk
from binlog_kaitai.core.filters import Filters
from binlog_kaitai.core.grammar import EventType
from binlog_kaitai.lines.row_listing import form_of
from binlog_kaitai.lines.row_texts import write_rows
from binlog_kaitai.rows.log_pages import RowsPages
from binlog_kaitai.text.line_arrays import plain
from binlog_kaitai.values.charsets import (
    charset_names,
    charset_of,
    codec_table,
    decode,
    decode_member,
    escaped,
)
from binlog_kaitai.views.parquet_folder import write_changes
from tests.corpus_files import case
from tests.extent import sample
from tests.grammar.row_bytes import table_map_bytes
from tests.log_maker import LogMaker, events_of
from tests.rows.test_rows_hostile import row_event
from tests.text.sql_literals import walked_columns
from tests.values.literals import LITERAL, value_of

#: None: a collation that no server has.
CHARSETS = sample([None, *(name for name in charset_names() if name != "binary")], 12)

COLLATIONS = {charset_of(number): number for number in reversed(range(1, 4000))}

#: VARCHAR(255), CHAR(255), TEXT, MariaDB's COMPRESSED VARCHAR and TEXT, ENUM, SET.
TYPES, METADATA = [15, 254, 252, 141, 140, 254, 254], "ff00 feff 02 ff00 02 f702 f801"
TEXTS, CHOICES = "abcde", "fg"

VALID_UTF8 = [text.encode() for text in ("é", "aé", "߄", "中中", "\\x41", "x\\xe9", "abc", "")]


def field(number: int, data: bytes) -> bytes:
    return bytes([number]) + packed(len(data)) + data


def packed(number: int) -> bytes:
    return bytes([number]) if number < 251 else b"\xfc" + number.to_bytes(2, "little")


def log_of(charset: str | None, values: list[bytes], path: Path) -> Path:
    """A log with a row for each value, in all types of text; the first eight are also the members."""
    layout, groups = events_of(case("mariadb-11.8", "no_checksum").logs[0])
    log, collation, members = LogMaker(layout), packed(COLLATIONS[charset]), values[:8]
    named = bytes([len(members)]) + b"".join(packed(len(member)) + member for member in members)
    names = b"".join(b"\x01" + name.encode() for name in TEXTS + CHOICES)
    optional = field(3, 5 * collation) + field(11, 2 * collation)
    optional += field(6, named) + field(5, named) + field(4, names)
    log.add_all(groups[0])
    log.add(row_event(EventType.table_map_event, table_map_bytes(TYPES, METADATA, optional=optional)))
    for number, value in enumerate(values):
        size, raw = len(value), b"\0" + value  # a COMPRESSED value that is stored as it is
        cells = [bytes([size]) + value] * 2 + [size.to_bytes(2, "little") + value]
        cells += [bytes([len(raw)]) + raw, len(raw).to_bytes(2, "little") + raw]
        cells += [(number % 8 + 1).to_bytes(2, "little"), bytes([1 << number % 8])]
        head = bytes.fromhex("070000000000 0000 07 ff 00")
        log.add(row_event(EventType.write_rows_event_v1, head + b"".join(cells)))
    return log.write(path)


def values_of(charset: str | None) -> list[bytes]:
    """Valid UTF-8, random bytes, text of the character set, and all of these truncated."""
    chance = random.Random(charset)
    values = [*VALID_UTF8, *(chance.randbytes(chance.randrange(9)) for _ in range(20))]
    table = codec_table(charset or "utf8mb4")
    assert table is not None
    values += ["aéж中ก"[:size].encode(table.codec, "ignore") for size in range(1, 6)]
    return values + [value[: len(value) // 2] + value[len(value) // 2 + 1 :] for value in values]


@pytest.fixture(params=CHARSETS, scope="module")
def log(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    values = values_of(request.param)
    return log_of(request.param, values, tmp_path_factory.mktemp("log") / "binlog.000001")


def rows_of(log: Path) -> list[dict[str, Any]]:
    return [row.after or {} for event in bk.open(log) for row in event.rows()]


def json_of(value: str | bytes) -> object:
    return {"hex": value.hex()} if isinstance(value, bytes) else value


@pytest.mark.parametrize("charset", CHARSETS)
def test_the_event_reader_has_text_where_the_bytes_are_text(charset: str | None, tmp_path: Path) -> None:
    values = values_of(charset)
    for number, (value, row) in enumerate(
        zip(values, rows_of(log_of(charset, values, tmp_path / "binlog.000001")), strict=True)
    ):
        assert {row[name] for name in TEXTS} == {decode(value, charset)}
        assert {row[name] for name in CHOICES} == {decode_member(values[number % 8], charset)}


def test_read_rows_returns_the_same(log: Path) -> None:
    assert [row.after for row in bk.read_rows(log)] == rows_of(log)


def _json(log: Path) -> list[object]:
    return [json.loads(line)["after"] for line in b"".join(write_rows(log)).splitlines()]


def _csv(log: Path) -> list[object]:
    lines = b"".join(write_rows(log, form=form_of("csv")[0])).decode()
    return [json.loads(row[-2]) for row in csv.reader(io.StringIO(lines))]


def _untyped(log: Path) -> list[object]:
    return [json.loads(image) for image in bk.read_changes(log).read_all()["after"].to_pylist()]


@pytest.mark.parametrize("read", [_json, _csv, _untyped])
def test_outputs_in_json_have_bytes_in_hexadecimal(log: Path, read: Callable[[Path], object]) -> None:
    assert read(log) == [{name: json_of(value) for name, value in row.items()} for row in rows_of(log)]


def typed_values(charset: str | None, values: list[bytes]) -> list[dict[str, str]]:
    """Typed columns have each invalid byte as ``\\xNN``, in members as ``\\udcNN``."""
    return [
        dict.fromkeys(TEXTS, escaped(value, charset))
        | dict.fromkeys(CHOICES, plain(decode_member(values[number % 8], charset)))
        for number, value in enumerate(values)
    ]


@pytest.mark.parametrize("charset", CHARSETS)
def test_typed_columns_escape_each_invalid_byte(charset: str | None, tmp_path: Path) -> None:
    values = values_of(charset)
    log = log_of(charset, values, tmp_path / "binlog.000001")
    expected = typed_values(charset, values)
    for batch in bk.read_changes(log, table="s.t", columns=[*TEXTS, *CHOICES]):
        assert batch.to_pylist() == expected
    write_changes(RowsPages(log, Filters.of()), tmp_path / "files", zero_dates="null", counts={})
    exported = ds.dataset(tmp_path / "files", format="parquet").to_table(columns=[*TEXTS, *CHOICES])
    assert exported.to_pylist() == expected


@pytest.mark.parametrize("charset", CHARSETS)
def test_escaped_text_is_text_only_where_the_bytes_are(charset: str | None) -> None:
    for value in values_of(charset):
        text, shown = decode(value, charset), escaped(value, charset)
        if isinstance(text, str):
            assert shown == text
        else:
            assert re.search(r"\\x[0-9a-f]{2}", shown)


@pytest.mark.parametrize("charset", CHARSETS)
def test_statements_have_the_bytes(charset: str | None, tmp_path: Path) -> None:
    values = values_of(charset)
    log = log_of(charset, values, tmp_path / "binlog.000001")
    for walked in walked_columns(log):
        if walked.cells.column.name in TEXTS:
            assert walked.literals is not None
            for value, literal in zip(values, walked.literals, strict=True):
                match = LITERAL.fullmatch(literal.decode())
                assert match is not None
                is_same = value_of(literal.decode()) == value
                assert is_same or decode(value, charset) == decode(value_of(literal.decode()), match[2])


def test_tables_show_these_bytes_in_hexadecimal(log: Path) -> None:
    lines = b"".join(write_rows(log, form=form_of("table")[0])).decode().splitlines()
    for line, row in zip(lines, rows_of(log), strict=True):
        assert line.count('={"hex": "') == sum(isinstance(value, bytes) for value in row.values())


def log_of_cells(column: int, metadata: str, cells: list[bytes], path: Path, names: bytes = b"") -> Path:
    """A log of MySQL with rows of one column, of a character set that it does not name."""
    layout, groups = events_of(case("mysql-9.7", "no_checksum").logs[0])
    log, optional = LogMaker(layout), field(4, names) if names else b""
    log.add_all(groups[0])
    log.add(row_event(EventType.table_map_event, table_map_bytes([column], metadata, optional=optional)))
    head = bytes.fromhex("070000000000 0100 0200 01 ff 00")
    log.add_all(row_event(EventType.write_rows_event, head + cell) for cell in cells)
    return log.write(path / "binlog.000001")


def test_documents_escape_invalid_bytes_as_json_does(tmp_path: Path) -> None:
    strings = [b"a", b"\xff", b"\xe4\xb8"]
    cells = [bytes([2 + len(text), 0, 0, 0, 0x0C, len(text)]) + text for text in strings]
    log = log_of_cells(245, "04", cells, tmp_path)
    assert [row.after for row in bk.read_rows(log)] == rows_of(log)
    assert [row["c1"] for row in rows_of(log)] == ['"a"', '"\udcff"', '"\udce4\udcb8"']
    typed = bk.read_changes(log, table="s.t", columns=["c1"]).read_all()["c1"].to_pylist()
    assert typed == ['"a"', '"\\udcff"', '"\\udce4\\udcb8"']


@pytest.mark.parametrize("kind", ["varchar(9)", "char(9)", "tinytext"])
def test_text_of_a_character_set_that_is_not_known_is_bytes(kind: str, tmp_path: Path) -> None:
    column, metadata = {"v": (15, "0900"), "c": (254, "fe09"), "t": (252, "01")}[kind[0]]
    log = log_of_cells(column, metadata, [b"\0", b"\x03abc", b"\x02\xc3\xa9"], tmp_path)
    ddl = f"CREATE TABLE s.t (a {kind} CHARACTER SET of_tomorrow)"
    values = [b"", b"abc", "é".encode()]
    assert [row.after for row in bk.read_rows(log, ddl=ddl)] == [{"a": value} for value in values]
    assert bk.read_changes(log, table="s.t", columns=["a"], ddl=ddl).read_all()["a"].to_pylist() == values
    lines = b"".join(write_rows(log, ddl=ddl)).splitlines()
    assert [json.loads(line)["after"]["a"] for line in lines] == [{"hex": value.hex()} for value in values]


@pytest.mark.parametrize(
    ("charset", "text", "shown"),
    [
        ("gbk", "c3a9", "茅"),  # é in UTF-8
        ("gbk", "e4b8ad", "\\udce4\\udcb8\\udcad"),  # valid in UTF-8 only
        ("latin1", "e9", "é"),
        ("utf8mb4", "c3a9ff", "é\\udcff"),
    ],
)
def test_statements_are_in_the_character_set_of_the_client(
    charset: str, text: str, shown: str, tmp_path: Path
) -> None:
    layout, ((head, *_), *_) = events_of(case("mysql-5.6", "types_v1_rows").logs[0])
    settings = b"\x04" + 3 * COLLATIONS[charset].to_bytes(2, "little")
    query = b"CREATE TABLE t (a INT) COMMENT '" + bytes.fromhex(text) + b"'"
    body = bytes(8) + b"\x01" + bytes(2) + len(settings).to_bytes(2, "little") + settings + b"s\0" + query
    log = LogMaker(layout)
    log.add_all([head, row_event(EventType.query_event, body + bytes(4 * layout.is_checksummed))])
    path = log.write(tmp_path / "binlog.000001")
    expected = f"CREATE TABLE t (a INT) COMMENT '{shown}'"
    assert bk.read_ddl(path).read_all()["statement"].to_pylist() == [expected]
    assert bk.read_transactions(path).read_all()["statement"].to_pylist() == [expected]


def test_names_are_escaped_alike(tmp_path: Path) -> None:
    log = log_of_cells(1, "", [b"\x05"], tmp_path, names=b"\x02a\xff")
    log.write_bytes(log.read_bytes().replace(b"\x01t\0", b"\x01\xff\0"))
    assert bk.read_changes(log).read_all()["table"].to_pylist() == ["\\udcff"]
    (tables,) = bk.read_transactions(log).read_all()["tables"].to_pylist()
    assert tables == ["s.\\udcff"]
    assert json.loads(b"".join(write_rows(log)))["table"] == "\udcff"
    (row,) = bk.read_rows(log)
    assert (row.schema.table_name, row.after) == ("\udcff", {"a\udcff": 5})
