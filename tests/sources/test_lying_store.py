"""Logs on an object store that lies: each lie is an error that names the URL, and no byte is invented."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest

import binlog_kaitai as bk
from binlog_kaitai.log.event_reader import ParsedEvent
from binlog_kaitai.sources import eras, remote
from tests.corpus_files import case
from tests.log_maker import LogMaker, events_of
from tests.sources.lying_store import Answer, LyingStore, lying

#: What is fetched first.
_FIRST = 64 << 10


@pytest.fixture(autouse=True)
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "any")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_REGION", "us-east-1")


@cache
def log() -> bytes:
    """A log of several ranges without checksums, which would notice other bytes."""
    layout, (head, *groups) = events_of(case("mysql-9.7", "no_checksum").logs[0])
    maker = LogMaker(layout)
    maker.add_all(head)
    while len(maker.data) < 4 * _FIRST:
        maker.add_all(raw for group in groups[:-1] for raw in group)
    return bytes(maker.data)


def events_until(events: Iterator[ParsedEvent], read: list[bytes]) -> None:
    for event in events:
        read.append(event.raw)


def short(data: bytes, start: int, end: int) -> Answer:
    return Answer(data[start : end - 1])


def nothing(data: bytes, start: int, end: int) -> Answer:
    return Answer(b"")


def whole(data: bytes, start: int, end: int) -> Answer:
    return Answer(data, status=200)


def whole_as_part(data: bytes, start: int, end: int) -> Answer:
    return Answer(data)


def cut(data: bytes, start: int, end: int) -> Answer:
    return Answer(data[start : (start + end) // 2], stated=end - start)


def endless(data: bytes, start: int, end: int) -> Answer:
    return Answer(data * 8, stated=1 << 40)


@pytest.mark.parametrize(
    ("answer", "is_first"),
    [
        *(
            (answer, is_first)
            for answer in (short, nothing, whole, whole_as_part)
            for is_first in (True, False)
        ),
        (endless, False),
        (cut, False),  # tried again by PyArrow, for seconds
    ],
)
def test_a_range_that_is_not_what_was_requested(answer: object, is_first: bool) -> None:
    def answered(data: bytes, start: int, end: int) -> Answer:
        is_lie = is_first or start > 0
        return answer(data, start, end) if is_lie else Answer(data[start:end])  # type: ignore[operator]

    read: list[bytes] = []
    with lying(LyingStore(log(), len(log()), answered)) as url:
        with pytest.raises(bk.SourceError) as caught:
            events_until(iter(bk.open(url)), read)
        assert caught.value.file == url
    content = b"".join(read)
    assert log()[4:].startswith(content)
    assert len(content) == 0 if is_first else _FIRST - 8000 < len(content) < _FIRST


def test_a_size_larger_than_the_object_adds_nothing() -> None:
    read: list[bytes] = []
    with lying(LyingStore(log(), len(log()) + 5000)) as url:
        with pytest.raises(bk.SourceError, match="fewer bytes") as caught:
            events_until(iter(bk.open(url)), read)
        assert caught.value.file == url
    assert log()[4:].startswith(b"".join(read))


def test_an_object_that_is_replaced_while_it_is_read() -> None:
    other = log().replace(b"INSERT", b"DELETE")

    def answer(data: bytes, start: int, end: int) -> Answer:
        return Answer((other if start else data)[start:end])

    read: list[bytes] = []
    store = LyingStore(log(), len(log()), answer, modified=lambda count: 10 if count < 2 else 11)
    with lying(store) as url, pytest.raises(bk.SourceError, match="changed while it was read") as caught:
        events_until(iter(bk.open(url)), read)
    assert caught.value.file == url
    assert log()[4:].startswith(b"".join(read))


def test_an_object_that_grows_while_it_is_read_is_read_as_it_was() -> None:
    """A log that is copied again and again while its server writes it."""
    grown = LyingStore(log(), len(log()))

    def answer(data: bytes, start: int, end: int) -> Answer:
        grown.size = 2 * len(data)
        return Answer(data[start:end])

    grown.answer, grown.modified = answer, lambda count: 10 + min(count, 9)
    read: list[bytes] = []
    with lying(grown) as url:
        events_until(iter(bk.open(url)), read)
    assert log()[4:] == b"".join(read)


def test_each_byte_is_requested_once_and_the_state_once_more_after_each_later_range() -> None:
    store = LyingStore(log(), len(log()))
    with lying(store) as url, remote.open_url(url) as file:
        states_at_the_start = store.states
        assert file.read(100) == log()[:100]
        assert store.states == states_at_the_start
        assert file.read() == log()[100:]
    assert store.ranges[0] == (0, _FIRST)
    assert [start for start, _ in store.ranges[1:]] == [end for _, end in store.ranges[:-1]]
    assert store.ranges[-1][1] == len(log())
    assert store.states - states_at_the_start == len(store.ranges) - 1


def test_a_store_that_has_every_file_has_not_endless_eras(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(eras, "_MOST_ERAS", 20)
    with lying(LyingStore(log(), len(log()), has_everything=True)) as url:
        with pytest.raises(bk.SourceError, match="has more than 20 eras") as caught:
            bk.open(url)
        assert caught.value.file == remote.without_options(url)


def test_an_index_without_end_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "_MOST_WHOLE", 1 << 20)

    def answer(data: bytes, start: int, end: int) -> Answer:
        return Answer((b"./a\n" * (end - start))[: end - start])

    store = LyingStore(b"", 1 << 40, answer)
    with lying(store) as url, pytest.raises(OSError, match="larger than the 1 MiB"):
        remote.read_whole(url)
    assert max(end for _, end in store.ranges) < 16 << 20
