"""Checksums of many events at once equal those of zlib for each event."""

from __future__ import annotations

import random
import zlib
from typing import Any

import numpy as np
import pytest

from binlog_kaitai.kernels.byte_kernels import BAD, NONE, OK, PENDING
from binlog_kaitai.kernels.compile import Kernel
from binlog_kaitai.log import checksum_runs as checksums
from binlog_kaitai.log.block import Frames
from binlog_kaitai.log.crc32 import crc32_of


@pytest.fixture(params=["one by one", "in runs"], autouse=True)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checksums, "_TOO_FEW_EVENTS", 1 << 40 if request.param == "one by one" else 0)


def log_of(sizes: list[int], seed: int = 1) -> tuple[Any, Frames]:
    """Events of these sizes with their checksums, 7 bytes into an array, with more bytes after them."""
    rng = random.Random(seed)
    bodies = [rng.randbytes(size - 4) for size in sizes]
    events = b"".join(body + zlib.crc32(body).to_bytes(4, "little") for body in bodies)
    starts = 7 + np.cumsum([0, *sizes[:-1]])
    states = np.full(len(sizes), PENDING, dtype=np.uint8)
    codes = np.zeros(len(sizes), dtype=np.uint8)
    frames = Frames(starts, np.array(sizes), codes, states, codes.astype(np.bool_))
    return np.frombuffer(bytearray(7) + events + bytearray(9), dtype=np.uint8).copy(), frames


def sizes_of_all_kinds(seed: int) -> list[int]:
    rng = random.Random(seed)
    sizes = [rng.choice([19, 23, 31, 70, 70, 70, 400, 8_200]) for _ in range(3000)]
    sizes[rng.randrange(3000)] = 3 * checksums._RUN
    sizes[rng.randrange(3000)] = checksums._RUN
    return sizes


def test_intact_events_match() -> None:
    for sizes in ([19], [70] * 5000, [checksums._RUN + 1] * 3, sizes_of_all_kinds(1)):
        data, frames = log_of(sizes)
        checksums.settle(data, frames)
        assert (frames.checksums == OK).all()


@pytest.mark.parametrize("seed", range(4))
def test_each_damaged_event_is_named(seed: int) -> None:
    rng = random.Random(seed)
    data, frames = log_of(sizes_of_all_kinds(seed), seed)
    damaged = {0, 2999} if seed == 0 else set(rng.sample(range(3000), 5))
    for row in damaged:
        at = int(frames.starts[row]) + rng.randrange(int(frames.sizes[row]))
        data[at] ^= 1 << rng.randrange(8)
    checksums.settle(data, frames)
    assert set(np.flatnonzero(frames.checksums == BAD).tolist()) == damaged


def test_any_single_bit_of_a_run_is_found() -> None:
    data, frames = log_of([30, 45, 60, 30])
    for index in range(7, 7 + 165):
        for bit in range(8):
            frames.checksums[:] = PENDING
            data[index] ^= 1 << bit
            checksums.settle(data, frames)
            row = np.searchsorted(frames.starts, index, side="right") - 1
            assert np.flatnonzero(frames.checksums == BAD).tolist() == [row]
            data[index] ^= 1 << bit


def test_only_pending_checksums_are_computed() -> None:
    data, frames = log_of([50] * 200)
    data[:] ^= 0xFF
    frames.checksums[10:50] = NONE
    frames.checksums[120:] = OK
    checksums.settle(data, frames)
    assert frames.checksums.tolist() == [BAD] * 10 + [NONE] * 40 + [BAD] * 70 + [OK] * 80


@pytest.mark.parametrize("mode", ["plain", "compiled"])
@pytest.mark.parametrize("longest", [40, 4096])
def test_crc32_of_ranges(mode: str, longest: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(2)
    raw = rng.randbytes(20_000)
    data = np.frombuffer(raw, dtype=np.uint8)
    starts = np.array([rng.randrange(20_000 - longest) for _ in range(200)])
    ends = starts + np.array([rng.randrange(longest) for _ in range(200)])
    monkeypatch.setattr(Kernel, "run", property(lambda kernel: getattr(kernel, mode)))
    pairs = zip(starts.tolist(), ends.tolist(), strict=True)
    assert crc32_of(data, starts, ends).tolist() == [zlib.crc32(raw[one:end]) for one, end in pairs]
