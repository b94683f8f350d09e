"""The GTID of the transaction that each event belongs to, for a block at a time.

The rule is that of `binlog_kaitai.transactions`; a test holds the two equal.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from binlog_kaitai.adapter import gtid_text
from binlog_kaitai.columns.block import Block
from binlog_kaitai.columns.lines import Column, Pool, Program, json_text, write_lines
from binlog_kaitai.columns.text_kernels import TEXT
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.grammar import EventType
from binlog_kaitai.transactions import BETWEEN, GTID_TYPES, mysql_gtid


class GtidColumns:
    """Makes the GTID column of one block after another of the same file.

    Attributes
    ----------
    gtid : bytes
        JSON text of the GTID in force behind the last block.
    """

    def __init__(self) -> None:
        self.gtid = b"null"

    def column(self, block: Block, pool: Pool, fail: Callable[[int, BinlogError], object]) -> Column:
        """GTID of each event, as JSON text in the pool; `fail` gets the events that cannot be read."""
        count = len(block)
        first = np.full(count, -pool.null[0] - 1, dtype=np.int64)
        second = np.full(count, pool.null[1], dtype=np.int64)
        is_marker = np.zeros(count, dtype=np.bool_)
        for kind in block.kinds:
            if kind in BETWEEN:
                is_marker[block.rows_of(kind)] = True
            elif kind in GTID_TYPES:
                rows = block.rows_of(kind)
                is_marker[rows] = True
                first[rows], second[rows] = _texts(block, kind, pool, fail)
        marker = np.maximum.accumulate(np.where(is_marker, np.arange(count), -1))
        place, length = pool.place(self.gtid)
        first = np.where(marker >= 0, first[marker], -place - 1)
        second = np.where(marker >= 0, second[marker], length)
        if count:
            start = -int(first[-1]) - 1
            self.gtid = pool.read(start, int(second[-1]))
        return Column(TEXT, first, second, by_event=True)


def _texts(
    block: Block, kind: int, pool: Pool, fail: Callable[[int, BinlogError], object]
) -> tuple[Any, Any]:
    """The GTIDs that the GTID events of one type state."""
    rows, body = block.rows_of(kind), block.body(kind)
    count = len(rows)
    first = np.full(count, -pool.null[0] - 1, dtype=np.int64)
    second = np.full(count, pool.null[1], dtype=np.int64)
    fits = body.fits
    program: Program | None = None
    if kind == EventType.gtid_log_event and "uuid" in body and "gno" in body:
        program = _mysql(body, pool)
    elif kind == EventType.gtid_event and "domain_id" in body and "sequence_number" in body:
        program = _mariadb(block, rows, body, pool)
    elif kind != EventType.anonymous_gtid_log_event:
        fits = np.zeros(count, dtype=np.bool_)
    if program is not None:
        numbers, zeros = np.arange(count), np.zeros(count, dtype=np.int64)
        out, ends = write_lines(block.data, pool, [program], numbers, zeros, numbers)
        starts = np.concatenate((zeros[:1], ends[:-1])) if count else ends
        first, second = -(pool.append(out) + starts) - 1, ends - starts
    for index in np.flatnonzero(~fits).tolist():
        try:
            text = json_text(gtid_text(block.event(int(rows[index])).parsed))
        except BinlogError as error:
            fail(int(rows[index]), error)
            continue
        place, second[index] = pool.place(text)
        first[index] = -place - 1
    return first, second


def uuids_of(body: Any) -> tuple[list[bytes], Any]:
    """The distinct UUIDs of GTID events, and for each event the number of its own among them."""
    halves = np.stack(body.halves("uuid"))
    if (halves == halves[:, :1]).all():
        distinct, codes = halves[:, :1].T, np.zeros(halves.shape[1], dtype=np.int64)
    else:
        distinct, codes = np.unique(halves.T, axis=0, return_inverse=True)
    return [
        high.to_bytes(8, "big") + low.to_bytes(8, "big") for high, low in distinct.tolist()
    ], codes.reshape(-1)


def _mysql(body: Any, pool: Pool) -> Program:
    uuids, codes = uuids_of(body)
    texts = [b'"' + mysql_gtid(uuid, 0)[:-1].encode() for uuid in uuids]
    program = Program(pool).column(pool.choice(codes, texts))
    return program.column(pool.numbers(body.numbers("gno"))).text('"')


def _mariadb(block: Block, rows: Any, body: Any, pool: Pool) -> Program:
    program = Program(pool).text('"').column(pool.numbers(body.numbers("domain_id"))).text("-")
    program.column(pool.numbers(block.header["server_id"][rows])).text("-")
    return program.column(pool.numbers(body.numbers("sequence_number"))).text('"')
