"""Split points: where a log can be split so that both sides together read the same as the whole.

Rules
-----
1. Before a GTID event there is always a split point, because a transaction begins there.
2. In a log whose first transaction has no GTID event, there are also split points before BEGIN, and after an
   XID_EVENT, COMMIT or ROLLBACK, if a transaction begins there by the rules of `boundaries` and no GTID is
   in force.
3. In a log with GTIDs and checksums, the first split point after an offset is found without the bytes before
   it: an event a little earlier is recognized by its header and checksum (`resync`), and the events from
   there on are followed to the split point, and past it until there is no doubt. A format description between
   the start and that event is not seen: servers write one there only in relay logs (see 4).
4. Otherwise, and if there is doubt (damage, positions in headers that are not offsets in this file, the start
   of the log), the events are followed from the start of the log. Without checksums, bytes lost far before an
   event determine whether a reader of the whole log recognizes that event. The result therefore depends only
   on the log and the offset: the end of one part and the start of the next are the same.
"""

from __future__ import annotations

import io
from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from binlog_kaitai.core.context import Context
from binlog_kaitai.core.event_types import type_name
from binlog_kaitai.core.framing import read_start, read_up_to
from binlog_kaitai.core.grammar import EventType, header_length, masks, read_header
from binlog_kaitai.core.transactions import BETWEEN, GTID_TYPES
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.kernels.byte_kernels import BAD
from binlog_kaitai.log import checksum_runs as checksums
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.boundaries import (
    Boundaries,
    Phase,
    Role,
    roles_of,
    sure_beginning,
)
from binlog_kaitai.log.gaps import AroundDamage, Gap
from binlog_kaitai.log.part_reader import PartReader, context_of
from binlog_kaitai.log.resync import Search
from binlog_kaitai.sources.source import MAGIC, Part

#: Events are followed from this distance before an offset, and to this distance after a split point, in
#: bytes.
LOOK_BACK, PROOF = 1 << 20, 4 << 20

#: Offsets closer to the start of the log are reached from the start.
NEAR = 4 << 20

_BLOCK = 1 << 18

#: Maximum number of events before the first transaction.
_MAX_HEADER_EVENTS = 64

#: Distance between cached split points of a log that was followed from the start, in bytes.
_STRIDE = 1 << 20


class LogHeader(NamedTuple):
    """Properties of a log, from its first events.

    Attributes
    ----------
    format : bytes or None
        The format description event; None before version 4, or if the file ends before it.
    has_gtids : bool
        Whether the first transaction begins with a GTID event.
    is_relay_log : bool
        Whether the events, and the positions in their headers, come from another server.
    is_encrypted : bool
        Whether the following events are encrypted.
    timestamp : int
        Time when the log was created, in seconds since 1970; 0 if unknown.
    server_id : int or None
        Server that wrote the first event; None if there is none.
    """

    binlog_version: int
    format: bytes | None
    has_gtids: bool
    is_relay_log: bool
    is_encrypted: bool
    timestamp: int
    server_id: int | None = None

    @property
    def formats(self) -> tuple[bytes, ...]:
        return () if self.format is None else (self.format,)

    def context(self) -> Context:
        """The state after the format description."""
        return context_of(Part((), self.binlog_version, self.formats))


def read_log_header(stream: BinaryIO, name: str) -> LogHeader:
    """The header of a log, from a seekable stream; `name` appears in errors.

    Raises
    ------
    NotABinlogError, EncryptedError, GrammarError
        The stream does not begin with a readable log.
    """
    stream.seek(0)
    version, _ = read_start(stream)
    length = header_length(version)
    context, position = Context(version), len(MAGIC)
    described, is_encrypted, timestamp = None, False, 0
    server_id: int | None = None
    kind = -1
    for _ in range(_MAX_HEADER_EVENTS):
        stream.seek(position)
        data = read_up_to(stream, length)
        if len(data) < length:
            break
        header = read_header(data, version)
        kind = context.layout.effective_type(header.type_code)
        timestamp = timestamp or header.timestamp
        server_id = header.server_id if server_id is None else server_id
        if kind not in BETWEEN or header.len_event < length:
            break
        if kind == EventType.format_description_event:
            data += read_up_to(stream, header.len_event - length)
            if len(data) < header.len_event:
                break
            try:
                context.observe(data, header)
            except BinlogError as error:
                if described is not None:
                    break  # the event reader raises the error
                raise error.at(file=name, position=position, event_type=type_name(kind)) from error.__cause__
            described = described or data
        # A copy sent by a server is not encrypted, and the event in it is flagged as ignorable.
        is_plain = bool(header.flags & masks.EventHeader.IS_IGNORABLE)
        is_encrypted |= kind == EventType.start_encryption_event and not is_plain
        position += header.len_event
    has_gtids = kind in GTID_TYPES
    return LogHeader(version, described, has_gtids, context.is_relay_log, is_encrypted, timestamp, server_id)


class SplitPoint(NamedTuple):
    """An offset at which a log can be split, and the format descriptions in force there."""

    position: int
    formats: tuple[bytes, ...]


class Log:
    """A log in which to find split points.

    Parameters
    ----------
    stream
        A seekable stream of the whole log; its position changes.
    """

    def __init__(self, stream: BinaryIO, name: str) -> None:
        self.stream = stream
        self.name = name
        self.log_header = read_log_header(stream, name)
        self._context = self.log_header.context()
        self._context.has_exact_positions &= not self.log_header.is_relay_log
        is_checksummed = self._context.layout.is_checksummed
        self._can_resync = self._context.has_exact_positions and self.log_header.has_gtids and is_checksummed
        #: Split points found by following the log from its start, some per stretch, including the start
        #: itself.
        self.known = [SplitPoint(0, ())]

    @cached_property
    def size(self) -> int:
        """Size in bytes."""
        return self.stream.seek(0, io.SEEK_END)

    @cached_property
    def search(self) -> Search:
        """Search for complete events in the log."""
        return Search(self.stream)

    def first_split_point(self, start: int, stop: int | None = None) -> SplitPoint | None:
        """The first split point at or after `start` and before `stop`; None if there is none.

        The start of the log is a split point.
        """
        if start <= 0:
            return self.known[0]
        if self.log_header.is_encrypted:
            return None
        if self._can_resync and start >= NEAR:
            is_sure, split_point = self._by_resync(start, stop)
            if is_sure:
                return split_point
        return self._from_known(start, stop)

    def split_point_before(self, position: int) -> SplitPoint:
        """The last split point at or before an event, determined from the preceding events."""
        found = self._known_before(position)
        for split_point in self.split_points(found, position + 1):
            if split_point.position > position:
                break
            found = split_point
        return found

    def split_points(self, start: SplitPoint, stop: int | None = None) -> Iterator[SplitPoint]:
        """All split points after a given one, up to approximately `stop`, skipping damage."""
        formats, follower = start.formats, SplitPointFinder(self.log_header)
        for block in self.blocks(start, stop):
            if isinstance(block, Gap):
                follower = SplitPointFinder(self.log_header, is_sure=False)
                continue
            for position in follower.take(block):
                if position > start.position:
                    yield SplitPoint(position, formats)
            if block.is_special and block.types[0] == EventType.format_description_event:
                formats = (*formats[:1], block.raw(0))

    def blocks(self, start: SplitPoint, stop: int | None = None) -> Iterator[Block | Gap]:
        """Blocks and gaps from a split point on, up to approximately `stop`."""
        at = start.position
        self.stream.seek(at)
        context = context_of(Part((), self.log_header.binlog_version, start.formats)) if at else None
        options: dict[str, Any] = {"search": self.search, "block_size": _BLOCK}
        found = AroundDamage(self.stream, self.name, context, at, is_checked=True, **options)
        for one in found:
            yield one
            end = one.stop if isinstance(one, Gap) else int(one.end_positions[-1])
            if stop is not None and end >= stop:
                return

    def after(self, position: int) -> int | None:
        """Offset of the next complete event after a damaged one; None if there is none."""
        return self.search.after(position, self._context)

    def _by_resync(self, start: int, stop: int | None) -> tuple[bool, SplitPoint | None]:
        """Whether the result is certain, and the result."""
        at = self.search.event(max(start - LOOK_BACK, len(MAGIC)), self._context.layout)
        if at is None:
            return False, None
        formats, follower = self.log_header.formats, SplitPointFinder(self.log_header)
        part = Part(((at, None),), self.log_header.binlog_version, formats)
        reader = PartReader(self.stream, part, self.name, block_size=_BLOCK)
        split_point: SplitPoint | None = None
        try:
            for block in reader:
                if (checksums.check(block) == BAD).any() or block.is_special:
                    return False, None
                positions = follower.take(block)
                if split_point is None and (at_or_after := [one for one in positions if one >= start]):
                    split_point = SplitPoint(at_or_after[0], formats)
                proven = reader.position - PROOF
                if split_point is not None and proven >= split_point.position:
                    return True, _before(split_point, stop)
                if split_point is None and stop is not None and proven >= at and reader.position >= stop:
                    return True, None
            end = reader.end()
        except BinlogError:
            return False, None
        return end is not None and end.bytes_after == 0, _before(split_point, stop)

    def _known_before(self, start: int) -> SplitPoint:
        at = bisect_right(self.known, start, key=lambda split_point: split_point.position)
        return self.known[max(at - 1, 0)]

    def _from_known(self, start: int, stop: int | None) -> SplitPoint | None:
        for split_point in self.split_points(self._known_before(start), stop):
            if split_point.position >= self.known[-1].position + _STRIDE:
                self.known.append(split_point)
            if split_point.position >= start:
                return _before(split_point, stop)
        return None


def _before(split_point: SplitPoint | None, stop: int | None) -> SplitPoint | None:
    return split_point if split_point is None or stop is None or split_point.position < stop else None


class SplitPointFinder:
    """Finds the split points in consecutive blocks.

    Parameters
    ----------
    is_sure
        Whether the first block is the start of the log, or of a part that begins at a split point; otherwise
        it may begin inside a transaction.
    """

    def __init__(self, log_header: LogHeader, *, is_sure: bool = True) -> None:
        self._has_gtids = log_header.has_gtids
        self._boundaries = Boundaries()
        self._is_sure = is_sure
        self._last_role = Role.OUTSIDE

    def take(self, block: Block) -> list[int]:
        """Offsets of the split points before events of the next block."""
        is_cut = np.isin(block.types, list(GTID_TYPES))
        if not self._has_gtids:
            is_cut |= self._without_gtids(block)
        found: list[int] = block.positions[is_cut].tolist()
        return found

    def _without_gtids(self, block: Block) -> Any:
        found = roles_of(block)
        roles, phases = found.roles, self._boundaries.phases(found)
        before = np.concatenate(([self._last_role], roles[:-1]))
        self._last_role = Role(roles[-1])
        begins = (phases & Phase.BEGINS != 0) & ((roles == Role.BEGIN) | (before == Role.END))
        if not self._is_sure:
            first = sure_beginning(roles)
            begins[:first] = False
            self._is_sure = first < len(roles) or roles[-1] == Role.END
        return begins & (phases & Phase.IN_GTID == 0)
