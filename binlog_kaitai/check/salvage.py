"""Finds the intact events of a damaged log.

One pass over the log (`damage_scan`) reports what is unusable. A header with a wrong event size takes
intact events with it; every lost range is therefore searched again, from its second byte on.
"""

from __future__ import annotations

import io
from bisect import bisect_left
from collections.abc import Container, Iterable, Iterator
from contextlib import suppress
from typing import BinaryIO, NamedTuple, cast

from binlog_kaitai.check.damaged_bodies import check_body
from binlog_kaitai.check.format_search import CorrectedStart
from binlog_kaitai.check.verify_report import Report
from binlog_kaitai.core.adapter import checksum_status
from binlog_kaitai.core.context import Context
from binlog_kaitai.core.framing import Frame, Framer, read_up_to
from binlog_kaitai.core.grammar import (
    POSITION_MASK,
    EventType,
    Format,
    TransactionPayloadEvent,
    header_length,
    read_header,
)
from binlog_kaitai.core.payload import read_payload
from binlog_kaitai.core.spans import Span
from binlog_kaitai.errors import BinlogError, DamagedError
from binlog_kaitai.log.block_reader import BlockReader
from binlog_kaitai.log.event_reader import ParsedEvent
from binlog_kaitai.log.gaps import TO_THE_END, Gap, add_gap, most_gaps
from binlog_kaitai.log.resync import Search
from binlog_kaitai.log.span_reader import Limited

#: Shorter events are read to check whether they are intact, in bytes.
_SHORT = 64 << 10


class Doubtful(NamedTuple):
    """An event that is kept although it is not proven intact."""

    position: int
    size: int
    reason: str


def lost_in(stream: BinaryIO, report: Report, head: CorrectedStart) -> tuple[list[Gap], list[Doubtful]]:
    """The unusable ranges of a log, sorted and non-adjacent, and its doubtful events.

    `stream`: the log; its position changes.
    `report`: the verification report of the log.
    `head`: its corrected start.
    """
    size = stream.seek(0, io.SEEK_END)
    gaps = _joined(gap for gap in report.lost if gap.stop > head.end)
    end = report.end
    if end is not None and end.bytes_after and (not gaps or gaps[-1].stop < size):
        # The active log: a partially written event at its end is not damage, but no event either.
        gaps.append(Gap(end.position, TO_THE_END, DamagedError("incomplete event")))
    contexts, doubtful = _Contexts(head, report), list[Doubtful]()
    if head.context.layout.binlog_version < 4:
        rest = gaps  # a header alone does not prove its position
    else:
        gaps = _joined(_with_shifted(stream, gaps, head.end, contexts, doubtful))
        search, finds = Search(stream), iter(range(most_gaps(size)))
        rest = [
            part
            for gap in gaps
            for part in _searched(stream, search, gap, contexts.of(gap.start), report.invalid, finds)
        ]
    rest = [gap._replace(start=max(gap.start, head.end), stop=min(gap.stop, size)) for gap in rest]
    doubtful += _after_damage(stream, rest, head, contexts, has_gtids=bool(report.gtids))
    return rest, sorted(doubtful)


class _Contexts:
    """The context at an offset of a log: a later format description may differ from the first."""

    def __init__(self, head: CorrectedStart, report: Report) -> None:
        self._positions = [position for position, _ in report.formats]
        first, version = head.event, head.context.layout.binlog_version
        self._contexts = [head.context]
        self._contexts += [
            Span(binlog_version=version, formats=(first, raw)).context() for _, raw in report.formats
        ]

    def of(self, position: int) -> Context:
        return self._contexts[bisect_left(self._positions, position)]


def _with_shifted(
    stream: BinaryIO, gaps: list[Gap], begin: int, contexts: _Contexts, doubtful: list[Doubtful]
) -> Iterator[Gap]:
    """The same, plus events without checksums whose content was altered.

    If bytes were inserted into an event, or removed from it, its frame keeps its length and ends between
    events. The positions in later events are off by the same amount. If they are not, the damage may still
    have begun in the event.
    """
    size = stream.seek(0, io.SEEK_END)
    for lost in gaps:
        context = contexts.of(lost.start)
        if lost.start == lost.stop or context.layout.is_checksummed:
            yield lost
            continue
        is_exact = context.has_exact_positions or context.is_relay_log
        after = _event_at(stream, lost.stop, size, context) if lost.stop < size and is_exact else None
        start = lost.start
        while start > begin:
            before = _last_event(stream, begin, start, contexts.of(begin))
            own = _event_at(stream, start, size, context)
            if before is None or (own is not None and _shift(own) == _shift(before)):
                break  # the following header is where it should be
            shifts = {_shift(event) for event in (after, before) if event is not None}
            if after is None or None in shifts or len(shifts) == 1:
                reason = "it may be damaged, like what follows it: the log has no checksums"
                doubtful.append(Doubtful(before.position, len(before.raw), reason))
                break
            start = before.position
        yield lost._replace(start=start)
        begin = lost.stop


def _after_damage(
    stream: BinaryIO, lost: list[Gap], head: CorrectedStart, contexts: _Contexts, *, has_gtids: bool
) -> Iterator[Doubtful]:
    """The first events after damage, if neither they nor the preceding ones are proven."""
    size = stream.seek(0, io.SEEK_END)
    for gap in lost:
        context = contexts.of(gap.stop)
        frame = _event_at(stream, gap.stop, size, context) if gap.start < gap.stop < size else None
        if frame is None:
            continue
        if not context.layout.is_checksummed:
            reason = "it may be damaged, like what precedes it: the log has no checksums"
            yield Doubtful(gap.stop, len(frame.raw), reason)
        elif gap.start == head.end and not has_gtids and knows_gtids(context.layout):
            # MySQL 5.6 writes GTIDs only with gtid_mode=ON, and indicates it right after the format
            # description.
            yield Doubtful(gap.stop, len(frame.raw), "its GTID event may be lost, if it had one")


def knows_gtids(layout: Format) -> bool:
    """Whether the server that wrote this format description supports GTID events."""
    of_mysql, of_mariadb = EventType.gtid_log_event, EventType.gtid_event
    return bool(layout.post_header_length_of(of_mysql) or layout.post_header_length_of(of_mariadb))


def _last_event(stream: BinaryIO, start: int, end: int, context: Context) -> Frame | None:
    stream.seek(start)
    reader = BlockReader(cast(BinaryIO, Limited(stream, end - start)), context, start)
    position = -1
    for block in reader:
        position = int(block.positions[-1])
    return None if position < 0 else _event_at(stream, position, end, context)


def _joined(gaps: Iterable[Gap]) -> list[Gap]:
    joined: list[Gap] = []
    for gap in sorted(gaps, key=lambda gap: (gap.start, gap.stop, gap.error.reason)):
        add_gap(joined, gap)
    return joined


def _searched(
    stream: BinaryIO,
    search: Search,
    lost: Gap,
    context: Context,
    invalid: Container[int],
    finds: Iterator[int],
) -> Iterator[Gap]:
    """The lost ranges without the intact events in them.

    `invalid`: offsets of events that are not intact, although each one alone seems to be.
    `finds`: an item for each time that events may be found in any gap; later ones are lost.
    """
    size = stream.seek(0, io.SEEK_END)
    start, offset, shift = lost.start, lost.start + 1, None
    while (begin := _find(search, offset, lost.stop, context)) is not None and next(finds, None) is not None:
        end = begin
        for frame in _whole_events(stream, search, begin, min(lost.stop, size), context, invalid):
            end, shift = frame.end_position, _shift(frame)
        if end > begin:
            yield lost._replace(start=start, stop=begin)
            start = end
        offset = max(begin, end) + 1
    # If the last of these events ends where the following part begins, and the next one is shifted as far, as
    # far as both state a position, nothing is missing between them.
    after = None if start < lost.stop or start == lost.start else _event_at(stream, start, size, context)
    if after is None or (shift is not None and _shift(after) not in (shift, None)):
        yield lost._replace(start=start)


def _find(search: Search, start: int, limit: int, context: Context) -> int | None:
    # In a relay log all events are shifted: the positions refer to another log.
    finders = (search.shifted_event,) if context.is_relay_log else (search.event, search.shifted_event)
    places = (find(start, context.layout) for find in finders)
    return min((place for place in places if place is not None and place < limit), default=None)


def _whole_events(
    stream: BinaryIO, search: Search, begin: int, limit: int, context: Context, invalid: Container[int]
) -> Iterator[Frame]:
    """Consecutive intact events from an offset on."""
    framer = Framer(stream, context.layout.binlog_version, begin, max_event_size=limit - begin)
    frames = iter(framer)
    with suppress(BinlogError):  # an invalid header: the events before it are intact
        while _is_worth_reading(stream, search, framer.position, context):
            stream.seek(framer.position)
            frame = next(frames, None)
            if frame is None or frame.end_position > limit or frame.position in invalid:
                return
            if not _is_whole(frame, context):
                return
            yield frame


def _is_worth_reading(stream: BinaryIO, search: Search, position: int, context: Context) -> bool:
    """Whether an event is short, or intact: many bogus headers may claim all following bytes."""
    stream.seek(position)
    version = context.layout.binlog_version
    head = read_up_to(stream, header_length(version))
    is_short = len(head) < header_length(version) or read_header(head, version).len_event <= _SHORT
    return is_short or search.is_whole(position, context.layout)


def _event_at(stream: BinaryIO, position: int, size: int, context: Context) -> Frame | None:
    stream.seek(position)
    with suppress(BinlogError):
        version = context.layout.binlog_version
        return next(iter(Framer(stream, version, position, max_event_size=size - position)), None)
    return None


def _shift(frame: Frame) -> int | None:
    """The distance of an event from the position in its header; None if that is unset."""
    stated = frame.header.next_position
    return (stated - frame.end_position) & POSITION_MASK if stated else None


def _is_whole(frame: Frame, context: Context) -> bool:
    """Whether `verify` finds no damage in an event or in the events inside it."""
    layout, event = context.layout, ParsedEvent("", frame, context.layout, None)
    try:
        check_body(event)
        if isinstance(event.body, TransactionPayloadEvent):
            for inner in read_payload(event.body, layout):
                check_body(ParsedEvent("", inner, layout.without_checksums(), None))
        return checksum_status(frame.raw, frame.header, layout) != "bad"
    except BinlogError:
        return False
