"""Checks several logs for damage, in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from binlog_kaitai.check.damage_scan import scan
from binlog_kaitai.check.verify_report import Report
from binlog_kaitai.core.gtids import GtidSet
from binlog_kaitai.ddl.definitions import SeriesDefinitions
from binlog_kaitai.sources.keys import Keys
from binlog_kaitai.sources.source import Source, SourceLike, resolve


class Coverage:
    """The GTIDs covered by the logs so far, for finding GTIDs missing before the next one."""

    def __init__(self) -> None:
        self._gtids: GtidSet | None = None

    def take(self, report: Report) -> None:
        """Process the report of the next log and set its `missing_before`."""
        if report.previous_gtids is None:
            return
        if self._gtids is not None:
            report.missing_before = report.previous_gtids.without(self._gtids)
        self._gtids = self._gtids or GtidSet()
        self._gtids.update(report.previous_gtids)
        self._gtids.update(report.gtids)


def verify(
    source: SourceLike | Iterable[SourceLike],
    *,
    thorough: bool = False,
    ddl: str | None = None,
    keys: Keys | None = None,
    threads: int | None = None,
    progress: Callable[[Source, int], object] = lambda source, position: None,
) -> Iterator[Report]:
    """Check logs for damage, like the command ``verify``.

    Checks frames, positions, checksums, bodies, rows and the continuity of GTIDs. Damage does not raise an
    error; it is part of the report.

    Parameters
    ----------
    source
        Any source that :func:`binlog_kaitai.open` accepts.
    thorough
        Check all bodies and rows, also of events whose checksums match.
    ddl
        Text of CREATE TABLE statements, such as mysqldump writes, for values whose length logs do not state.
    keys
        Where to look for the keys of encrypted logs; see :class:`Keys`.
    threads
        Number of threads: by default, one. The result does not depend on it.
    progress
        Called periodically with the source and the offset reached in it.

    Returns
    -------
    iterator of Report
        One per log, after it has been read.

    Raises
    ------
    SourceError
        Immediately: no log was found.
    """
    return _reports(resolve(source, keys), thorough, SeriesDefinitions(ddl), progress, threads)


def _reports(
    sources: list[Source],
    thorough: bool,
    definitions: SeriesDefinitions,
    progress: Callable[[Source, int], object],
    threads: int | None,
) -> Iterator[Report]:
    coverage = Coverage()
    for source in sources:

        def advance(position: int, source: Source = source) -> None:
            progress(source, position)

        report = scan(source, advance, is_thorough=thorough, definitions=definitions, threads=threads)
        coverage.take(report)
        yield report
