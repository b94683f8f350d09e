"""Writes only the selected transactions of a log, with the same writer as `repair`.

A transaction is copied completely or not at all, so only its position changes. Events of the log itself stay:
the format description, the previous GTIDs, and the rotation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from binlog_kaitai.arrow import pc
from binlog_kaitai.check.log_writer import writing
from binlog_kaitai.core.transactions import BETWEEN
from binlog_kaitai.errors import reading
from binlog_kaitai.kernels.arrays import Ints
from binlog_kaitai.log.block_reader import BlockReader
from binlog_kaitai.log.line_arrays import plain
from binlog_kaitai.log.read_options import no_progress
from binlog_kaitai.sources.disk import refuse_inputs
from binlog_kaitai.sources.source import Source
from binlog_kaitai.views.transactions_view import read_transactions


@dataclass
class Slice:
    """The result of slicing a log.

    `file`, `target`: the input log and the output log.
    `transactions`, `events`, `bytes`: number of copied transactions, and size of the new log, including the
    events of the log itself.
    `open`: number of transactions left out because they do not end in the log.
    """

    file: str
    target: str
    transactions: int = 0
    events: int = 0
    bytes: int = 0
    open: int = 0


def slice_log(
    sources: list[Source],
    targets: list[str],
    *,
    overwrite: bool = False,
    progress: Callable[[Source, int], object] = no_progress,
    **filters: Any,
) -> Iterator[Slice]:
    """For each log, write a new one with the transactions that match the filters.

    `sources`: the logs, in order.
    `targets`: paths of the new logs.
    `overwrite`: overwrite existing files.
    `progress`, `filters`: as :func:`binlog_kaitai.read_transactions` takes them.
    Raises `UsageError`: a target exists or is one of the logs, or a filter is invalid.
    Raises `BinlogError`: a log is damaged.
    """
    inputs = [source.path for source in sources]
    for target in targets:
        refuse_inputs(target, inputs)
    wanted = {plain(source.name): [np.zeros((0, 3), dtype=np.int64)] for source in sources}
    for batch in read_transactions(sources, progress=progress, **filters):
        is_open = pc.equal(batch.column("kind"), "open").cast("int64")
        columns = batch.column("position"), batch.column("end_position"), is_open
        # A batch covers a single log.
        wanted[batch.column("file")[0].as_py()].append(np.column_stack(columns))
    for source, target in zip(sources, targets, strict=True):
        ranges = np.concatenate(wanted[plain(source.name)])
        yield _write(source, target, ranges, inputs, overwrite, progress)


def _write(
    source: Source,
    target: str,
    ranges: Ints,
    inputs: list[str | None],
    overwrite: bool,
    progress: Callable[[Source, int], object],
) -> Slice:
    """Write a log with some transactions, by their starts and ends, and 1 for those that are open."""
    is_open = ranges[:, 2] > 0
    starts, ends = ranges[~is_open, 0], ranges[~is_open, 1]
    done = Slice(source.name, target, len(starts), open=int(is_open.sum()))
    with (
        reading(source.name),
        source.open() as stream,
        writing(target, inputs, overwrite=overwrite) as writer,
    ):
        for block in BlockReader.of_file(stream, source.name):
            chosen = np.isin(block.types, [int(kind) for kind in BETWEEN])
            if len(starts):
                range_of = np.searchsorted(starts, block.positions, side="right") - 1
                chosen |= (range_of >= 0) & (block.positions < ends[range_of])
            rows = np.flatnonzero(chosen)
            writer.write(block, rows)
            done.events += len(rows)
            progress(source, int(block.end_positions[-1]))
        done.bytes = writer.position
    return done
