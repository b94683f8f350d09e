"""JSON columns: the document `null` differs from SQL NULL in every output."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

import binlog_kaitai as bk
from binlog_kaitai.core.grammar import EventType
from binlog_kaitai.lines.row_listing import form_of
from binlog_kaitai.lines.row_texts import write_rows
from binlog_kaitai.log.event_rows import rows_of, to_json
from tests.corpus_files import case
from tests.grammar.row_bytes import table_map_bytes
from tests.lines.test_rows_objects import lines_by_columns, lines_by_reader
from tests.log_maker import LogMaker, events_of
from tests.row_objects import row_objects
from tests.rows.test_rows_hostile import row_event
from tests.support import use_plain_kernels

_JSON = 245
_NULL = b"\x04\x00"


def an_object(*members: tuple[bytes, bytes]) -> bytes:
    """A small object of inlined values: type and two bytes each."""
    key = 4 + 7 * len(members)
    size = key + sum(len(name) for name, _ in members)
    entries = b""
    for name, _ in members:
        entries += key.to_bytes(2, "little") + len(name).to_bytes(2, "little")
        key += len(name)
    values = b"".join(value for _, value in members)
    names = b"".join(name for name, _ in members)
    return b"\0" + len(members).to_bytes(2, "little") + size.to_bytes(2, "little") + entries + values + names


_ONE = b"\x05\x01\x00"

#: The document of each row (None is SQL NULL), its text, and what stands for it among the values of a row.
ROWS: list[tuple[bytes | None, str | None, str]] = [
    (None, None, "null"),
    (_NULL, "null", '{"json": null}'),
    (b"", "null", '{"json": null}'),
    (b"\x0c\x04null", '"null"', '"null"'),
    (an_object((b"json", b"\x04\0\0")), '{"json": null}', '{"json": {"json": null}}'),
    (an_object((b"json", _ONE)), '{"json": 1}', '{"json": {"json": 1}}'),
    (an_object((b"json", _ONE), (b"other", _ONE)), '{"json": 1, "other": 1}', '{"json": 1, "other": 1}'),
    (an_object((b"j", _ONE)), '{"j": 1}', '{"j": 1}'),
    (b"\x02\x00\x00\x04\x00", "[]", "[]"),
]


@pytest.fixture(params=["compiled", "plain"])
def log(request: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    if request.param == "plain":
        use_plain_kernels(monkeypatch)
    layout, groups = events_of(case("mysql-9.7", "no_checksum").logs[0])
    maker = LogMaker(layout)
    maker.add_all(groups[0])
    maker.add(row_event(EventType.table_map_event, table_map_bytes([_JSON], "04")))
    images = b"".join(
        b"\x01" if document is None else b"\x00" + len(document).to_bytes(4, "little") + document
        for document, _, _ in ROWS
    )
    body = bytes.fromhex("070000000000 0100 0200 01 ff") + images
    maker.add(row_event(EventType.write_rows_event, body))
    return maker.write(tmp_path / "binlog.000001")


def expected() -> list[str]:
    return [f'{{"c1": {value}}}' for _, _, value in ROWS]


def test_both_readers_mark_the_document(log: Path) -> None:
    lines = list(lines_by_columns(log))
    assert lines == list(lines_by_reader(log))
    assert [to_json(json.loads(line)["after"]) for line in lines] == expected()
    assert bk.read_changes(log).read_all()["after"].to_pylist() == expected()


def test_the_marker_can_be_taken_away_without_doubt(log: Path) -> None:
    for line, (_, text, _) in zip(lines_by_columns(log), ROWS, strict=True):
        value = json.loads(line)["after"]["c1"]
        is_marked = isinstance(value, dict) and list(value) == ["json"]
        document = to_json(value["json"] if is_marked else value)
        assert (None if value is None else document) == text


def test_values_and_typed_columns_have_the_text(log: Path) -> None:
    texts = [text for _, text, _ in ROWS]
    rows = [row for event in bk.open(log) for row in rows_of(event)]
    assert [row.after and row.after["c1"] for row in rows] == texts
    assert bk.read_changes(log, table="s.t").read_all()["c1"].to_pylist() == texts


def listed(log: Path, output: str) -> str:
    form, heading = form_of(output)
    return (heading + b"".join(map(bytes, write_rows(log, form=form)))).decode()


def test_listings_mark_it_or_write_it_in_lower_case(log: Path) -> None:
    shown = [line.partition("c1=")[2] for line in listed(log, "table").split("\n")[1:-1]]
    assert shown == ["NULL", "null", "null", "null", *(text for _, text, _ in ROWS[4:])]
    found = [row["after"] for row in csv.DictReader(io.StringIO(listed(log, "csv")))]
    assert found == expected()


def test_tables_are_made_of_the_lines_of_json(log: Path) -> None:
    form, heading = form_of("table")
    lines = b"".join(line + b"\n" for line in lines_by_columns(log))
    assert listed(log, "table").encode() == heading + b"".join(form.from_json(lines))


def test_a_change_from_null_to_the_document_is_shown(log: Path) -> None:
    event = next(event for event in bk.open(log) if event.type == "WRITE_ROWS_EVENT")
    null, document = (one["after"] for one in list(row_objects(event))[:2])
    line = {"file": "f", "position": 4, "timestamp": 0, "schema": "s", "table": "t", "change": "update"}
    form, _ = form_of("table")
    (out,) = form.from_json(to_json({**line, "before": null, "after": document}).encode() + b"\n")
    assert out.endswith(b"c1=NULL\xe2\x86\x92null\n")
