"""Whether a log continues where another one of its series ends, and what shows it.

A log states where it ends (ROTATE_EVENT names the next log) and where it begins (PREVIOUS_GTIDS_LOG_EVENT,
GTID_LIST_EVENT), and its name has a number. Only the first events and the last one of a log are read, and its
GTIDs if these do not suffice. Table definitions do not cross a gap.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import BinaryIO, NamedTuple

from binlog_kaitai.core.adapter import crc32_of, stored_checksum
from binlog_kaitai.core.framing import MAGIC, read_up_to
from binlog_kaitai.core.grammar import (
    POSITION_MASK,
    BinlogEvent,
    EventType,
    header_length,
    parse_event,
    read_header,
)
from binlog_kaitai.core.gtids import GtidSet
from binlog_kaitai.core.spans import LogHeader, read_log_header
from binlog_kaitai.core.tree import Node
from binlog_kaitai.ddl import Definitions
from binlog_kaitai.ddl.definitions import DatedText, Timelines, restore
from binlog_kaitai.errors import BinlogError, reading
from binlog_kaitai.log.gtid_runs import gtids as logged_gtids
from binlog_kaitai.sources.source import Source, log_name, log_number, series_of, state_of
from binlog_kaitai.values.schema import is_mariadb

#: Events that a server writes at the end of a log; none of them is longer, in bytes.
_ENDS, _LONGEST_END = (EventType.rotate_event, EventType.stop_event), 600

#: Number of missing logs that a message names, and that are named at all.
_MOST_SHOWN, _MOST_NAMED = 3, 1000


@dataclass(frozen=True)
class LogEnds:
    """What the start and the end of a log state.

    `name`: path or URL.
    `header`: what its first events state; None if they cannot be read.
    `is_closed`: whether it ends with a ROTATE_EVENT or STOP_EVENT; None if its end was not read.
    `next_name`: the next log, by a ROTATE_EVENT at its end; None if there is none.
    `gtids`: all GTIDs up to its end, with those before it; None if they are not known.
    """

    name: str
    header: LogHeader | None = field(default=None, repr=False)
    is_closed: bool | None = None
    next_name: str | None = None
    gtids: GtidSet | None = field(default=None, repr=False)

    @classmethod
    def of(cls, source: Source, gtids: GtidSet | None = None) -> LogEnds:
        """The ends of a log; of one that must be decompressed from its start, or cannot be read, less."""
        if source.path is None:
            return cls(source.name, gtids=gtids)
        try:
            with reading(source.name), source.open() as stream:
                header = read_log_header(stream, source.name)
                is_readable = not (header.is_encrypted or header.is_relay_log or header.format is None)
                if not is_readable or not state_of(source.path).is_divisible:
                    return cls(source.name, header, gtids=gtids)
                event = last_event(stream, header)
        except BinlogError:
            return cls(source.name, gtids=gtids)
        body: Node | None = None if event is None else event.body.content
        return cls(source.name, header, body is not None, getattr(body, "next_log", None), gtids)

    @property
    def file_name(self) -> str:
        """Its name without the folder, and without the extension of its compression."""
        return log_name(re.split(r"[/\\]", self.name.partition("?")[0])[-1])

    @property
    def stem(self) -> str:
        """Its name before the number."""
        return series_of(self.file_name)[1]

    @property
    def number(self) -> int:
        """The number in its name; 0 if there is none."""
        return log_number(self.name)

    @property
    def next_number(self) -> int | None:
        """The number of the next log by its ROTATE_EVENT."""
        return None if self.next_name is None else log_number(self.next_name) or None

    @property
    def is_half_written(self) -> bool:
        """Whether MySQL has not closed it: its recovery from a crash clears the mark of an active log."""
        is_in_use = self.header is not None and self.header.is_in_use
        return is_in_use and self.is_closed is False and not self.is_of_mariadb

    @property
    def is_of_mariadb(self) -> bool:
        """Whether MariaDB has written it, as far as its header can be read."""
        return self.header is not None and is_mariadb(self.header.context().layout)

    @property
    def previous(self) -> GtidSet | None:
        """The GTIDs before it, if it states them."""
        return None if self.header is None else self.header.previous


def last_event(stream: BinaryIO, header: LogHeader) -> BinlogEvent | None:
    """The ROTATE_EVENT or STOP_EVENT at the end of a log, which must be seekable; None if it ends otherwise.

    Raises `GrammarError`: its format description cannot be decoded.
    """
    layout = header.context().layout
    size = stream.seek(0, io.SEEK_END)
    stream.seek(max(size - _LONGEST_END, len(MAGIC)))
    data = read_up_to(stream, _LONGEST_END)
    for start in range(len(data) - header_length(layout.binlog_version), -1, -1):
        event = read_header(data[start:], layout.binlog_version)
        is_last = event.len_event == len(data) - start and event.next_position == size & POSITION_MASK
        if is_last and layout.effective_type(event.type_code) in _ENDS:
            raw = data[start:]
            is_whole = not layout.is_checksummed or stored_checksum(raw) == crc32_of(raw, event)
            return parse_event(raw, event.type_code, layout) if is_whole else None
    return None


class Link(StrEnum):
    """Whether a log continues where another one ends."""

    CONTIGUOUS = "contiguous"
    GAP = "gap"
    UNKNOWN = "unknown"


class Continuity(NamedTuple):
    """What is known between two consecutive logs of a series.

    `reason`: what shows it: the end of a sentence that begins with the name of the later log.
    `missing`: names of the missing logs, as far as they are known; at most the first 1,000. Between
    contiguous logs, those that contain no transactions.
    `gtids`: the missing transactions, as far as they are known.
    """

    link: Link
    reason: str
    missing: tuple[str, ...] = ()
    gtids: GtidSet | None = None

    @property
    def is_gap(self) -> bool:
        """Whether something is missing between the two, or the second does not continue the first."""
        return self.link is Link.GAP


def continuity(
    before: LogEnds, after: LogEnds, read_gtids: Callable[[], GtidSet | None] = lambda: None
) -> Continuity:
    """Whether a log continues where the one before it ends.

    By number, a log that ends without a ROTATE_EVENT (its server was killed) is followed by the next one.

    `read_gtids`: reads `before.gtids`, if that is None and the numbers do not suffice: GTIDs show whether
    there are transactions in a gap.
    """
    start, end = _numbers(before, after)
    # MariaDB may forget transactions of a log that a crash has torn.
    may_forget = after.is_of_mariadb and start == end is not None
    if not may_forget and (history := _of_histories(before, after)) is not None:
        return history
    if start is None or end is None:
        return Continuity(Link.UNKNOWN, f"has no number that shows whether it follows {before.file_name}")
    gtids = before.gtids
    if gtids is None and (start != end or before.is_closed is False):
        gtids = read_gtids()
    lost = GtidSet() if gtids is None or after.previous is None else after.previous.without(gtids)
    is_complete = not lost and bool(gtids) and _has_only_gtids(before) and _has_only_gtids(after)
    if start == end:
        if before.is_half_written and not is_complete:
            reason = f"follows {before.file_name}, which is marked as in use: a copy from before its end"
            return Continuity(Link.GAP, reason, gtids=lost or None)
        if lost and before.is_closed is False:
            reason = f"begins after transactions that {before.file_name}, which is cut short, lacks: {lost}"
            return Continuity(Link.GAP, reason, gtids=lost)
        shown = "ROTATE_EVENT" if before.next_number == end else "number"
        return Continuity(Link.CONTIGUOUS, f"is the next log by the {shown} of {before.file_name}")
    if end < start:
        return Continuity(Link.GAP, f"does not follow {before.file_name}, by its number", gtids=lost or None)
    missing = _names(before, start, end)
    if is_complete:
        reason = f"has no GTIDs between it and {before.file_name}; {_listed(missing, end - start)} missing"
        return Continuity(Link.CONTIGUOUS, reason, missing)
    reason = f"does not continue where {before.file_name} ends: {_listed(missing, end - start)} missing"
    if lost:
        reason += f"; no available log contains {lost}"
    return Continuity(Link.GAP, reason, missing, lost or None)


def _of_histories(before: LogEnds, after: LogEnds) -> Continuity | None:
    """A gap if the later log does not know transactions before the earlier one; None if it does."""
    if before.previous is None or after.previous is None or (after.header and after.header.is_relay_log):
        return None
    unknown = before.previous.without(after.previous)
    # MariaDB can delete domains from its list.
    domains = {source.partition("-")[0] for source, _ in after.previous.items()}
    if not unknown or domains.isdisjoint(source.partition("-")[0] for source, _ in unknown.items()):
        return None
    reason = f"does not continue {before.file_name}: its server did not have the transactions {unknown}"
    return Continuity(Link.GAP, reason)


def _numbers(before: LogEnds, after: LogEnds) -> tuple[int | None, int | None]:
    """The number of the log after the first one, and that of the second; None if they do not compare.

    Files may have been renamed; the numbers in ROTATE_EVENTs are the server's.
    """
    if before.next_number is not None and after.next_number is not None:
        return before.next_number, after.next_number - 1
    if not before.number or not after.number:
        return None, None
    is_renamed = before.next_number is not None and before.next_number != before.number + 1
    if is_renamed and before.next_number != after.number:
        return None, None
    return before.next_number or before.number + 1, after.number


def _has_only_gtids(log: LogEnds) -> bool:
    """Whether all transactions have GTIDs, so that none is missed without them; by the first one of a log."""
    return log.header is not None and (log.header.first_gtid is not None or not log.header.first)


def _names(before: LogEnds, start: int, end: int) -> tuple[str, ...]:
    """Names of the first missing logs, by the number of the first one and that of the next log."""
    name = before.next_name or before.file_name
    digits = re.search(r"(?a:\d+)(?=(\.ibb)?$)", name)
    if digits is None:
        return ()
    numbers = range(start, min(end, start + _MOST_NAMED))
    return tuple(
        f"{name[: digits.start()]}{number:0{len(digits[0])}d}{name[digits.end() :]}" for number in numbers
    )


def _listed(names: Sequence[str], count: int) -> str:
    shown = names[:_MOST_SHOWN]
    more = f" and {count - len(shown)} more" if count > len(shown) else ""
    return f"{', '.join(shown)}{more} {'is' if count == 1 else 'are'}"


def continuity_of(before: Source, after: Source) -> Continuity:
    """Whether a log continues where another one ends; reads the GTIDs of the first if that is necessary."""

    def read_gtids() -> GtidSet | None:
        try:
            return logged_gtids(replace(before, span=None)).up_to_last()
        except BinlogError:
            return None

    return continuity(LogEnds.of(before), LogEnds.of(after), read_gtids)


def carried(definitions: Definitions, before: Source, after: Source) -> Definitions:
    """The definitions after one log at the start of the next: others without tables if there is a gap."""
    if (link := continuity_of(before, after)).is_gap:
        definitions = definitions.copy()
        definitions.forget(f"{LogEnds(after.name).file_name} {link.reason}")
    return definitions


class SeriesDefinitions:
    """Gives each log the definitions left by the earlier logs of its series, unless logs between are missing.

    Logs belong to one series if they are in the same folder, their names differ only in the number, and their
    first events have the same server ID. An ALTER on one server says nothing about the tables of another.

    `sources`: the logs, in the order of reading.
    `ddl`: CREATE TABLE statements, such as mysqldump writes; they apply to every series.
    `of_all`: the definitions for all logs, if these are known to come from one server.
    """

    def __init__(
        self, sources: Sequence[Source] = (), ddl: str | None = None, of_all: Definitions | None = None
    ) -> None:
        self._of_all = of_all
        self._sources = {source.name: source for source in sources}
        self._from_file = restore("", ddl)
        self._has_file = ddl is not None
        self._known: dict[tuple[tuple[str, str], int], tuple[str, Definitions]] = {}

    def restart(self) -> None:
        """Begin with the first log again."""
        self._known = {}

    def of(self, name: str, server_id: int) -> Definitions:
        """The definitions for a log, by its name and the server ID in its first event."""
        if self._of_all is not None:
            return self._of_all
        key = series_of(name), server_id
        if key not in self._known:
            initial = self._from_file.copy()
            if self._has_file:
                for logs in by_series(self._sources.values()):
                    if name in {log.name for log in logs}:
                        initial.hold(timelines_of(initial, logs))
            self._known[key] = "", initial
        before, definitions = self._known[key]
        if before != name and before in self._sources and name in self._sources:
            definitions = carried(definitions, self._sources[before], self._sources[name])
        self._known[key] = name, definitions
        definitions.reach(name, 0)
        return definitions


def by_series(sources: Iterable[Source]) -> list[list[Source]]:
    """Logs by series, in their order."""
    series: dict[tuple[tuple[str, str], int | None], list[Source]] = {}
    for source in dict.fromkeys(replace(source, span=None) for source in sources):
        header = LogEnds.of(source).header
        server_id = None if header is None else header.server_id
        series.setdefault((series_of(source.name), server_id), []).append(source)
    return list(series.values())


def timelines_of(given: Definitions, logs: Sequence[Source]) -> Timelines:
    """From where to where the definitions of a file hold in the logs of one series; reads all of them."""
    from binlog_kaitai.log import given_tables  # the parser is imported on first use

    return given_tables.timelines_of(given, logs, lambda *pair: continuity_of(*pair).is_gap)


def with_places(ddl: str | None, sources: Sequence[Source]) -> str | None:
    """The text of a file of definitions with the places in some logs from which they hold."""
    if ddl is None:
        return None
    given, timelines = restore("", ddl), Timelines()
    for own in by_series(sources):
        timelines |= timelines_of(given, own)
    return DatedText.of(ddl, timelines)
