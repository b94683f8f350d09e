"""Which part of which log shows an event type best: the smallest that still has the event in its context.

The context of an event is its transaction, or nothing where it belongs to none. Ordinary logs come first,
then logs as a server sends them (decrypted ones, network streams).
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
from binlog_kaitai.columns.blocks.reader import BlockReader
from binlog_kaitai.core.grammar import EventType, header_offset
from binlog_kaitai.sources.source import MAGIC

#: Every log begins with these; an implementation meets them first.
BEGINNING = (
    EventType.format_description_event,
    EventType.previous_gtids_log_event,
    EventType.gtid_list_event,
)
_STREAM = "server.bin"


@dataclass(frozen=True, order=True)
class Excerpt:
    """A part of a log that shows an event; the best one of a type sorts first.

    Attributes
    ----------
    rank
        0 for an ordinary log, 1 for one as a server sends it.
    size
        Bytes of the excerpt.
    log
        The log, below the corpus; of a network stream, what the server sent.
    start, end, event
        Where in the log the excerpt begins and ends and the event stands; of a stream, numbers of its events.
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
    """Type, server, and place of every event that can be shown, several times where there are several."""
    for rank, pattern in enumerate(("m*-*/*/binlog.0*", "encrypted/*/plain/*.0*")):
        for path in sorted(corpus.glob(pattern)):
            for kind, excerpt in _of_log(corpus, path, rank):
                yield kind, info_of(path)["server"], excerpt
    for path in sorted(corpus.glob(f"network/*/{_STREAM}")):
        for number, raw in enumerate(stream_events(path)):
            kind = raw[header_offset("type_code")]
            if kind != EventType.rotate_event:  # made up by the server at the start of a stream
                name = path.relative_to(corpus).as_posix()
                yield kind, info_of(path)["server"], Excerpt(1, len(raw), name, number, number + 1, number)


def info_of(path: Path) -> dict[str, Any]:
    """What the corpus says of the case to which a log belongs."""
    folder = next(folder for folder in path.parents if (folder / "info.json").exists())
    info: dict[str, Any] = json.loads((folder / "info.json").read_text(encoding="utf-8"))
    return info


def stream_events(path: Path) -> list[bytes]:
    """The events of a network stream; none of a semi-synchronous one, which have a header of their own."""
    stream, messages = KaitaiStream(io.BytesIO(path.read_bytes())), list[bytes]()
    while not stream.is_eof():
        messages.append(NetworkPacket(stream).payload)
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
                return  # from here on another format holds than the one at the start
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
    """Where the complete transactions of a log begin and end."""
    starts, ends = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for batch in read_transactions(str(path)):
        is_whole = pc.not_equal(batch.column("kind"), "open").to_numpy(zero_copy_only=False)
        starts.append(batch.column("position").to_numpy()[is_whole])
        ends.append(batch.column("end_position").to_numpy()[is_whole])
    return np.concatenate(starts), np.concatenate(ends)
