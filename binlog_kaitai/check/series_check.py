"""Whether the checked logs are all of their series: what is missing between two of them, and half copies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import count

from binlog_kaitai.check.verify_report import Report
from binlog_kaitai.core.gtids import GtidSet
from binlog_kaitai.log.log_end import EndKind
from binlog_kaitai.log.series import Continuity, LogEnds, continuity
from binlog_kaitai.sources.source import Source, series_of


class SeriesCheck:
    """Compares each log with the next one of its series.

    Logs are of one series if they are in the same folder, their names differ only in the number, and their
    first events have the same server ID. What precedes the first log, or follows the last one, is not known.

    `sources`: the logs, in the order in which `take` gets their reports.
    """

    def __init__(self, sources: Sequence[Source]) -> None:
        self._logs = [LogEnds.of(source) for source in sources] if len(sources) > 1 else []
        self._numbers = count()
        self._series: list[object] = []
        self._next: dict[int, int] = {}
        self._gaps: dict[int, Continuity] = {}
        self._covered: dict[object, GtidSet] = {}
        servers: dict[tuple[str, str], int | None] = {}
        last: dict[object, int] = {}
        for number, log in enumerate(self._logs):
            name = series_of(log.name)
            if log.header is not None and log.header.server_id is not None:
                servers[name] = log.header.server_id
            series = name, servers.get(name)  # a log whose start is unreadable belongs to the one before it
            if series in last:
                self._next[last[series]] = number
            last[series] = number
            self._series.append(series)

    def take(self, report: Report) -> None:
        """Set what the report on the next log says of its series."""
        number = next(self._numbers)
        if not self._logs:
            return
        log, after = self._logs[number], self._next.get(number)
        report.gap_before = self._gaps.get(number)
        if report.previous_gtids is not None:
            covered = self._covered.setdefault(self._series[number], report.previous_gtids | GtidSet())
            report.missing_before = report.previous_gtids.without(covered)
            covered.update(report.previous_gtids)
            covered.update(report.gtids)
        if after is None:
            return
        if report.is_ok and log.previous is not None:
            ended = report.gtids - (GtidSet.parse(report.open_gtid) if report.open_gtid else GtidSet())
            log = replace(log, gtids=(log.previous | ended).up_to_last())
        link = continuity(log, self._logs[after])
        if link.is_gap or link.missing:
            self._gaps[after] = link
        is_in_use = report.end is not None and report.end.kind is EndKind.IN_USE
        lost = link.gtids if self._logs[after].number > log.number and not link.missing else None
        report.is_half_copy = is_in_use and (log.is_half_written or bool(lost))
