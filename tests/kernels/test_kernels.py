"""Kernels: equal results compiled and as Python, and no access outside their arrays."""

from __future__ import annotations

import random
import zlib
from typing import Any

import numpy as np
import pytest

from binlog_kaitai.kernels import byte_kernels, groups
from binlog_kaitai.log import block, block_reader, event_gtids, gather
from binlog_kaitai.text import text_kernels

NOTHING = np.zeros(256, dtype=np.uint8)


def data(size: int, seed: int = 1) -> Any:
    return np.random.default_rng(seed).integers(0, 256, size, dtype=np.uint8)


def log_of(sizes: list[int], seed: int = 1) -> Any:
    """Consecutive events of these sizes, with valid checksums."""
    events = []
    for size in sizes:
        event = data(size, seed)
        event[9:13] = np.frombuffer(size.to_bytes(4, "little"), dtype=np.uint8)
        event[-4:] = np.frombuffer(zlib.crc32(event[:-4]).to_bytes(4, "little"), dtype=np.uint8)
        events.append(event)
    return np.concatenate(events)


def frame(run: Any, log: Any, *, room: int = 100, roles: Any = NOTHING, limit: int = 1 << 32) -> Any:
    out, none = block_reader.room_for(room), block_reader.KnownMaps.none(are_compared=False)
    rules = block_reader.FrameRules(roles, np.array([19, 4, 0]))
    found = run(log, 0, len(log), rules, limit, none, out)
    return tuple(int(value) for value in found), [out[column][: found[0]].tolist() for column in (0, 1, 2, 4)]


@pytest.fixture(params=["plain", "compiled"])
def mode(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_frame_finds_events(mode: str) -> None:
    sizes = [23, 24, 40, 999, 1000, 2000, 31]
    log = log_of(sizes)
    found, (starts, lengths, codes, _) = frame(getattr(block_reader.frame, mode), log)
    assert found == (len(sizes), len(log), block_reader.MORE)
    assert lengths == sizes
    assert starts == [sum(sizes[:index]) for index in range(len(sizes))]
    assert codes == [log[start + 4] for start in starts]


def test_frame_stops(mode: str) -> None:
    run = getattr(block_reader.frame, mode)
    log = log_of([30, 40, 50])
    assert frame(run, log[:-1])[0] == (2, 70, block_reader.MORE)
    assert frame(run, log, room=1)[0] == (1, 30, block_reader.FULL)
    assert frame(run, log, limit=45)[0] == (2, 70, block_reader.IMPOSSIBLE)
    roles = NOTHING.copy()
    roles[log[34]] = block_reader._STOP
    assert frame(run, log, roles=roles)[0][1:] in [
        (30, block_reader.SPECIAL),
        (0, block_reader.SPECIAL),
    ]
    log[39:43] = 0
    assert frame(run, log)[0] == (1, 30, block_reader.IMPOSSIBLE)


def test_frame_stops_where_another_log_begins(mode: str) -> None:
    run = getattr(block_reader.frame, mode)
    log = log_of([30, 40, 50])
    log[30:34] = list(b"\xfebin")
    log[43:47] = list((90).to_bytes(4, "little"))
    for kind, position, why in (
        (15, 94, block_reader.IMPOSSIBLE),
        (1, 94, block_reader.IMPOSSIBLE),
        (1, 4, block_reader.IMPOSSIBLE),
        (2, 94, block_reader.MORE),
        (1, 90, block_reader.MORE),
        (1, 0, block_reader.MORE),
    ):
        log[38], log[47], log[48] = kind, position, 0
        assert frame(run, log)[0] == ((1, 30, why) if why == block_reader.IMPOSSIBLE else (3, 120, why))


def test_frame_is_the_same_both_ways_on_any_bytes() -> None:
    rng = random.Random(7)
    for seed in range(60):
        log = log_of([rng.choice([19, 23, 60, 300]) for _ in range(20)], seed)
        for _ in range(rng.randrange(4)):
            log[rng.randrange(len(log))] = rng.randrange(256)
        cut = log[: rng.randrange(len(log))]
        assert frame(block_reader.frame.plain, cut) == frame(block_reader.frame.compiled, cut)


@pytest.mark.parametrize("width", [1, 2, 3, 4, 6, 8])
@pytest.mark.parametrize("order", ["little", "big"])
def test_numbers_of_all_widths(mode: str, width: int, order: Any) -> None:
    bytes_ = data(100)
    positions = np.array([0, 17, 100 - width, 101 - width, -1, 1 << 62])
    out = np.empty(len(positions), dtype=np.uint64)
    getattr(byte_kernels.read_numbers, mode)(bytes_, positions - 5, 5, width, order == "big", out)
    inside = [int.from_bytes(bytes_[place : place + width].tobytes(), order) for place in positions[:3]]
    assert out.tolist() == [*inside, 0, 0, 0]


def test_events_by_type_with_the_bodies_between_header_and_checksum(mode: str) -> None:
    starts, sizes = np.array([0, 30, 70, 90]), np.array([30, 40, 20, 60])
    checksums = np.array(
        [byte_kernels.NONE, byte_kernels.OK, byte_kernels.PENDING, byte_kernels.BAD], dtype=np.uint8
    )
    types = np.array([7, 2, 255, 2], dtype=np.uint8)
    counts, (order, offsets, lengths) = np.full(256, 9), np.empty((3, 4), dtype=np.int64)
    events = block.Frames(starts, sizes, types, checksums, np.zeros(4, dtype=np.bool_))
    getattr(block.divide, mode)(events, types, 19, 4, counts, order, offsets, lengths)
    assert counts.tolist() == np.bincount(types, minlength=256).tolist()
    assert order.tolist() == [1, 3, 0, 2]
    assert offsets.tolist() == [49, 109, 19, 89]
    assert lengths.tolist() == [17, 37, 11, -3]


def test_frame_finds_begin_and_commit(mode: str) -> None:
    roles = np.full(256, block_reader._STATEMENT, dtype=np.uint8)
    texts = [b"a\0BEGIN", b"b\0COMMIT", b"\0BEGIN!", b"BEGIN", b"\0BEGIN"]
    log = log_of([23 + len(text) for text in texts])
    end = 0
    for text in texts:
        end += 23 + len(text)
        log[end - 4 - len(text) : end - 4] = list(text)
    assert frame(getattr(block_reader.frame, mode), log, roles=roles)[1][3] == [
        True,
        True,
        False,
        False,
        True,
    ]
    assert not any(frame(getattr(block_reader.frame, mode), log)[1][3])


def test_the_last_marker_of_each_event(mode: str) -> None:
    types, is_marker = np.array([5, 3, 4, 3, 3, 5], dtype=np.uint8), np.arange(256) == 3
    positions, latest = np.empty(6, dtype=np.int64), np.empty(6, dtype=np.int64)
    number = getattr(event_gtids.number_markers, mode)
    assert number(types, is_marker, np.zeros(0, dtype=np.int64), positions, latest) == 3
    assert positions[:3].tolist() == [1, 3, 4]
    assert latest.tolist() == [-1, 0, 0, 1, 2, 2]
    assert number(types, is_marker, np.array([2, 3]), positions, latest) == 4
    assert positions[:4].tolist() == [1, 2, 3, 4]
    assert latest.tolist() == [-1, 0, 1, 2, 3, 3]


def test_ranges_outside_are_left_out(mode: str) -> None:
    bytes_ = data(50)
    starts = np.array([0, 40, 45, -3, 10])
    lengths = np.array([5, 10, 10, 2, 3])
    out = np.zeros(30, dtype=np.uint8)
    getattr(byte_kernels.copy_ranges, mode)(bytes_, starts, lengths, np.array([0, 5, 15, 25, 29]), out)
    assert out[:15].tolist() == bytes_[:5].tolist() + bytes_[40:].tolist()
    assert not out[15:].any()


def test_lengths_to_zero(mode: str) -> None:
    bytes_ = np.frombuffer(b"abc\0def\0\0gh", dtype=np.uint8).copy()
    out = np.empty(5, dtype=np.int64)
    starts, lengths = np.array([0, 4, 7, 9, 9]), np.array([7, 3, 2, 2, 99])
    getattr(byte_kernels.lengths_to_zero, mode)(bytes_, starts, lengths, out)
    assert out.tolist() == [3, 3, 0, 2, 0]


def test_numbers_as_text(mode: str) -> None:
    for value in (
        0,
        7,
        -7,
        10,
        99,
        100,
        256,
        1000,
        9999,
        10_000,
        123_456_789,
        10**18,
        2**63 - 1,
        -(2**63) + 1,
    ):
        out = np.zeros(24, dtype=np.uint8)
        end = getattr(text_kernels.put_number, mode)(value, out, 2)
        assert bytes(out[2:end]).decode() == str(value)


def test_assemble_refuses_pieces_outside_and_too_little_room(mode: str) -> None:
    run = getattr(text_kernels.assemble, mode)
    one, zero = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    pool, bytes_ = np.frombuffer(b"abc", dtype=np.uint8), data(10)

    def assemble(piece: list[int], first: int, second: int, room: int = 50) -> int:
        limits, cells = np.array([0, 1]), (np.array([first]), np.array([second]))
        out, ends = np.zeros(room, dtype=np.uint8), np.zeros(1, dtype=np.int64)
        lines = text_kernels.Lines(one, zero, zero)
        parts = text_kernels.LinePieces(limits, np.array([piece]), *cells)
        return int(run(bytes_, pool, lines, parts, out, ends))

    text, number, constant = text_kernels.TEXT, text_kernels.NUMBER, text_kernels.CONSTANT
    assert assemble([text, 0, 0], 2, 5) == 7
    assert assemble([text, 0, 0], 2, 9) == -2
    assert assemble([text, 0, 0], -1, 3) == 3
    assert assemble([text, 0, 0], -2, 3) == -2
    assert assemble([text, 0, 0], 2, -5) == -2
    assert assemble([constant, 1, 3], 0, 0) == -2
    assert assemble([text, 0, 0], 2, 5, room=6) == -1
    assert assemble([number, 0, 0], 12345, 0) == 5
    assert assemble([number, 0, 0], 12345, 0, room=19) == -1


def test_drifts_of_positions(mode: str) -> None:
    log = log_of([30] * 6)
    starts, sizes = np.arange(6) * 30, np.full(6, 30)
    ends = [4 + 30, 4 + 60, 4 + 90 + 6, 4 + 120 + 6, 0, 4 + 180 + 9]
    for start, end in zip(starts.tolist(), ends, strict=True):
        log[start + 13 : start + 17] = np.frombuffer(end.to_bytes(4, "little"), dtype=np.uint8)
    out = np.zeros(6, dtype=np.int64)
    count, drift = getattr(block_reader.find_drifts, mode)(log, starts, sizes, 13, 4, 0, out)
    assert (out[:count].tolist(), drift) == ([2, 5], 9)
    count, drift = getattr(block_reader.find_drifts, mode)(log, starts, sizes, 13, 4, 6, out[:1])
    assert (out[:count].tolist(), drift) == ([2], 9)


def test_crc32_of_runs(mode: str) -> None:
    table = np.array([1, 2, 4, 8], dtype=np.uint32)
    starts, ends = np.array([5, 10, 12, 13, 20, 30]), np.array([10, 12, 13, 14, 22, 90])
    limits, sums = np.empty(7, dtype=np.int64), np.empty(6, dtype=np.uint32)
    count = getattr(byte_kernels.crc32s_of_runs, mode)(table, starts, ends - starts, limits, sums)
    assert limits[: count + 1].tolist() == [0, 3, 4, 5, 6]
    assert sums[:count].tolist() == [8 | 2 | 1, 1, 1, 1]


def test_same_ranges(mode: str) -> None:
    bytes_ = np.frombuffer(b"0123456789ab" * 2, dtype=np.uint8)
    found = np.empty(8, dtype=np.bool_)
    starts, others = np.array([0, 0, 1, 3, 3, -1, 12, 5]), np.array([12, 12, 12, 15, 15, 11, 0, 5])
    lengths = np.array([12, 0, 1, 9, 10, 1, -1, 19])
    getattr(byte_kernels.same_ranges, mode)(bytes_, starts, others, lengths, found)
    assert found.tolist() == [True, True, False, True, False, False, False, True]


def test_hash_ranges(mode: str) -> None:
    bytes_ = np.frombuffer(b"0123456789ab" * 2, dtype=np.uint8)
    found = np.empty(6, dtype=np.uint64)
    starts, ends = np.array([0, 12, 0, 12, -1, 20]), np.array([12, 24, 11, 23, 3, 25])
    getattr(byte_kernels.hash_ranges, mode)(bytes_, starts, ends, found)
    first, second, third, fourth, *outside = found.tolist()
    assert first == second != third == fourth
    assert outside == [0, 0]


def test_digest_ranges(mode: str) -> None:
    """Digests go on from range to range; the sizes of ranges, and absent ones, count."""
    bytes_ = np.frombuffer(b"0123456789ab" * 2, dtype=np.uint8)
    run = getattr(byte_kernels.digest_ranges, mode)

    def digest(*ranges: tuple[int, int]) -> int:
        found = np.zeros(1, dtype=np.uint64)
        for start, end in ranges:
            run(bytes_, np.array([start]), np.array([end]), found)
        return int(found[0])

    assert digest((0, 12), (3, 5)) == digest((12, 24), (15, 17)) == 0x04B9BC23A9D6C085
    others = [
        digest(*ranges)
        for ranges in (
            [(0, 12)], [(0, 11)], [(0, 6), (6, 12)], [(0, 5), (5, 12)], [(5, 12), (0, 5)], [(0, 0)],
            [(-1, 3)], [(0, 0), (0, 0)], [(20, 25), (0, 0)],
        )
    ]  # fmt: skip
    assert len({one >> 32 for one in others}) == len({one & 0xFFFFFFFF for one in others}) == len(others)
    run(bytes_, np.arange(24), np.arange(24) + 1, distinct := np.zeros(24, dtype=np.uint64))
    assert len(set(distinct.tolist())) == 12


def test_are_same() -> None:
    run = groups.are_same
    bytes_ = np.frombuffer(b"0123456789ab" * 3, dtype=np.uint8)
    assert run(bytes_, np.array([0, 12, 24]), 12)
    assert run(bytes_, np.array([3, 27]), 9)
    assert not run(bytes_, np.array([0, 12, 25]), 11)
    assert not run(bytes_, np.array([3, 27]), 10)
    assert not run(bytes_, np.array([-1, 11]), 1)
    for length in range(1, 12):
        other = bytes_.copy()
        other[24 + length - 1] ^= 1
        assert not run(other, np.array([0, 12, 24]), length)
        assert run(other, np.array([0, 12, 24]), length - 1)


def test_ranges_one_after_the_other(mode: str) -> None:
    bytes_ = data(100)
    starts, lengths = np.array([3, 90, 0, 95, 40, -1]), np.array([40, 10, 0, 6, 17, 2])
    offsets, out = np.empty(7, dtype=np.int64), np.full(75, 7, dtype=np.uint8)
    getattr(text_kernels.join_ranges, mode)(bytes_, starts, lengths, offsets, out)
    assert offsets.tolist() == [0, 40, 50, 50, 56, 73, 75]
    parts = [bytes_[3:43], bytes_[90:], np.zeros(6, np.uint8), bytes_[40:57], np.zeros(2, np.uint8)]
    assert out.tolist() == np.concatenate(parts).tolist()


@pytest.mark.parametrize("size", [0, 1, 15, 16, 17, 40])
def test_copies_stay_in_their_array(mode: str, size: int) -> None:
    bytes_ = data(size + 3)
    out = np.zeros(size + 5, dtype=np.uint8)
    getattr(text_kernels.copy, mode)(bytes_, 3, size, out, 5)
    assert out[5:].tolist() == bytes_[3:].tolist()


def test_numbers_in_decimal(mode: str) -> None:
    powers = [10**power for power in range(19)]
    numbers = [*powers, *(power - 1 for power in powers), 2**63 - 1, 123_456_789]
    for number in [*numbers, *(-number for number in numbers)]:
        out = np.zeros(24, dtype=np.uint8)
        end = getattr(text_kernels.put_number, mode)(np.int64(number), out, 2)
        assert bytes(out[2:end]) == str(number).encode()
        assert not out[end:].any()


def test_many_numbers_of_events(mode: str) -> None:
    bytes_ = data(3000)
    starts = np.array([*range(0, 2990, 9), 2999, -7, 1 << 62])
    fields = [(0, 4, "little"), (5, 1, "little"), (7, 6, "big"), (2, 8, "big"), (3, 3, "little")]
    out = np.empty((len(fields), len(starts)), dtype=np.uint64)
    is_same = np.ones(len(fields), dtype=np.bool_)
    positions = np.array([(place, width, order == "big") for place, width, order in fields], dtype=np.int64)
    getattr(gather.read_fixed, mode)(bytes_, starts, positions, out, is_same)
    for (place, width, order), found in zip(fields, out.tolist(), strict=True):
        assert found == [number_at(bytes_, start + place, width, order) for start in starts.tolist()]
    assert not is_same.any()


def number_at(bytes_: Any, place: int, width: int, order: Any) -> int:
    is_inside = 0 <= place <= len(bytes_) - width
    return int.from_bytes(bytes_[place : place + width].tobytes(), order) if is_inside else 0


def test_numbers_that_are_the_same_in_all_events(mode: str) -> None:
    events = np.tile(data(20), 1000)
    events[20 * 900 + 4] += 1
    starts = np.arange(0, len(events), 20)
    positions = np.array([(0, 4, 0), (4, 2, 0), (8, 8, 1)], dtype=np.int64)
    out, is_same = np.empty((3, len(starts)), dtype=np.uint64), np.zeros(3, dtype=np.bool_)
    getattr(gather.read_fixed, mode)(events, starts, positions, out, is_same)
    assert is_same.tolist() == [True, False, True]
