"""Logs that MariaDB stores inside InnoDB read like a plain log of the same groups."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import binlog_kaitai as bk
from binlog_kaitai.core.context import Context
from binlog_kaitai.core.grammar import InnodbLog, parse_structure
from binlog_kaitai.core.grammar import read_header as read_event_header
from binlog_kaitai.core.known_formats import known_formats
from binlog_kaitai.errors import BinlogError, ChecksumError, DamagedError, TruncatedError
from binlog_kaitai.log.gaps import Gap
from binlog_kaitai.sources.innodb_log import FORMAT
from binlog_kaitai.sources.source import Source, length_of, resolve
from binlog_kaitai.views.skip_damage import read_around
from binlog_kaitai.views.splits import plan, read_split
from tests.corpus_files import case
from tests.extent import rounds
from tests.sources import innodb
from tests.sources.innodb import COMMIT, OOB, Writer, integer, integers
from tests.sources.packing import PACKERS
from tests.sources.seeking import assert_any_part_can_be_read
from tests.sources.test_encrypted import Pipe

LOG = case("mariadb-11.8", "types_full").logs[0]
GROUPS = innodb.groups_of(LOG)
START = b"\xfebin" + FORMAT


def made(groups: list[list[bytes]]) -> bytes:
    return START + b"".join(event for group in groups for event in group)


def trouble(data: bytes) -> BinlogError | None:
    """What reading raises."""
    try:
        read(data)
    except BinlogError as error:
        return error
    return None


def read(data: bytes) -> bytes:
    with Source.of_bytes(data).open() as stream:
        return stream.read()


@pytest.mark.parametrize(
    "value",
    [
        0,
        1,
        31,
        32,
        8191,
        8192,
        1 << 20,
        1 << 21,
        1 << 28,
        1 << 29,
        1 << 37,
        1 << 45,
        1 << 52,
        1 << 53,
        2**64 - 1,
    ],
)
def test_compressed_integers(value: int) -> None:
    head = parse_structure(InnodbLog.OobHead, integers(value, 0, 0, 5, 6))
    assert head.index.value == value
    assert head.index.num_bytes == len(integer(value))
    assert (head.right.file_number.value, head.right.offset.value) == (5, 6)


def test_format_description() -> None:
    head = read_event_header(FORMAT, 4)
    assert (head.len_event, head.next_position, head.flags) == (len(FORMAT), len(START), 0x20)
    context = Context(4)
    event = context.observe(FORMAT, head)
    assert event is not None
    body: Any = event.body.content
    assert body.server_version == "12.3.0-MariaDB-ibb"
    assert bytes(body.len_post_headers) == known_formats(body.server_version)[0].post_header_lengths
    assert not body.has_checksums
    assert innodb.crc32c(b"123456789") == 0xE3069283


def test_the_whole_grammar_reads_a_file() -> None:
    writer = Writer(bits=10)
    writer.group(GROUPS[0], piece=100)
    log: Any = parse_structure(InnodbLog, writer.data()[0])
    assert log.header.file_number == 0
    kinds = [chunk.record_type.name for page in log.pages for chunk in page.chunks if not chunk.is_end]
    assert set(kinds) == {"gtid_state", "oob_data", "commit"}
    state = parse_structure(InnodbLog.GtidState, log.pages[0].chunks[0].data)
    assert [(one.domain_id.value, one.server_id.value, one.sequence_number.value) for one in state.gtids] == [
        (0, 1, 5),
        (7, 1, 1 << 40),
    ]


@pytest.mark.parametrize("bits", [10, 12, 14])
@pytest.mark.parametrize("piece", [0, 90, 3000])
def test_groups(bits: int, piece: int) -> None:
    writer = Writer(pages=1 << 20, bits=bits, state_every=2)
    for number, group in enumerate(GROUPS):
        writer.group(group, piece=piece, second=number % 3 if len(group) > 4 else 0)
        writer.record(innodb.XA_COMPLETE, bytes(8))
    assert read(writer.data()[0]) == made(GROUPS)


def test_any_part_can_be_read() -> None:
    writer = Writer(bits=12, pages=1 << 20)
    many = GROUPS * rounds(40, 8)
    for number, group in enumerate(many):
        writer.group(group, piece=number % 2 * 500)
    assert_any_part_can_be_read(Source.of_bytes(writer.data()[0]), made(many), longest=30_000)


def test_records_inside_others() -> None:
    writer, events = Writer(bits=10), b"".join(GROUPS[0])
    data = integer(0) + events
    for index in range(0, len(data), 50):
        writer._room()
        is_last = index + 50 >= len(data)
        if writer._room() < 80:
            writer.page.extend(b"\xff" * (writer.size - 4 - len(writer.page)))
            writer._new_page()
        writer._put(COMMIT | (0x80 if index else 0) | (0x40 if is_last else 0), data[index : index + 50])
        writer.dummy()
    assert read(writer.data()[0]) == made(GROUPS[:1])


@pytest.fixture
def series(tmp_path: Path) -> tuple[list[Path], bytes]:
    """Files whose groups begin in earlier ones or end in later ones."""
    writer = Writer(pages=5, bits=12, first=7)
    for group in GROUPS:
        writer.group(group, piece=1500 if len(b"".join(group)) > 3000 else 0)
    assert len(writer.files) > 2
    return writer.write(tmp_path), made(GROUPS)


def test_series(series: tuple[list[Path], bytes], tmp_path: Path) -> None:
    paths, plain = series
    logs = resolve(tmp_path)
    assert [log.path for log in logs] == list(map(str, paths))
    parts = [log.open().read() for log in logs]
    assert all(part.startswith(START) for part in parts)
    assert b"".join(part[len(START) :] for part in parts) == plain[len(START) :]
    assert [length_of(str(path)) for path in paths] == list(map(len, parts))


def test_series_that_is_packed(series: tuple[list[Path], bytes], tmp_path: Path) -> None:
    paths, plain = series
    for path, pack in zip(paths, list(PACKERS.items()) * 9, strict=False):
        path.with_name(path.name + pack[0]).write_bytes(pack[1](path.read_bytes()))
        path.unlink()
    parts = [log.open().read() for log in resolve(tmp_path)]
    assert b"".join(part[len(START) :] for part in parts) == plain[len(START) :]


def test_a_file_of_a_series_is_missing(series: tuple[list[Path], bytes]) -> None:
    paths, _ = series
    with pytest.raises(TruncatedError, match="is missing"):
        read(paths[0].read_bytes())
    reasons = [error.reason for path in paths if (error := trouble(path.read_bytes()))]
    assert any("is in a file that is not there" in reason for reason in reasons)
    paths[1].write_bytes(paths[0].read_bytes())
    with pytest.raises(DamagedError, match="log 8 of the series has the number 7"):
        Source.of_path(str(paths[0])).open().read()


def test_commands_and_views(tmp_path: Path) -> None:
    """Every view is that of the plain log."""
    writer = Writer(bits=12, pages=1 << 20)
    for number, group in enumerate(GROUPS):
        writer.group(group, piece=number % 2 * 700)
    path = tmp_path / "binlog-000000.ibb"
    for view in ("events", "transactions", "changes"):
        path.write_bytes(made(GROUPS))
        (split,) = plan(path, 0)
        expected = [row for batch in read_split(split, view) for row in batch.to_pylist()]
        path.write_bytes(writer.data()[0])
        splits = plan(path, 0)
        found = [row for split in splits for batch in read_split(split, view) for row in batch.to_pylist()]
        assert found == expected
        assert expected
    with bk.open(path) as log:
        assert b"".join(event.raw for event in log) == made(GROUPS)[4:]


def test_pipes() -> None:
    writer = Writer(bits=12)
    writer.group(GROUPS[0], piece=100)
    with bk.open(Pipe(writer.data()[0])) as log:  # type: ignore[arg-type]
        assert b"".join(event.raw for event in log) == made(GROUPS[:1])[4:]


def damaged(change: Callable[[bytearray], bytes | bytearray | None], groups: int = 40) -> BinlogError:
    """What is wrong with a log after a change."""
    writer = Writer(bits=12, pages=1 << 20)
    for group in (GROUPS * 3)[:groups]:
        writer.group(group)
    data = bytearray(writer.data()[0])
    changed = bytes(change(data) or data)
    with pytest.raises(BinlogError) as caught:
        read(changed)
    return caught.value


def test_damaged_page() -> None:
    def change(data: bytearray) -> None:
        data[3 * 4096 + 77] ^= 1

    error = damaged(change)
    assert isinstance(error, ChecksumError)
    assert "page 3 (offset 12288) of log 0" in error.reason
    data = bytearray(Writer().data()[0])
    data[30] ^= 1
    with pytest.raises(ChecksumError, match="header"):
        read(bytes(data))


def test_what_precedes_damage_is_read(tmp_path: Path) -> None:
    writer = Writer(bits=12, pages=1 << 20)
    for group in GROUPS:
        writer.group(group)
    data = bytearray(writer.data()[0])
    data[3 * 4096 + 77] ^= 1
    path = tmp_path / "binlog-000000.ibb"
    path.write_bytes(data)
    events: list[bytes] = []
    with pytest.raises(ChecksumError) as caught, bk.open(path) as log:
        events.extend(event.raw for event in log)
    read_events = b"".join(events)
    assert len(read_events) > 2000
    assert made(GROUPS)[4:].startswith(read_events)
    assert str(path) in str(caught.value)
    assert "page 3" in str(caught.value)


def test_zeros_before_data() -> None:
    def change(data: bytearray) -> None:
        data[3 * 4096 : 4 * 4096] = bytes(4096)

    assert "bytes follow on page 4" in damaged(change).reason


def test_truncated() -> None:
    assert "ends inside page 2" in damaged(lambda data: data[: 2 * 4096 + 99]).reason
    assert "ends inside" in damaged(lambda data: data[:99]).reason
    assert "not whole" in damaged(lambda data: data[: 3 * 4096]).reason


def test_empty() -> None:
    assert read(Writer().data()[0]) == START
    assert read(Writer().data()[0][: 1 << 14]) == START


def _with(put: Callable[[Writer], object]) -> str:
    writer = Writer()
    put(writer)
    with pytest.raises(BinlogError) as caught:
        read(writer.data()[0])
    return caught.value.reason


@pytest.mark.parametrize(
    ("put", "reason"),
    [
        (
            lambda log: log._put(COMMIT | 0x80 | 0x40, b"x") if log.group(GROUPS[0]) is None else 0,
            "has no beginning",
        ),
        (lambda log: [log._put(COMMIT, b"\0x"), log._put(OOB | 0x40, b"x")], "begins inside it"),
        (lambda log: log._put(COMMIT, b"\0x"), "the data end"),
        (lambda log: log.record(9, b"x"), "not of a known type"),
        (lambda log: log.record(COMMIT, integers(1, 0, 99, 0, 99, 0)), "is not there"),
        (lambda log: log.record(COMMIT, integers(1, 3, 9, 3, 9, 0)), "in a file that is not there"),
        (lambda log: log.record(COMMIT, integers(1)), "cannot be read"),
        (lambda log: log.record(COMMIT, integers(2, *[0] * 4, 0)), "does not refer"),
        (
            lambda log: log.record(
                COMMIT, integers(3, *[0, log.record(OOB, integers(0, 0, 0, 0, 0))[1]] * 2, 0)
            ),
            "has 3 out-of-band records, 1 were found",
        ),
        (
            lambda log: log.record(
                COMMIT, integers(9, *[0, log.record(OOB, integers(3, *[0, log.place[1]] * 2))[1]] * 2, 0)
            ),
            "number 3, not one below 3",
        ),
        (lambda log: log.page.extend(b"\x41\xff\xff"), "does not fit"),
    ],
)
def test_records_that_are_wrong(put: Any, reason: str) -> None:
    assert reason in _with(put)


def test_random_damage() -> None:
    """Each raises an error, or does not change the result."""
    writer = Writer(bits=10, pages=1 << 20)
    for number, group in enumerate(GROUPS[:8]):
        writer.group(group, piece=number % 2 * 200)
    data, plain, chance = writer.data()[0], made(GROUPS[:8]), random.Random(8)
    for _ in range(60):
        page = chance.randrange(1, len(data) // 1024 - 3)
        other = bytearray(data)
        for _ in range(chance.randrange(1, 4)):
            other[page * 1024 + chance.randrange(1020)] ^= 1 << chance.randrange(8)
        # With a checksum that fits, too.
        if chance.random() < 0.7:
            other[page * 1024 : page * 1024 + 1024] = innodb.sealed(other[page * 1024 : page * 1024 + 1024])
        # Anything but a BinlogError fails the test.
        with suppress(BinlogError):
            assert len(read(bytes(other))) <= len(plain) + 1024


def around(path: Path, number: int = 0) -> tuple[list[tuple[str | None, str]], list[Gap]]:
    """GTID and type of each event that can be read around damage, and the damage."""
    events: list[tuple[str | None, str]] = []
    gaps: list[Gap] = []
    for one in read_around(plan(path, 0)[number], "events", columns=["gtid", "type"]):
        if isinstance(one, Gap):
            gaps.append(one)
        else:
            events += zip(*(one.column(name).to_pylist() for name in ("gtid", "type")), strict=True)
    return events, gaps


def test_damage_costs_the_groups_on_its_page(tmp_path: Path) -> None:
    writer, pages, chance = Writer(bits=10, pages=1 << 20), [], random.Random(21)
    for number, group in enumerate(GROUPS):
        first = writer.place[1] >> writer.bits
        writer.group(group, piece=number % 3 * 150)
        pages.append((first, writer.place[1] >> writer.bits))
    data, path = writer.data()[0], tmp_path / "binlog-000000.ibb"
    path.write_bytes(data)
    whole, _ = around(path)
    order = list(dict.fromkeys(gtid for gtid, _ in whole if gtid is not None))
    assert len(order) == len(GROUPS)
    for _ in range(rounds(10, 2)):
        changed = bytearray(data)
        page = chance.randrange(1, len(data) // 1024 - 3)
        if is_zero := chance.random() < 0.3:
            changed[page * 1024 : page * 1024 + 1024] = bytes(1024)
        else:
            changed[page * 1024 + chance.randrange(1024)] ^= 1 << chance.randrange(8)
        path.write_bytes(changed)
        found, gaps = around(path)
        intact = {gtid for gtid, (first, last) in zip(order, pages, strict=True) if not first <= page <= last}
        assert [one for one in found if one[0] in intact] == [one for one in whole if one[0] in intact]
        assert gaps
        assert is_zero or all(f"page {page} " in str(gap.error) for gap in gaps)
        (report,) = bk.verify(path)
        assert report.damage_count == len(gaps)
        with pytest.raises(BinlogError) as caught:
            list(bk.open(path))
        assert caught.value.position == gaps[0].start


def test_reading_goes_on_after_records_that_are_wrong(tmp_path: Path) -> None:
    path = tmp_path / "binlog-000000.ibb"
    for kind, record in ((9, b"x"), (COMMIT, integers(1, 3, 9, 3, 9, 0)), (COMMIT, integers(1))):
        writer = Writer()
        writer.group(GROUPS[0])
        writer.record(kind, record)
        writer.group(GROUPS[1])
        path.write_bytes(writer.data()[0])
        found, gaps = around(path)
        path.write_bytes(made(GROUPS[:2]))
        assert found == around(path)[0]
        assert len(gaps) == 1
