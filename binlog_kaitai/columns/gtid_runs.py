"""The set of the GTIDs in a block, found without a look at each transaction."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from binlog_kaitai.adapter import gtid_text
from binlog_kaitai.columns.block import Block
from binlog_kaitai.columns.kernels import follow_numbers
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.grammar import EventType, header_offset
from binlog_kaitai.gtids import GtidSet
from binlog_kaitai.transactions import mysql_gtid


def add_gtids(gtids: GtidSet, block: Block, kind: int) -> None:
    """Add what the GTID events of one type state; events that cannot be read add nothing."""
    if kind == EventType.gtid_log_event:
        uuid, number = block.offset(kind, "uuid"), block.offset(kind, "gno")
        if uuid is not None and number is not None:
            _add_runs(gtids, block, kind, (uuid, uuid + 8, number), (8, 8, 8), _mysql_source)
            return
    if kind == EventType.gtid_event:
        domain, number = block.offset(kind, "domain_id"), block.offset(kind, "sequence_number")
        if domain is not None and number is not None:
            places = domain, header_offset("server_id"), number
            _add_runs(gtids, block, kind, places, (4, 4, 8), "{}-{}".format)
            return
    if kind != EventType.anonymous_gtid_log_event:
        _add_one_by_one(gtids, block, kind)


def _mysql_source(high: int, low: int) -> str:
    uuid = high.to_bytes(8, "little") + low.to_bytes(8, "little")
    return mysql_gtid(uuid, 0)[: -len(":0")]


def _add_runs(
    gtids: GtidSet,
    block: Block,
    kind: int,
    places: tuple[int, int, int],
    widths: tuple[int, int, int],
    name: Callable[[int, int], str],
) -> None:
    runs = np.empty((block.counts[kind], 4), dtype=np.uint64)
    code = int(block.codes[np.argmax(block.types == kind)])
    follow = follow_numbers.for_work(8 * len(block))
    count = follow(
        block.data, block.starts, block.sizes, block.codes, code, np.array(places), np.array(widths), runs
    )
    found = runs[:count]
    for high, low in np.unique(found[:, :2], axis=0).tolist():
        of_source = found[(found[:, 0] == high) & (found[:, 1] == low), 2:]
        for first, last in _merged(of_source):
            gtids.add_range(name(high, low), first, last + 1)


def _merged(runs: Any) -> list[tuple[int, int]]:
    """Runs of numbers, sorted, and joined where one goes on where another ends; 0 is no number."""
    runs = runs[(runs[:, 0] > 0) & (runs[:, 1] < 1 << 63)].astype(np.int64)
    if not len(runs):
        return []
    runs = runs[np.argsort(runs[:, 0], kind="stable")]
    reached = np.maximum.accumulate(runs[:, 1])
    begins = np.flatnonzero(np.concatenate(([True], runs[1:, 0] > reached[:-1] + 1)))
    ends = np.append(begins[1:], len(runs)) - 1
    return list(zip(runs[begins, 0].tolist(), reached[ends].tolist(), strict=True))


def _add_one_by_one(gtids: GtidSet, block: Block, kind: int) -> None:
    for row in block.rows_of(kind).tolist():
        try:
            text = gtid_text(block.event(row).parsed)
        except BinlogError:
            continue
        if text is not None:
            gtids.add(text)
