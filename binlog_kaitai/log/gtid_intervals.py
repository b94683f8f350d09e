"""GTID sets of logs: of their own transactions, and of those before them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from binlog_kaitai.core import log_header
from binlog_kaitai.core.gtids import GtidSet
from binlog_kaitai.core.log_header import PREVIOUS_TYPES
from binlog_kaitai.errors import BinlogError, reading
from binlog_kaitai.kernels.byte_kernels import BAD
from binlog_kaitai.log import checksum_runs as checksums
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.event_gtids import check_gtids
from binlog_kaitai.log.event_reader import Event
from binlog_kaitai.log.gtid_runs import add_gtids
from binlog_kaitai.log.log_end import End
from binlog_kaitai.log.part_reader import blocks_of
from binlog_kaitai.sources.source import Source, SourceLike, resolve


def previous_gtids(event: Event) -> GtidSet:
    """The GTIDs before a log, from the event that contains them; see `log_header.previous_gtids`.

    Raises
    ------
    GrammarError
        The event is damaged.
    """
    try:
        return log_header.previous_gtids(event.parsed)
    except BinlogError as error:
        raise event.locate(error) from error.__cause__


def logged_gtids(
    source: SourceLike | Iterable[SourceLike],
    *,
    has_previous: bool = True,
    ends: list[End] | None = None,
    progress: Callable[[Source, int], object] = lambda source, position: None,
) -> GtidSet:
    """The GTIDs of the transactions in logs.

    Parameters
    ----------
    source
        Any source that `binlog_kaitai.open` accepts.
    has_previous
        Include the GTIDs before each log (PREVIOUS_GTIDS_LOG_EVENT, GTID_LIST_EVENT). The result is
        everything that the server had executed when it wrote the last event.
    ends
        Output: how each file ended.

    Raises
    ------
    SourceError
        No log was found.
    BinlogError
        A log is damaged.
    """
    found = GtidSet()
    for one in resolve(source):
        with reading(one.name), one.open() as stream:
            reader = blocks_of(one, stream)
            try:
                for block in reader:
                    _add(found, block, has_previous=has_previous)
                    progress(one, reader.position)
            except BinlogError as error:
                raise error.at(file=one.name, position=reader.position) from error.__cause__
            if (end := reader.end()) is not None and ends is not None:
                ends.append(end)
    return found


def _add(found: GtidSet, block: Block, *, has_previous: bool) -> None:
    failures: dict[int, BinlogError] = {}
    for row in np.flatnonzero(checksums.check(block) == BAD)[:1].tolist():
        failures[row] = checksums.error_at(block, row)
    check_gtids(block, failures.setdefault)
    if failures:
        raise failures[min(failures)]
    add_gtids(found, block)
    for kind in PREVIOUS_TYPES if has_previous else ():
        for row in block.rows_of(kind).tolist():
            found.update(previous_gtids(block.event(row)))
