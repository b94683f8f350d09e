"""Hostile bytes: the columns return what the reader returns, or raise the same error."""

from __future__ import annotations

import random
import struct
import threading
from collections.abc import Generator

import pytest

from binlog_kaitai.check.damage_scan import scan
from binlog_kaitai.core.grammar import EventType
from binlog_kaitai.log.threads import prefetch
from binlog_kaitai.sources.source import Source
from tests.corpus_files import LogFile, case, logs
from tests.log_maker import LogMaker, events_of
from tests.rows.test_rows_hostile import row_event
from tests.support import by_columns, by_reader

SMALL = [log for log in logs() if log.path.stat().st_size < 6_000]
SOME = random.Random(11).sample(SMALL, 25)


def damaged(data: bytes, rng: random.Random) -> bytes:
    """The same log with some bytes of some events changed, or cut."""
    result = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 5])):
        place = rng.randrange(4, len(result))
        result[place] = rng.choice([0, 1, 0x7F, 0x80, 0xFB, 0xFC, 0xFD, 0xFE, 0xFF, rng.randrange(256)])
    return bytes(result[: rng.choice([len(result)] * 4 + [rng.randrange(len(result))])])


@pytest.mark.parametrize("log", SOME, ids=lambda log: log.id)
def test_damaged_logs_read_as_by_the_reader(log: LogFile) -> None:
    path = log.path
    rng = random.Random(str(path.name) + path.parent.name)
    for _ in range(6):
        data = damaged(path.read_bytes(), rng)
        assert by_columns(data, verify_checksums=False) == by_reader(data, verify_checksums=False)


@pytest.mark.parametrize("log", SOME, ids=lambda log: log.id)
def test_verify_gives_a_report_whatever_the_bytes(log: LogFile) -> None:
    path = log.path
    rng = random.Random(path.parent.name)
    for _ in range(10):
        data = damaged(path.read_bytes(), rng)
        report = scan(Source.of_bytes(data))
        assert report.size <= len(data)
        assert report.damage_count or by_reader(data)[1] is None


def test_random_bytes_after_the_magic() -> None:
    rng = random.Random(5)
    for size in (0, 1, 12, 13, 19, 100, 3000):
        data = b"\xfebin" + rng.randbytes(size)
        assert by_columns(data) == by_reader(data)


@pytest.mark.parametrize("version", [1, 3, 4, 500])
def test_an_event_with_another_version_than_its_log(version: int) -> None:
    layout, groups = events_of(case("mysql-9.7", "no_checksum").logs[0])
    maker = LogMaker(layout)
    maker.add_all(groups[0])
    body = struct.pack("<H50sI", version, b"4.0.1", 5)
    maker.add(row_event(EventType.start_event_v3, body))
    maker.add_all(groups[1])
    log = bytes(maker.data)
    lines, error = by_columns(log)
    assert (lines, error) == by_reader(log)
    assert b'"binlog_version":%d' % version in lines[len(groups[0])]


def test_one_item_is_prefetched_and_no_more() -> None:
    made: list[int] = []

    def items() -> Generator[int, None, None]:
        for number in range(5):
            made.append(number)
            yield number

    for number in prefetch(items()):
        assert max(made) <= number + 1
    assert made == list(range(5))


def test_an_error_while_prefetching_is_raised_in_order() -> None:
    def items() -> Generator[int, None, None]:
        yield 1
        yield 2
        raise ValueError("three")

    found = prefetch(items())
    assert [next(found), next(found)] == [1, 2]
    with pytest.raises(ValueError, match="three"):
        next(found)


def test_a_consumer_may_leave_early() -> None:
    before = threading.active_count()
    items = prefetch(number for number in range(1000))
    assert next(items) == 0
    assert isinstance(items, Generator)
    items.close()
    assert threading.active_count() == before
