"""The GTIDs in blocks and in logs, as sets."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Unpack

import numpy as np

from binlog_kaitai.core import spans
from binlog_kaitai.core.gtids import GtidSet, split_gtid
from binlog_kaitai.core.options import takes
from binlog_kaitai.core.spans import PREVIOUS_TYPES
from binlog_kaitai.core.transactions import GTID_TYPES
from binlog_kaitai.errors import BinlogError, reading
from binlog_kaitai.kernels.arrays import Ints
from binlog_kaitai.kernels.byte_kernels import BAD
from binlog_kaitai.log import checksum_runs as checksums
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.event_gtids import Stated, check_gtids
from binlog_kaitai.log.event_reader import ParsedEvent
from binlog_kaitai.log.log_end import End
from binlog_kaitai.log.read_options import ScanOptions
from binlog_kaitai.log.span_reader import blocks_of
from binlog_kaitai.sources.source import SourceLike, resolve


def add_gtids(gtids: GtidSet, block: Block) -> None:
    """Add the GTIDs of a block's transactions, without looping over them; events that cannot be decoded add
    nothing.
    """
    for kind in block.kinds:
        if kind in GTID_TYPES:
            stated = Stated.of(block, kind)
            _add_runs(gtids, stated)
            for row in block.rows_of(kind)[~stated.matches].tolist():
                with suppress(BinlogError):
                    source, number = split_gtid(block.event(row).stated_gtid or ":0")
                    gtids.add_range(source, number, number + (number > 0))


def gtids_of(block: Block) -> GtidSet:
    """The GTIDs of a block's transactions."""
    gtids = GtidSet()
    add_gtids(gtids, block)
    return gtids


def _add_runs(gtids: GtidSet, stated: Stated) -> None:
    """Add many GTIDs, which are mostly consecutive; 0 is skipped."""
    codes, numbers = stated.codes[stated.matches], stated.numbers[stated.matches]
    follows = (numbers[1:] == numbers[:-1] + 1) & (codes[1:] == codes[:-1])
    begins = np.flatnonzero(np.append(True, ~follows)[: len(codes)])
    runs = np.stack((numbers[begins], numbers[np.append(begins[1:], len(codes))[: len(begins)] - 1]), axis=1)
    of_source: dict[int, list[int]] = {}
    for index, code in enumerate(codes[begins].tolist() if stated.sources else ()):
        of_source.setdefault(code, []).append(index)
    for code, chosen in of_source.items():
        if merged := _merged(runs[chosen]):
            gtids.add_ranges(stated.sources[code], ((start, last + 1) for start, last in merged))


def _merged(runs: Ints) -> list[tuple[int, int]]:
    """Ranges of numbers, sorted, with adjacent ones merged."""
    runs = runs[runs[:, 0] > 0]
    runs = runs[np.argsort(runs[:, 0], kind="stable")]
    reached = np.maximum.accumulate(runs[:, 1])
    begins = np.flatnonzero(np.append(True, runs[1:, 0] - 1 > reached[:-1])[: len(runs)])
    lasts = reached[np.append(begins[1:], len(runs))[: len(begins)] - 1]
    return list(zip(runs[begins, 0].tolist(), lasts.tolist(), strict=True))


def previous_gtids(event: ParsedEvent) -> GtidSet:
    """The GTIDs before a log, from the event that contains them; see `spans.previous_gtids`.

    Raises `GrammarError`: the event is damaged.
    """
    try:
        return spans.previous_gtids(event.parsed)
    except BinlogError as error:
        raise event.locate(error) from error.__cause__


@takes(ScanOptions)
def gtids(
    source: SourceLike | Iterable[SourceLike],
    *,
    logged: bool = False,
    ends: list[End] | None = None,
    **options: Unpack[ScanOptions],
) -> GtidSet:
    """The GTIDs in logs, like the command ``gtids``: everything their server had executed.

    Parameters
    ----------
    source
        Whatever :func:`binlog_kaitai.open` accepts.
    logged
        Only the transactions in the logs, without those before each log, which its PREVIOUS_GTIDS_LOG_EVENT
        or GTID_LIST_EVENT states.
    ends
        Output: how each file ended.
    **options
        See :class:`ScanOptions`.

    Raises
    ------
    BinlogError
        No log was found, or one is damaged.
    """
    total = GtidSet()
    for log in resolve(source, options["keys"]):
        with reading(log.name), log.open() as stream:
            reader = blocks_of(log, stream)
            try:
                for block in reader:
                    _add(total, block, has_previous=not logged)
                    options["progress"](log, reader.position)
            except BinlogError as error:
                raise error.at(file=log.name, position=reader.position) from error.__cause__
            if (end := reader.end()) is not None and ends is not None:
                ends.append(end)
    return total


def _add(gtids: GtidSet, block: Block, *, has_previous: bool) -> None:
    failures: dict[int, BinlogError] = {}
    for row in np.flatnonzero(checksums.check(block) == BAD)[:1].tolist():
        failures[row] = checksums.error_at(block, row)
    check_gtids(block, failures.setdefault)
    if failures:
        raise failures[min(failures)]
    add_gtids(gtids, block)
    for kind in PREVIOUS_TYPES if has_previous else ():
        for row in block.rows_of(kind).tolist():
            gtids.update(previous_gtids(block.event(row)))
