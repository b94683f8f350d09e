"""Skips logs that cannot have rows, judging by their times and by the GTIDs around them.

Assumptions
-----------
1. A log has no GTID that its own first events list as earlier. In MariaDB, ``gtid_strict_mode`` ensures this.
2. Times of events lie between the opening and the closing of their log, give or take `SLACK`, for clocks that
   were set back, long transactions, and sources of a replica that lag.

Logs may come from several servers: a log is used to skip another one only if it provably follows it, see
`_follows`. A log whose first events give no information is read, and so is each relay log.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

from binlog_kaitai.core.gtids import GtidSet
from binlog_kaitai.core.spans import LogHeader
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.following.log_headers import closed_at, header_of
from binlog_kaitai.sources.source import Source, natural_key, series_of

#: How far the time of an event may be before its log was opened, or after it was closed.
SLACK = timedelta(days=1)

#: Number of logs inspected in parallel.
_READERS = 8


class _Log(NamedTuple):
    """The header of a log, and when it was closed; None if unknown."""

    log_header: LogHeader | None
    closed: int | None


def logs_with_rows(files: Sequence[Source], filters: Mapping[str, Any]) -> list[bool]:
    """For each log, whether it can have rows; logs are inspected only if there is a filter on times or GTIDs.

    `filters`: by their Python names.
    """
    # Both are whole seconds, and the driver's options have a time zone.
    low, high = filters.get("start_datetime"), filters.get("stop_datetime")
    gtids = filters.get("include_gtids")
    if len(files) < 2 or (low is None and high is None and gtids is None):
        return [True] * len(files)
    look_at = partial(_look_at, needs_end=low is not None)
    with ThreadPoolExecutor(_READERS) as readers:
        logs = list(readers.map(look_at, files))
    wanted = None if gtids is None else GtidSet.parse(gtids)
    following = _following(files, logs) if wanted is not None else {}
    return [
        _may_have_times(log, low, high) and _may_have_gtids(log.log_header, following.get(number), wanted)
        for number, log in enumerate(logs)
    ]


def _look_at(file: Source, *, needs_end: bool) -> _Log:
    try:
        log_header = header_of(file.name)
        if log_header is None or log_header.is_relay_log:
            return _Log(None, None)
        return _Log(log_header, closed_at(file.name) if needs_end else None)
    except BinlogError:
        return _Log(None, None)  # the reader of the rows raises the error


def _may_have_times(log: _Log, low: datetime | None, high: datetime | None) -> bool:
    log_header, is_early, is_late = log.log_header, False, False
    if low is not None and log.closed is not None:
        is_early = datetime.fromtimestamp(log.closed, UTC) + SLACK < low
    if high is not None and log_header is not None and log_header.begun and log_header.first:
        is_late = datetime.fromtimestamp(min(log_header.begun, log_header.first), UTC) - SLACK > high
    return not (is_early or is_late)


def _may_have_gtids(header: LogHeader | None, following: LogHeader | None, wanted: GtidSet | None) -> bool:
    if wanted is None or header is None or header.previous is None:
        return True
    left = wanted.without(header.previous)
    if following is None or following.previous is None:
        return bool(left)
    return bool(left.without(left.without(following.previous)))


def _following(files: Sequence[Source], logs: Sequence[_Log]) -> dict[int, LogHeader]:
    """The header of the log that follows each log, if there is one."""
    series: dict[tuple[tuple[str, str], int | None], list[int]] = defaultdict(list)
    for number, (file, log) in enumerate(zip(files, logs, strict=True)):
        if log.log_header is not None:
            series[series_of(file.name), log.log_header.server_id].append(number)
    headers = {}
    for numbers in series.values():
        for index, other in pairwise(sorted(numbers, key=lambda number: natural_key(files[number].name))):
            log_header, after = logs[index].log_header, logs[other].log_header
            if log_header is not None and after is not None and _follows(log_header, after):
                headers[index] = after
    return headers


def _follows(log_header: LogHeader, after: LogHeader) -> bool:
    """Whether a log with the same base name and server id continues where another ends.

    Its server must have executed the first transaction of the other log and everything before it. This
    distinguishes servers with the same id, and a server that was reset.
    """
    if log_header.previous is None or after.previous is None or log_header.first_gtid is None:
        return False
    before = GtidSet.parse(log_header.first_gtid)
    before.update(log_header.previous)
    return log_header.begun <= after.begun and not before.without(after.previous)
