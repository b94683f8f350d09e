"""Selects the bodies that `verify` parses with the grammar, and reports errors in them.

A correct checksum shows that the bytes are unchanged since they were written, not that they were correct.
Bodies without checksum are all parsed, and so are all table maps, without which no row can be decoded. Other
bodies are parsed as long as this costs little compared with the checksums: those of rare types, and a limited
number of common types. The option `--thorough` selects all of them, and takes longer.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np

from binlog_kaitai.core.grammar import EventType
from binlog_kaitai.core.info import info_of
from binlog_kaitai.core.transactions import GTID_TYPES
from binlog_kaitai.errors import BinlogError, DefinitionWarning
from binlog_kaitai.kernels.arrays import Bools, Ints
from binlog_kaitai.kernels.groups import distinct
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.body_validator import BodyValidator
from binlog_kaitai.log.event_gtids import readable
from binlog_kaitai.log.event_reader import ParsedEvent
from binlog_kaitai.log.event_rows import rows_of
from binlog_kaitai.rows.builders import build_all
from binlog_kaitai.rows.column_cells import CellError, Cells
from binlog_kaitai.rows.image_walk import LocatedRows, MismatchError
from binlog_kaitai.rows.partial_updates import walk_rows
from binlog_kaitai.rows.row_counts import UNKNOWN, walked_counts
from binlog_kaitai.rows.row_images import Images
from binlog_kaitai.rows.table_maps import Table, Tables, located_error
from binlog_kaitai.values.column_kinds import CHOICES, STRINGS, Kind
from binlog_kaitai.values.schema import Column

#: A type with at most this many events in a block is rare.
_RARE = 1024

#: Maximum number of bodies of common types, per type and block, and per log.
_IN_BLOCK = 16384
_IN_LOG = 500_000

#: Events decoded with a record layout in the time in which the event reader decodes one.
_READ = 200

#: What the grammar does not state: the digits of a DECIMAL, the tags of a GTID set.
_CHECKED_FURTHER = (EventType.user_var_event, EventType.previous_gtids_log_event)


def check_body(event: ParsedEvent) -> None:
    """Parse a body with the grammar, and check the rules that the grammar does not express.

    Raises `GrammarError`: the body is invalid.
    """
    kind = event.parsed.event_type.value
    if kind in _CHECKED_FURTHER:
        info_of(event.parsed)
    elif kind in GTID_TYPES:
        _ = event.stated_gtid  # the bytes of a UUID, and the tag


class Bodies:
    """Checks the bodies of a log, block by block.

    `all_of_them`: check all bodies.
    `count`: number of bodies checked.
    `refused`: numbers of the events of the last block with invalid bodies.
    """

    def __init__(self, *, all_of_them: bool = False) -> None:
        self.count = 0
        self.refused: list[int] = []
        self._all = all_of_them
        self._left = _IN_LOG
        self._validator = BodyValidator()

    def check(
        self, block: Block, is_whole: Bools | bool | None, read: int | None = None
    ) -> Iterator[BinlogError]:
        """Errors in the bodies of a block.

        `is_whole`: which events have a correct checksum, as a bool array; True for all, None for none.
        `read`: number of an event that has already been decoded.
        """
        self.refused = []
        if block.is_special:
            self.count += len(block)  # these have been decoded
            return
        for kind, count in block.counts.items():
            if kind == EventType.transaction_payload_event:
                wanted, checked = _nested(block, kind), count  # the others have been opened
            else:
                wanted = self._wanted(block, kind, is_whole)
                checked = int(np.count_nonzero(wanted))
            self.count += checked
            if not wanted.any():
                continue
            before = self._validator.reads
            if read is not None:
                wanted &= block.rows_of(kind) != read
            accepted = self._validator.accepts(block, kind, wanted)
            if kind == EventType.previous_gtids_log_event:
                accepted[:] = False  # few, and their tags are not in the layout
            if kind in GTID_TYPES:
                accepted &= readable(block, kind)
            for row in block.rows_of(kind)[wanted & ~accepted].tolist():
                self._validator.reads += 1
                event = block.event(row)
                try:
                    check_body(event)
                except BinlogError as error:
                    self.refused.append(row)
                    yield event.locate(error).alone()
            if count > _RARE:
                self._left -= int(np.count_nonzero(wanted)) + _READ * (self._validator.reads - before)

    def _wanted(self, block: Block, kind: int, is_whole: Bools | bool | None) -> Bools:
        rows = block.rows_of(kind)
        is_rare = len(rows) <= _RARE
        if self._all or is_whole is None or is_rare or kind == EventType.table_map_event:
            return np.ones(len(rows), dtype=np.bool_)
        wanted = np.zeros(len(rows), dtype=np.bool_) if is_whole is True else ~np.asarray(is_whole)[rows]
        wanted[: min(_IN_BLOCK, max(self._left, 0))] = True
        return wanted


def _nested(block: Block, kind: int) -> Bools:
    """Which events of a type are inside a payload."""
    rows = block.rows_of(kind)
    return np.zeros(len(rows), dtype=np.bool_) if block.holders is None else block.holders[rows] >= 0


#: Rows decoded at a time, few enough for their values to fit into the processor's cache.
_MAX_ROWS = 1 << 14

#: Kinds for which any bytes are valid, once the walk has found their length.
_ANY_BYTES = frozenset(
    (
        Kind.NULL,
        Kind.INTEGER,
        Kind.FLOAT,
        Kind.DOUBLE,
        Kind.BIT,
        Kind.YEAR,
        Kind.DATE,
        *STRINGS,
        Kind.GEOMETRY,
    )
)


def check_images(block: Block, tables: Tables, wanted: Bools) -> Iterator[BinlogError]:
    """Errors in the rows of the selected events (a bool array) of a block, table by table.

    `tables`: the table maps and definitions before the block; its own are added.
    """
    with warnings.catch_warnings():
        # A definition that does not match is not damage.
        warnings.simplefilter("ignore", DefinitionWarning)
        images = Images(block, tables)
    chosen = np.flatnonzero(wanted[images.rows])
    first, which = distinct(images.table_of[chosen])
    for number, event in enumerate(chosen[first].tolist()):
        table = images.table(event)
        for index, error in _suspects(images, table, chosen[which == number]):
            if (damage := _check_values(images, index, table, error)) is not None:
                yield damage.alone()


def _suspects(
    images: Images, table: Table | BinlogError | None, events: Ints
) -> Iterator[tuple[int, CellError | None]]:
    """The events that the kernels reject, with the error of a value."""
    if not isinstance(table, Table) or table.widths is None:
        yield from ((index, None) for index in events.tolist())
        return
    columns = table.memory.setdefault("checked columns", list(filter(_is_checked, table.schema.columns)))
    if columns:
        yield from _undecoded(images, table, columns, events)
        return
    counts = walked_counts(images, events, table)
    yield from ((index, None) for index in events[counts == UNKNOWN].tolist())


def _is_checked(column: Column) -> bool:
    return column.kind not in _ANY_BYTES and (column.kind not in CHOICES or column.members is not None)


def _undecoded(
    images: Images, table: Table, columns: list[Column], chosen: Ints
) -> Iterator[tuple[int, CellError | None]]:
    last = -1  # the rows of a long event come in several portions
    while len(chosen):
        try:
            for located in walk_rows(images, chosen, table, _MAX_ROWS):
                for index, error in _wrong_values(table, columns, located):
                    if index != last:
                        yield index, error
                    last = index
            return
        except MismatchError as mismatch:
            if mismatch.index != last:
                yield mismatch.index, None
            chosen = chosen[chosen > mismatch.index]


def _wrong_values(
    table: Table, columns: list[Column], located: LocatedRows
) -> Iterator[tuple[int, CellError | None]]:
    """The events with values that cannot be decoded, found by bisection."""
    try:
        for _ in build_all([Cells.of(table, column, located) for column in columns]):
            pass
    except CellError as error:
        first, last = int(located.events[0]), int(located.events[-1])
        if first == last:
            yield first, error
            return
        limits = np.flatnonzero(np.diff(located.events)) + 1
        middle = int(limits[len(limits) // 2])
        yield from _wrong_values(table, columns, located.part(0, middle))
        yield from _wrong_values(table, columns, located.part(middle, len(located.events)))


def _check_values(
    images: Images, index: int, table: Table | BinlogError | None, cell: CellError | None
) -> BinlogError | None:
    """The event reader's error for an event, or the kernels' error if the reader decodes all of it."""
    own_map = table.table_map if isinstance(table, Table) else None
    event: ParsedEvent = images.block.event(int(images.rows[index]), own_map)
    if isinstance(table, BinlogError):
        # A table map that violates the grammar is reported as damage of its own.
        return located_error(table, event) if table.position is None else None
    try:
        for _ in rows_of(event, table.schema if table else None):
            pass
    except BinlogError as error:
        return error
    return None if cell is None else event.locate(cell.error)
