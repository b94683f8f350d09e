"""Rows that were rolled back are in no output of changes."""

from __future__ import annotations

import io
import json
import random
import warnings
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

import binlog_kaitai as bk
from binlog_kaitai.core.filters import Filters
from binlog_kaitai.core.grammar import EventType, Format, header_offset
from binlog_kaitai.lines.row_texts import write_rows
from binlog_kaitai.log import rolled_back
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.block_reader import BlockReader
from binlog_kaitai.log.rolled_back import RolledBack
from binlog_kaitai.rows.log_pages import RowsPages
from binlog_kaitai.views.changes_view import json_batches
from binlog_kaitai.views.splits import plan, read_split
from tests.corpus_files import case
from tests.earlier_logs import files_before
from tests.log_maker import LogMaker, events_of, statement

#: A statement, None for an XID event, or the id of an inserted row.
Item = bytes | int | None

BEGIN, COMMIT, ROLLBACK, XID = b"BEGIN", b"COMMIT", b"ROLLBACK", None
TEMPORARY = b"CREATE TEMPORARY TABLE x (a INT)"

#: What is logged, and the ids of the rows that remain.
CASES: dict[str, tuple[list[Item], list[int]]] = {
    "committed": ([BEGIN, 1, XID, BEGIN, 5, COMMIT], [1, 5]),
    "rolled back": ([BEGIN, 1, TEMPORARY, 5, ROLLBACK, BEGIN, 6, XID], [6]),
    "between two others": ([BEGIN, 1, XID, BEGIN, 5, ROLLBACK, BEGIN, 6, XID], [1, 6]),
    "without an end": ([BEGIN, 1, XID, BEGIN, 5], [1, 5]),
    "to a savepoint": ([BEGIN, 1, b"SAVEPOINT `a`", 5, b"ROLLBACK TO `a`", 6, XID], [1, 6]),
    "to a savepoint, then as a whole": ([BEGIN, 1, b"SAVEPOINT `a`", 5, b"ROLLBACK TO `a`", 6, ROLLBACK], []),
    "to a savepoint twice": (
        [BEGIN, b"SAVEPOINT `a`", 1, b"ROLLBACK TO `a`", 5, b"ROLLBACK TO `a`", 6, XID],
        [6],
    ),
    "to the outer savepoint": (
        [BEGIN, 1, b"SAVEPOINT `a`", 5, b"SAVEPOINT `b`", 6, b"ROLLBACK TO `a`", XID],
        [1],
    ),
    "to the inner savepoint": (
        [BEGIN, 1, b"SAVEPOINT `a`", 5, b"SAVEPOINT `b`", 6, b"ROLLBACK TO `b`", XID],
        [1, 5],
    ),
    "to the later savepoint of a name": (
        [BEGIN, 1, b"SAVEPOINT `a`", 5, b"SAVEPOINT `A`", 6, b"ROLLBACK TO `a`", XID],
        [1, 5],
    ),
    "to a savepoint of an odd name": (
        [BEGIN, 1, b"SAVEPOINT `a``b c`", 5, b"ROLLBACK TO `a``b c`", XID],
        [1],
    ),
    "to a savepoint named under ANSI_QUOTES": (
        [BEGIN, 1, b'SAVEPOINT "a b"', 5, b'SAVEPOINT "a c"', 6, b'ROLLBACK TO "a b"', XID],
        [1],
    ),
    "to a savepoint that was named under another sql_mode": (
        [BEGIN, 1, b'SAVEPOINT "a""`b"', 5, b'ROLLBACK TO `a"``b`', 6, XID],
        [1, 6],
    ),
    "as users write it": (
        [BEGIN, 1, b"savepoint a", 5, b"/* no */ rollback work to savepoint a", 6, b"commit"],
        [1, 6],
    ),
    "to a savepoint of another transaction": (
        [BEGIN, b"SAVEPOINT `a`", 1, XID, BEGIN, 5, b"ROLLBACK TO `a`", 6, XID],
        [1, 6],
    ),
    "a word that begins alike": ([BEGIN, 1, b"REPLACE INTO t.m VALUES (1)", XID], [1]),
}


@cache
def _parts() -> tuple[Format, bytes, dict[int, list[bytes]]]:
    """The format, its description event, and the table map and rows event by the id of the inserted row."""
    path = case("mysql-5.6", "types_v1_rows").logs[0]
    layout, [[head, *events]] = events_of(path)
    is_map = [raw[header_offset("type_code")] == EventType.table_map_event for raw in events]
    pairs = [
        events[place : place + 2]
        for place, one in enumerate(is_map)
        if one and b"\x04ints\0" in events[place]
    ]
    return layout, head, dict(zip((1, 2, 5, 6), pairs, strict=False))


def log_of(items: list[Item]) -> bytes:
    layout, head, rows = _parts()
    log = LogMaker(layout)
    log.add(head)
    for item in items:
        log.add_all(rows[item] if isinstance(item, int) else [statement(item, layout)])
    return bytes(log.data)


def ids(objects: Any) -> list[int]:
    return [json.loads(one)["c1"] for one in objects]


def ids_of(source: Any, **options: Any) -> list[int]:
    """The ids of the rows that the changes view has."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bk.RolledBackWarning)
        batches = list(json_batches(RowsPages(source, Filters(), **options)))
    return [one for batch in batches for one in ids(batch.column("after").to_pylist())]


@pytest.fixture(params=CASES)
def log_and_rest(request: Any) -> tuple[bytes, list[int]]:
    items, rest = CASES[request.param]
    return log_of(items), rest


@pytest.mark.parametrize("block_size", [256, 1 << 10, 4 << 20])
@pytest.mark.parametrize("threads", [1, 2])
def test_rows_that_remain(log_and_rest: tuple[bytes, list[int]], block_size: int, threads: int) -> None:
    log, rest = log_and_rest
    assert ids_of(log, block_size=block_size, threads=threads) == rest


def test_random_transactions_do_not_depend_on_the_blocks() -> None:
    rng = random.Random(11)
    statements: list[Item] = [BEGIN, XID, COMMIT, ROLLBACK, 1, 5, 6, 1, 5, 6]
    statements += [verb + name for verb in (b"SAVEPOINT ", b"ROLLBACK TO ") for name in (b"`a`", b"`b`")]
    for _ in range(60):
        log = log_of([BEGIN, *rng.choices(statements, k=rng.randrange(4, 30))])
        whole = ids_of(log)
        assert [ids_of(log, block_size=size) for size in (256, 512, 1 << 10)] == [whole] * 3


def test_only_the_blocks_of_the_open_transaction_are_held_back() -> None:
    log = log_of([BEGIN, 1, 5, 6, XID] * 40)
    read = 0

    def counted() -> Iterator[Block]:
        nonlocal read
        for block in BlockReader.of_file(io.BytesIO(log), "log", block_size=512, shares_blocks=True):
            read += 1
            yield block

    ahead = [read - passed for passed, _ in enumerate(RolledBack().decided(counted()))]
    assert read > 20
    assert max(ahead) <= 3


class _Name(bytes):
    """A name of a savepoint that counts the comparisons with others."""

    compared = 0
    __hash__ = bytes.__hash__

    def __eq__(self, other: object) -> bool:
        type(self).compared += 1
        return super().__eq__(other)


def test_a_savepoint_is_not_compared_with_all_others(monkeypatch: pytest.MonkeyPatch) -> None:
    named = rolled_back._named
    monkeypatch.setattr(rolled_back, "_named", lambda match: (_Name(named(match)[0]), named(match)[1]))
    names = [b"SAVEPOINT a%d" % number for number in range(200)]
    back = [b"ROLLBACK TO a%d" % number for number in range(199, 100, -1)]
    assert ids_of(log_of([BEGIN, 1, *names[:101], 5, *names[101:], 6, *back, 2, XID])) == [1, 5, 2, 3, 4]
    assert _Name.compared < 1000


def test_splits_have_the_same_rows_as_the_log(log_and_rest: tuple[bytes, list[int]], tmp_path: Path) -> None:
    log, rest = log_and_rest
    path = tmp_path / "binlog.000001"
    path.write_bytes(log)
    splits = plan(path, 100)
    assert len(splits) > 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bk.RolledBackWarning)
        batches = [one for split in splits for one in read_split(split, earlier=files_before(splits, split))]
    assert [one for batch in batches for one in ids(batch.column("after").to_pylist())] == rest


def test_transactions_too_large_to_hold_back_are_looked_up(
    log_and_rest: tuple[bytes, list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rolled_back, "MOST_HELD", 0)
    log, rest = log_and_rest
    assert ids_of(log, block_size=256) == rest


def test_the_rows_of_a_large_transaction_in_a_stream_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rolled_back, "MOST_HELD", 0)
    log = log_of([BEGIN, 1, 5, 6, 1, ROLLBACK, BEGIN, 6, XID])
    pages = RowsPages(io.BytesIO(log), Filters(), block_size=256)
    with pytest.warns(bk.RolledBackWarning, match=r"position \d+: rolls back rows that were read before"):
        batches = list(json_batches(pages))
    assert [one for batch in batches for one in ids(batch.column("after").to_pylist())][:1] == [1]


@pytest.mark.parametrize("block_size", [256, 4 << 20])
@pytest.mark.parametrize("server", ["mysql-9.7", "mariadb-10.11"])
def test_a_transaction_with_a_gtid(server: str, block_size: int) -> None:
    layout, transactions = events_of(case(server, "mixed").logs[0])
    types = [[raw[header_offset("type_code")] for raw in events] for events in transactions]
    repeated = next(
        events
        for events, kinds in zip(transactions, types, strict=True)
        if kinds[-1] == EventType.xid_event and EventType.table_map_event in kinds
    )

    def images(*more: bytes) -> list[tuple[Any, Any]]:
        """The images of the log, in which a transaction is repeated with another end before the last one."""
        log = LogMaker(layout)
        log.add_all(chain(*transactions[:-1], [*repeated[:-1], *more] if more else [], transactions[-1]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", bk.RolledBackWarning)
            batches = list(json_batches(RowsPages(bytes(log.data), Filters(), block_size=block_size)))
        return [(row["before"], row["after"]) for batch in batches for row in batch.to_pylist()]

    assert images(statement(ROLLBACK, layout)) == images()
    assert len(images(statement(XID, layout))) > len(images())


def test_every_output_leaves_them_out() -> None:
    log = log_of([BEGIN, 1, XID, BEGIN, 5, ROLLBACK, BEGIN, 6, XID])
    warning = r"position 406: rows of t\.ints were rolled back and are left out$"
    with pytest.warns(bk.RolledBackWarning, match=warning):
        assert [row.after and row.after["c1"] for row in bk.read_rows(log)] == [1, 6]
    with pytest.warns(bk.RolledBackWarning, match=warning):
        assert bk.read_changes(log, table="t.ints").read_all()["c1"].to_pylist() == [1, 6]
    with pytest.warns(bk.RolledBackWarning, match=warning):
        lines = b"".join(map(bytes, write_rows(log))).splitlines()
    assert [json.loads(line)["after"]["c1"] for line in lines] == [1, 6]
    with pytest.warns(bk.RolledBackWarning, match=warning):
        stats = bk.stats(log)
    tables = stats.parts["tables"].objects()
    assert [(one["table"], one["operation"], one["rows"], one["transactions"]) for one in tables] == [
        ("ints", "insert", 2, 2)
    ]


@pytest.mark.parametrize("undo", [False, True])
def test_scripts_leave_them_out(undo: bool) -> None:
    log = log_of([BEGIN, 1, b"SAVEPOINT `a`", 5, b"ROLLBACK TO `a`", XID, BEGIN, 6, ROLLBACK])
    with pytest.warns(bk.RolledBackWarning, match="the first of 2 such events"):
        script = b"".join(map(bytes, bk.sql_script(log, undo=undo, allow_unnamed=True))).decode()
    verbs = Counter(line.split()[0] for line in script.splitlines() if line.startswith(("INSERT", "DELETE")))
    assert verbs == {"DELETE" if undo else "INSERT": 1}


def test_events_are_as_logged() -> None:
    log = log_of([BEGIN, 1, ROLLBACK])
    assert [row.after and row.after["c1"] for event in bk.open(log) for row in event.rows()] == [1]


def test_a_transaction_whose_end_is_damaged_is_read() -> None:
    log = log_of([BEGIN, 1, 5, ROLLBACK])
    found = bk.read_changes(log[: log.rindex(ROLLBACK)])
    assert ids(found.read_next_batch()["after"].to_pylist()) == [1, 5]
    with pytest.raises(bk.TruncatedError):
        found.read_next_batch()
