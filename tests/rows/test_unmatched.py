"""A filter that matches nothing on its own causes a warning that names what there is."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import binlog_kaitai as bk
from binlog_kaitai.core.filters import Filters
from binlog_kaitai.lines.event_lines import write_json
from binlog_kaitai.lines.row_texts import write_rows
from binlog_kaitai.rows.event_filters import Unmatched
from tests.corpus_files import case

MIXED = case("mysql-9.7", "mixed").logs[0]
MARIADB = case("mariadb-11.8", "mixed").logs[0]
UUID = "99999999-2222-3333-4444-555555555555"

Read = Callable[..., object]
READS: dict[str, Read] = {
    "events": lambda log, **filters: bk.read_events(log, **filters).read_all(),
    "transactions": lambda log, **filters: bk.read_transactions(log, **filters).read_all(),
    "changes": lambda log, **filters: bk.read_changes(log, **filters).read_all(),
    "lines of events": lambda log, **filters: list(write_json(log, Filters.of(**filters))),
    "lines of rows": lambda log, **filters: list(write_rows(log, Filters.of(**filters))),
}


def said(read: Read, log: Any, **filters: Any) -> list[str]:
    """The warnings of one reading."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        read(log, **filters)
    return [str(one.message) for one in caught if issubclass(one.category, bk.FilterWarning)]


@pytest.mark.parametrize("read", READS.values(), ids=READS)
@pytest.mark.parametrize(
    ("filters", "text"),
    [
        ({"table": "t.nosuch"}, "table t.nosuch: not found in these logs; found: t.my, t.s"),
        ({"table": "t.S"}, "table t.S: not found in these logs; found: t.my, t.s"),
        ({"table": "shop.orders"}, "table shop.orders: not found in these logs; found: t.my, t.s, t2.x"),
        ({"database": "T"}, "database T: not found in these logs; found: t, t2, t3"),
        ({"event_type": "incident"}, "event type INCIDENT_EVENT: not found in these logs; found: "),
        ({"server_id": 5}, "server id 5: not found in these logs; found: 97"),
        (
            {"include_gtids": f"{UUID}:1-5"},
            "include_gtids: none of these GTIDs found in these logs; the logs have ",
        ),
        (
            {"exclude_gtids": f"{UUID}:1-5"},
            "exclude_gtids: none of these GTIDs found in these logs; the logs have ",
        ),
        ({"start_datetime": "2035-01-01"}, "no event at or after the start time; the last event is from"),
        ({"stop_datetime": "1999-01-01"}, "no event before the stop time"),
        ({"start_position": 1 << 40}, f"{MIXED} ends at {MIXED.stat().st_size}, before the start position"),
        ({"stop_position": 3}, "no event begins before the stop position 3"),
    ],
)
def test_what_matches_nothing_is_named(filters: dict[str, Any], text: str, read: Read) -> None:
    if "table" in filters and read is READS["changes"]:
        return  # the columns of a table that is not there: see below
    found = said(read, MIXED, **filters)
    assert len(found) == 1
    assert found[0].startswith(text)


@pytest.mark.parametrize("read", READS.values(), ids=READS)
@pytest.mark.parametrize(
    "filters",
    [
        {},
        {"table": "t.my"},
        {"database": "t"},
        {"event_type": "table_map"},
        {"server_id": 97},
        {"start_datetime": "1999-01-01", "stop_datetime": "2035-01-01"},
        {"start_position": 4, "stop_position": 1 << 40},
    ],
)
def test_what_matches_is_silent(filters: dict[str, Any], read: Read) -> None:
    assert said(read, MIXED, **filters) == []


@pytest.mark.parametrize("read", [READS["events"], READS["transactions"]])
def test_each_filter_counts_by_itself(read: Read) -> None:
    """No event is of both, and each is in the log."""
    assert said(read, MIXED, table="t.my", event_type="format_description") == []
    assert len(said(read, MIXED, table=["t.my", "t.mi"], server_id=[97, 98])) == 2


def test_a_table_that_is_not_there_has_no_rows_and_a_warning() -> None:
    found = said(READS["changes"], MIXED, table="t.nosuch")
    assert found == ["table t.nosuch: not found in these logs; found: t.my, t.s"]


def test_gtids_of_mariadb_are_named() -> None:
    found = said(READS["events"], MARIADB, include_gtids="7-7-7")
    assert len(found) == 1
    assert "the logs have 0-" in found[0]


def test_nothing_after_a_stop_is_read() -> None:
    first = next(event for event in bk.open(MIXED) if event.type == "TABLE_MAP_EVENT")
    found = said(READS["lines of rows"], MIXED, table="t.my", stop_position=first.position)
    assert found == ["table t.my: not found in these logs before the stop, which contain no tables"]
    # Its CREATE TABLE is an event of the table.
    assert said(READS["events"], MIXED, table="t.my", stop_position=first.position) == []


def test_a_reading_that_is_left_early_says_nothing() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        reader = bk.read_events(MIXED, server_id=5, database="t")
        reader.close()
    assert caught == []


def test_a_filter_is_looked_for_until_it_has_matched(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[bool] = []
    look = Unmatched._look_at_names

    def counted(*given: Any) -> None:
        looked.append(True)
        look(*given)

    monkeypatch.setattr(Unmatched, "_look_at_names", counted)
    list(write_json(MIXED, Filters.of(table="t.s"), block_size=500))
    blocks = len(list(write_json(MIXED, block_size=500)))
    assert 0 < len(looked) < blocks
    path = Path(MIXED)
    assert said(READS["lines of events"], [path, path], table="t.s") == []
