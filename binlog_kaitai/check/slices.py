"""Writes only the selected transactions of a log, with the same writer as `repair`.

A transaction is copied completely or not at all, so only its position changes. Events of the log itself stay:
the format description, the previous GTIDs, and the rotation.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Unpack
from warnings import catch_warnings, simplefilter

import numpy as np

from binlog_kaitai.arrow import pc
from binlog_kaitai.check.log_writer import writing
from binlog_kaitai.check.masked_blocks import MaskedBlocks, null_masks
from binlog_kaitai.core.filters import FilterOptions, Filters
from binlog_kaitai.core.options import part_of, takes
from binlog_kaitai.core.transactions import BETWEEN
from binlog_kaitai.errors import FilterWarning, UsageError, reading, writing_to
from binlog_kaitai.kernels.arrays import Bools, Ints
from binlog_kaitai.lines.row_texts import page_objects
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.block_reader import BlockReader
from binlog_kaitai.log.read_options import CopyOptions, CriteriaOptions, DefinitionOptions, MaskOptions
from binlog_kaitai.rows.log_pages import RowsPages
from binlog_kaitai.rows.row_criteria import CriteriaChoice
from binlog_kaitai.sources.disk import refuse_inputs
from binlog_kaitai.sources.source import Source, SourceLike, resolve
from binlog_kaitai.text.line_arrays import plain
from binlog_kaitai.views.transactions_view import read_transactions


@dataclass
class Slice:
    """The result of slicing a log.

    `file`, `target`: the input log and the output log.
    `transactions`, `events`: number of copied transactions and events, with those of the log itself.
    `bytes`: size of the new log.
    `open`: number of transactions left out because they do not end in the log.
    `statements`: number of statements, and other events that may have values, left out because of masks.
    """

    file: str
    target: str
    transactions: int = 0
    events: int = 0
    bytes: int = 0
    open: int = 0
    statements: int = 0


class SliceOptions(CopyOptions, DefinitionOptions, FilterOptions, CriteriaOptions, MaskOptions, total=False):
    """The keywords of :func:`slice`."""


@takes(SliceOptions)
def slice(
    source: SourceLike | Iterable[SourceLike],
    target: str | os.PathLike[str],
    **options: Unpack[SliceOptions],
) -> list[Slice]:
    """Copy selected transactions into new logs, like the command ``slice``.

    A transaction is copied in full if it matches all filters, as :func:`binlog_kaitai.read_transactions`
    selects it, and has a change that `operation`, `where` and `column` select. The events of the log itself
    are copied, too. The new logs are not encrypted.

    With masks, a column that is masked or left out is NULL in the new logs, in all images. The texts of
    statements and other events that may have values are left out; compressed events are decompressed.

    Parameters
    ----------
    source
        Whatever :func:`binlog_kaitai.open` accepts.
    target
        Path of the new log; for several logs, of a directory, where each new log has the name of its source.
    **options
        See :class:`SliceOptions`.

    Raises
    ------
    UsageError
        A target exists or is one of the logs, a filter is invalid, or values cannot be masked.
    BinlogError
        No log was found, or one is damaged.
    """
    sources, progress = resolve(source, options["keys"]), options["progress"]
    targets, inputs = _targets(sources, os.fspath(target)), [log.path for log in sources]
    for path in targets:
        refuse_inputs(path, inputs)
    wanted = {plain(log.name): [np.zeros((0, 3), dtype=np.int64)] for log in sources}
    masks = null_masks(*part_of(options, MaskOptions).values())
    filters = part_of(options, FilterOptions)
    for batch in read_transactions(sources, progress=progress, ddl=options["ddl"], **filters):
        is_open = pc.equal(batch.column("kind"), "open").cast("int64")
        columns = batch.column("position"), batch.column("end_position"), is_open
        # A batch covers a single log.
        wanted[batch.column("file")[0].as_py()].append(np.column_stack(columns))
    ranges = [np.concatenate(wanted[plain(log.name)]) for log in sources]
    if (choice := CriteriaChoice.of(**part_of(options, CriteriaOptions))) is not None:
        selected = _selected(sources, filters, choice, options["ddl"])
        pairs = zip(ranges, selected, strict=True)
        ranges = [each[np.diff(np.searchsorted(rows, each[:, :2]))[:, 0] > 0] for each, rows in pairs]
    masked = MaskedBlocks(masks, sources, options["ddl"]) if masks else None
    done = [
        _write(*each, inputs, options["overwrite"], progress, masked)
        for each in zip(sources, targets, ranges, strict=True)
    ]
    if masked is not None:
        masked.warn()
    return done


def _selected(
    sources: list[Source], filters: dict[str, Any], choice: CriteriaChoice, ddl: str | None
) -> list[Ints]:
    """The positions of events with selected changes, ascending, for each log.

    Raises `UsageError`: no table has a column that the criteria name.
    """
    # The other filters are about transactions, which need not match them by the events of their rows.
    names = Filters.of(**{name: filters[name] for name in ("table", "database")})
    positions = {log.name: [np.zeros(0, dtype=np.int64)] for log in sources}
    with catch_warnings():
        simplefilter("ignore", FilterWarning)  # given for the transactions
        for page in RowsPages(sources, names, ddl=ddl, follows_xa=False, has_rolled_back=True):
            for rows in page_objects(page, choice, has_images=False):
                positions[page.block.file].append(page.block.positions[page.images.rows[rows.events]])
    choice.check()
    return [np.concatenate(positions[log.name]) for log in sources]


def _write(
    source: Source,
    target: str,
    ranges: Ints,
    inputs: list[str | None],
    overwrite: bool,
    progress: Callable[[Source, int], object],
    masked: MaskedBlocks | None,
) -> Slice:
    """Write a log with some transactions, by their starts and ends, and 1 for those that are open."""
    is_open = ranges[:, 2] > 0
    starts, ends = ranges[~is_open, 0], ranges[~is_open, 1]
    done = Slice(source.name, target, len(starts), open=int(is_open.sum()))
    before = 0 if masked is None else masked.statements

    def choose(block: Block) -> Bools:
        chosen = np.isin(block.types, [int(kind) for kind in BETWEEN])
        if len(starts):
            range_of = np.searchsorted(starts, block.positions, side="right") - 1
            chosen |= (range_of >= 0) & (block.positions < ends[range_of])
        return chosen

    parts = _parts(source, choose) if masked is None else masked.parts(source, choose)
    with reading(source.name), writing(target, inputs, overwrite=overwrite) as writer:
        for block, rows, end in parts:
            writer.write(block, rows, are_new=masked is not None)
            done.events += len(rows)
            progress(source, end)
        done.bytes = writer.position
    done.statements = 0 if masked is None else masked.statements - before
    return done


def _parts(source: Source, choose: Callable[[Block], Bools]) -> Iterator[tuple[Block, Ints, int]]:
    """The blocks of a log, with the numbers of the chosen events, and where each block ends."""
    with source.open() as stream:
        for block in BlockReader.of_file(stream, source.name):
            yield block, np.flatnonzero(choose(block)), int(block.end_positions[-1])


def _targets(logs: list[Source], target: str) -> list[str]:
    """The output path for each log."""
    if len(logs) == 1 and not os.path.isdir(target) and not target.endswith(os.sep):
        return [target]
    if os.path.isfile(target):
        raise UsageError(f"cannot write {len(logs)} logs to one file; use a directory", file=target)
    names = [os.path.basename(log.name) for log in logs]
    if len(set(names)) < len(names):
        raise UsageError("several logs have the same name; slice them one at a time", file=target)
    with writing_to(target):
        os.makedirs(target, exist_ok=True)
    return [os.path.join(target, name) for name in names]
