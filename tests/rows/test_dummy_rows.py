"""Rows events of table id 0x00ffffff have no rows and no table map: they only end their statement."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import binlog_kaitai as bk
from binlog_kaitai.check.damage_scan import verify
from binlog_kaitai.core.grammar import EventType
from tests.corpus_files import case
from tests.grammar.row_bytes import table_map_bytes
from tests.log_maker import LogMaker, events_of, statement
from tests.refusals import ENTRIES, refusal
from tests.rows.test_rows_hostile import row_event

DUMMY, OF_TABLE = bytes.fromhex("ffffff000000"), bytes.fromhex("070000000000")
ENDS = b"\x01\x00"
INTEGER = 3

#: Types of rows events, what they have after the flags, and the bitmaps of their columns.
KINDS = {
    EventType.write_rows_event: (b"\x02\x00", 1),
    EventType.update_rows_event: (b"\x02\x00", 2),
    EventType.delete_rows_event: (b"\x02\x00", 1),
    EventType.write_rows_event_v1: (b"", 1),
    EventType.update_rows_event_v1: (b"", 2),
    EventType.delete_rows_event_v1: (b"", 1),
}


def rows(
    table_id: bytes, *values: int, kind: EventType = EventType.write_rows_event, columns: int = 1
) -> bytes:
    extra, bitmaps = KINDS[kind]
    images = b"".join(b"\0" + value.to_bytes(4, "little") for value in values)
    bitmap = b"\xff" * ((columns + 7) // 8)
    return row_event(kind, table_id + ENDS + extra + bytes([columns]) + bitmap * bitmaps + images)


def log(path: Path, *events: bytes) -> Path:
    layout, groups = events_of(case("mysql-5.6", "types_v1_rows").logs[0])
    maker = LogMaker(layout)
    maker.add(groups[0][0])
    maker.add_all([statement(b"BEGIN", layout), *events, statement(None, layout)])
    return maker.write(path)


def table_map(table_id: bytes = OF_TABLE) -> bytes:
    return row_event(EventType.table_map_event, table_id + table_map_bytes([INTEGER])[6:])


def values_of(path: Path) -> list[Any]:
    return [row.after["c1"] for event in bk.open(path) for row in event.rows() if row.after]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("columns", [0, 1, 9])
def test_it_has_no_rows(kind: EventType, columns: int, tmp_path: Path) -> None:
    dummy = rows(DUMMY, kind=kind, columns=columns)
    path = log(
        tmp_path / "binlog.000001", table_map(), rows(OF_TABLE, 1), dummy, table_map(), rows(OF_TABLE, 2)
    )
    assert values_of(path) == [1, 2]
    assert [row.after for row in bk.read_rows(path)] == [{"c1": 1}, {"c1": 2}]
    assert {entry: refusal(entry, str(path)) for entry in ENTRIES} == dict.fromkeys(ENTRIES)
    (report,) = verify(path, thorough=True)
    assert report.is_ok
    stats = bk.stats(path)
    assert (stats.totals["rows_inserted"], stats.totals["uncounted_events"]) == (2, 0)


def test_a_table_map_may_have_the_number(tmp_path: Path) -> None:
    path = log(tmp_path / "binlog.000001", table_map(DUMMY), rows(DUMMY, 5))
    assert values_of(path) == [5]
    assert [row.after for row in bk.read_rows(path)] == [{"c1": 5}]


@pytest.mark.parametrize(("table_id", "values"), [(DUMMY, [5]), (bytes.fromhex("feffff000000"), [])])
def test_other_rows_need_a_table_map(table_id: bytes, values: list[int], tmp_path: Path) -> None:
    path = log(tmp_path / "binlog.000001", rows(table_id, *values))
    for entry in ("rows_of", "rows", "read_changes", "sql", "export"):
        assert "the table map of these rows is missing" in str(refusal(entry, str(path)))
