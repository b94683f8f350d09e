"""Rows events whose images have no columns, and so no bytes: only of inserts, their number is known."""

from __future__ import annotations

import zlib
from pathlib import Path

import pytest

import binlog_kaitai as bk
from binlog_kaitai.core.grammar import EventType
from binlog_kaitai.dump.dump_logs import dump
from binlog_kaitai.dump.dump_options import DumpOptions
from tests.refusals import ENTRIES, refusal
from tests.rows.test_dummy_rows import ENDS, KINDS, OF_TABLE, log, rows, table_map
from tests.rows.test_rows_hostile import row_event
from tools.costly.making import Log

#: Those of `ENTRIES` that read rows.
READERS = ("rows_of", "rows", "sql", "export", "read_changes", "read_changes(table)")

INSERTS = (EventType.write_rows_event, EventType.write_rows_event_v1)


def without_columns(kind: EventType) -> bytes:
    extra, bitmaps = KINDS[kind]
    return row_event(kind, OF_TABLE + ENDS + extra + b"\1" + b"\0" * bitmaps)


@pytest.mark.parametrize("kind", INSERTS)
def test_an_insert_is_one_row(kind: EventType, tmp_path: Path) -> None:
    """Of defaults only, with `binlog_row_image=MINIMAL`; servers log such rows one by one."""
    path = log(tmp_path / "binlog.000001", table_map(), without_columns(kind), table_map(), rows(OF_TABLE, 7))
    assert [row.after for row in bk.read_rows(path)] == [{}, {"c1": 7}]
    assert {entry: refusal(entry, str(path)) for entry in ENTRIES} == dict.fromkeys(ENTRIES)
    assert bk.stats(path).totals["rows_inserted"] == 2


@pytest.mark.parametrize("kind", KINDS.keys() - {*INSERTS})
def test_of_other_changes_the_number_is_unknown(kind: EventType, tmp_path: Path) -> None:
    """So MariaDB 11.8 logs DELETE of a table whose columns are all generated, however many rows there are."""
    path = log(tmp_path / "binlog.000001", table_map(), without_columns(kind))
    for entry in READERS:
        assert "the number of rows is unknown" in str(refusal(entry, str(path))), entry
    stats = bk.stats(path)
    assert (stats.totals["uncounted_events"], stats.totals["rows_deleted"]) == (1, 0)


@pytest.mark.parametrize("bitmap", [b"\1", b"\0"], ids=["of a column", "of no column"])
def test_compressed_images_without_bytes_are_not_rows(bitmap: bytes, tmp_path: Path) -> None:
    maker = Log(is_mariadb=True)
    maker.query(b"BEGIN")
    maker.map(7, b"\3", name=b"t")
    nothing = b"\x81\0" + zlib.compress(b"")
    maker.add(EventType.delete_rows_compressed_event_v1, OF_TABLE + ENDS + b"\1" + bitmap + nothing)
    maker.xid()
    path = tmp_path / "binlog.000001"
    path.write_bytes(maker.data)
    for entry in READERS:
        assert refusal(entry, str(path)) is not None, entry


@pytest.mark.parametrize("mask", [b"\0", b"\1"], ids=["of no column", "of a column"])
@pytest.mark.parametrize(
    ("kind", "count"),
    [
        (EventType.write_rows_event_v1, 1),
        (EventType.update_rows_event_v1, 0),
        (EventType.delete_rows_event_v1, 0),
    ],
    ids=["insert", "update", "delete"],
)
def test_dump_counts_rows_without_bytes_like_the_client(
    kind: EventType, count: int, mask: bytes, tmp_path: Path
) -> None:
    """As `mariadb-binlog` 11.8 does."""
    maker = Log(is_mariadb=True)
    maker.query(b"BEGIN")
    maker.map(7, b"\3", name=b"t")
    maker.add(kind, OF_TABLE + ENDS + b"\1" + mask * KINDS[kind][1])
    maker.xid()
    (path := tmp_path / "binlog.000001").write_bytes(maker.data)
    pieces: list[bytes] = []
    dump(str(path), pieces.append, DumpOptions())
    assert b"# Number of rows: %d\n" % count in b"".join(pieces)
