"""The events view: one row, or one line of JSON, per event.

Keys of lines and columns are the same, in the same order. The content of a line is exactly that of the event
reader.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, TypeVar

import numpy as np

from binlog_kaitai.core.event_types import type_name
from binlog_kaitai.core.filters import Filters
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.kernels.arrays import Bytes, Ints
from binlog_kaitai.kernels.byte_kernels import BAD
from binlog_kaitai.log import checksum_runs as checksums
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.body_validator import BodyValidator
from binlog_kaitai.log.event_gtids import GtidColumns, Gtids
from binlog_kaitai.log.line_arrays import Column, Pool, Program, json_text, write_lines
from binlog_kaitai.log.log_end import End
from binlog_kaitai.rows.event_filters import Selection
from binlog_kaitai.rows.log_pages import LogPages
from binlog_kaitai.rows.table_maps import TableMaps
from binlog_kaitai.sources.source import SourceLike
from binlog_kaitai.views.event_infos import Infos

#: Maximum events per block. Each block costs some milliseconds, and each event memory for its columns.
_SIZES = {"block_size": 16 << 20, "max_events": 80_000}


_Result = TypeVar("_Result")


class Page(NamedTuple):
    """The events of a block, ready to be written."""

    block: Block
    pool: Pool
    statuses: Any  # of the checksums, see `checksums.STATUSES`
    gtids: Gtids | None
    infos: Infos | None
    rows: Any  # which events to write, int64

    def lines(self, rows: Ints) -> tuple[Any, Any]:
        """The lines of some events (uint8), and the end of each (int64)."""
        infos = self.infos
        assert infos is not None
        program_of, row_of = infos.program_of, infos.row_of
        if len(rows) < len(self.block):
            program_of, row_of = program_of[rows], row_of[rows]
        return write_lines(self.block.data, self.pool, infos.programs, rows, program_of, row_of)


#: Begins the program of a page's lines.
Prologue = Callable[[Block, Pool, Any, Gtids | None], Callable[[], Program]]


class _State(NamedTuple):
    """State carried from one block of a file to the next."""

    gtids: GtidColumns
    tables: TableMaps
    validator: BodyValidator


class EventPages(LogPages[Page]):
    """Pages of one or more logs, in order.

    Parameters
    ----------
    prologue
        Begins the program of a page's lines; called with the block, pool, statuses and GTIDs.
    needs_gtid, needs_info
        If false, pages may lack the GTIDs or the programs of the lines; bodies are then not decoded for them.

    The others are those of `LogPages`, and `max_events`, the maximum number of events of a page.
    """

    def __init__(
        self,
        source: SourceLike | Iterable[SourceLike],
        filters: Filters,
        *,
        prologue: Prologue,
        needs_gtid: bool = True,
        needs_info: bool = True,
        **options: Any,
    ) -> None:
        super().__init__(source, filters, **{**_SIZES, **options})
        self._prologue = prologue
        self._needs_gtid = needs_gtid or self._has_gtids
        self._needs_info = needs_info

    def _begin(self, block: Block) -> _State:
        return _State(GtidColumns(), TableMaps(), BodyValidator())

    def _page(self, block: Block, state: _State, selection: Selection) -> Iterator[Page]:
        gtids, tables, validator = state
        failures: dict[int, BinlogError] = {}
        pool = Pool()
        statuses = checksums.check(block)
        if self._verify_checksums:
            for row in np.flatnonzero(statuses == BAD)[:1].tolist():
                failures[row] = checksums.error_at(block, row)
        found = gtids.find(block, pool, failures.setdefault) if self._needs_gtid else None
        column = found.column() if found and self._has_gtids else None
        wanted = selection.of(block, column, pool)
        self._unmatched.look(block, min([selection.limit, *failures]), column, pool)
        if failures:
            wanted[min(failures) :] = False
        infos = None
        if self._needs_info or selection.has_names:
            tables.begin(block, pool)
            new_program = self._prologue(block, pool, statuses, found)
            infos = Infos(block, pool, tables, wanted, selection, validator, new_program, failures.setdefault)
        if failures:
            wanted[min(failures) :] = False
        if infos is not None and not failures:
            tables.end()
        if wanted.any():
            yield Page(block, pool, statuses, found, infos, np.flatnonzero(wanted))
        if failures:
            raise failures[min(failures)]


def write_json(
    source: SourceLike | Iterable[SourceLike],
    filters: Filters | None = None,
    *,
    ends: list[End] | None = None,
    **options: Any,
) -> Iterator[Any]:
    """The lines of ``events --format json``, many at a time, as writable uint8 arrays.

    The options are those of `EventPages`.

    Raises
    ------
    BinlogError
        Like the event reader, after the lines of all preceding events.
    """
    pages = EventPages(source, filters or Filters(), prologue=_json_prologue, **options)
    if ends is not None:
        pages.ends = ends
    yield from pages.each(_json_lines)


def _json_lines(page: Page) -> Iterator[Any]:
    assert page.infos is not None
    with page.block.held():
        for program in page.infos.programs:
            program.text("}\n")
        yield page.lines(page.rows)[0]


def _json_prologue(block: Block, pool: Pool, statuses: Bytes, gtids: Gtids | None) -> Callable[[], Program]:
    assert gtids is not None
    header = block.header
    moments, of_moment = np.unique(header.numbers("timestamp"), return_inverse=True)
    moment_texts = [json_text(moment) for moment in moments.tolist()]
    names = [json_text(type_name(kind)) for kind in range(256)]
    values: list[tuple[str, Column]] = [
        ("position", pool.numbers(block.positions, by_event=True)),
        ("end_position", pool.numbers(block.end_positions, by_event=True)),
        ("timestamp", pool.choice(of_moment.reshape(-1), moment_texts, by_event=True)),
        ("type", pool.choice(block.types, names, by_event=True)),
        ("type_code", pool.numbers(block.codes, by_event=True)),
        ("server_id", pool.numbers(header.numbers("server_id"), by_event=True)),
        ("size", pool.numbers(block.sizes, by_event=True)),
        ("flags", pool.numbers(header.numbers("flags"), by_event=True)),
        ("checksum", pool.choice(statuses, [json_text(text) for text in checksums.STATUSES], by_event=True)),
        ("gtid", gtids.column()),
    ]
    file = json_text(block.file).decode()

    def new_program() -> Program:
        program = Program(pool).text(f'{{"file":{file}')
        for name, column in values:
            program.text(f',"{name}":').column(column)
        return program.text(',"info":')

    return new_program
