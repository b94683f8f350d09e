"""The transactions view agrees with the reader and the server."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import binlog_kaitai as bk
from binlog_kaitai.check.damage_scan import scan
from binlog_kaitai.core.filters import Filters
from binlog_kaitai.core.grammar import CHECKSUM_SIZE, header_length
from binlog_kaitai.log import boundaries, payloads
from binlog_kaitai.log.block_reader import BLOCK_SIZE
from binlog_kaitai.log.boundaries import Boundaries, Roles
from binlog_kaitai.log.transaction_roles import STATE_SIZE, Outcome, Phase, Role, follow_events, meaning_of
from binlog_kaitai.sources.source import Source
from binlog_kaitai.views.transactions_view import (
    TRANSACTIONS_SCHEMA,
    transaction_batches,
    write_transactions,
)
from tests.corpus_files import CORPUS, LogFile, ShownEvent, case, logs
from tests.extent import sample
from tests.log_maker import LogMaker, events_of, log_of_statements
from tests.support import all_files
from tests.views.slow_transactions import transactions

PAYLOADS = case("mysql-9.7", "payloads").logs[0]
SHOWN = ("gtid", "anonymous_gtid", "gtid_tagged", "gtid_tagged_log_event")
_GTID = re.compile(r"GTID_NEXT= '([^']+)'|GTID (\d+-\d+-\d+)")


def by_columns(
    source: Any, block_size: int = BLOCK_SIZE, **filters: Any
) -> tuple[list[dict[str, Any]], str | None]:
    """The rows of the view, and the error that ended it."""
    rows: list[dict[str, Any]] = []
    try:
        for batch in transaction_batches(source, Filters.of(**filters), block_size=block_size):
            rows += batch.to_pylist()
    except bk.BinlogError as error:
        return rows, str(error)
    return rows, None


def by_reader(source: Any) -> tuple[list[dict[str, Any]], str | None]:
    rows: list[dict[str, Any]] = []
    try:
        for row in transactions(source):
            rows.append(row)
    except bk.BinlogError as error:
        return rows, str(error)
    return rows, None


def without_file(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if name != "file"} for row in rows]


def read(source: Any, **options: Any) -> list[dict[str, Any]]:
    rows, error = by_columns(source, **options)
    assert error is None
    return rows


@pytest.mark.parametrize("path", all_files(), ids=lambda path: str(path.relative_to(CORPUS)))
def test_transactions_are_those_of_the_reader(path: Path) -> None:
    rows, error = by_columns(path)
    wanted, wanted_error = by_reader(path)
    assert error == wanted_error
    assert {row["file"] for row in rows} <= {str(path)}
    assert without_file(rows) == [
        {name: row[name] for name in TRANSACTIONS_SCHEMA.names[1:]} for row in wanted
    ]


def shown_transactions(log: LogFile) -> list[ShownEvent]:
    return [one for one in log.case.shown(log.path) if one.event_type.lower() in SHOWN]


@pytest.mark.parametrize("log", [log for log in logs() if shown_transactions(log)], ids=lambda log: log.id)
def test_transactions_are_those_that_the_server_lists(log: LogFile) -> None:
    shown = shown_transactions(log)
    # An incident between two transactions has no GTID, and is not listed as the start of one.
    incidents = bk.read_events(log.path, event_type="INCIDENT_EVENT").read_all()["position"].to_pylist()
    rows = [row for row in read(log.path) if row["position"] not in incidents]
    assert [row["position"] for row in rows] == [one.position for one in shown]
    for row, one in zip(rows, shown, strict=True):
        match = _GTID.search(one.info)
        assert match is not None
        gtid = match[1] or match[2]
        assert row["gtid"] == (None if gtid == "ANONYMOUS" else gtid)


@pytest.mark.parametrize("block_size", [256, 777, 4096, 70_000])
@pytest.mark.parametrize(
    "name", ["mysql-9.7/payloads", "mysql-9.7/xa", "mysql-5.6/mixed", "mariadb-11.8/domains", "mysql-5.6/xa"]
)
def test_blocks_of_any_size_give_the_same(name: str, block_size: int) -> None:
    path = case(*name.split("/")).logs[0]
    assert read(path, block_size=block_size) == read(path)


@pytest.mark.parametrize(("small", "room"), [(0, 0), (1 << 12, 1 << 30)])
def test_payloads_of_any_size_give_the_same(small: int, room: int, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = read(PAYLOADS)
    monkeypatch.setattr(payloads, "_SMALL", small)
    monkeypatch.setattr(payloads, "_EXPANDED_IN_PLACE", room)
    assert read(PAYLOADS, block_size=1000) == wanted


def test_files_are_read_in_order_and_lazily() -> None:
    folder = case("mysql-9.7", "rotate").folder
    reader = bk.read_transactions(str(folder))
    assert reader.schema == TRANSACTIONS_SCHEMA
    files = [row["file"] for row in reader.read_next_batch().to_pylist()]
    files += [row["file"] for batch in reader for row in batch.to_pylist()]
    assert list(dict.fromkeys(files)) == [str(path) for path in case("mysql-9.7", "rotate").logs]


@pytest.mark.parametrize(
    ("query", "meaning"),
    [
        (b"BEGIN", (Role.BEGIN, Outcome.OPEN)),
        (b"begin", (Role.BEGIN, Outcome.OPEN)),
        (b"START TRANSACTION", (Role.BEGIN, Outcome.OPEN)),
        (b"START SLAVE", (Role.STATEMENT, Outcome.IMPLICIT)),
        (b"XA START X'31',X'',1", (Role.BEGIN, Outcome.OPEN)),
        (b"XA END X'31',X'',1", (Role.STATEMENT, Outcome.IMPLICIT)),
        (b"XA COMMIT X'31',X'',1", (Role.END, Outcome.COMMIT)),
        (b"XA ROLLBACK X'31',X'',1", (Role.END, Outcome.ROLLBACK)),
        (b"COMMIT", (Role.END, Outcome.COMMIT)),
        (b"COMMIT /* implicit, from Xid_log_event */", (Role.END, Outcome.COMMIT)),
        (b"ROLLBACK", (Role.END, Outcome.ROLLBACK)),
        (b"ROLLBACK TO `a`", (Role.STATEMENT, Outcome.IMPLICIT)),
        (b"SAVEPOINT `a`", (Role.STATEMENT, Outcome.IMPLICIT)),
        (b"TRUNCATE TABLE t", (Role.STATEMENT, Outcome.DDL)),
        (b"UNINSTALL PLUGIN p", (Role.STATEMENT, Outcome.DDL)),
        (b"/* app */ drop table t", (Role.STATEMENT, Outcome.DDL)),
        (b"/*!40000 ALTER TABLE t ENABLE KEYS */", (Role.STATEMENT, Outcome.DDL)),
        (b"INSERT INTO t VALUES ('COMMIT')", (Role.STATEMENT, Outcome.IMPLICIT)),
        (b"DO 1", (Role.STATEMENT, Outcome.IMPLICIT)),
        (b"", (Role.STATEMENT, Outcome.IMPLICIT)),
    ],
)
def test_what_statements_mean(query: bytes, meaning: tuple[Role, Outcome]) -> None:
    assert meaning_of(query) == meaning
    by_prefix = boundaries._meaning_of_prefix(query[:8], len(query) <= 8)
    assert by_prefix in (None, meaning)


def positions(**filters: Any) -> list[int]:
    return [row["position"] for row in read(PAYLOADS, **filters)]


def test_filters_take_whole_transactions() -> None:
    rows = read(PAYLOADS)
    every = [row["position"] for row in rows]
    assert positions(start_position=every[2]) == every[2:]
    assert positions(stop_position=every[2]) == every[:2]
    assert positions(start_position=every[1] + 1, stop_position=every[3] + 1) == every[2:4]
    assert positions(include_gtids=rows[1]["gtid"]) == every[1:2]
    assert positions(exclude_gtids=rows[1]["gtid"]) == every[:1] + every[2:]
    assert positions(table="t.a") == [
        row["position"]
        for row in rows
        if "t.a" in row["tables"] or re.search(r"TABLE `?a\b|DATABASE", row["statement"] or "")
    ]
    assert positions(database="nothing") == []
    assert set(positions(database="t")) > set(positions(table="t.a"))
    assert positions(server_id=1) == []
    assert positions(event_type="XID") == [row["position"] for row in rows if row["xid"] is not None]
    assert positions(start_datetime="2100-01-01") == []
    assert positions(stop_datetime="2000-01-01 00:00:00+00:00") == []


@pytest.mark.parametrize("cut", [1, 3, 8])
def test_the_state_machine_is_the_same_compiled_and_in_blocks_of_any_length(cut: int) -> None:
    chance = np.random.default_rng(cut)
    roles = chance.integers(0, len(Role), 5000).astype(np.int8)
    is_begin = chance.integers(0, 2, 5000).astype(np.bool_)

    def phases(follow: Any, limits: list[int]) -> list[int]:
        state, found = np.zeros(STATE_SIZE, dtype=np.bool_), np.full(len(roles), -1, dtype=np.int8)
        for begin, end in pairwise(limits):
            follow(roles[begin:end], is_begin[begin:end], state, found[begin:end])
        return found.tolist()

    whole = phases(follow_events.plain, [0, len(roles)])
    assert sum(phase & Phase.BEGINS != 0 for phase in whole) > 1000
    assert phases(follow_events.compiled, [0, len(roles)]) == whole
    assert phases(follow_events.plain, [*range(0, len(roles), cut), len(roles)]) == whole


IN, BEGINS, ENDS, GTID = Phase.IS_INSIDE, Phase.BEGINS, Phase.ENDS, Phase.IN_GTID


@pytest.mark.parametrize(
    ("roles", "expected"),
    [
        # The log itself, BEGIN, a statement, COMMIT, and a statement that stands alone.
        ("OBSES", [ENDS, IN | BEGINS, IN, IN | ENDS, IN | BEGINS | ENDS]),
        # The commit of a statement that stands alone (MySQL 5.0) belongs to it.
        ("SES", [IN | BEGINS | ENDS, IN | ENDS, IN | BEGINS | ENDS]),
        # What leads up to a statement belongs to it.
        ("PSPS", [IN | BEGINS, IN | ENDS, IN | BEGINS, IN | ENDS]),
        # A BEGIN whose transaction has no end.
        ("BSBS", [IN | BEGINS, IN, IN | BEGINS, IN]),
        # A GTID is in force up to the commit, the next one, or an event of the log itself.
        ("GBSEPO", [IN | BEGINS | GTID, IN | GTID, IN | GTID, IN | ENDS | GTID, IN | BEGINS, ENDS]),
        ("GSGS", [IN | BEGINS | GTID, IN | ENDS | GTID] * 2),
        # A transaction without GTID event, after a commit or a statement without BEGIN.
        ("GBEBS", [IN | BEGINS | GTID, IN | GTID, IN | ENDS | GTID, IN | BEGINS, IN]),
        ("GSSG", [IN | BEGINS | GTID, IN | ENDS | GTID, IN | BEGINS | ENDS, IN | BEGINS | GTID]),
        ("GSEPS", [IN | BEGINS | GTID, *[IN | ENDS | GTID] * 2, IN | BEGINS, IN | ENDS]),
        # CREATE TABLE ... START TRANSACTION of MySQL 8 is followed by rows.
        ("GSPEB", [IN | BEGINS | GTID, IN | ENDS | GTID, IN | GTID, IN | ENDS | GTID, IN | BEGINS]),
        # MariaDB's GTID event may stand for a BEGIN.
        ("gSSE", [IN | BEGINS | GTID, IN | GTID, IN | GTID, IN | ENDS | GTID]),
    ],
)
def test_phases_of_transactions(roles: str, expected: list[int]) -> None:
    numbers = np.array(["POGBES".index(role.upper()) for role in roles], dtype=np.int8)
    is_begin = np.array([role == "g" for role in roles])
    assert Boundaries().phases(Roles(numbers, numbers, is_begin)).tolist() == expected


def test_a_statement_and_its_commit_are_one_transaction() -> None:
    """MySQL 5.0 writes no BEGIN where a statement commits itself, but its XID."""
    data = log_of_statements(
        *(b"INSERT INTO a VALUES (1)", None),
        b"INSERT INTO myisam VALUES (1)",
        b"CREATE TABLE b (c INT)",
        *(b"BEGIN", b"INSERT INTO a VALUES (2)", b"INSERT INTO a VALUES (3)", b"COMMIT"),
        *(b"DELETE FROM a", None),
    )
    rows = read(data)
    assert [row["events"] for row in rows] == [2, 1, 1, 4, 2]
    assert [row["kind"] for row in rows] == ["commit", "implicit", "ddl", "commit", "commit"]
    assert without_file(rows) == without_file(by_reader(data)[0])
    assert without_file(read(data, block_size=256)) == without_file(rows)
    assert scan(Source.of_bytes(data)).transactions == 5


@pytest.mark.parametrize("name", ["mysql-9.7/mixed", "mysql-5.7/types_full"])
def test_timestamps_that_a_connection_has_set_give_no_duration(name: str, tmp_path: Path) -> None:
    """The age of a statement at its BEGIN is the server's time without its timestamp, modulo 2^32."""
    layout, (head, *found) = events_of(case(*name.split("/")).logs[0])
    log, ages = LogMaker(layout), iter((0, 3, 86_399, 86_400, 10**9, -1000))
    log.add_all(head)
    expected: list[bool] = []
    for events in found:
        begin = next((at for at, one in enumerate(events) if one.endswith(b"BEGIN", 0, -CHECKSUM_SIZE)), None)
        if begin is None or (age := next(ages, None)) is None:
            continue
        event = bytearray(events[begin])
        stated = int.from_bytes(event[:4], "little") - age
        execution_time = header_length(4) + 4
        event[:4], event[execution_time : execution_time + 4] = (
            value.to_bytes(4, "little") for value in (stated, age % 2**32)
        )
        log.add_all([*events[:begin], bytes(event), *events[begin + 1 :]])
        expected.append(0 <= age < 86_400)
    path = log.write(tmp_path / "binlog.000001")
    rows = read(path)
    assert [row["duration"] is not None for row in rows] == expected == [True] * 3 + [False] * 3
    assert without_file(rows) == without_file(by_reader(path)[0])
    lines = b"".join(write_transactions(path, sort="duration")).splitlines()
    assert sorted(json.loads(line)["position"] for line in lines[:3]) == [row["position"] for row in rows[:3]]


@pytest.mark.parametrize(
    "found", ["mysql-9.7/rotate", "mysql-9.7/payloads", "mariadb-10.11/rotate", "mysql-5.6/types_v1_rows"]
)
def test_a_log_without_its_beginning_has_one_number_of_transactions(found: str, tmp_path: Path) -> None:
    """The rest of a transaction counts as one, in every reader and row format."""
    data = case(*found.split("/")).logs[0].read_bytes()
    events = [event for event in bk.open(data) if event.payload_index is None]
    whole = read(data)
    for event in sample(events[1:40], 10):
        piece = data[: events[0].end_position] + data[event.position :]
        path = tmp_path / f"from-{event.position}"
        path.write_bytes(piece)
        rows = read(path)
        assert scan(Source.of_path(str(path))).transactions == len(rows)
        assert bk.stats([str(path)]).totals["transactions"] == len(rows)
        assert len(rows) == sum(row["end_position"] > event.position for row in whole)
