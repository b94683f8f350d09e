"""Splits of damaged logs return the rows of the whole log, or those before its damage.

The rule
--------
1. If the whole log is read without an error, so is each split; together they have its rows.
2. If it ends with an error, the first split that raises, in the order of the log, names the same position and
   reason. The rows of the splits before it, and its own before the error, are those of the whole log.

What later splits give does not count: a query that fails has no rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import binlog_kaitai as bk
from binlog_kaitai.core.framing import MAGIC
from binlog_kaitai.core.grammar import EventType, header_length, header_offset
from binlog_kaitai.log import split_points
from binlog_kaitai.views.splits import plan, read_split
from tests.corpus_files import case
from tests.extent import sample
from tests.log_maker import LogMaker, events_of, log_of_statements, placed
from tests.views.test_splits import WHOLE
from tools.fuzz.mutants import mutant

#: Of `boundaries`: from where on, how far back, and how far ahead events are looked for.
WINDOWS = ((1200, 1000, 20_000), (300, 200, 2000), (300, 300, 300))

Result = tuple[list[dict[str, Any]], tuple[int | None, str] | None]


def rows_and_error(batches: Iterable[Any]) -> Result:
    rows: list[dict[str, Any]] = []
    try:
        for batch in batches:
            rows += batch.to_pylist()
    except bk.BinlogError as error:
        return rows, (error.position, error.reason)
    return rows, None


def whole(view: str, path: str) -> Result:
    """The rows of a log up to its damage."""

    def batches() -> Iterable[Any]:
        yield from WHOLE[view](path)

    return rows_and_error(batches())


def in_splits(view: str, path: str, size: int) -> Result:
    """The same of its splits, up to the first one that raises."""
    found: list[dict[str, Any]] = []
    for split in plan(path, size):
        rows, error = rows_and_error(read_split(split, view))
        found += rows
        if error is not None:
            return found, error
    return found, None


def check(path: str, view: str, windows: tuple[int, int, int], size: int) -> None:
    split_points.NEAR, split_points.LOOK_BACK, split_points.PROOF = windows
    assert in_splits(view, path, size) == whole(view, path), (view, windows, size)


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A path for a log; afterwards the windows are what they were."""
    for name in ("NEAR", "LOOK_BACK", "PROOF"):
        monkeypatch.setattr(split_points, name, getattr(split_points, name))
    return tmp_path / "binlog.000001"


@pytest.mark.parametrize("seed", sample(range(0, 40, 8), 2))
def test_splits_of_a_mutated_log_agree_with_the_whole(path: Path, seed: int) -> None:
    warnings.simplefilter("ignore")
    for own in range(seed, seed + 8):
        data = mutant(f"splits/{own}").data
        path.with_suffix(f".{own:06}").write_bytes(data)
        for number, view in enumerate(WHOLE):
            size = max(len(data) // (3 + (own + number) % 9), 50)
            check(str(path.with_suffix(f".{own:06}")), view, WINDOWS[(own + number) % 3], size)


def reason_of(found: Result) -> str | None:
    return None if found[1] is None else found[1][1]


def agree(path: Path, data: bytes) -> dict[str, Result]:
    """The result of each view of a log, after checking that splits of many sizes return the same."""
    path.write_bytes(data)
    found = {view: whole(view, str(path)) for view in WHOLE}
    for view in WHOLE:
        for windows in sample(WINDOWS, 2):
            for size in range(100, len(data), max(len(data) // 4, 1)):
                check(str(path), view, windows, size)
    return found


def test_a_table_map_ends_with_its_transaction(path: Path) -> None:
    """Rows without one are damage, even if an earlier transaction has one of the same number."""
    layout, (head, *transactions) = events_of(case("mysql-9.7", "rotate").logs[-1])
    log, rows_first = LogMaker(layout), transactions[0]
    log.add_all([*head, *rows_first])
    log.add_all(raw for raw in rows_first if raw[4] != EventType.table_map_event)
    found = agree(path, bytes(log.data))
    assert reason_of(found["changes"]) == "the table map of these rows is missing"
    *_, last = (event for event in bk.open(path) if event.type == "WRITE_ROWS_EVENT")
    assert last.table_map is None


@pytest.mark.parametrize("server", sample(["mysql-9.7", "mariadb-11.8"], 1))
def test_an_event_that_claims_others_has_them_in_splits_too(path: Path, server: str) -> None:
    """No checksum contradicts its size: no split may begin at a transaction that the whole never meets."""
    layout, (head, *transactions) = events_of(case(server, "no_checksum").logs[0])
    log, claims = LogMaker(layout), slice(0, 0)
    log.add(head[0], as_is=True)  # the format description has a checksum
    log.add_all(head[1:])
    for number in range(30):
        at = len(log.data)
        log.add_all(transactions[number % len(transactions)])
        if number == 8:
            claims = slice(at, at)
        elif number == 20:
            claims = slice(claims.start, at)
    size_at = claims.start + header_offset("len_event")
    log.data[size_at : size_at + 4] = (claims.stop - claims.start).to_bytes(4, "little")
    agree(path, bytes(log.data))


def test_a_statement_that_cannot_be_read_is_damage_where_it_stands(path: Path) -> None:
    data = bytearray(log_of_statements(b"CREATE TABLE t.x (a INT)", b"BEGIN", None, b"BEGIN", None))
    layout, _ = events_of(case("mysql-5.6", "types_v1_rows").logs[0])
    starts = [4]
    while starts[-1] < len(data):
        starts.append(starts[-1] + int.from_bytes(data[starts[-1] + 9 : starts[-1] + 13], "little"))
    at = starts[1]
    event = bytearray(data[at : starts[2]])
    event[header_length(4) + 11 : header_length(4) + 13] = b"\xff\xff"  # the length of the status variables
    data[at : starts[2]] = placed(bytes(event), at, layout)
    found = agree(path, bytes(data))
    assert found["changes"][1] is None
    assert all(error is not None and error[0] == at for _, error in (found["events"], found["transactions"]))


@pytest.mark.parametrize("is_in_use", [False, True], ids=["closed", "in use"])
@pytest.mark.parametrize("more", [1 << 24, 200])
@pytest.mark.parametrize("server", ["mysql-9.7", "mariadb-11.8"])
def test_a_size_that_is_too_large_is_the_same_damage_in_a_split(
    server: str, path: Path, more: int, is_in_use: bool
) -> None:
    """The log ends before the event, or later. MariaDB states no positions inside transactions."""
    layout, (head, *transactions) = events_of(case(server, "mixed").logs[0])
    long = next(index for index in range(6, 99) if len(transactions[index]) > 3)
    log = LogMaker(layout, sets_positions=False)
    log.add_all([*head, *transactions[long][:2]])
    at = len(log.data)
    log.add_all([*transactions[long][2:], *transactions[long + 1]])
    size = at + header_offset("len_event")
    log.data[size : size + 4] = (more + log.data[size]).to_bytes(4, "little")
    log.data[len(MAGIC) + header_offset("flags")] |= is_in_use  # the checksum is that of a closed log
    found = agree(path, bytes(log.data))
    assert {error[0] if error else None for _, error in found.values()} == {at}


def test_a_definition_that_cannot_be_read_takes_no_transaction_before_it_along(path: Path) -> None:
    """Its text is a value of the transactions; its status variables end too early."""
    layout, (head, *transactions) = events_of(case("mysql-9.7", "ddl").logs[0])
    log = LogMaker(layout)
    log.add_all([*head, *transactions[0], transactions[1][0]])
    at = len(log.data)
    query = bytearray(transactions[1][1])
    status = header_length(4) + 13
    query[status : status + len_status(query)] = bytes(len_status(query) - 1) + b"\3"
    log.add(bytes(query))
    rows, error = agree(path, bytes(log.data))["transactions"]
    assert error is not None
    assert error[0] == at
    assert [row["kind"] for row in rows] == ["ddl", "open"]


def len_status(query: bytes | bytearray) -> int:
    """The length of the status variables of a statement."""
    return int.from_bytes(query[header_length(4) + 11 : header_length(4) + 13], "little")
