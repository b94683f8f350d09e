"""Where a log can be cut, so that either side reads by itself as if both were read together.

The rule
--------
1. A cut lies before a GTID event: whatever came before it, a transaction begins there.
2. In a log whose first transaction has no GTID event, a cut also lies before BEGIN, and after an XID_EVENT,
   COMMIT or ROLLBACK, if a transaction begins there by the rule of `boundaries` and no GTID is in force.
3. In a log with GTIDs and checksums the first cut from any offset on is found without what lies before: a
   little earlier an event is found by its header and checksum (`resync`), and the events from there on are
   followed to the cut, and past it until there is no doubt.
4. Elsewhere, and where there is doubt (damage, positions in headers that are not the file's own, the start of
   the log), the events are followed from the start of the log. Without checksums, bytes lost far ahead of an
   event decide whether a reader of the whole log meets that event at all. So the answer depends on the log
   and the offset alone: the end of one part and the start of the next are the same.
"""

from __future__ import annotations

import io
from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from binlog_kaitai.columns.blocks import checksums
from binlog_kaitai.columns.blocks.block import Block
from binlog_kaitai.columns.blocks.gaps import AroundDamage, Gap
from binlog_kaitai.columns.blocks.part_reader import PartReader, context_of
from binlog_kaitai.columns.blocks.resync import Search
from binlog_kaitai.columns.kernel.byte_kernels import BAD
from binlog_kaitai.columns.transactions.boundaries import (
    Boundaries,
    Phase,
    Role,
    roles_of,
    sure_beginning,
)
from binlog_kaitai.core.context import Context
from binlog_kaitai.core.event_types import type_name
from binlog_kaitai.core.framing import read_start, read_up_to
from binlog_kaitai.core.grammar import EventType, header_length, masks, read_header
from binlog_kaitai.core.transactions import BETWEEN, GTID_TYPES
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.sources.source import MAGIC, Part

#: Events are followed from this far before an offset, and this far behind a cut, in bytes.
LOOK_BACK, PROOF = 1 << 20, 4 << 20

#: Offsets as near to the start of the log are reached from there.
NEAR = 4 << 20

_BLOCK = 1 << 18

#: The events that stand before the first transaction are a few.
_MAX_HEAD_EVENTS = 64

#: A known cut is kept for each of so many bytes of a log that has been followed.
_STRIDE = 1 << 20


class LogHeader(NamedTuple):
    """What the start of a log tells of all of it.

    Attributes
    ----------
    format : bytes or None
        The format description event; None before version 4, or where the file ends before.
    has_gtids : bool
        The first transaction begins with a GTID event.
    is_relay_log : bool
        Its events are another server's, and so are the positions in their headers.
    is_encrypted : bool
        What follows is encrypted.
    timestamp : int
        When the log was begun, in seconds since 1970; 0 where that is not known.
    server_id : int or None
        The server that wrote the first event; None where there is none.
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
        """What is known behind the format description."""
        return context_of(Part((), self.binlog_version, self.formats))


def read_log_header(stream: BinaryIO, name: str) -> LogHeader:
    """The head of a log that errors call by this name, from a stream that can seek.

    Raises
    ------
    NotABinlogError, EncryptedError, GrammarError
        The first bytes are not those of a readable log.
    """
    stream.seek(0)
    version, _ = read_start(stream)
    length = header_length(version)
    context, position = Context(version), len(MAGIC)
    described, is_encrypted, timestamp = None, False, 0
    server_id: int | None = None
    kind = -1
    for _ in range(_MAX_HEAD_EVENTS):
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
                    break  # the reader of the events raises the error
                raise error.at(file=name, position=position, event_type=type_name(kind)) from error.__cause__
            described = described or data
        # A copy that a server sent is plain, and the event in it marked as one to skip.
        is_plain = bool(header.flags & masks.EventHeader.IS_IGNORABLE)
        is_encrypted |= kind == EventType.start_encryption_event and not is_plain
        position += header.len_event
    has_gtids = kind in GTID_TYPES
    return LogHeader(version, described, has_gtids, context.is_relay_log, is_encrypted, timestamp, server_id)


class SplitPoint(NamedTuple):
    """A place where a log can be cut, and the format descriptions in force there."""

    position: int
    formats: tuple[bytes, ...]


class Log:
    """One log, for finding cuts in it.

    Parameters
    ----------
    stream
        A stream of the whole log that can seek; its position changes.
    """

    def __init__(self, stream: BinaryIO, name: str) -> None:
        self.stream = stream
        self.name = name
        self.head = read_log_header(stream, name)
        self._context = self.head.context()
        self._context.has_exact_positions &= not self.head.is_relay_log
        is_checksummed = self._context.layout.is_checksummed
        self._can_resync = self._context.has_exact_positions and self.head.has_gtids and is_checksummed
        #: Cuts that following from the start has found, some for each stretch; the start itself is one.
        self.known = [SplitPoint(0, ())]

    @cached_property
    def size(self) -> int:
        """How many bytes it has."""
        return self.stream.seek(0, io.SEEK_END)

    @cached_property
    def search(self) -> Search:
        """Finds whole events in it."""
        return Search(self.stream)

    def first_split_point(self, start: int, stop: int | None = None) -> SplitPoint | None:
        """The first cut at or behind `start` and before `stop`; None if there is none.

        The start of the log is one.
        """
        if start <= 0:
            return self.known[0]
        if self.head.is_encrypted:
            return None
        if self._can_resync and start >= NEAR:
            is_sure, cut = self._by_resync(start, stop)
            if is_sure:
                return cut
        return self._from_known(start, stop)

    def cut_before(self, position: int) -> SplitPoint:
        """The last cut at or before an event's offset, by the events before it."""
        found = self._known_before(position)
        for cut in self.split_points(found, position + 1):
            if cut.position > position:
                break
            found = cut
        return found

    def split_points(self, start: SplitPoint, stop: int | None = None) -> Iterator[SplitPoint]:
        """All cuts behind one, about up to `stop`; damage is passed over."""
        formats, follower = start.formats, SplitPointFinder(self.head)
        for block in self.blocks(start, stop):
            if isinstance(block, Gap):
                follower = SplitPointFinder(self.head, is_sure=False)
                continue
            for position in follower.take(block):
                if position > start.position:
                    yield SplitPoint(position, formats)
            if block.is_special and block.types[0] == EventType.format_description_event:
                formats = (*formats[:1], block.raw(0))

    def blocks(self, start: SplitPoint, stop: int | None = None) -> Iterator[Block | Gap]:
        """The events from a cut on that can be framed, about up to `stop`, and what cannot."""
        at = start.position
        self.stream.seek(at)
        context = context_of(Part((), self.head.binlog_version, start.formats)) if at else None
        options: dict[str, Any] = {"search": self.search, "block_size": _BLOCK, "prefetches": False}
        found = AroundDamage(self.stream, self.name, context, at, is_checked=True, **options)
        for one in found:
            yield one
            end = one.stop if isinstance(one, Gap) else int(one.end_positions[-1])
            if stop is not None and end >= stop:
                return

    def after(self, position: int) -> int | None:
        """Where the next whole event after a damaged one begins; None if there is none."""
        return self.search.after(position, self._context)

    def _by_resync(self, start: int, stop: int | None) -> tuple[bool, SplitPoint | None]:
        """Whether the answer is sure, and the answer."""
        at = self.search.event(max(start - LOOK_BACK, len(MAGIC)), self._context.layout)
        if at is None:
            return False, None
        formats, follower = self.head.formats, SplitPointFinder(self.head)
        part = Part(((at, None),), self.head.binlog_version, formats)
        reader = PartReader(self.stream, part, self.name, block_size=_BLOCK)
        cut: SplitPoint | None = None
        try:
            for block in reader:
                if (checksums.check(block) == BAD).any() or block.is_special:
                    return False, None
                positions = follower.take(block)
                if cut is None and (at_or_after := [one for one in positions if one >= start]):
                    cut = SplitPoint(at_or_after[0], formats)
                proven = reader.position - PROOF
                if cut is not None and proven >= cut.position:
                    return True, _before(cut, stop)
                if cut is None and stop is not None and proven >= at and reader.position >= stop:
                    return True, None
            end = reader.end()
        except BinlogError:
            return False, None
        return end is not None and end.bytes_after == 0, _before(cut, stop)

    def _known_before(self, start: int) -> SplitPoint:
        at = bisect_right(self.known, start, key=lambda cut: cut.position)
        return self.known[max(at - 1, 0)]

    def _from_known(self, start: int, stop: int | None) -> SplitPoint | None:
        for cut in self.split_points(self._known_before(start), stop):
            if cut.position >= self.known[-1].position + _STRIDE:
                self.known.append(cut)
            if cut.position >= start:
                return _before(cut, stop)
        return None


def _before(cut: SplitPoint | None, stop: int | None) -> SplitPoint | None:
    return cut if cut is None or stop is None or cut.position < stop else None


class SplitPointFinder:
    """Finds the cuts in one block after another.

    Parameters
    ----------
    is_sure
        The first block is the start of the log, or of a part that begins at a cut; else it may begin inside a
        transaction.
    """

    def __init__(self, head: LogHeader, *, is_sure: bool = True) -> None:
        self._has_gtids = head.has_gtids
        self._boundaries = Boundaries()
        self._is_sure = is_sure
        self._last_role = Role.OUTSIDE

    def take(self, block: Block) -> list[int]:
        """Offsets of the cuts before events of the next block."""
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
