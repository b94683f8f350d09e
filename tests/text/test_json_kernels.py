"""JSON documents by kernels: printed as by the event reader, with values of any type that servers write."""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import binlog_kaitai as bk
from binlog_kaitai.core.grammar import ColumnType, EventType, JsonBinary, parse_structure
from binlog_kaitai.rows.column_cells import Cells
from binlog_kaitai.text.float_texts import LEFT, NO_ROOM
from binlog_kaitai.text.json_kernels import LEVEL, MAX_DEPTH, put_document
from binlog_kaitai.text.line_arrays import unquote
from binlog_kaitai.values.json_documents import document_text, quote
from binlog_kaitai.values.sql_text import document_sql
from tests.corpus_files import case
from tests.dump.dump_ways import check_one_by_one
from tests.extent import rounds
from tests.grammar.row_bytes import table_map_bytes
from tests.lines.test_rows_objects import lines_by_columns, lines_by_reader
from tests.log_maker import LogMaker, events_of
from tests.rows.test_rows_hostile import row_event
from tests.support import use_plain_kernels
from tests.text.sql_literals import walked_columns
from tests.values.json_documents import Opaque, decimal, document, moment, random_value, time

modes = pytest.mark.parametrize("mode", ["plain", "compiled"])


def printed(data: bytes, mode: str, room: int = 1 << 16, cast_room: int = 0) -> tuple[int, bytes, bytes]:
    """The end or why there is no text, the text, and the casts."""
    out, casts = np.zeros(room, dtype=np.uint8), np.zeros(cast_room, dtype=np.uint8)
    stack = np.empty(MAX_DEPTH * LEVEL, dtype=np.int64)
    array = np.frombuffer(data, dtype=np.uint8)
    end, cast_end = getattr(put_document, mode)(array, 0, len(data), out, 0, stack, casts, 0)
    return end, bytes(out[: max(end, 0)]), bytes(casts[: max(cast_end, 0)])


@modes
@pytest.mark.parametrize(
    ("value", "text", "cast"),
    [
        (decimal(5, 2, bytes.fromhex("807b32")), "123.50", "CAST('123.50' AS DECIMAL(5,2))"),
        (decimal(5, 2, bytes.fromhex("7fffcd")), "-0.50", "CAST('-0.50' AS DECIMAL(5,2))"),
        (decimal(72, 0, b"\x80" + bytes(30) + b"{"), "123", "CAST('123' AS DECIMAL(65,0))"),
        (moment(ColumnType.date, (2026, 2, 28)), '"2026-02-28"', "CAST('2026-02-28' AS DATE)"),
        (moment(ColumnType.date, (0, 0, 0)), '"0000-00-00"', "CAST('0000-00-00' AS DATE)"),
        (
            moment(ColumnType.datetime, (9999, 12, 31), (23, 59, 59), 10),
            '"9999-12-31 23:59:59.000010"',
            "CAST('9999-12-31 23:59:59.000010' AS DATETIME(6))",
        ),
        (
            moment(ColumnType.timestamp, (1970, 1, 1)),
            '"1970-01-01 00:00:00.000000"',
            "CAST('1970-01-01 00:00:00.000000' AS DATETIME(6))",
        ),
        (time(838, 59, 58, 999000), '"838:59:58.999000"', "CAST('838:59:58.999000' AS TIME(6))"),
        (
            time(0, 0, 0, 1, is_negative=True),
            '"-00:00:00.000001"',
            "CAST('-00:00:00.000001' AS TIME(6))",
        ),
        (time(1, is_negative=True), '"-01:00:00.000000"', "CAST('-01:00:00.000000' AS TIME(6))"),
        (Opaque(ColumnType.bit, b"\x02\x01"), '"base64:type16:AgE="', ""),
        (Opaque(ColumnType.blob, b""), '"base64:type252:"', ""),
        (Opaque(ColumnType.blob, b"a" * 57), f'"base64:type252:{"YWFh" * 19}"', ""),
        (Opaque(ColumnType.blob, b"a" * 58), f'"base64:type252:{"YWFh" * 19}\\nYQ=="', ""),
        (Opaque(ColumnType.var_string, b'a"\n'), r'"a\"\n"', ""),
    ],
)
def test_values_that_json_has_no_type_for(value: Opaque, text: str, cast: str, mode: str) -> None:
    room = 1000 if cast else 0
    assert printed(document(value), mode, cast_room=room)[1:] == (text.encode(), cast.encode())


@modes
def test_byte_strings_are_left_where_casts_are_written(mode: str) -> None:
    value = {"a": Opaque(ColumnType.var_string, b"a")}
    assert printed(document(value), mode, cast_room=1000)[0] == LEFT
    assert printed(document(value), mode)[1] == b'{"a": "a"}'


@modes
@pytest.mark.parametrize(
    ("value", "cast"),
    [
        (0.1 + 0.2, "0.30000000000000004e0"),
        (-1234567.1234567891, "-1234567.1234567892e0"),
        (1e23, "1e23"),
        (5e-324, "5e-324"),
        (1.5e22, ""),
        (0.1, ""),
        (-123456789.012345, ""),
    ],
)
def test_doubles_that_json_parsers_round(value: float, cast: str, mode: str) -> None:
    assert printed(document(value), mode, cast_room=1000)[2].decode() == cast


@modes
def test_the_paths_of_casts(mode: str) -> None:
    half = decimal(2, 1, b"\x80\x05")
    value = {"a": [1, half], "it's": {"": half}, "a\n": half}
    found = printed(document(value), mode, cast_room=1000)[2]
    assert found == (
        b""", '$."a"[1]', CAST('0.5' AS DECIMAL(2,1))"""
        b""", _utf8mb4 0x242E22615C6E22, CAST('0.5' AS DECIMAL(2,1))"""
        b""", '$."it''s".""', CAST('0.5' AS DECIMAL(2,1))"""
    )


@modes
@pytest.mark.parametrize(
    "value",
    [
        decimal(5, 2, b"\x80\x7b"),
        decimal(5, 2, b"\x80\x7b\x64"),
        decimal(0, 0, b""),
        decimal(2, 3, bytes(2)),
        Opaque(ColumnType.newdecimal, b"\x05"),
        moment(ColumnType.date, (10000, 1, 1)),
        moment(ColumnType.datetime, (2026, 1, 1), micros=1_000_000),
        Opaque(ColumnType.datetime, bytes(7)),
        time(1000),
        time(1, micros=1_000_000),
        Opaque(ColumnType.time, bytes(7)),
    ],
)
def test_other_values_are_left_to_the_event_reader(value: Opaque, mode: str, tmp_path: Path) -> None:
    assert printed(document([1, value]), mode, cast_room=1000)[0] == LEFT
    log = log_of([document(1), document([1, value])], tmp_path)
    assert list(lines_by_columns(log)) == list(lines_by_reader(log))


@modes
def test_an_opaque_value_that_exceeds_the_document_is_left(mode: str) -> None:
    whole = document(Opaque(ColumnType.blob, b"abc"))
    for size in range(1, len(whole)):
        assert printed(whole[:size], mode)[0] == LEFT


def random_documents(seed: int, count: int) -> Iterable[bytes]:
    rng = random.Random(seed)
    return (document(random_value(rng), is_large=rng.random() < 0.3) for _ in range(count))


@modes
def test_random_documents_are_those_of_the_event_reader(mode: str) -> None:
    for data in random_documents(1, rounds(3000, 400)):
        assert printed(data, mode)[1].decode() == document_text(parse_structure(JsonBinary, data)), data.hex()


@modes
def test_no_byte_is_written_out_of_bounds(mode: str) -> None:
    for data in random_documents(2, rounds(200, 25)):
        end, text, _ = printed(data, mode)
        for room in range(0, end + 40, 7):
            assert printed(data, mode, room)[0] in ((end, NO_ROOM) if room >= end else (NO_ROOM,))
        whole, text_with_casts, casts = printed(data, mode, cast_room=1 << 14)
        assert (whole, text_with_casts) in ((end, text), (LEFT, b""))
        for cast_room in range(1, len(casts), 11):
            assert printed(data, mode, cast_room=cast_room)[0] == NO_ROOM


@pytest.mark.parametrize("text", ["", "a", 'a"b\\c\n\x01\x1fé', "\\u0041"])
def test_quotes_are_removed_as_they_are_written(text: str) -> None:
    data = np.frombuffer(b"~" + quote(text).encode(), dtype=np.uint8).copy()
    assert bytes(data[1 : unquote(data, 1, len(data))]) == text.encode()


def log_of(documents: Iterable[bytes | None], folder: Path) -> Path:
    """A log of rows with one JSON column."""
    layout, groups = events_of(case("mysql-9.7", "no_checksum").logs[0])
    log = LogMaker(layout)
    log.add_all(groups[0])
    log.add(row_event(EventType.table_map_event, table_map_bytes([ColumnType.json], "04")))
    images = b"".join(
        b"\x01" if data is None else b"\x00" + len(data).to_bytes(4, "little") + data for data in documents
    )
    log.add(row_event(EventType.write_rows_event, bytes.fromhex("070000000000 0100 0200 01 ff") + images))
    return log.write(folder / "binlog.000001")


@pytest.fixture(params=["compiled", "plain"])
def any_documents(request: Any, monkeypatch: pytest.MonkeyPatch) -> list[bytes | None]:
    if request.param == "plain":
        use_plain_kernels(monkeypatch)
    return [None, *random_documents(3, rounds(1000, 150)), document(decimal(5, 2, b"\x80\x7b\x32"))]


@pytest.fixture
def documents(any_documents: list[bytes | None], monkeypatch: pytest.MonkeyPatch) -> list[bytes | None]:
    """Documents of which none is left to the event reader."""
    monkeypatch.delattr(Cells, "by_reader")
    return any_documents


def test_sql_has_the_expressions_of_the_event_reader(
    any_documents: list[bytes | None], tmp_path: Path
) -> None:
    ((_, found),) = walked_columns(log_of(any_documents, tmp_path))
    expected = [
        "NULL" if data is None else document_sql(parse_structure(JsonBinary, data)) for data in any_documents
    ]
    assert found is not None
    assert [text.decode() for text in found] == expected
    assert sum(text.startswith("JSON_SET(") for text in expected) > 10


def test_many_documents_have_room_for_their_casts(tmp_path: Path) -> None:
    halves = {"it's": [decimal(2, 1, b"\x80\x05")] * 300}
    expected = document_sql(parse_structure(JsonBinary, document(halves))).encode()
    assert len(expected) > 5 * len(document(halves))
    ((_, found),) = walked_columns(log_of([document(halves)] * 200, tmp_path))
    assert found == [expected] * 200


def test_a_document_may_be_longer_than_the_scratch_memory(tmp_path: Path) -> None:
    texts = {"it's": ["long" * 10_000] * 3, "half": decimal(2, 1, b"\x80\x05")}
    expected = document_sql(parse_structure(JsonBinary, document(texts, is_large=True))).encode()
    ((_, found),) = walked_columns(log_of([document(texts, is_large=True)] * 3, tmp_path))
    assert found == [expected] * 3


def test_rows_and_typed_columns_have_the_text_of_the_event_reader(
    documents: list[bytes | None], tmp_path: Path
) -> None:
    log = log_of(documents, tmp_path)
    assert list(lines_by_columns(log)) == list(lines_by_reader(log))
    texts = [None if data is None else document_text(parse_structure(JsonBinary, data)) for data in documents]
    assert bk.read_changes(log, table="s.t").read_all()["c1"].to_pylist() == texts


def test_dump_prints_documents_by_blocks_as_event_by_event(
    documents: list[bytes | None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_one_by_one(log_of(documents, tmp_path), tmp_path, monkeypatch, {})
