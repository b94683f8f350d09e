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
   on the log and the offset: the end of one span and the start of the next are the same.
"""

from __future__ import annotations

import io
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from binlog_kaitai.core.framing import MAGIC
from binlog_kaitai.core.grammar import EventType
from binlog_kaitai.core.spans import LogHeader, Span, read_log_header
from binlog_kaitai.core.transactions import GTID_TYPES
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.kernels.byte_kernels import BAD
from binlog_kaitai.log import checksum_runs as checksums
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.boundaries import Boundaries, roles_of, sure_beginning
from binlog_kaitai.log.gaps import AroundDamage, Gap
from binlog_kaitai.log.resync import Search
from binlog_kaitai.log.span_reader import SpanReader
from binlog_kaitai.log.transaction_roles import Phase, Role

#: Events are followed from this distance before an offset, and to this distance after a split point, in
#: bytes.
LOOK_BACK, PROOF = 1 << 20, 4 << 20

#: Offsets closer to the start of the log are reached from the start.
NEAR = 4 << 20

_BLOCK = 1 << 18

#: Distance between cached split points of a log that was followed from the start, in bytes.
_STRIDE = 1 << 20


class Log:
    """A log in which to find split points, each returned as the rest of the log from there on.

    `stream`: a seekable stream of the whole log; its position changes.
    """

    def __init__(self, stream: BinaryIO, name: str) -> None:
        self.stream = stream
        self.name = name
        stream.seek(0)
        self.log_header = read_log_header(stream, name, reads_gtids=False)
        self._context = self.log_header.context()
        self._context.has_exact_positions &= not self.log_header.is_relay_log
        is_checksummed = self._context.layout.is_checksummed
        self._can_resync = self._context.has_exact_positions and self.log_header.has_gtids and is_checksummed
        #: Split points found by following the log from its start, some per stretch, including the start
        #: itself.
        self.known = [Span()]

    @cached_property
    def size(self) -> int:
        """Size in bytes."""
        return self.stream.seek(0, io.SEEK_END)

    @cached_property
    def search(self) -> Search:
        """Search for complete events in the log."""
        return Search(self.stream)

    def first_split_point(self, start: int, stop: int | None = None) -> Span | None:
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

    def split_point_before(self, position: int) -> Span:
        """The last split point at or before an event, determined from the preceding events."""
        last = self._known_before(position)
        for rest in self.split_points(last, position + 1):
            if rest.start > position:
                break
            last = rest
        return last

    def split_points(self, span: Span, stop: int | None = None) -> Iterator[Span]:
        """All split points after the start of a span, up to approximately `stop`, skipping damage."""
        formats, finder = span.formats, SplitPointFinder(self.log_header)
        for block in self.blocks(span, stop):
            if isinstance(block, Gap):
                finder = SplitPointFinder(self.log_header, is_sure=False)
                continue
            for position in finder.positions(block):
                if position > span.start:
                    yield replace(self.log_header.span(position), formats=formats)
            if block.is_special and block.types[0] == EventType.format_description_event:
                formats = (*formats[:1], block.raw(0))

    def blocks(self, span: Span, stop: int | None = None) -> Iterator[Block | Gap]:
        """Blocks and gaps from the start of a span on, up to approximately `stop`."""
        self.stream.seek(span.start)
        context = span.context() if span.start else None
        blocks = AroundDamage(
            self.stream,
            self.name,
            context,
            span.start,
            is_checked=True,
            search=self.search,
            block_size=_BLOCK,
        )
        for block in blocks:
            yield block
            end = block.stop if isinstance(block, Gap) else int(block.end_positions[-1])
            if stop is not None and end >= stop:
                return

    def after(self, position: int) -> int | None:
        """Offset of the next complete event after a damaged one; None if there is none."""
        return self.search.after(position, self._context)

    def _by_resync(self, start: int, stop: int | None) -> tuple[bool, Span | None]:
        """Whether the result is certain, and the result."""
        first = self.search.event(max(start - LOOK_BACK, len(MAGIC)), self._context.layout)
        if first is None:
            return False, None
        finder = SplitPointFinder(self.log_header)
        reader = SpanReader(self.stream, self.log_header.span(first), self.name, block_size=_BLOCK)
        rest: Span | None = None
        try:
            for block in reader:
                if (checksums.check(block) == BAD).any() or block.is_special:
                    return False, None
                positions = [position for position in finder.positions(block) if position >= start]
                if rest is None and positions:
                    rest = self.log_header.span(positions[0])
                proven = reader.position - PROOF
                if rest is not None and proven >= rest.start:
                    return True, _before(rest, stop)
                if rest is None and stop is not None and proven >= first and reader.position >= stop:
                    return True, None
            end = reader.end()
        except BinlogError:
            return False, None
        return end is not None and end.bytes_after == 0, _before(rest, stop)

    def _known_before(self, start: int) -> Span:
        count = bisect_right(self.known, start, key=lambda span: span.start)
        return self.known[max(count - 1, 0)]

    def _from_known(self, start: int, stop: int | None) -> Span | None:
        for rest in self.split_points(self._known_before(start), stop):
            if rest.start >= self.known[-1].start + _STRIDE:
                self.known.append(rest)
            if rest.start >= start:
                return _before(rest, stop)
        return None


def _before(rest: Span | None, stop: int | None) -> Span | None:
    return rest if rest is None or stop is None or rest.start < stop else None


class SplitPointFinder:
    """Finds the split points in consecutive blocks.

    `is_sure`: whether the first block is the start of the log, or of a span that begins at a split point;
    otherwise it may begin inside a transaction.
    """

    def __init__(self, log_header: LogHeader, *, is_sure: bool = True) -> None:
        self._has_gtids = log_header.has_gtids
        self._boundaries = Boundaries()
        self._is_sure = is_sure
        self._last_role = Role.OUTSIDE

    def positions(self, block: Block) -> list[int]:
        """Offsets of the split points before events of the next block."""
        is_cut = np.isin(block.types, list(GTID_TYPES))
        if not self._has_gtids:
            is_cut |= self._without_gtids(block)
        positions: list[int] = block.positions[is_cut].tolist()
        return positions

    def _without_gtids(self, block: Block) -> NDArray[np.bool_]:
        block_roles = roles_of(block)
        roles, phases = block_roles.roles, self._boundaries.phases(block_roles)
        before = np.concatenate(([self._last_role], roles[:-1]))
        self._last_role = Role(roles[-1])
        begins = (phases & Phase.BEGINS != 0) & ((roles == Role.BEGIN) | (before == Role.END))
        if not self._is_sure:
            first = sure_beginning(roles)
            begins[:first] = False
            self._is_sure = first < len(roles) or roles[-1] == Role.END
        is_cut: NDArray[np.bool_] = begins & (phases & Phase.IN_GTID == 0)
        return is_cut
