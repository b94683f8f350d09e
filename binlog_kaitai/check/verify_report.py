"""The result of checking a log."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from binlog_kaitai.core.gtids import GtidSet
from binlog_kaitai.errors import BinlogError, DamagedError, EncryptedError, NotABinlogError, SourceError
from binlog_kaitai.log.checksum_runs import STATUSES
from binlog_kaitai.log.gaps import Gap, add_gap
from binlog_kaitai.log.log_end import End
from binlog_kaitai.log.series import Continuity
from binlog_kaitai.text.notebook import html_table

#: Damages beyond this number are counted, but not kept.
MAX_DAMAGES = 1000

#: Errors after which the rest of a log remains unchecked, although nothing shows that it is damaged.
_NOT_DAMAGE = (EncryptedError, NotABinlogError, SourceError)

#: Length of a UUID as text; a source of MariaDB, `domain-server`, is shorter.
_UUID_LENGTH = 36


@dataclass
class Report:
    """The result of checking a log.

    Attributes
    ----------
    file : str
        Name of the log.
    size : int
        Size in bytes, as far as it was read.
    server_id : int or None
        The server ID in its first event.
    server_version : str or None
        The version of the server that wrote it, such as ``"8.0.43-log"``; None if that cannot be read.
    first_time, last_time : int or None
        Times of its first and last event, in seconds since 1970 UTC: when it was begun and closed.
    events, inner_events, transactions : int
        Events of the file itself, events inside compressed transactions, and transactions.
    checksums : dict
        Number of the file's own events by checksum state: ``"ok"``, ``"bad"``, ``"none"``.
    bodies : int
        Number of events, including those inside compressed transactions, whose body was parsed.
    damages : list of BinlogError
        The first :data:`MAX_DAMAGES` damages, in file order.
    damage_count : int
        Number of damages.
    not_checked : BinlogError or None
        Why the rest of the file, or all of it, was not checked, if not for damage: a missing key, a file that
        cannot be read, or one that is not a binary log.
    lost : list of Gap
        Ranges that cannot be used, in file order; adjacent ones are merged.
    end : End or None
        How the file ended; None if reading stopped earlier.
    previous_gtids : GtidSet or None
        The GTIDs before the log, according to the log; None if it contains no such event.
    gtids : GtidSet
        The GTIDs of its transactions.
    missing_before : GtidSet
        GTIDs of `previous_gtids` that are in none of the logs of its series checked before.
    open_gtid : str or None
        The GTID of the last transaction if the log ends within it.
    gap_before : Continuity or None
        What is missing between the log of its series checked before and this one: `reason`, `missing` (names
        of logs) and `gtids`; None if nothing shows that something is.
    is_half_copy : bool
        The log was copied while the server wrote it: it is marked as in use, but a later log of its series
        was checked, too, and the mark is not left from a crash.
    formats : list of (int, bytes)
        Format description events after the first event, each with its offset.
    invalid : set of int
        Offsets of events with an invalid body, or with rows that do not match their table map.
    """

    file: str
    size: int = 0
    server_id: int | None = None
    server_version: str | None = None
    first_time: int | None = None
    last_time: int | None = None
    events: int = 0
    inner_events: int = 0
    transactions: int = 0
    checksums: dict[str, int] = field(default_factory=lambda: dict.fromkeys(STATUSES, 0))
    bodies: int = 0
    damages: list[BinlogError] = field(default_factory=list)
    damage_count: int = 0
    not_checked: BinlogError | None = None
    lost: list[Gap] = field(default_factory=list)
    end: End | None = None
    previous_gtids: GtidSet | None = None
    gtids: GtidSet = field(default_factory=GtidSet)
    missing_before: GtidSet = field(default_factory=GtidSet)
    open_gtid: str | None = None
    gap_before: Continuity | None = None
    is_half_copy: bool = False
    formats: list[tuple[int, bytes]] = field(default_factory=list)
    invalid: set[int] = field(default_factory=set)

    @property
    def is_ok(self) -> bool:
        """Whether the file was checked to its end and has no damage."""
        return not self.damage_count and self.not_checked is None

    @property
    def lacks_transactions(self) -> bool:
        """Whether transactions may be missing after a log's end, or before its start, in its series."""
        return self.gap_before is not None or self.is_half_copy

    def add(self, error: BinlogError, stop: int | None = None) -> None:
        """Add a damage; the events from its position to `stop` are lost.

        Without `stop`, no event is lost: something is missing before the position. An error that is not about
        the bytes of the log, such as a missing key, is not damage.
        """
        if isinstance(error, _NOT_DAMAGE) and not isinstance(error, DamagedError):
            self.not_checked = error
            return
        self.damage_count += 1
        if len(self.damages) < MAX_DAMAGES:
            self.damages.append(error)
        start = error.position or 0
        add_gap(self.lost, Gap(start, start if stop is None else stop, error))

    def gaps(self) -> dict[str, list[tuple[int, int]]]:
        """First and last number of each gap in the log's GTIDs, by source.

        In MySQL, a source is a server (and tag), and numbers of earlier logs are taken into account. In
        MariaDB, it is a domain, whose numbering continues across servers. A gap is not necessarily damage:
        filters, crashes and Group Replication also leave gaps.
        """
        by_source = GtidSet()
        for gtids in (self.gtids, self.previous_gtids or GtidSet()):
            for source, intervals in gtids.items():
                # MariaDB states only the last number of the preceding logs.
                is_whole = len(source) >= _UUID_LENGTH or gtids is self.gtids
                ranges = ((first if is_whole else 1, last + 1) for first, last in intervals)
                by_source.add_ranges(_numbered_by(source), ranges)
        own = {_numbered_by(source) for source, _ in self.gtids.items()}
        return {
            source: gaps for source, gtids in by_source.items() if source in own and (gaps := gtids.gaps())
        }


def _numbered_by(source: str) -> str:
    """The unit of numbering of a source: a server (and tag) in MySQL, a domain in MariaDB."""
    return source if len(source) >= _UUID_LENGTH else source.partition("-")[0]


class LogReports(Iterator[Report]):
    """The reports on logs, in order; a log is read when its report is first asked for.

    A loop over them begins at the first one that `next` has not returned, each time.
    """

    def __init__(self, reports: Iterator[Report]) -> None:
        self._reports, self._known, self._next = reports, list[Report](), 0

    def __iter__(self) -> Iterator[Report]:
        number = self._next
        while number < len(self._known) or self._read():
            yield self._known[number]
            number += 1

    def __next__(self) -> Report:
        for report in self:
            self._next += 1
            return report
        raise StopIteration

    def _read(self) -> bool:
        """Read the next log, if there is one."""
        report = next(self._reports, None)
        self._known += [] if report is None else [report]
        return report is not None

    def _all(self) -> tuple[Report, ...]:
        return *self._known[: self._next], *self

    @property
    def is_ok(self) -> bool:
        """Whether `Report.is_ok` of every log; reads those that have not been read."""
        return all(report.is_ok for report in self._all())

    def _repr_html_(self) -> str:
        names = "log", "bytes", "events", "transactions", "GTIDs", "state"
        return html_table("Logs", names, map(_html_row, self._all()))


def _html_row(report: Report) -> tuple[object, ...]:
    states = [report.not_checked or "", f"damage: {report.damage_count}" if report.damage_count else ""]
    states += [report.gap_before.reason if report.gap_before else "", "half copy" * report.is_half_copy]
    state = "; ".join(str(state) for state in states if state) or "ok"
    return report.file, report.size, report.events, report.transactions, report.gtids, state
