"""Growing logs on a server's disk, simulated with closed ones."""

from __future__ import annotations

import itertools
import struct
from pathlib import Path
from zlib import crc32

import numpy as np
import pyarrow as pa

import binlog_kaitai as bk
from binlog_kaitai.core.grammar import header_offset, read_header
from binlog_kaitai.following.checkpoints import Checkpoint
from binlog_kaitai.following.follower import Follower
from tests.corpus_files import CORPUS

ROTATED = sorted((CORPUS / "mysql-9.7" / "rotate").glob("binlog.0*"))


def grow(source: Path, target: Path, size: int) -> None:
    """Let a copy of a log have its first bytes only, in use."""
    data = bytearray(source.read_bytes()[:size])
    if len(data) > 21:
        data[4 + 17] |= 1  # the flag that a server clears on closing the file
    target.write_bytes(data)


def with_start(path: Path, **fields: int) -> bytes:
    """A log whose first event has other values of 4 bytes in its header."""
    data = bytearray(path.read_bytes())
    first = data[4 : 4 + read_header(bytes(data[4:]), 4).len_event]
    for name, value in fields.items():
        struct.pack_into("<I", first, header_offset(name), value)
    struct.pack_into("<I", first, len(first) - 4, crc32(first[:-4]))
    data[4 : 4 + len(first)] = first
    return bytes(data)


def ends_of_transactions(path: Path) -> list[int]:
    """Where the transactions of a log end, and the events that belong to none."""
    transactions = bk.read_transactions(path).read_all()
    begins, ends = (transactions[name].to_pylist() for name in ("position", "end_position"))
    events = bk.read_events(path).read_all()
    of_transaction = np.searchsorted(begins, events["position"], "right") - 1
    is_outside = events["position"].to_numpy() >= np.array([0, *ends])[of_transaction + 1]
    return sorted({*ends, *events["end_position"].filter(pa.array(is_outside)).to_pylist()})


def steps(follower: Follower, start: Checkpoint, **limits: int) -> list[Checkpoint]:
    """All checkpoints from one on, including the first."""
    checkpoints = [start]
    while (checkpoint := follower.advance(checkpoints[-1], **limits)) != checkpoints[-1]:  # type: ignore[arg-type]
        checkpoints.append(checkpoint)
    return checkpoints


def covered(follower: Follower, checkpoints: list[Checkpoint]) -> list[tuple[str, int, int]]:
    """The ranges covered by the spans between checkpoints: file, start and end; adjacent ones are merged."""
    found: list[tuple[str, int, int]] = []
    for start, end in itertools.pairwise(checkpoints):
        for step in follower.steps(start, end):
            name = Path(step.source.name).name
            if found and found[-1][::2] == (name, step.start):
                found[-1] = (name, found[-1][1], step.end)
            else:
                found.append((name, step.start, step.end))
    return found
