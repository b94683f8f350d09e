"""Each rows event is linked to its table map, and equal table maps to the first of them."""

from __future__ import annotations

import io
from collections.abc import Callable

import numpy as np
import pytest

from binlog_kaitai.core.grammar import ROWS_TYPES, EventType
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.block_reader import BlockReader
from binlog_kaitai.rows import table_links
from binlog_kaitai.rows.table_links import MapsInForce
from tests.support import use_plain_kernels
from tools.costly.making import Log


@pytest.fixture(autouse=True, params=["plain", "compiled"])
def _mode(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "plain":
        use_plain_kernels(monkeypatch)


def log_of(text: str) -> bytes:
    """A log of table maps (name and id), rows events (id), statements (;) and commits (.)."""
    log = Log()
    for event in text.split():
        if event[0].isalpha():
            name = event.rstrip("0123456789")
            log.map(int(event.removeprefix(name)), b"\3", name=name.encode())
        elif event.isdigit():
            log.insert(int(event), 1, b"\1", b"\0\0\0\0\0")
        elif event == ";":
            log.query(b"FLUSH TABLES")
        else:
            log.xid()
    return bytes(log.data)


def blocks(log: bytes, size: int = 1 << 20) -> list[Block]:
    reader = BlockReader.of_file(io.BytesIO(log), "log", block_size=size, shares_blocks=True)
    return [block for block in reader if not block.is_special]


def links(
    log: list[Block], maps: MapsInForce[int], statements: Callable[[Block], list[int]] = lambda block: []
) -> list[int | None]:
    """For each rows event and table map of a log, which of its table maps it is linked to."""
    found: list[int | None] = []
    before = 0
    for block in log:
        linked, earlier = maps.link(block, statements(block)), list(maps.known.values())
        own = block.rows_of(EventType.table_map_event)
        for event in np.flatnonzero(np.isin(block.types, [*ROWS_TYPES, EventType.table_map_event])):
            number = int(linked.of_events[event])
            first = before + int(np.searchsorted(own, linked.firsts[number])) if number >= 0 else None
            found.append(first if number >= -1 else earlier[number + 1])
        maps.end(lambda number: before + int(np.searchsorted(own, linked.firsts[number])))  # noqa: B023
        before += len(own)
    return found


@pytest.mark.parametrize(
    ("log", "wanted"),
    [
        ("a1 1", [0, 0]),
        ("a1 b2 1 2 a1 1", [0, 1, 0, 1, 0, 0]),
        ("1 a1 2 1", [None, 0, None, 0]),
        ("a1 1 b1 1 a1 1", [0, 0, 1, 1, 0, 0]),
        ("a1 a2 2 1 b3 a4 4 3", [0, 0, 0, 0, 2, 0, 0, 2]),
        ("a1 . 1 a1 1", [0, None, 0, 0]),
        ("a1 b2 . a1 1 2", [0, 1, 0, 0, None]),
        ("a1 1 ; a1 1", [0, 0, 0, 0]),
    ],
)
def test_rows_refer_to_the_newest_table_map_with_their_id_until_tables_are_closed(
    log: str, wanted: list[int | None]
) -> None:
    assert links(blocks(log_of(log)), MapsInForce()) == wanted


def test_after_a_statement_an_equal_table_map_is_another() -> None:
    log = blocks(log_of("a1 1 ; 1 a1 1"))
    found = links(log, MapsInForce(), lambda block: block.rows_of(EventType.query_event).tolist())
    assert found == [0, 0, 0, 1, 1]


@pytest.mark.parametrize("log", ["a1 b2 2 1 . 1 b2 2 1", "a1 1 1 b2 b1 1 2 . 2", "a1 a2 a3 . a2 a1 1 2 3"])
def test_table_maps_of_earlier_blocks_are_in_force_until_tables_are_closed(log: str) -> None:
    """Whatever the blocks, rows refer to the same contents."""
    maps = [event for event in log.split() if event[0].isalpha()]

    def contents(size: int) -> list[str | None]:
        found = links(blocks(log_of(log), size), MapsInForce())
        return [None if number is None else maps[number][0] for number in found]

    assert len(blocks(log_of(log), 256)) > 1
    assert contents(256) == contents(1 << 20)


def test_table_maps_with_different_ids_may_be_different() -> None:
    """The clients print the id."""
    assert links(blocks(log_of("a1 a2 2 1 a1 1")), MapsInForce(by_id=True)) == [0, 1, 1, 0, 0, 0]
    assert links(blocks(log_of("a1 b1 a1")), MapsInForce(by_id=True)) == [0, 1, 2]


@pytest.mark.parametrize("by_id", [False, True])
def test_any_number_of_table_maps_is_known(by_id: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_links, "_FIRST_ENTRIES", 2)
    names = [f"{first}{second}" for first in "abcdefgh" for second in "abcdefgh"]
    ids = [number * 3001 for number in range(2 * len(names))]
    maps = [f"{name}{number}" for name, number in zip(2 * names, ids, strict=True)]
    log = blocks(log_of(" ".join([*maps, *map(str, ids)])))
    wanted = list(range(len(ids))) if by_id else 2 * list(range(len(names)))
    in_force = MapsInForce[int](by_id=by_id)
    assert links(log, in_force) == 2 * wanted
    assert list(in_force.known) == ids


def test_of_too_many_table_maps_the_newest_stay_in_force(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_links, "MAX_TABLE_MAPS", 2)
    maps = MapsInForce[int]()
    links(blocks(log_of("a1 b2 c3 a1")), maps)
    assert list(maps.known) == [3, 1]


@pytest.mark.parametrize("split", [None, 3])
def test_the_event_after_a_payload_closes_its_tables(split: int | None) -> None:
    (block,) = blocks(log_of(". a1 1 1 1"))
    block.types = block.types.copy()
    block.types[0] = EventType.transaction_payload_event
    block.holders = np.array([-1, 0, 0, -1, -1])
    log = [block] if split is None else [block.part(0, split), block.part(split, 5)]
    assert links(log, MapsInForce()) == [0, 0, None, None]


def test_an_event_too_short_for_an_id_has_no_table_map() -> None:
    log = Log(has_checksums=False)
    log.map(1, b"\3")
    log.add(EventType.write_rows_event, b"\1\0\0\0\0")
    assert links(blocks(bytes(log.data)), MapsInForce()) == [0, None]
