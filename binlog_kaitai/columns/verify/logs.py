"""Several logs checked for damage, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from binlog_kaitai.columns.verify.report import Report
from binlog_kaitai.columns.verify.scan import scan
from binlog_kaitai.core.gtids import GtidSet
from binlog_kaitai.ddl.series import SeriesDefinitions
from binlog_kaitai.sources.keys import Keys
from binlog_kaitai.sources.source import Source, SourceLike, resolve


class Coverage:
    """The GTIDs that some logs cover, to find out what is missing before the next one."""

    def __init__(self) -> None:
        self._gtids: GtidSet | None = None

    def take(self, report: Report) -> None:
        """Take in the report on the next log; its `missing_before` is filled in."""
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
    progress: Callable[[Source, int], object] = lambda source, position: None,
) -> Iterator[Report]:
    """Check logs for damage, as the command ``verify`` does.

    Checked are frames, positions, checksums, bodies, rows and the continuity of GTIDs. Damage is no
    exception here: it is in the report.

    Parameters
    ----------
    source
        What :func:`binlog_kaitai.open` takes.
    thorough
        Check all bodies and rows, also of events whose checksums match.
    ddl
        Text of CREATE TABLE statements, such as mysqldump writes, for values whose length logs do not state.
    keys
        Where to look for the keys of encrypted logs; see :class:`Keys`.
    progress
        Gets the source, and the offset in it that has been reached, now and then.

    Returns
    -------
    iterator of Report
        One for each log, once it has been read.

    Raises
    ------
    SourceError
        At once: there is nothing to read.
    """
    return _reports(resolve(source, keys), thorough, SeriesDefinitions(ddl), progress)


def _reports(
    sources: list[Source],
    thorough: bool,
    definitions: SeriesDefinitions,
    progress: Callable[[Source, int], object],
) -> Iterator[Report]:
    coverage = Coverage()
    for source in sources:

        def advance(position: int, source: Source = source) -> None:
            progress(source, position)

        report = scan(source, advance, is_thorough=thorough, definitions=definitions)
        coverage.take(report)
        yield report
