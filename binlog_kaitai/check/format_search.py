"""Rebuilds a format description event that is too damaged to parse, and proves the result.

All of it is known except for five fields: when and by which server it was written, that server's version,
when it started, and flags. These are taken from the damaged bytes. Since bytes may have been inserted or
removed, the fields are searched for in every alignment of the two.

Proof
-----
1. The event's own checksum, if it is intact, proves all of it.
2. Otherwise the following events prove what is needed to decode them: their checksums prove the algorithm,
   their bodies the post-header lengths, and the position of the first one the length of the table.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import product
from typing import BinaryIO, NamedTuple

from binlog_kaitai.core.adapter import checksum_status
from binlog_kaitai.core.context import Context
from binlog_kaitai.core.event_types import type_name
from binlog_kaitai.core.framing import MAGIC, Frame, Framer
from binlog_kaitai.core.grammar import CHECKSUM_SIZE, EventType, Format, header_length, masks
from binlog_kaitai.core.known_formats import (
    KnownFormat,
    decodes,
    field_ranges,
    filled,
    known_formats,
    version_numbers,
)
from binlog_kaitai.errors import BinlogError, DamagedError
from binlog_kaitai.log.gaps import Gap
from binlog_kaitai.log.resync import Search

#: How many events are used to prove a table, at most how many of one type, and from how many bytes.
_MOST_EVENTS, _MOST_OF_TYPE, _MOST_BYTES = 2_000, 20, 16 << 20

#: How many offsets are tried for the second event if no checksum proves it.
_MOST_TRIES = 64

#: A longer run of bytes is not aligned with an event, since it cannot be one.
_LONGEST_START = 4 << 10

_IN_USE, _RELAY_LOG = masks.EventHeader.IS_IN_USE, masks.EventHeader.IS_RELAY_LOG

#: The fields that servers fill in, in the header and in the body.
_FREE = ("timestamp", "server_id", "flags", "server_version", "create_timestamp")


class Rebuilt(NamedTuple):
    """How a format description event was rebuilt.

    `version`: the server's version in the rebuilt event.
    `is_proven`: the checksum matches: the complete event is as the server wrote it.
    `doubtful`: fields that had to be guessed.
    """

    version: str
    is_proven: bool
    doubtful: list[str]


@dataclass(frozen=True)
class CorrectedStart:
    """The correct magic and first event of a log.

    `data`: both, as written to the new log.
    `end`: offset in the damaged log of the event after the first one.
    `damage`: the damage to them.
    `corrected`: offset of the single byte that was corrected.
    `rebuilt`: how the first event was rebuilt, if it was.
    `lost`: bytes before `end` that contained other events.
    """

    data: bytes
    end: int
    damage: BinlogError | None = None
    corrected: int | None = None
    rebuilt: Rebuilt | None = None
    lost: Gap | None = None

    @property
    def event(self) -> bytes:
        """The format description event, or that of an older version; empty if the log has no event."""
        frames = list(Framer.of_file(io.BytesIO(self.data)))
        return frames[-1].raw if frames else b""

    @property
    def context(self) -> Context:
        """The context after the first event; raises `BinlogError` if it cannot be read."""
        framer = Framer.of_file(io.BytesIO(self.data))
        context = Context(framer.binlog_version, framer.start)
        for frame in framer:
            try:
                context.observe(frame.raw, frame.header)
            except BinlogError as error:
                error.position = frame.position
                error.event_type = type_name(frame.header.type_code)
                raise
        return context


@dataclass(frozen=True)
class _Following:
    """The events after the format description: the position of the first, and what they prove."""

    start: bytes  # the bytes before them
    position: int
    is_checksummed: bool
    frames: list[Frame]
    is_relay_log: bool

    @property
    def stated_begin(self) -> int | None:
        """The original position of the first of them; None if they state no positions of this log."""
        stated = (frame for frame in self.frames if frame.header.next_position)
        frame = None if self.is_relay_log else next(stated, None)
        if frame is None:
            return None
        begin = frame.header.next_position - (frame.end_position - self.position)
        return begin if begin >= len(MAGIC) else None


def rebuild(stream: BinaryIO, damage: BinlogError | None) -> CorrectedStart | None:
    """The start of a log with a format description event that is rebuilt; None if none can be proven.

    `stream`: must be seekable; its position changes.
    `damage`: that of the event.
    """
    for following in _followings(stream):
        fitting = [known for known in known_formats() if _matches(known, following)]
        proven = (start for known in fitting for start in _proven(known, following))
        if (start := next(proven, None) or _likeliest(fitting, following)) is not None:
            return replace(start, damage=damage)
    return None


def _followings(stream: BinaryIO) -> Iterator[_Following]:
    """Candidates for the events after the format description: by checksums, else by their headers."""
    for is_checksummed in (True, False):
        layout = Format(4, header_length(4), is_checksummed)
        search, offset = Search(stream), 1
        for _ in range(1 if is_checksummed else _MOST_TRIES):
            position = search.event_or_shifted(offset, layout, has_own_positions=not is_checksummed)
            if position is None:
                break
            if (following := _following(stream, position, layout)) is not None:
                yield following
            offset = position + 1


def _following(stream: BinaryIO, position: int, layout: Format) -> _Following | None:
    if position > _LONGEST_START:
        return None
    stream.seek(position)
    frames: list[Frame] = []
    counts: Counter[int] = Counter()
    size, is_relay_log = 0, False
    with suppress(BinlogError):
        for frame in Framer(stream, 4, position, max_event_size=_MOST_BYTES):
            size += len(frame.raw)
            kind = frame.header.type_code
            if kind == EventType.format_description_event:
                is_relay_log = True
                break
            if checksum_status(frame.raw, frame.header, layout) == "bad":
                break
            if counts[kind] < _MOST_OF_TYPE:
                frames.append(frame)
                counts[kind] += 1
            if len(frames) >= _MOST_EVENTS or size > _MOST_BYTES:
                break
    if not frames:
        return None
    stream.seek(0)
    return _Following(stream.read(position), position, layout.is_checksummed, frames, is_relay_log)


def _matches(known: KnownFormat, following: _Following) -> bool:
    """Whether a table can decode all events, and leaves room for itself before them."""
    begin = following.stated_begin
    if begin is not None and begin < len(MAGIC) + _size(known):
        return False
    is_checksummed = following.is_checksummed
    return all(decodes(known, frame.raw, is_checksummed=is_checksummed) for frame in following.frames)


def _size(known: KnownFormat) -> int:
    """Length of the event that contains the table, in bytes."""
    return field_ranges(known)["checksum"][1]


class _Draft:
    """A draft of an event: its known fields, with the others taken from given bytes."""

    def __init__(self, known: KnownFormat, is_checksummed: bool) -> None:
        self.known = known
        self.ranges = field_ranges(known)
        self.size = _size(known)
        self._fixed: dict[str, int | bytes] = {
            "type_code": EventType.format_description_event,
            "len_event": self.size,
            "next_position": len(MAGIC) + self.size,
            "binlog_version": 4,
            "len_header": header_length(4),
            "len_post_headers": known.post_header_lengths,
            "checksum_algorithm": int(is_checksummed),
        }
        self._expected = filled(known, bytes(self.size), self._fixed)

    def field(self, data: bytes, name: str) -> bytes:
        begin, end = self.ranges[name]
        return data[begin:end]

    def completed(self, data: bytes, fields: dict[str, int | bytes]) -> bytes:
        """The event with all known fields, these ones, and the matching checksum."""
        return filled(self.known, data, self._fixed | fields)

    def likeness(self, data: bytes) -> int:
        """How many bytes have their expected value."""
        pairs = ((self.field(data, name), self.field(self._expected, name)) for name in self._fixed)
        return sum(a == b for actual, value in pairs for a, b in zip(actual, value, strict=True))

    def alignments(self, following: _Following) -> Iterator[tuple[bytes, int]]:
        """The damaged bytes as an event of the right size, with its end, in all likely alignments."""
        whole = len(MAGIC) + self.size
        begin = following.stated_begin
        ends = [following.position - (begin - whole) if begin is not None else following.position, whole]
        for end in dict.fromkeys(end for end in ends if 0 < end <= following.position):
            old = following.start[:end]
            excess = len(old) - whole
            for cut in range(min(len(old), whole) + 1) if excess else [whole]:
                aligned = old[:cut] + bytes(max(-excess, 0)) + old[cut + max(excess, 0) :]
                yield aligned[len(MAGIC) :], end


def _proven(known: KnownFormat, following: _Following) -> Iterator[CorrectedStart]:
    """The events with this table whose checksum equals that of the damaged one."""
    if not known.has_algorithm:
        return
    draft = _Draft(known, following.is_checksummed)
    ids = {frame.raw[slice(*draft.ranges["server_id"])] for frame in following.frames}
    first = following.frames[0].raw[slice(*draft.ranges["timestamp"])]
    tried: set[tuple[bytes, ...]] = set()
    for data, end in draft.alignments(following):
        stored = data[-CHECKSUM_SIZE:]
        fields = tuple(draft.field(data, name) for name in _FREE)
        if (*fields, stored) in tried:
            continue
        tried.add((*fields, stored))
        for values in _alternatives(fields, first, ids):
            event = draft.completed(data, dict(zip(_FREE, values, strict=True)))
            version = _version(draft.field(event, "server_version"))
            if event[-CHECKSUM_SIZE:] == stored and version is not None:
                yield _start(event, following, draft, end, Rebuilt(version, is_proven=True, doubtful=[]))


def _alternatives(damaged: tuple[bytes, ...], first: bytes, ids: set[bytes]) -> Iterator[tuple[bytes, ...]]:
    """Candidates for the free fields, if some of their bytes are damaged.

    `damaged`: their values in the damaged event.
    `first`, `ids`: the time of the first event after, and the servers that wrote it and others.
    """
    time, server, flags, version, created = damaged
    plain = (int.from_bytes(flags, "little") & ~_IN_USE).to_bytes(len(flags), "little")
    times, servers = dict.fromkeys((time, first)), dict.fromkeys((server, *ids))
    all_flags = dict.fromkeys((plain, bytes(len(flags)), _RELAY_LOG.to_bytes(len(flags), "little")))
    versions = dict.fromkeys((version, version.partition(b"\0")[0].ljust(len(version), b"\0")))
    for free in product(times, servers, all_flags, versions):
        for start in dict.fromkeys((created, bytes(len(created)), free[0])):
            yield (*free, start)


def _likeliest(fitting: list[KnownFormat], following: _Following) -> CorrectedStart | None:
    """The event whose table, then other bytes, are closest to the damaged ones; None if no bytes are left."""

    def rank(draft: _Draft, data: bytes) -> tuple[bool, bool, int]:
        is_next = following.stated_begin in (None, len(MAGIC) + draft.size)
        text = _version(draft.field(data, "server_version"))
        return is_next, text is not None and draft.known.matches(text), draft.likeness(data)

    drafts = [_Draft(known, following.is_checksummed) for known in fitting]
    aligned = [(draft, data, end) for draft in drafts for data, end in draft.alignments(following)]
    if not aligned:
        return None
    draft, data, end = max(aligned, key=lambda aligned: rank(*aligned[:2]))
    fields, doubtful = _guessed(draft, data, following)
    event = draft.completed(data, fields)
    version = _version(draft.field(event, "server_version")) or ""
    return _start(event, following, draft, end, Rebuilt(version, is_proven=False, doubtful=doubtful))


def _guessed(draft: _Draft, data: bytes, following: _Following) -> tuple[dict[str, int | bytes], list[str]]:
    """The fields that servers fill in, with the names of those that have implausible values."""
    first = following.frames[0].header
    fields = {name: draft.field(data, name) for name in _FREE}
    time, server_id, flags, created = (
        int.from_bytes(fields[name], "little")
        for name in ("timestamp", "server_id", "flags", "create_timestamp")
    )
    values: dict[str, int | bytes] = dict(fields)
    doubtful = []
    text = _version(fields["server_version"])
    if text is None or not draft.known.matches(text):
        values["server_version"] = draft.known.version.encode().ljust(len(fields["server_version"]), b"\0")
        doubtful.append("server_version")
    if not 0 < time <= first.timestamp:
        values["timestamp"] = time = first.timestamp
        doubtful.append("timestamp")
    ids = Counter(frame.header.server_id for frame in following.frames)
    if server_id not in ids:
        values["server_id"] = ids.most_common(1)[0][0]
        doubtful.append("server_id")
    # Only the first log after a server's start contains the start time, which is when the log begins.
    if created not in (0, time):
        values["create_timestamp"] = 0
        doubtful.append("create_timestamp")
    is_relay_log = following.is_relay_log or flags & ~_IN_USE == _RELAY_LOG
    values["flags"] = _RELAY_LOG if is_relay_log else 0
    return values, doubtful


def _version(field: bytes) -> str | None:
    """The server's version, if these bytes look like one and are zero-padded."""
    text, _, rest = field.partition(b"\0")
    if rest.strip(b"\0") or not text.isascii() or not text.decode().isprintable():
        return None
    return text.decode() if version_numbers(text.decode()) else None


def _start(event: bytes, following: _Following, draft: _Draft, end: int, how: Rebuilt) -> CorrectedStart:
    """The start of a log with a rebuilt event, the damaged bytes of which end at `end`.

    What is between it and the first intact event contained other events, unless the latter states that it
    follows.
    """
    is_next = following.stated_begin == len(MAGIC) + draft.size or end >= following.position
    lost = None if is_next else no_event_between(end, following.position)
    return CorrectedStart(MAGIC + event, following.position, rebuilt=how, lost=lost)


def no_event_between(start: int, stop: int) -> Gap:
    """The gap after the format description."""
    return Gap(start, stop, DamagedError("no intact event follows the format description"))
