"""Row changes as lines of JSON: equal to those of the reader, byte for byte."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import binlog_kaitai as bk
from binlog_kaitai.core.grammar import EventType
from binlog_kaitai.ddl import Definitions
from binlog_kaitai.lines.row_listing import form_of
from binlog_kaitai.lines.row_texts import write_rows
from binlog_kaitai.log.event_rows import to_json
from binlog_kaitai.rows.event_metadata import ORIGINS
from binlog_kaitai.text.output_text import iso_time
from binlog_kaitai.values.schema import Schema, is_mariadb
from tests.corpus_files import case
from tests.extent import sample
from tests.grammar.row_bytes import table_map_bytes
from tests.log_maker import LogMaker, events_of
from tests.row_objects import row_objects
from tests.rows.test_rows_corpus import observe
from tests.rows.test_rows_hostile import row_event
from tests.support import all_files, use_plain_kernels

FILES = all_files()


def lines_by_columns(path: Path) -> Iterator[bytes]:
    try:
        for lines in write_rows(path):
            yield from bytes(lines).split(b"\n")[:-1]
    except bk.BinlogError as error:
        yield str(error).encode("utf-8", "backslashreplace")


def lines_by_reader(path: Path) -> Iterator[bytes]:
    definitions = Definitions()
    try:
        for event in bk.open(path):
            observe(definitions, event)
            schema = None
            if (body := event.table_map) is not None:
                definition = definitions.of(body.schema_name, body.table_name, body)
                schema = Schema.of(body, definition, is_mariadb=is_mariadb(event.layout))
            for found in list(row_objects(event, schema)):
                yield to_json(found).encode("utf-8", "backslashreplace")
    except bk.BinlogError as error:
        yield str(error).encode("utf-8", "backslashreplace")


@pytest.mark.parametrize(
    "path", FILES, ids=lambda path: f"{path.parent.parent.name}/{path.parent.name}/{path.name}"
)
def test_lines_are_those_of_the_reader(path: Path) -> None:
    found, expected = list(lines_by_columns(path)), list(lines_by_reader(path))
    for one, other in zip(found, expected, strict=False):
        assert one == other
    assert len(found) == len(expected)


def listed(path: Path, output: str, shown: tuple[str, ...] = ()) -> Iterator[bytes]:
    form, _ = form_of(output, shown)
    with suppress(bk.BinlogError):
        for lines in write_rows(path, form=form, origins=[name for name in shown if name in ORIGINS]):
            yield bytes(lines)


def says_the_same(output: str, shown: tuple[str, ...], lines: bytes, json_lines: bytes) -> bool:
    """Whether lines of an output have what lines of JSON have."""
    form, heading = form_of(output, shown)
    if output == "table":
        return lines == b"".join(form.from_json(json_lines))
    rows = list(csv.DictReader(io.StringIO((heading + lines).decode(), newline="")))
    objects = list(map(exact, json_lines.splitlines()))
    for row, values in zip(rows, objects, strict=True):
        values["timestamp"] = iso_time(int(values["timestamp"]))
        for name, text in row.items():
            value = values.get(name)
            if (exact(text) if isinstance(value, dict) else text or None) != value:
                return False
    return True


def exact(text: str | bytes) -> Any:
    """A JSON document; numbers are strings of their digits."""
    return json.loads(text, parse_float=str, parse_int=str)


@pytest.mark.parametrize("output", ["csv", "table"])
@pytest.mark.parametrize(
    "path", FILES, ids=lambda path: f"{path.parent.parent.name}/{path.parent.name}/{path.name}"
)
def test_listings_are_made_of_the_lines_of_json(path: Path, output: str) -> None:
    lines, json_lines = (b"".join(listed(path, name)) for name in (output, "json"))
    assert says_the_same(output, (), lines, json_lines)


@pytest.mark.parametrize("shown", [("gtid",), ORIGINS, ("gtid", *ORIGINS)])
@pytest.mark.parametrize("output", ["csv", "table"])
@pytest.mark.parametrize(
    "log", sample(["mysql-9.7/mixed", "mysql-9.7/types_metadata", "mariadb-11.8/mixed"], 2)
)
def test_listings_show_where_rows_come_from(log: str, output: str, shown: tuple[str, ...]) -> None:
    path = case(*log.split("/")).logs[0]
    lines, json_lines = (b"".join(listed(path, name, shown)) for name in (output, "json"))
    assert says_the_same(output, shown, lines, json_lines)


def test_plain_kernels_write_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    forms = "json", "csv", "table"
    compiled = {path: [b"".join(listed(path, form)) for form in forms] for path in sample(FILES[::9], 4)}
    use_plain_kernels(monkeypatch)
    for path, texts in compiled.items():
        assert [b"".join(listed(path, form)) for form in forms] == texts


def strings_log(folder: Path, kind: EventType, images: bytes) -> Path:
    """A log with one rows event of a table with one VARCHAR column."""
    layout, groups = events_of(case("mysql-9.7", "no_checksum").logs[0])
    maker = LogMaker(layout)
    maker.add_all(groups[0])
    maker.add(row_event(EventType.table_map_event, table_map_bytes([15], "ff00")))
    after = b"\xff" if kind == EventType.update_rows_event else b""
    maker.add(row_event(kind, bytes.fromhex("070000000000 0100 0200 01 ff") + after + images))
    return maker.write(folder / "binlog.000001")


def string_image(text: bytes | None) -> bytes:
    return b"\x01" if text is None else b"\x00" + bytes([len(text)]) + text


@pytest.mark.parametrize(
    ("old", "new", "shown"),
    [
        (b"a", b"a", "a"),
        (b"a", b"b", "a→b"),
        (None, None, "NULL"),
        (None, b"NULL", "NULL→NULL"),
        (b"NULL", None, "NULL→NULL"),
        (b"a ", b"b ", "a →b"),
        (b"a", b" \t", "a→"),
        (b"\x1b[1m", b"x\n\ty", "\\x1b[1m→x\\n\\ty"),
        (b"o" * 61, b"n" * 200, "o" * 59 + "…→" + "n" * 59 + "…"),
        ("é".encode() * 60, b"\x00" * 70, "é" * 60 + "→" + "\\x00" * 59 + "…"),
        (b"\xff", b"\xfe", '{"hex": "ff"}→{"hex": "fe"}'),
    ],
)
def test_both_values_of_an_update_are_shown(
    old: bytes | None, new: bytes | None, shown: str, tmp_path: Path
) -> None:
    log = strings_log(tmp_path, EventType.update_rows_event, string_image(old) + string_image(new))
    (line,) = b"".join(listed(log, "table")).decode().splitlines()
    assert line.partition("c1=")[2] == shown
    form, _ = form_of("table")
    assert [line.encode() + b"\n"] == list(form.from_json(b"".join(listed(log, "json"))))


def test_fields_of_csv_hold_any_text(tmp_path: Path) -> None:
    texts = [b'say "x"', b"a,b", b"new\nline", b"\xff", "é€😀".encode(), b"\\\x00", b"", b"x" * 255]
    log = strings_log(tmp_path, EventType.write_rows_event, b"".join(map(string_image, texts)))
    rows = list(csv.reader(io.StringIO(b"".join(listed(log, "csv")).decode())))
    lines = [json.loads(line) for line in lines_by_reader(log)]
    for line in lines:
        line["timestamp"] = iso_time(line["timestamp"])
    assert [json.loads(row[10]) for row in rows] == [line["after"] for line in lines]
    assert [row[:9] for row in rows] == [
        ["" if value is None else str(value) for value in list(line.values())[:9]] for line in lines
    ]
