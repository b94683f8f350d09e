"""Events with values that cannot be decoded: readers stop at the first, after the rows before it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import binlog_kaitai as bk
from binlog_kaitai.core.grammar import EventType
from binlog_kaitai.errors import GrammarError
from tests.corpus_files import case
from tests.grammar.row_bytes import table_map_bytes
from tests.log_maker import LogMaker, events_of
from tests.refusals import refusal
from tests.rows.test_rows_hostile import row_event

#: Values of a DECIMAL(6,4): 1.0000, and one whose four digits are 65535.
VALID, INVALID = b"\x81\x00\x00", b"\x81\xff\xff"
DECIMAL = 246


def log_of_decimals(path: Path, *events: list[list[bytes]]) -> tuple[str, list[int]]:
    """A log with one table of DECIMALs, the rows of some events, and where these events begin."""
    layout, groups = events_of(case("mysql-5.6", "types_v1_rows").logs[0])
    log, positions, width = LogMaker(layout), [], len(events[0][0])
    log.add(groups[0][0])
    log.add(row_event(EventType.table_map_event, table_map_bytes([DECIMAL] * width, "0604" * width)))
    present = b"\xff" * ((width + 7) // 8)
    for rows in events:
        positions.append(len(log.data))
        images = b"".join(bytes(len(present)) + b"".join(row) for row in rows)
        head = bytes.fromhex("070000000000 0000") + bytes([width]) + present
        log.add(row_event(EventType.write_rows_event_v1, head + images))
    return str(log.write(path)), positions


def until_the_error(rows: Iterator[Any]) -> tuple[list[Any], bk.BinlogError]:
    found = []
    try:
        for row in rows:
            found.append(row)
    except GrammarError as error:
        return found, error
    pytest.fail("no error")


@pytest.mark.parametrize(
    "entry", ["rows_of", "rows", "dump -v", "sql", "export", "read_changes", "read_changes(table)"]
)
@pytest.mark.parametrize("width", [2, 5])
def test_the_first_invalid_event_is_named_whatever_its_column(entry: str, width: int, tmp_path: Path) -> None:
    """Columns are decoded in turn: the last event is invalid in the first column, and so on."""
    events = [
        [[INVALID if column == width - 1 - event else VALID for column in range(width)]]
        for event in range(width)
    ]
    path, positions = log_of_decimals(tmp_path / "binlog.000001", [[VALID] * width], *events)
    error = refusal(entry, path)
    assert isinstance(error, GrammarError)
    assert (error.file, error.position, error.event_type) == (path, positions[1], "WRITE_ROWS_EVENT_V1")


def test_rows_before_it_are_given(tmp_path: Path) -> None:
    events = [[[VALID, VALID]], [[VALID, INVALID]], [[INVALID, VALID]]]
    path, positions = log_of_decimals(tmp_path / "binlog.000001", *events)
    for rows in (bk.read_rows(path), iter(bk.read_changes(path))):
        found, error = until_the_error(iter(rows))
        assert (len(found), error.position) == (1, positions[1])


def test_of_an_event_with_an_invalid_row_no_row_is_given(tmp_path: Path) -> None:
    path, positions = log_of_decimals(tmp_path / "binlog.000001", [[VALID]], [[VALID], [INVALID]])
    by_event = (row for event in bk.open(path) for row in event.rows())
    for rows in (by_event, bk.read_rows(path)):
        found, error = until_the_error(iter(rows))
        assert (len(found), error.position) == (1, positions[1])
