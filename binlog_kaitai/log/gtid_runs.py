"""The set of the GTIDs in a block, computed without looping over transactions."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from binlog_kaitai.core import spans
from binlog_kaitai.core.grammar import EventType, header_offset
from binlog_kaitai.core.gtids import GtidSet
from binlog_kaitai.core.spans import PREVIOUS_TYPES
from binlog_kaitai.core.transactions import GTID_TYPES, mysql_source
from binlog_kaitai.errors import BinlogError, reading
from binlog_kaitai.kernels.arrays import Array, Ints, Unsigned
from binlog_kaitai.kernels.byte_kernels import BAD
from binlog_kaitai.log import checksum_runs as checksums
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.event_gtids import Stated, check_gtids
from binlog_kaitai.log.event_reader import ParsedEvent
from binlog_kaitai.log.log_end import End
from binlog_kaitai.log.span_reader import blocks_of
from binlog_kaitai.sources.source import Source, SourceLike, resolve

#: MySQL's transaction numbers are below 2^63.
_MOST_OF_MYSQL = (1 << 63) - 1


def add_gtids(gtids: GtidSet, block: Block) -> None:
    """Add the GTIDs of a block's transactions; events that cannot be decoded add nothing."""
    for kind in block.kinds:
        if kind in GTID_TYPES:
            _add_of_type(gtids, block, kind)


def _add_of_type(gtids: GtidSet, block: Block, kind: int) -> None:
    rows = block.rows_of(kind)
    if kind == EventType.gtid_log_event:
        uuid, number = block.offset(kind, "uuid"), block.offset(kind, "gno")
        if uuid is not None and number is not None:
            rows = rows[block.sizes[rows] >= number + 8]
            source = block.numbers_at(rows, uuid, 8), block.numbers_at(rows, uuid + 8, 8)
            numbers = block.numbers_at(rows, number, 8)
            _add_runs(gtids, source, numbers, _mysql_source, _MOST_OF_MYSQL)
            return
    if kind == EventType.gtid_event:
        domain, number = block.offset(kind, "domain_id"), block.offset(kind, "sequence_number")
        if domain is not None and number is not None:
            rows = rows[block.sizes[rows] >= max(domain + 4, number + 8)]
            server = block.numbers_at(rows, header_offset("server_id"), 4)
            source = block.numbers_at(rows, domain, 4), server
            _add_runs(gtids, source, block.numbers_at(rows, number, 8), "{}-{}".format)
            return
    if kind == EventType.gtid_tagged_log_event:
        stated = Stated.of(block, kind)
        codes, numbers = stated.codes[stated.matches], stated.numbers[stated.matches].astype(np.uint64)
        _add_runs(gtids, (codes, codes), numbers, lambda code, _: stated.sources[code], _MOST_OF_MYSQL)
        _add_one_by_one(gtids, block, rows[~stated.matches])
    elif kind != EventType.anonymous_gtid_log_event:
        _add_one_by_one(gtids, block, rows)


def _mysql_source(high: int, low: int) -> str:
    return mysql_source(high.to_bytes(8, "little") + low.to_bytes(8, "little"))


def _add_runs(
    gtids: GtidSet,
    source: tuple[Array, Array],
    numbers: Unsigned,
    name: Callable[[int, int], str],
    most: int = (1 << 64) - 1,
) -> None:
    """Add many GTIDs, which are mostly consecutive; 0 and numbers above `most` are skipped."""
    if not len(numbers):
        return
    high, low = source
    follows = numbers[1:] == numbers[:-1] + np.uint64(1)
    follows &= (high[1:] == high[:-1]) & (low[1:] == low[:-1])
    begins = np.concatenate(([0], np.flatnonzero(~follows) + 1))
    runs = np.stack((numbers[begins], np.append(numbers[begins[1:] - 1], numbers[-1:])), axis=1)
    of_source: dict[tuple[int, int], list[int]] = {}
    for index, pair in enumerate(zip(high[begins].tolist(), low[begins].tolist(), strict=True)):
        of_source.setdefault(pair, []).append(index)
    for (first, second), chosen in of_source.items():
        if merged := _merged(runs[chosen], most):
            gtids.add_ranges(name(first, second), ((start, last + 1) for start, last in merged))


def _merged(runs: Unsigned, most: int) -> list[tuple[int, int]]:
    """Ranges of numbers (uint64), sorted, with adjacent ones merged."""
    runs = runs[(runs[:, 0] > 0) & (runs[:, 1] <= np.uint64(most))]
    if not len(runs):
        return []
    runs = runs[np.argsort(runs[:, 0], kind="stable")]
    reached = np.maximum.accumulate(runs[:, 1])
    begins = np.flatnonzero(np.concatenate(([True], runs[1:, 0] - np.uint64(1) > reached[:-1])))
    ends = np.append(begins[1:], len(runs)) - 1
    return list(zip(runs[begins, 0].tolist(), reached[ends].tolist(), strict=True))


def _add_one_by_one(gtids: GtidSet, block: Block, rows: Ints) -> None:
    for row in rows.tolist():
        try:
            text = block.event(row).stated_gtid
        except BinlogError:
            continue
        if text is not None:
            gtids.add(text)


def previous_gtids(event: ParsedEvent) -> GtidSet:
    """The GTIDs before a log, from the event that contains them; see `spans.previous_gtids`.

    Raises `GrammarError`: the event is damaged.
    """
    try:
        return spans.previous_gtids(event.parsed)
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

    `source`: any source that `binlog_kaitai.open` accepts.
    `has_previous`: include the GTIDs before each log (PREVIOUS_GTIDS_LOG_EVENT, GTID_LIST_EVENT). The result
    is everything that the server had executed when it wrote the last event.
    `ends`: output: how each file ended.
    Raises `SourceError`: no log was found.
    Raises `BinlogError`: a log is damaged.
    """
    gtids = GtidSet()
    for log in resolve(source):
        with reading(log.name), log.open() as stream:
            reader = blocks_of(log, stream)
            try:
                for block in reader:
                    _add(gtids, block, has_previous=has_previous)
                    progress(log, reader.position)
            except BinlogError as error:
                raise error.at(file=log.name, position=reader.position) from error.__cause__
            if (end := reader.end()) is not None and ends is not None:
                ends.append(end)
    return gtids


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
