"""Splits: the rows of all parts of a log are the rows of the log, wherever it is divided."""

from __future__ import annotations

import json
import pickle
import random
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

import binlog_kaitai as bk
from binlog_kaitai.ddl import Definitions
from binlog_kaitai.log import split_points
from binlog_kaitai.views.splits import plan, read_split
from tests.corpus_files import Case, case, cases
from tests.earlier_logs import files_before
from tests.extent import sample
from tests.log_maker import LogMaker, carrier, events_of, placed

WHOLE: dict[str, Callable[..., Any]] = {
    "events": bk.read_events,
    "transactions": bk.read_transactions,
    "changes": bk.read_changes,
}


def rows(batches: Iterable[Any]) -> list[dict[str, Any]]:
    return [row for batch in batches for row in batch.to_pylist()]


def in_splits(view: str, paths: Any, size: int, **options: Any) -> list[dict[str, Any]]:
    """The rows of all splits, one after another, each as another process would read it."""
    found, splits = [], plan(paths, size)
    for split in pickle.loads(pickle.dumps(splits)):
        found += rows(read_split(split, view, earlier=files_before(splits, split), **options))
    return found


@pytest.fixture
def far(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small logs are read as if they were large: cuts are found by resynchronization."""
    monkeypatch.setattr(split_points, "NEAR", 1200)
    monkeypatch.setattr(split_points, "LOOK_BACK", 1000)
    monkeypatch.setattr(split_points, "PROOF", 20_000)


@pytest.mark.filterwarnings("ignore::binlog_kaitai.DefinitionWarning")
@pytest.mark.parametrize("one", sample(cases(), 16), ids=lambda one: one.id)
def test_any_size_gives_the_rows_of_the_whole(one: Case, far: None) -> None:
    rng = random.Random(one.id)
    view = rng.choice([*WHOLE, "changes"])
    paths = [str(path) for path in one.logs]
    largest = max(path.stat().st_size for path in one.logs)
    size = rng.randrange(max(largest // 12, 300), largest + 400)
    assert in_splits(view, paths, size) == rows(WHOLE[view](paths)), (view, size)


def many(name: str = "rotate", times: int = 30) -> LogMaker:
    """A log of many transactions, each some of a corpus log's."""
    layout, (head, *transactions) = events_of(case("mysql-9.7", name).logs[0])
    log = LogMaker(layout)
    log.add_all(head)
    for number in range(times):
        log.add_all(transactions[number % len(transactions)])
    return log


@pytest.mark.parametrize("has_end", [False, True], ids=["cut off", "to the end"])
@pytest.mark.parametrize("lead", sample([7, 0], 1))
def test_a_string_full_of_events_is_a_string(tmp_path: Path, far: None, lead: int, has_end: bool) -> None:
    """Whole transactions, at their right offsets and with right checksums, inside a text."""
    log = many()
    layout, (_, transaction, *_) = events_of(case("mysql-9.7", "rotate").logs[0])
    content = bytearray(lead)
    for number in range(60):
        raw = transaction[number % len(transaction)]
        at = len(log.data) + len(transaction[0]) + 19 + 1 + len(content)
        content += placed(raw, at, layout)
    if not has_end:
        content += bytes(50)
    log.add(transaction[0])
    log.add(carrier(transaction[0], bytes(content), layout))
    log.add_all(transaction[1:])
    for _ in range(5):
        log.add_all(transaction)
    path = str(log.write(tmp_path / "binlog.000001"))
    for view in WHOLE:
        expected = rows(WHOLE[view](path))
        for size in sample((700, 1500, 2999, 8000), 1):
            assert in_splits(view, path, size) == expected


def test_a_split_inside_one_transaction_owns_nothing(tmp_path: Path, far: None) -> None:
    log = many(times=4)
    layout, (_, transaction, *_) = events_of(case("mysql-9.7", "rotate").logs[0])
    begin = len(log.data)
    log.add(transaction[0])
    for _ in range(400):
        log.add(carrier(transaction[0], b"x" * 100, layout))
    log.add_all(transaction[1:])
    end = len(log.data)
    log.add_all(transaction)
    path = str(log.write(tmp_path / "binlog.000001"))
    splits = plan(path, 4000)
    owned = [rows(read_split(split, "events")) for split in splits]
    assert [row for part in owned for row in part] == rows(bk.read_events(path))
    inside = [
        part
        for split, part in zip(splits, owned, strict=True)
        if (span := split.span) is not None and span.end is not None and begin < span.start <= span.end < end
    ]
    assert len(inside) > 5
    assert not any(inside)


def test_positions_past_four_gigabytes(tmp_path: Path) -> None:
    """A hole inside one event takes the log past 4 GiB, where headers count from 0 again."""
    layout, (head, transaction, *others) = events_of(case("mysql-9.7", "rotate").logs[0])
    log = LogMaker(layout)
    log.add_all([*head, *transaction])
    start = 1 << 32
    path = tmp_path / "binlog.000001"
    with path.open("wb") as file:
        file.write(log.data)
        file.seek(start - 300)
        at = start - 300
        expected = []
        for raw in [raw for _ in range(300) for part in (transaction, *others) for raw in part]:
            file.write(event := placed(raw, at, layout))
            expected.append(at)
            at += len(event)
    splits = [
        split
        for split in plan(str(path), 1 << 16)
        if split.span is not None and split.span.start >= start - (1 << 16)
    ]
    found = rows(batch for split in splits for batch in read_split(split, "events"))
    assert len(splits) > 3
    assert [row["position"] for row in found] == expected
    assert all(row["checksum"] == "ok" for row in found)


def test_damage_is_reported_by_the_split_that_contains_it(tmp_path: Path) -> None:
    log = many()
    damaged = bytearray(log.data)
    damaged[len(damaged) // 2] ^= 1
    path = tmp_path / "binlog.000001"
    path.write_bytes(damaged)
    with pytest.raises(bk.BinlogError) as whole:
        rows(bk.read_events(str(path)))
    errors = []
    for split in plan(str(path), 2000):
        try:
            rows(read_split(split, "events"))
        except bk.BinlogError as error:
            errors.append(str(error))
    assert errors == [str(whole.value)]


def test_names_come_from_statements_of_earlier_logs() -> None:
    one = case("mysql-9.7", "rotate")
    paths = [str(path) for path in one.logs]
    splits = plan(paths, 1 << 30)
    (named,) = rows(read_split(splits[-1], "changes", earlier=files_before(splits, splits[-1])))
    (unnamed,) = rows(read_split(splits[-1], "changes", scan_ddl=False))
    assert json.loads(named["after"]) == {"id": 50, "v": "after the stop"}
    assert json.loads(unnamed["after"]) == {"c1": 50, "c2": "after the stop"}


def test_statements_of_a_log_apply_to_it_and_to_all_later_logs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    followed: list[str] = []

    def observe(self: Definitions, schema_name: str, sql: str, *rest: Any) -> bool:
        followed.append(sql)
        return original(self, schema_name, sql, *rest)

    original = Definitions.observe
    monkeypatch.setattr(Definitions, "observe", observe)
    paths = [tmp_path / f"binlog.{number:06}" for number in range(1, 9)]
    for path in paths:
        path.write_bytes(case("mysql-9.7", "rotate").logs[0].read_bytes())
    names = [str(path) for path in paths]
    whole = rows(bk.read_changes(names))
    once = len(followed)
    assert in_splits("changes", names, 1 << 30) == whole
    assert once < len(followed) <= 3 * once


def test_a_stream_cannot_be_divided() -> None:
    with pytest.raises(bk.UsageError, match="stream"):
        plan("-", 1000)
