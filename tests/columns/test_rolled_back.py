"""Rows of XA transactions that the same logs roll back later are reported at the end."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest

import binlog_kaitai as bk
from binlog_kaitai.columns.rows.pages import RowsPages
from binlog_kaitai.columns.views.row_objects import write_rows
from binlog_kaitai.core.filters import Filters
from tests.columns.log_maker import LogMaker, events_of
from tests.corpus_files import case

LOGS = {server: case(server, "xa").logs[0] for server in ("mysql-9.7", "mariadb-10.5", "mariadb-11.8")}
NAME = "X'00ff27',X'622771',1"


def said(read: Any) -> list[str]:
    """The warnings of one reading."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        read()
    return [str(one.message) for one in caught if issubclass(one.category, bk.RolledBackWarning)]


def rolled_back(log: Path) -> tuple[int, int, str | None]:
    """Where the rows, and the statement, of the transaction that is rolled back are; and its GTID."""
    events = list(bk.open(log))
    end = next(event for event in events if b"XA ROLLBACK" in event.raw)
    prepare = [one for one in events if one.type == "XA_PREPARE_LOG_EVENT" and one.position < end.position][
        -1
    ]
    rows = [one for one in events if "WRITE_ROWS" in one.type and one.position < prepare.position][-1]
    return rows.position, end.position, rows.gtid


@pytest.mark.parametrize("log", LOGS.values(), ids=LOGS)
def test_every_way_to_read_rows_names_them(log: Path) -> None:
    at, end, gtid = rolled_back(log)
    expected = [
        f"{log}, position {at}: rows of XA transaction {NAME}, which is rolled back at "
        f"{log}, position {end}; GTID {gtid}"
    ]
    assert said(lambda: list(write_rows(log))) == expected
    assert said(lambda: bk.read_changes(log).read_all()) == expected
    assert said(lambda: bk.read_changes(log, table="t.a").read_all()) == expected
    for size in (100, 300, 1000):
        assert said(lambda size=size: list(RowsPages(log, Filters(), block_size=size))) == expected


@pytest.mark.parametrize("log", LOGS.values(), ids=LOGS)
def test_rows_that_are_not_read_are_not_named(log: Path) -> None:
    at, end, gtid = rolled_back(log)
    for filters in ({"exclude_gtids": gtid}, {"stop_position": at}, {"stop_position": end}):
        assert said(lambda filters=filters: list(write_rows(log, Filters.of(**filters)))) == []
    assert len(said(lambda: list(write_rows(log, Filters.of(include_gtids=gtid))))) == 1


def test_the_statement_may_be_in_a_later_log(tmp_path: Path) -> None:
    layout, (head, *transactions) = events_of(LOGS["mysql-9.7"])
    number = next(at for at, one in enumerate(transactions) if any(b"XA ROLLBACK" in raw for raw in one))
    paths = []
    for name, some in (("1", transactions[:number]), ("2", transactions[number:])):
        maker = LogMaker(layout)
        for group in (head, *some):
            maker.add_all(group)
        paths.append(maker.write(tmp_path / f"binlog.00000{name}"))
    assert said(lambda: list(write_rows(paths[0]))) == []
    found = said(lambda: list(write_rows(paths)))
    assert len(found) == 1
    assert found[0].startswith(f"{paths[0]}, position ")
    assert f"is rolled back at {paths[1]}, position " in found[0]


def test_many_are_counted(tmp_path: Path) -> None:
    layout, (head, *transactions) = events_of(LOGS["mysql-9.7"])
    number = next(at for at, one in enumerate(transactions) if any(b"XA ROLLBACK" in raw for raw in one))
    maker = LogMaker(layout)
    maker.add_all(head)
    for _ in range(15):
        for group in transactions[number - 1 : number + 1]:
            maker.add_all(group)
    log = maker.write(tmp_path / "binlog.000001")
    found = said(lambda: list(write_rows(log)))
    assert len(found) == 11
    assert found[-1] == "rows of 5 more XA transactions that are rolled back later"
