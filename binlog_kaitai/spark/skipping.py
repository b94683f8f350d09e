"""Which logs can have rows, by their heads: when they were begun, and the GTIDs before them.

What is assumed
---------------
1. A log has no GTID that all logs before it have, and none that the next one does not know as written before.
   MariaDB keeps to that with ``gtid_strict_mode``.
2. Times rise from log to log, but for `SLACK`: so far a clock may have been set back, a transaction may have
   lasted, the source of a replica may lag behind another one.

A log whose head does not tell is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

from pyspark.sql import datasource as ds

from binlog_kaitai.columns.splits.split import LogFile
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.follow.heads import Head, read_head
from binlog_kaitai.gtids import GtidSet
from binlog_kaitai.spark.pushdown import Pushed

#: How much a time may be out of the order of the logs.
SLACK = timedelta(days=1)

#: Heads that are read at a time.
_READERS = 8

_ABOUT_TIME = ("timestamp", "start", "commit")
_LOWER, _UPPER = (ds.GreaterThan, ds.GreaterThanOrEqual), (ds.LessThan, ds.LessThanOrEqual)


def logs_with_rows(
    files: Sequence[LogFile], filters: Mapping[str, Any], pushed: Iterable[Pushed]
) -> list[bool]:
    """For each log whether it can have rows; heads are read only if a filter is about times or GTIDs.

    Parameters
    ----------
    filters
        By their Python names, what was pushed among them.
    pushed
        Of these, those about times.
    """
    low, high = _times(filters, pushed)
    gtids = filters.get("include_gtids")
    if len(files) < 2 or (low is None and high is None and gtids is None):
        return [True] * len(files)
    with ThreadPoolExecutor(_READERS) as readers:
        heads = [*readers.map(_head, files), None]
    wanted = None if gtids is None else GtidSet.parse(gtids)
    return [
        _may_have_times(one, following, low, high) and _may_have_gtids(one, following, wanted)
        for one, following in pairwise(heads)
    ]


def _head(file: LogFile) -> Head | None:
    try:
        return read_head(file.path)
    except BinlogError:
        return None  # whoever reads the rows is told


def _may_have_times(
    one: Head | None, following: Head | None, low: datetime | None, high: datetime | None
) -> bool:
    is_early = is_late = False
    if low is not None and following is not None and following.begun:
        is_early = datetime.fromtimestamp(following.begun, UTC) + SLACK < low
    if high is not None and one is not None and one.begun and one.first:
        is_late = datetime.fromtimestamp(min(one.begun, one.first), UTC) - SLACK > high
    return not (is_early or is_late)


def _may_have_gtids(one: Head | None, following: Head | None, wanted: GtidSet | None) -> bool:
    if wanted is None or one is None or one.previous is None:
        return True
    left = wanted.without(one.previous)
    if following is None or following.previous is None or one.previous.without(following.previous):
        return bool(left)
    return bool(left.without(left.without(following.previous)))


def _times(filters: Mapping[str, Any], pushed: Iterable[Pushed]) -> tuple[datetime | None, datetime | None]:
    """The latest of the times to begin with, and the earliest of those to end with."""
    # Both are whole seconds, and the driver's options have a zone.
    lows = [value for value in (filters.get("start_datetime"),) if isinstance(value, datetime)]
    highs = [value for value in (filters.get("stop_datetime"),) if isinstance(value, datetime)]
    for one in pushed:
        values = [value for value in one.values if isinstance(value, datetime)]
        if one.about not in _ABOUT_TIME or not values or len(values) < len(one.values):
            continue
        times = [value if value.tzinfo else value.replace(tzinfo=UTC) for value in values]
        if not isinstance(one.filter, _UPPER):
            lows.append(min(times))
        if not isinstance(one.filter, _LOWER):
            highs.append(max(times))
    return max(lows, default=None), min(highs, default=None)
