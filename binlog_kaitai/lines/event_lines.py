"""The events view: one row, or one line of JSON, per event.

Keys of lines and columns are the same, in the same order. The content of a line is exactly that of the event
reader.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from binlog_kaitai.core.event_types import INFO_FIELDS, InfoField, type_name
from binlog_kaitai.core.filters import Filters
from binlog_kaitai.core.grammar import ENUMS, ROWS_TYPES, BinlogEvent, EventType
from binlog_kaitai.core.info import info_of, plain
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.kernels.arrays import Bools, Bytes, Ints, view_of
from binlog_kaitai.log import checksum_runs as checksums
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.body_validator import BodyValidator
from binlog_kaitai.log.event_gtids import GtidColumns, Gtids
from binlog_kaitai.rows.event_filters import EventSelection
from binlog_kaitai.rows.log_pages import LogPages
from binlog_kaitai.rows.table_maps import TableMaps, decode
from binlog_kaitai.sources.source import Source, SourceLike
from binlog_kaitai.text.line_arrays import LineProgram, Pool, TextColumn, json_text, text_of, write_lines

#: The fields that schema and table filters test.
_NAMES = ("schema_name", "table_name")

_OF_TABLE_MAP = "table_map."


class Infos:
    """Programs that write the main fields of the events of a block.

    `wanted`: the events to write; events that `selection` rejects by name are removed, unless they are among
    `defines`, see `EventSelection.defines`.
    `fail`: called with the number and the error of an event that cannot be decoded.
    `programs`: created by `new_program`, with the object of main fields appended.
    `program_of`, `row_of`: for each event of the block, its program and its row in that program.
    """

    def __init__(
        self,
        block: Block,
        pool: Pool,
        tables: TableMaps,
        wanted: NDArray[np.bool_],
        selection: EventSelection,
        defines: Bools,
        validator: BodyValidator,
        new_program: Callable[[], LineProgram],
        fail: Callable[[int, BinlogError], object],
    ) -> None:
        self._block, self._pool, self._tables = block, pool, tables
        self._selection, self._new_program, self._fail = selection, new_program, fail
        self._validator = validator
        self._defines = defines
        self.programs: list[LineProgram] = []
        self._program_of_kind = np.zeros(256, dtype=np.int64)
        leftover = [self._add_kind(kind, wanted) for kind in block.kinds]
        # NumPy indexes slowly with integers that are not 64 bits wide.
        self.program_of = self._program_of_kind.take(block.types.astype(np.int64))
        self.row_of = block.ranks
        self._add_by_reader(np.sort(np.concatenate([np.zeros(0, dtype=np.int64), *leftover])), wanted)

    def _add_kind(self, kind: int, wanted: Bools) -> Ints:
        """Add the events of one type; returns those left to the event reader."""
        block = self._block
        rows = block.rows_of(kind)
        is_wanted = wanted.take(rows)
        if not is_wanted.any():
            return rows[:0]
        fields = INFO_FIELDS.get(kind, ())
        columns = [self._column(kind, field) for field in fields]
        if block.is_special or None in columns:
            return rows[is_wanted]
        program = self._new_program().text("{")
        for number, (field, column) in enumerate(zip(fields, columns, strict=True)):
            program.text(f'{"," if number else ""}"{field.name}":')
            assert column is not None
            program.column(column)
        self._program_of_kind[kind] = len(self.programs)
        self.programs.append(program.text("}"))
        matches = block.body(kind).matches & self._validator.accepts(block, kind, is_wanted)
        if self._selection.has_names:
            by_name = {field.name: column for field, column in zip(fields, columns, strict=True)}
            self._strike_out(rows, matches, by_name, wanted)
        return rows[is_wanted & ~matches]

    def _strike_out(
        self, rows: Ints, matches: Bools, columns: dict[str, TextColumn | None], wanted: Bools
    ) -> None:
        """Remove the events whose schema or table does not match."""
        for index in np.flatnonzero(wanted[rows] & matches).tolist():
            names = [self._text(columns.get(name), index) for name in _NAMES]
            row = rows[index]
            wanted[row] = self._selection.takes_names(*names) or self._defines[row]

    def _text(self, column: TextColumn | None, row: int) -> str | None:
        return None if column is None else text_of(self._block.data, self._pool, column, row)

    def _column(self, kind: int, field: InfoField) -> TextColumn | None:
        """The values of a field, or None if the layout does not include it."""
        body, pool = self._block.body(kind), self._pool
        if field.path.startswith(_OF_TABLE_MAP) and kind in ROWS_TYPES and "table_id.value" in body:
            return self._tables.column(kind, field.path.removeprefix(_OF_TABLE_MAP))
        if kind == EventType.table_map_event and field.path in _NAMES:
            own = self._tables.own_names(field.path)
            if own is not None:
                return own
        if field.is_function or field.path not in body:
            return None
        where, mask = body.field(field.path), body.presence(field.path)
        kind_of_field = type(where).__name__
        if kind_of_field in ("Number", "Value"):
            enum = getattr(where, "enum", None)
            only = body.only(field.path)
            if only is not None:
                text = json_text(only if enum is None else ENUMS[enum].get(int(only), only))
                return pool.same(text, len(body.matches))
            values = body.numbers(field.path)
            return pool.numbers(values, mask) if enum is None else self._names(values, ENUMS[enum], mask)
        starts, lengths = body.ranges(field.path)
        if field.is_length:
            return pool.numbers(lengths, mask)
        if kind_of_field == "Run" and where.encoding is None:
            if where.is_structure or where.item is not None:
                return None
            mask = body.mask(field.path)
            return pool.verbatim([json_text(value) for value in self._bytes(starts, lengths, mask)])
        return pool.strings(self._block.data, starts, lengths, decode, mask)

    def _bytes(self, starts: Ints, lengths: Ints, mask: Bools) -> Iterator[object]:
        """Bytes in the format of listings, for each event that has them."""
        for start, length, is_there in zip(starts.tolist(), lengths.tolist(), mask.tolist(), strict=True):
            yield plain(bytes(self._block.data[start : start + length])) if is_there else None

    def _names(self, values: Ints, names: dict[int, str], mask: Bools | None) -> TextColumn:
        distinct, codes = np.unique(values, return_inverse=True)
        texts = [json_text(names.get(value, value)) for value in distinct.tolist()]
        return self._pool.choice(codes.reshape(-1), texts, mask)

    def _add_by_reader(self, rows: Ints, wanted: Bools) -> None:
        if not len(rows):
            return
        texts = []
        for row in rows.tolist():
            try:
                info = info_of(self._parsed(row))
                texts.append(json_text(info))
                names = (info.get(name) for name in _NAMES)
                texts_of = (None if name is None else str(name) for name in names)
                wanted[row] = self._selection.takes_names(*texts_of) or self._defines[row]
            except BinlogError as error:
                texts.append(b"null")
                self._fail(row, self._block.event(row).locate(error))
                rows = rows[: len(texts)]  # what follows is not shown
                break
        self.program_of[rows], self.row_of = len(self.programs), self.row_of.copy()
        self.row_of[rows] = np.arange(len(rows))
        self.programs.append(self._new_program().column(self._pool.verbatim(texts)))

    def _parsed(self, row: int) -> BinlogEvent:
        block = self._block
        kind = int(block.types[row])
        table_map = self._tables.table_map(row) if kind in ROWS_TYPES else None
        return block.event(row, table_map).parsed


#: Size of decompressed statements held at a time, in bytes; a single one may be longer.
_MOST_UNPACKED = 8 << 20

#: Maximum events per block. Each block costs some milliseconds, and each event memory for its columns.
_SIZES = {"block_size": 16 << 20, "max_events": 80_000}


class EventsPage(NamedTuple):
    """The events of a block, ready to be written."""

    block: Block
    pool: Pool
    statuses: Bytes  # of the checksums, see `checksums.STATUSES`
    gtids: Gtids | None
    infos: Infos | None
    rows: Ints  # which events to write

    def lines(self, rows: Ints) -> tuple[Bytes, Ints]:
        """The lines of some events (uint8), and the end of each (int64)."""
        infos = self.infos
        assert infos is not None
        program_of, row_of = infos.program_of, infos.row_of
        if len(rows) < len(self.block):
            program_of, row_of = program_of[rows], row_of[rows]
        return write_lines(self.block.data, self.pool, infos.programs, rows, program_of, row_of)


#: Begins the program of a page's lines.
Prologue = Callable[[Block, Pool, Bytes, Gtids | None], Callable[[], LineProgram]]


class _EventsContext(NamedTuple):
    """What the events of earlier blocks of a file establish for those of the next one."""

    gtids: GtidColumns
    tables: TableMaps
    validator: BodyValidator


def _portions(block: Block) -> Iterator[Block]:
    """The block, or parts of it whose compressed statements have few bytes, or are a single event."""
    kind = EventType.query_compressed_event
    if kind not in block.counts or block.is_special:
        yield block
        return
    sizes = np.zeros(len(block), dtype=np.int64)
    body = block.body(kind)
    declared = body.numbers("compressed_query.len_uncompressed").astype(np.int64)
    sizes[block.rows_of(kind)] = np.where(body.matches, declared, 0)
    numbers = np.cumsum(sizes) // _MOST_UNPACKED
    limits = np.flatnonzero(np.diff(numbers, prepend=numbers[0] - 1, append=numbers[-1] + 1))
    for begin, end in pairwise(limits.tolist()):
        yield block.part(begin, end)


class EventPages(LogPages[EventsPage]):
    """Pages of one or more logs, in order.

    `prologue`: begins the program of a page's lines; called with the block, pool, statuses and GTIDs.
    `needs_gtid`, `needs_info`: if false, pages may lack the GTIDs or the programs of the lines; bodies are
    then not decoded for them.
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

    def _blocks(self, source: Source, reader: Iterable[Block]) -> Iterator[Block]:
        return chain.from_iterable(map(_portions, super()._blocks(source, reader)))

    def _begin(self, block: Block) -> _EventsContext:
        return _EventsContext(GtidColumns(), TableMaps(), BodyValidator())

    def _page(self, block: Block, state: _EventsContext, selection: EventSelection) -> Iterator[EventsPage]:
        finder, tables, validator = state
        failures = self._wrong_checksums(block)
        pool = Pool()
        statuses = checksums.check(block)
        gtids = finder.find(block, pool, failures.setdefault) if self._needs_gtid else None
        filtered = gtids if self._has_gtids else None
        wanted = selection.of(block, filtered)
        limit = min([selection.limit, *failures])
        changes = selection.definition_changes(block)
        self._unmatched.look(block, limit, filtered, changes)
        if failures:
            wanted[min(failures) :] = False
        infos = None
        if self._needs_info or selection.has_names:
            tables.begin(block, pool)
            new_program = self._prologue(block, pool, statuses, gtids)
            chosen = wanted, selection, selection.defines(block, changes)
            infos = Infos(block, pool, tables, *chosen, validator, new_program, failures.setdefault)
        if failures:
            wanted[min(failures) :] = False
        if infos is not None and not failures:
            tables.end()
        if wanted.any():
            yield EventsPage(block, pool, statuses, gtids, infos, np.flatnonzero(wanted))
        if failures:
            raise failures[min(failures)]


def write_json(
    source: SourceLike | Iterable[SourceLike],
    filters: Filters | None = None,
    **options: Any,
) -> Iterator[memoryview]:
    """The lines of ``events --format json``, many at a time, as writable views.

    The options are those of `EventPages`.

    Raises `BinlogError`: like the event reader, after the lines of all preceding events.
    """
    pages = EventPages(source, filters or Filters(), prologue=_json_prologue, **options)
    yield from pages.each(_json_lines)


def _json_lines(page: EventsPage) -> Iterator[memoryview]:
    assert page.infos is not None
    with page.block.held():
        for program in page.infos.programs:
            program.text("}\n")
        yield view_of(page.lines(page.rows)[0])


def _json_prologue(
    block: Block, pool: Pool, statuses: Bytes, gtids: Gtids | None
) -> Callable[[], LineProgram]:
    assert gtids is not None
    header = block.header
    names = [json_text(type_name(kind)) for kind in range(256)]
    values: list[tuple[str, TextColumn]] = [
        ("position", pool.numbers(block.positions, by_event=True)),
        ("end_position", pool.numbers(block.end_positions, by_event=True)),
        ("timestamp", pool.numbers(header.numbers("timestamp"), by_event=True)),
        ("type", pool.choice(block.types, names, by_event=True)),
        ("type_code", pool.numbers(block.codes, by_event=True)),
        ("server_id", pool.numbers(header.numbers("server_id"), by_event=True)),
        ("size", pool.numbers(block.sizes, by_event=True)),
        ("flags", pool.numbers(header.numbers("flags"), by_event=True)),
        ("checksum", pool.choice(statuses, [json_text(text) for text in checksums.STATUSES], by_event=True)),
        ("gtid", gtids.column()),
    ]
    file = json_text(block.file).decode()

    def new_program() -> LineProgram:
        program = LineProgram(pool).text(f'{{"file":{file}')
        for name, column in values:
            program.text(f',"{name}":').column(column)
        return program.text(',"info":')

    return new_program
