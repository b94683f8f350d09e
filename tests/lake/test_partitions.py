"""Rows that are gone with their partitions are not in the state of a table."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest

from binlog_kaitai.lake.changes import TableChanges
from binlog_kaitai.lake.delta import DeltaTable, DeltaTables
from binlog_kaitai.lake.rules import Rules
from binlog_kaitai.rows.row_masks import Masks
from tests.lake.lakes import KINDS, KilledError, dying, fold, opened, table
from tests.lake.table_log import TableLog
from tests.lake.test_state import run

MOVED = "rows of whole partitions"
RANGES = (
    "PARTITION BY RANGE (b) (PARTITION p0 VALUES LESS THAN (10), PARTITION p1 VALUES LESS THAN (20), "
    "PARTITION p2 VALUES LESS THAN MAXVALUE)"
)
LISTS = "PARTITION BY LIST COLUMNS (b) (PARTITION p0 VALUES IN (1, NULL), PARTITION p1 VALUES IN (5, 15))"
#: Values of `b`, by those of `a`, which is the key if there is one.
ROWS = {1: None, 2: 1, 3: 5, 4: 10, 5: 15, 6: 20, 7: 120}


def log_of(partitions: str, *, key: str = "a", named: bool = True) -> TableLog:
    log = TableLog("ab", key, has_names=named)
    primary = f", PRIMARY KEY ({', '.join(key)})" if key else ""
    log.run(f"CREATE TABLE s.t (a TINYINT, b TINYINT{primary}) {partitions}")
    return log


def with_rows(log: TableLog) -> TableLog:
    for row in ROWS.items():
        log.insert(*row)
    return log


def states(log: TableLog, folder: Path, kind: str = "delta", **job: object) -> list[dict[str, str]]:
    """What is refused, in one batch and in one for each transaction; if nothing, all states are equal."""
    path, found = log.write(folder), []
    for name, size in (("whole", 1 << 20), ("transactions", 3)):
        found.append(run(folder / name, [path], size, views=["changes"], format=kind, **job))
    return found


def rows(folder: Path, kind: str = "delta") -> dict[int, int | None]:
    """The rows of the state; it is the same by all batches, and what the changes make up."""
    found = []
    for name in ("whole", "transactions"):
        lake = opened(folder / name, kind)
        own = [(row["a"], row["b"]) for row in table(lake, "state/s.t").to_pylist()]
        folded = fold(TableChanges(lake), ("s", "t"))
        assert Counter(own) == Counter((row["a"], row["b"]) for row in folded)
        found.append(sorted(own, key=str))
    assert found[0] == found[1]
    return dict(found[0])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("key", ["a", ""])
@pytest.mark.parametrize(
    ("partitions", "statements", "left"),
    [
        (RANGES, ["DROP PARTITION p0"], [4, 5, 6, 7]),
        (RANGES, ["DROP PARTITION P1"], [1, 2, 3, 6, 7]),
        (RANGES, ["TRUNCATE PARTITION p1, p2"], [1, 2, 3]),
        (RANGES, ["DROP PARTITION p0", "TRUNCATE PARTITION p1"], [6, 7]),
        (LISTS, ["TRUNCATE PARTITION p0"], [3, 4, 5, 6, 7]),
        (LISTS, ["ALGORITHM = INPLACE, DROP PARTITION p1"], [1, 2, 4, 6, 7]),
    ],
)
def test_rows_of_partitions(
    kind: str, key: str, partitions: str, statements: list[str], left: list[int], tmp_path: Path
) -> None:
    log = with_rows(log_of(partitions, key=key))
    for statement in statements:
        log.run(f"ALTER TABLE s.t {statement}")
    log.insert(8, 1)
    assert states(log, tmp_path, kind) == [{}, {}]
    assert rows(tmp_path, kind) == {**{a: ROWS[a] for a in left}, 8: 1}


@pytest.mark.parametrize("key", ["a", ""])
def test_rows_that_move_between_partitions(key: str, tmp_path: Path) -> None:
    """Into one that is dropped, and out of it; rows of the batch before and after the statement."""
    log = with_rows(log_of(RANGES, key=key))
    log.update((2, 1), (2, 12))
    log.update((4, 10), (4, 2))
    log.delete(3, 5)
    log.run("ALTER TABLE s.t TRUNCATE PARTITION p0")
    log.insert(1, 3)
    log.insert(3, None)
    log.update((2, 12), (2, 4))
    log.delete(5, 15)
    assert states(log, tmp_path) == [{}, {}]
    assert rows(tmp_path) == {1: 3, 2: 4, 3: None, 6: 20, 7: 120}


def test_statements_around_it(tmp_path: Path) -> None:
    """Another key, columns that come and go, and another name of the table."""
    log = with_rows(log_of(RANGES))
    log.alter("DROP PRIMARY KEY, ADD PRIMARY KEY (a, b)", "ab", "ab")
    log.run("ALTER TABLE s.t TRUNCATE PARTITION p1")
    log.alter("ADD c TINYINT", "abc", "ab")
    log.run("RENAME TABLE s.t TO s.u")
    log.run("ALTER TABLE s.u DROP PARTITION p0")
    log.run("RENAME TABLE s.u TO s.t")
    log.insert(1, 13, 1)
    assert states(log, tmp_path) == [{}, {}]
    assert rows(tmp_path) == {1: 13, 6: 20, 7: 120}


@pytest.mark.parametrize(
    ("statements", "reason"),
    [
        (["DROP PARTITION p9"], f"{MOVED}: a partition is not known"),
        (["DROP PARTITION p0", "REMOVE PARTITIONING", "RENAME COLUMN b TO c"], "a column by whose values"),
        (["MODIFY b SMALLINT UNSIGNED", "DROP PARTITION p0"], MOVED),
        (["DROP PARTITION p0", "MODIFY b TINYINT NOT NULL"], "a column by whose values"),
    ],
)
def test_it_is_refused(statements: list[str], reason: str, tmp_path: Path) -> None:
    log = with_rows(log_of(RANGES))
    for statement in statements:
        log.run(f"ALTER TABLE s.t {statement}")
    if "c" in statements[-1]:
        log.alter("", "ac", "a")
    log.insert(8, 100)
    for refused in states(log, tmp_path):
        assert reason in refused["s.t"]


def test_images_without_the_column(tmp_path: Path) -> None:
    log = TableLog("abc", "a", without="b")
    log.run(f"CREATE TABLE s.t (a TINYINT PRIMARY KEY, b TINYINT, c TINYINT) {RANGES}")
    log.insert(1, 1, 1)
    log.update((1, 1, 1), (1, 1, 2))
    log.run("ALTER TABLE s.t TRUNCATE PARTITION p0")
    log.insert(2, 2, 2)
    at_once, one_by_one = states(log, tmp_path)
    assert "rows are gone with their partitions" in at_once["s.t"]
    assert one_by_one == {}  # the state had the value
    assert [row["a"] for row in table(opened(tmp_path / "transactions"), "state/s.t").to_pylist()] == [2]


@pytest.mark.parametrize("method", ["null", "sha256"])
def test_a_masked_column(method: str, tmp_path: Path) -> None:
    log = with_rows(log_of(RANGES))
    log.run("ALTER TABLE s.t DROP PARTITION p0")
    for refused in states(log, tmp_path, rules=Rules(Masks.of(mask=[f"s.t.b={method}"]))):
        assert refused["s.t"] == "a statement moved rows of whole partitions"


@pytest.mark.parametrize("left", range(8))
def test_kills(left: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = with_rows(log_of(RANGES))
    log.run("ALTER TABLE s.t DROP PARTITION p0")
    log.insert(1, 11)
    path = log.write(tmp_path)
    with monkeypatch.context() as patch:
        dies = dying(left)
        for one, name in ((DeltaTable, "append"), (DeltaTable, "merge"), (DeltaTables, "replace")):
            patch.setattr(one, name, dies(getattr(one, name)))
        with suppress(KilledError):
            run(tmp_path / "lake", [path], 600, views=["changes"])
    assert run(tmp_path / "lake", [path], 600, views=["changes"]) == {}
    found = table(opened(tmp_path / "lake"), "state/s.t").to_pylist()
    assert {row["a"]: row["b"] for row in found} == {1: 11, 4: 10, 5: 15, 6: 20, 7: 120}
