"""Rows of whole logs: `read_rows` returns what the event reader returns, with the origin of each row."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import binlog_kaitai as bk
from binlog_kaitai.core.filters import Filters
from binlog_kaitai.core.grammar import EventType, header_offset
from binlog_kaitai.rows.event_metadata import ORIGINS
from binlog_kaitai.rows.log_pages import RowsPages
from binlog_kaitai.views.logged_rows import rows_of_pages
from tests.corpus_files import case
from tests.extent import sample
from tests.log_maker import LogMaker, events_of, statement
from tests.support import all_files

#: One log of each case, whichever server wrote it.
FILES = list({path.parent.name: path for path in all_files()}.values())

pytestmark = pytest.mark.filterwarnings("ignore::binlog_kaitai.RolledBackWarning")


def rows_by_reader(source: Any) -> Iterator[tuple[bk.Event, bk.Row] | str]:
    try:
        with bk.open(source) as log:
            for event in log:
                yield from [(event, row) for row in event.rows()]
    except bk.BinlogError as error:
        yield str(error)


def rows_at_once(source: Any, block_size: int | None = None) -> Iterator[bk.LoggedRow | str]:
    try:
        if block_size is None:
            yield from bk.read_rows(source)
        else:
            yield from rows_of_pages(RowsPages(source, Filters(), block_size=block_size, origins=ORIGINS))
    except bk.BinlogError as error:
        yield str(error)


def image(values: dict[str, Any] | None) -> Any:
    return None if values is None else [(name, type(value), repr(value)) for name, value in values.items()]


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.parent.name}/{path.parent.name}")
def test_rows_are_those_of_the_event_reader(path: Path) -> None:
    found, expected = list(rows_at_once(path)), list(rows_by_reader(path))
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        if isinstance(one, str) or isinstance(other, str):
            assert one == other
            continue
        event, row = other
        assert (one.index, one.change, one.diffs) == (row.index, row.change, row.diffs)
        assert (one.schema, image(one.before), image(one.after)) == (
            row.schema, image(row.before), image(row.after)
        )  # fmt: skip
        assert (one.file, one.position, one.gtid) == (event.file, event.position, event.gtid)
        assert one.timestamp.timestamp() == event.fixed_header.timestamp
        assert one.server_id == event.fixed_header.server_id


WITH_STATEMENTS = [
    case(server, name).logs[0]
    for server, name in (
        ("mysql-5.6", "mixed"),
        ("mysql-9.7", "ddl"),
        ("mysql-9.7", "payloads"),
        ("mysql-9.7", "statement"),
        ("mysql-9.7", "xa"),
        ("mysql-9.7", "charsets"),
        ("mariadb-10.5", "ddl"),
        ("mariadb-11.8", "mixed"),
    )
]


def origins_by_reader(path: Path) -> list[tuple[int | None, str | None]]:
    """Thread and statement of each row, event by event, in logs where each transaction has a GTID event."""
    thread: int | None = None
    text: str | None = None
    found = []
    for event in bk.open(path):
        if "GTID" in event.type and "LIST" not in event.type:
            thread, text = getattr(event.body, "thread_id", None), None
        elif event.type == "QUERY_EVENT":
            thread = event.body.thread_id
        elif event.type in ("ROWS_QUERY_LOG_EVENT", "ANNOTATE_ROWS_EVENT"):
            text = event.body.query_text
        elif event.schema is not None:
            found += [(thread, text)] * len(list(event.rows()))
            if event.body.is_statement_end:
                text = None
    return found


@pytest.mark.parametrize("block_size", [None, 300])
@pytest.mark.parametrize(
    "path", sample(WITH_STATEMENTS, 4), ids=lambda path: f"{path.parts[-3]}/{path.parts[-2]}"
)
def test_threads_and_statements(path: Path, block_size: int | None) -> None:
    rows = list(rows_at_once(path, block_size))
    found = [(row.thread_id, row.statement) for row in rows if isinstance(row, bk.LoggedRow)]
    assert found == origins_by_reader(path)
    assert len(found) == len(rows)


def test_the_statement_that_made_a_row() -> None:
    rows = bk.read_rows(case("mysql-9.7", "mixed").logs[0], table="t.my")
    first = next(rows)
    assert first.schema.full_name == "t.my"
    assert first.statement is not None
    assert first.statement.startswith("LOAD DATA INFILE ")
    assert first.thread_id is not None


def test_rows_of_a_log_without_gtids() -> None:
    """Rows outside of a transaction (MySQL 5.1) take neither thread nor statement of what precedes them."""
    layout, ((first, *events), *_) = events_of(case("mysql-5.6", "types_v1_rows").logs[0])
    index = next(at for at, raw in enumerate(events) if _kind(raw) == EventType.write_rows_event_v1)
    begin, query, *changes = events[index - 3 : index + 1]
    log = LogMaker(layout)
    log.add_all([first, begin, query, *changes, statement(b"COMMIT", layout), *changes])
    with_one, without = bk.read_rows(bytes(log.data))
    assert with_one.thread_id is not None
    assert with_one.statement is not None
    assert (without.thread_id, without.statement) == (None, None)


def _kind(raw: bytes) -> int:
    return raw[header_offset("type_code")]


def test_filters_and_definitions() -> None:
    log = case("mysql-9.7", "mixed").logs[0]
    everything = list(bk.read_rows(log))
    table = everything[0].schema.full_name
    expected = [row.position for row in everything if row.schema.full_name == table]
    assert [row.position for row in bk.read_rows(log, table=table)] == expected
    middle = expected[len(expected) // 2]
    assert [row.position for row in bk.read_rows(log, table=table, start_position=middle)] == [
        position for position in expected if position >= middle
    ]
    with pytest.warns(bk.FilterWarning, match="no_such"):
        assert not list(bk.read_rows(log, table="bk.no_such"))
    with pytest.raises(bk.UsageError):
        bk.read_rows(log, table="no_schema")
