"""Chooses the excerpt that shows an event type best: the smallest that contains the event in its context.

The context of an event is its transaction, or nothing if it belongs to none. Ordinary logs come first, then
logs as sent by a server (decrypted ones, network streams).
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc
from binlog_grammar.network_packet import NetworkPacket
from binlog_grammar.stream_packet import StreamPacket
from kaitaistruct import KaitaiStream

from binlog_kaitai import read_transactions
from binlog_kaitai.core.framing import MAGIC
from binlog_kaitai.core.grammar import EventType, header_offset, parsed
from binlog_kaitai.log.block_reader import BlockReader

#: Every log begins with these events, so an implementation needs them first.
BEGINNING = (
    EventType.format_description_event,
    EventType.previous_gtids_log_event,
    EventType.gtid_list_event,
)
_STREAM = "server.bin"


@dataclass(frozen=True, order=True)
class Excerpt:
    """An excerpt of a log that shows an event; the best one of a type sorts first.

    Attributes
    ----------
    rank
        0 for an ordinary log, 1 for a log as sent by a server.
    size
        Size of the excerpt in bytes.
    log
        Path of the log in the corpus; of a network stream, the server's side.
    start, end, event
        Range of the excerpt and position of the event in the log; in a stream, numbers of its events.
    """

    rank: int
    size: int
    log: str
    start: int
    end: int
    event: int

    @property
    def is_stream(self) -> bool:
        return self.log.endswith(_STREAM)


def candidates(corpus: Path) -> Iterator[tuple[int, str, Excerpt]]:
    """Type, server, and location of every event that can be shown, possibly several times."""
    for rank, pattern in enumerate(("m*-*/*/binlog.0*", "encrypted/*/plain/*.0*")):
        for path in sorted(corpus.glob(pattern)):
            for kind, excerpt in _of_log(corpus, path, rank):
                yield kind, info_of(path)["server"], excerpt
    for path in sorted(corpus.glob(f"network/*/{_STREAM}")):
        for number, raw in enumerate(stream_events(path)):
            kind = raw[header_offset("type_code")]
            if kind != EventType.rotate_event:  # created by the server at the start of a stream
                name = path.relative_to(corpus).as_posix()
                yield kind, info_of(path)["server"], Excerpt(1, len(raw), name, number, number + 1, number)


def info_of(path: Path) -> dict[str, Any]:
    """The corpus's information on the case of a log."""
    folder = next(folder for folder in path.parents if (folder / "info.json").exists())
    info: dict[str, Any] = json.loads((folder / "info.json").read_text(encoding="utf-8"))
    return info


def stream_events(path: Path) -> list[bytes]:
    """The events of a network stream; none of a semi-synchronous one, whose events have an extra header."""
    stream, messages = KaitaiStream(io.BytesIO(path.read_bytes())), list[bytes]()
    while not stream.is_eof():
        messages.append(parsed(NetworkPacket(stream)).payload)
    if "semi_sync" in path.parent.name:
        return []
    # The first message answers the registration.
    return [message[1:] for message in messages[1:] if message[0] == StreamPacket.PacketKind.event]


def _of_log(corpus: Path, path: Path, rank: int) -> Iterator[tuple[int, Excerpt]]:
    starts, ends = _transactions(path)
    formats, beginning = 0, len(MAGIC)
    name = path.relative_to(corpus).as_posix()
    with path.open("rb") as stream:
        for block in BlockReader.of_file(stream, str(path)):
            formats += int((block.types == EventType.format_description_event).sum())
            if formats > 1:
                return  # from here on, another format applies than at the start
            for row, kind in enumerate(block.types.tolist()):
                start, size = int(block.positions[row]), int(block.sizes[row])
                if kind in BEGINNING:
                    beginning += size
                    yield kind, Excerpt(rank, beginning, name, start, start, start)
                    continue
                place = int(np.searchsorted(starts, start, side="right")) - 1
                if place >= 0 and start < ends[place]:
                    first, last = int(starts[place]), int(ends[place])
                else:
                    first, last = start, start + size
                yield kind, Excerpt(rank, beginning + last - first, name, first, last, start)


def _transactions(path: Path) -> tuple[Any, Any]:
    """Range of each complete transaction of a log."""
    starts, ends = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for batch in read_transactions(str(path)):
        is_whole = pc.not_equal(batch.column("kind"), "open").to_numpy(zero_copy_only=False)
        starts.append(batch.column("position").to_numpy()[is_whole])
        ends.append(batch.column("end_position").to_numpy()[is_whole])
    return np.concatenate(starts), np.concatenate(ends)
