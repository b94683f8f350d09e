"""A lake that continues in another server's log, which has transactions in another order."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from uuid import UUID

import pytest

from binlog_kaitai.core.grammar import EventType
from tests.lake.lakes import fill, opened
from tests.lake.table_log import TableLog

#: What transactions do; they are named by their GTIDs.
INSERT_T, INSERT_U = ("t", (), (1, 1)), ("u", (), (1, 1))
UPDATE_T, UPDATE_U = ("t", (1, 1), (1, 2)), ("u", (1, 1), (1, 2))
ERRANT_T = ("t", (1, 1), (1, 9))

OLD = [("a:1", INSERT_T), ("a:2", INSERT_U), ("a:3", UPDATE_T)]

Transactions = Iterable[tuple[str, tuple[str, tuple[int, ...], tuple[int, ...]]]]


def log(path: Path, transactions: Transactions) -> Path:
    made = TableLog(["id", "v"], ["id"])
    for gtid, (table, before, after) in transactions:
        server, _, number = gtid.partition(":")
        sid = UUID(int=ord(server)).bytes
        made.event(EventType.gtid_log_event, b"\1" + sid + int(number).to_bytes(8, "little") + bytes(17))
        made.table = table
        if before:
            made.update(before, after)
        else:
            made.insert(*after)
    made.write(path.parent)
    return (path.parent / "binlog.000001").rename(path)


def load(folder: Path, new: Transactions, size: int) -> tuple[dict[str, str], dict[str, list[int]]]:
    """Load the logs of two servers; returns the tables without state, and the values of the others."""
    lake = folder / "lake"
    fill(lake, [log(folder / "old.000001", OLD)], size, keeps_state=True)
    batches = fill(lake, [log(folder / "new.000001", new)], size, keeps_state=True)
    refused: dict[str, str] = {}
    for batch in batches:
        refused = dict(batch.state_refused)
    states = {name: opened(lake).private.open(f"state/s.{name}") for name in "tu"}
    values = {
        name: [row["v"] for batch in table.batches() for row in batch.to_pylist()]
        for name, table in states.items()
        if table is not None and f"s.{name}" not in refused
    }
    return refused, values


@pytest.mark.parametrize("size", [30_000, 3], ids=["one batch", "a batch for each transaction"])
def test_an_errant_transaction(size: int, tmp_path: Path) -> None:
    """The new server's row has 2, since it executed `a:3` last; the lake reads `b:1` last."""
    new = [*OLD[:2], ("b:1", ERRANT_T), OLD[2], ("b:2", UPDATE_U), ("b:3", UPDATE_U)]
    refused, values = load(tmp_path, new, size)
    assert "b:1, before transactions" in refused["s.t"].replace(str(UUID(int=ord("b"))), "b")
    assert values.get("u", [2]) == [2]
    if size > 3:
        assert refused.keys() == {"s.t"}


@pytest.mark.parametrize(
    "new",
    [
        [*OLD, ("b:1", ERRANT_T), ("b:2", UPDATE_U)],
        # A replica with several threads commits transactions of one server in another order if they may be.
        [*OLD[:2], ("a:4", UPDATE_U), OLD[2], ("b:1", ERRANT_T)],
    ],
    ids=["all before", "threads"],
)
@pytest.mark.parametrize("size", [30_000, 3], ids=["one batch", "a batch for each transaction"])
def test_orders_that_change_no_state(new: Transactions, size: int, tmp_path: Path) -> None:
    refused, values = load(tmp_path, new, size)
    assert (refused, values) == ({}, {"t": [9], "u": [2]})
