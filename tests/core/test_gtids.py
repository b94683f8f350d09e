"""GTID sets: text to intervals and back."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from binlog_kaitai.core.gtids import GtidSet, Intervals, split_gtid
from binlog_kaitai.errors import UsageError
from tests.extent import rounds

UUID = "5b6a28a6-3005-11f0-8be8-0242ac150002"


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("", ""),
        (f"{UUID}:5", f"{UUID}:5"),
        (f"{UUID}:1-3", f"{UUID}:1-3"),
        (f" {UUID}:1-3:5 , {UUID}:4 ", f"{UUID}:1-5"),
        (f"{UUID.upper()}:7:1", f"{UUID}:1:7"),
        (f"{UUID.replace('-', '')}:2", f"{UUID}:2"),
        (f"{UUID}:1-2:Tag:4-6", f"{UUID}:1-2,{UUID}:tag:4-6"),
        (f"{UUID}:tag:4-6:9:other:1", f"{UUID}:other:1,{UUID}:tag:4-6:9"),
        ("0-1-5", "0-1-5"),
        ("0-1-5,0-1-6,1-2-9", "0-1-5..6,1-2-9"),
        ("0-1-5..8", "0-1-5..8"),
    ],
)
def test_text_is_read_and_written_back_in_order(text: str, canonical: str) -> None:
    assert str(GtidSet.parse(text)) == canonical
    assert GtidSet.parse(canonical) == GtidSet.parse(text)


@pytest.mark.parametrize(
    "text", ["1", UUID, f"{UUID}:", f"{UUID}:x-", f"{UUID}:1--2", "0-1", "0-1-2-3-4", "a-b-c"]
)
def test_what_is_no_set_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="not a GTID"):
        GtidSet.parse(text)


@pytest.mark.parametrize(
    ("gtid", "source", "number"),
    [(f"{UUID}:12", UUID, 12), (f"{UUID}:tag:3", f"{UUID}:tag", 3), ("0-101-7", "0-101", 7)],
)
def test_a_gtid_is_a_source_and_a_number(gtid: str, source: str, number: int) -> None:
    assert split_gtid(gtid) == (source, number)
    gtids = GtidSet()
    gtids.add(gtid)
    assert gtid in gtids
    assert f"{gtid}9" not in gtids


def test_gaps_lie_between_intervals() -> None:
    found = Intervals()
    for start, end in ((1, 3), (10, 12), (5, 6)):
        found.add(start, end)
    assert list(found) == [(1, 2), (5, 5), (10, 11)]
    assert found.gaps() == [(3, 4), (6, 9)]


@given(st.sets(st.integers(1, 40)), st.sets(st.integers(1, 40)))
def test_without_is_the_difference_of_sets(left: set[int], right: set[int]) -> None:
    sets = []
    for numbers in (left, right):
        sets.append(GtidSet())
        for number in numbers:
            sets[-1].add(f"0-1-{number}")
    rest = sets[0].without(sets[1])
    assert {
        n for _, found in rest.items() for first, last in found for n in range(first, last + 1)
    } == left - right
    assert bool(rest) == bool(left - right)


@pytest.mark.parametrize("at_once", [False, True])
@given(st.lists(st.tuples(st.integers(1, 60), st.integers(0, 8))))
def test_intervals_hold_what_was_added(at_once: bool, ranges: list[tuple[int, int]]) -> None:
    found = Intervals()
    wanted: set[int] = set()
    for start, length in ranges:
        if not at_once:
            found.add(start, start + length)
        wanted |= set(range(start, start + length))
    if at_once:
        found.add_all((start, start + length) for start, length in ranges)
    assert {number for first, last in found for number in range(first, last + 1)} == wanted
    assert len(found) == len(wanted)
    assert all(number in found for number in wanted)
    borders = [border for pair in found for border in pair]
    assert borders == sorted(borders)
    assert all(first > last + 1 for (_, last), (first, _) in zip(found, list(found)[1:], strict=False))


def test_sets_of_many_intervals_are_joined_and_subtracted_in_time() -> None:
    """Hundreds of thousands of intervals each; a time that grows with the square would be hours."""
    count, begin = rounds(500_000, 100_000), time.process_time()
    sets = [GtidSet(), GtidSet()]
    for offset, found in enumerate(sets):
        ranges = ((number, number + 1) for number in range(4 * count + offset, offset, -4))
        found.add_ranges(UUID, ranges)
    both = GtidSet()
    both.update(sets[0])
    both.update(sets[1])
    assert len(both) == 2 * count
    assert both.without(sets[0]) == sets[1]
    assert not both.without(both)
    assert GtidSet.parse(str(sets[0])) == sets[0]
    assert time.process_time() - begin < 60


def test_a_set_may_have_more_numbers_than_a_length_can_say() -> None:
    gtids = GtidSet()
    gtids.add_range(UUID, 1, 1 << 64)
    assert gtids
    assert not gtids.without(gtids)


@pytest.mark.parametrize(
    ("gtids", "other", "rest"),
    [
        (f"{UUID}:1-3,c{UUID[1:]}:1", f"{UUID}:tag:9", f"c{UUID[1:]}:1"),
        ("0-1-1,0-2-3,1-2-3..5", "0-2-7", "0-1-1"),
    ],
)
def test_gtids_of_other_servers(gtids: str, other: str, rest: str) -> None:
    assert str(GtidSet.parse(gtids).of_others(GtidSet.parse(other))) == rest
