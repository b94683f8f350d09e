"""Thread and statement of changed rows come from the events before them, and from no others."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import binlog_kaitai as bk
from binlog_kaitai.core.event_types import QUERY_TYPES
from binlog_kaitai.core.filters import Filters
from binlog_kaitai.core.grammar import ROWS_TYPES, EventType
from binlog_kaitai.core.transactions import BETWEEN, GTID_TYPES
from binlog_kaitai.lines.row_texts import page_lines
from binlog_kaitai.rows.event_metadata import ORIGINS
from binlog_kaitai.rows.log_pages import RowsPages
from binlog_kaitai.rows.row_criteria import CriteriaChoice, RowCriteria
from tests.corpus_files import case, logs
from tests.log_maker import LogMaker, events_of
from tests.support import use_plain_kernels

STATEMENTS = (EventType.rows_query_log_event, EventType.annotate_rows_event)
#: Of each server, and with payloads, compressed events and rows events in pieces.
_CASES = ("mixed", "xa", "rotate", "payloads", "types_payload", "types_compressed", "types_v1_rows")
LOGS = [log for log in logs() if log.case.folder.name in _CASES]


def read(source: Any, choice: CriteriaChoice | None = None, **options: Any) -> list[dict[str, Any]]:
    """The objects of all rows."""
    pages = RowsPages(source, Filters(), origins=ORIGINS, **options)
    parts = (lines for page in pages for lines in page_lines(page, choice))
    return [json.loads(line) for part in parts for line in bytes(part).split(b"\n") if line]


def origins_of(path: Path) -> Iterator[tuple[int, int | None, str | None]]:
    """Position, thread and statement of each rows event, event by event."""
    thread, statement = None, None
    for event in bk.open(path):
        kind = event.layout.effective_type(event.type_code)
        if kind in GTID_TYPES | BETWEEN:
            thread, statement = getattr(event.body, "thread_id", None), None
        elif kind in (*QUERY_TYPES, EventType.execute_load_query_event):
            thread, statement = event.body.thread_id, None
        elif kind == EventType.xid_event:
            statement = None
        elif kind in STATEMENTS:
            statement = event.body.query.decode("utf-8", "surrogateescape")
        elif kind in ROWS_TYPES:
            yield event.position, thread, statement
            if event.body.is_statement_end:
                statement = None


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.id)
def test_origins_are_those_of_the_events_before(log: Any) -> None:
    expected = set(origins_of(log.path))
    found = {(one["position"], one["thread"], one["statement"]) for one in read(log.path)}
    assert found <= expected
    assert {one[0] for one in found} == {one[0] for one in expected}


@cache
def statement_log() -> tuple[LogMaker, list[bytes]]:
    """The header of a log, and the events of a transaction with one statement, the last one being its end."""
    layout, (head, *transactions) = events_of(case("mysql-9.7", "mixed").logs[0])
    log = LogMaker(layout)
    log.add_all(head)
    code = bytes([EventType.rows_query_log_event])
    return log, next(events for events in transactions if any(raw[4:5] == code for raw in events))


def test_a_statement_that_is_not_logged_does_not_take_the_one_before(tmp_path: Path) -> None:
    log, events = statement_log()
    rows = [raw for raw in events if raw[4] in (*ROWS_TYPES, EventType.table_map_event)]
    log.add_all([*events[:-1], *rows, events[-1]])
    found = read(log.write(tmp_path / "binlog.000001"))
    half = len(found) // 2
    assert all(one["statement"] for one in found[:half])
    assert [one["statement"] for one in found[half:]] == [None] * half
    assert len({one["thread"] for one in found}) == 1


@pytest.mark.parametrize("server", ["mysql-9.7", "mariadb-11.8"])
def test_plain_kernels_and_small_pages_give_the_same(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = case(server, "mixed").logs[0]
    expected = read(path)
    assert read(path, block_size=256) == expected
    use_plain_kernels(monkeypatch)
    assert read(path) == expected


def holds(change: dict[str, Any], key: str, value: object) -> bool:
    return any(image is not None and image.get(key) == value for image in (change["before"], change["after"]))


def test_chosen_rows_are_those_whose_values_match() -> None:
    path = case("mysql-9.7", "types_full").logs[0]
    everything = read(path)
    key = next(iter((everything[0]["after"] or everything[0]["before"]).keys()))
    value = (everything[0]["after"] or everything[0]["before"])[key]
    wanted = RowCriteria.of(where=f"{key} = {value}")
    assert read(path, choice=CriteriaChoice(wanted)) == [one for one in everything if holds(one, key, value)]
    for operation in ("insert", "update", "delete"):
        found = read(path, choice=CriteriaChoice(RowCriteria.of(operation=[operation])))
        assert found == [one for one in everything if one["change"] == operation]


def test_a_value_that_the_choice_cannot_read_ends_the_rows_there(tmp_path: Path) -> None:
    path = case("mysql-9.7", "types_full").logs[0]
    position = [one["position"] for one in read(path) if one["table"] == "decs"][2]
    log = tmp_path / path.name
    log.write_bytes(with_wrong_decimal(path, position))
    texts = {}
    for where in (None, "d1 = 9 OR d3 IS NULL OR d3 IS NOT NULL"):
        found: list[bytes] = []
        with pytest.raises(bk.BinlogError) as caught:
            read_into(found, log, CriteriaChoice(RowCriteria.of(where=where)))
        assert caught.value.position == position
        texts[where] = str(caught.value), found
    assert len(set(map(str, texts.values()))) == 1
    assert texts[None][1]


def read_into(found: list[bytes], log: Path, choice: CriteriaChoice) -> None:
    for page in RowsPages(log, Filters.of(table="t.decs"), verify_checksums=False):
        for lines in page_lines(page, choice):
            found += bytes(lines).splitlines()


def with_wrong_decimal(path: Path, position: int) -> bytes:
    """The log with a byte changed so that a DECIMAL at a position has invalid digits."""
    for event in bk.open(path):
        if event.position == position:
            break
    for index in range(event.end_position - 5, position, -1):
        data = bytearray(path.read_bytes())
        data[index] ^= 0xFF
        try:
            for one in bk.open(bytes(data[: event.end_position]), verify_checksums=False):
                if one.position == position:
                    list(one.rows())
        except bk.BinlogError as error:
            if "DECIMAL" in error.reason or "digit" in error.reason:
                return bytes(data)
    raise AssertionError("no byte of the event makes a wrong DECIMAL")
