"""Rows as `-v` prints them: commented INSERT, UPDATE and DELETE statements.

A kernel writes the text: a program for the header of a rows event and its table describes the text around
each value, and how the value is printed.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from binlog_kaitai.core.context import StoredTableMap
from binlog_kaitai.core.framing import Frame, resized
from binlog_kaitai.core.grammar import CHECKSUM_SIZE, Format, TableMapEvent
from binlog_kaitai.dump.client_values import (
    MapColumn,
    encode,
    escapes_of,
    identifier,
    metadata_number,
    type_text,
)
from binlog_kaitai.errors import BinlogError, GrammarError
from binlog_kaitai.kernels.arrays import Ints
from binlog_kaitai.lines import row_line_kernel as row_lines
from binlog_kaitai.log.event_reader import ParsedEvent
from binlog_kaitai.log.event_rows import may_have_fractions, schema_of
from binlog_kaitai.rows.image_walk import joined
from binlog_kaitai.rows.row_images import ImageProgram, Step
from binlog_kaitai.rows.table_maps import Width, widths_of
from binlog_kaitai.text import listed_values as kinds
from binlog_kaitai.values.column_kinds import COMPRESSED, OLD_TIMES_IN_SQL, TIMES, Kind
from binlog_kaitai.values.decoders import len_partial_bits
from binlog_kaitai.values.schema import Column, Schema, facts_of

#: Types whose lengths `mariadb-binlog` does not know when it counts rows.
_UNMEASURED = COMPRESSED | {Kind.GEOMETRY}
#: A value of unknown length never fits into its event; NULL does.
_UNKNOWN_LENGTH = 1 << 40


def refusal_of(event: ParsedEvent, table: bytes, error: BinlogError) -> BinlogError:
    """The error for rows that the kernel cannot print: that of the grammar, if it finds one."""
    body, field = event.body, table.decode("utf-8", "replace")
    if not hasattr(type(body), "rows"):
        reason = "rows from servers before 5.1.16 are in an internal format that the log does not describe"
        return refusal(event, table, GrammarError(reason, field=field))
    try:
        _ = body.rows
    except Exception as own:  # includes generated code on hostile bytes
        return refusal(event, table, own)
    error.field = error.field or field
    return refusal(event, table, error)


def refusal(event: ParsedEvent, table: bytes, error: Exception) -> BinlogError:
    """The error for rows that cannot be read: not damage if only a definition can tell their lengths."""
    field = table.decode("utf-8", "replace")
    reason = error.reason if isinstance(error, BinlogError) else f"the rows cannot be read: {error}"
    if may_have_fractions(event, schema_of(event)):
        # Values with fractions are longer, and MariaDB's table maps do not record which columns have them.
        hint = f"{OLD_TIMES_IN_SQL} may have fractional seconds; `rows` can tell from the log's DDL"
        return BinlogError(f"{reason}; {hint}", field=field)
    return error if isinstance(error, BinlogError) else GrammarError(reason, field=field)


def table_name(table_map: TableMapEvent, schema_name: bytes | None = None) -> bytes:
    """A table's name in a statement, with a new database name if one is given."""
    database = encode(table_map.schema_name) if schema_name is None else schema_name
    return identifier(database) + b"." + identifier(encode(table_map.table_name))


def column_suffixes(table_map: Any, verbose: int) -> list[tuple[bytes, bytes]]:
    """For each column, the text after a value, and the one that replaces NULL."""
    suffixes = []
    facts_known = facts_of(table_map).columns if verbose > 1 else []
    for column in table_map.columns or ():
        if verbose > 1:
            name = type_text(column, facts_known[column.index].vector_dimensions or 0)
            kind = name + b" " if name else b"type=%d " % int(column.column_type)
            facts = kind + b"meta=%d nullable=%d " % (metadata_number(column), column.is_nullable)
            suffixes.append((b" /* " + facts + b"is_null=0 */\n", b"NULL /* " + facts + b"is_null=1 */\n"))
        else:
            suffixes.append((b"\n", b"NULL\n"))
    return suffixes


def extra_info(body: Any) -> list[bytes]:
    """The text of a rows event's extra data."""
    lines = []
    for chunk in body.extra_data.chunks if getattr(body, "extra_data", None) is not None else ():
        match getattr(chunk.type, "name", ""):
            case "partition" if chunk.content.source_partition_id is not None:
                text = b"### Extra row info for partitioning: source_partition: %d target_partition: %d\n"
                lines.append(text % (chunk.content.source_partition_id, chunk.content.partition_id))
            case "partition":
                text = b"### Extra row info for partitioning: partition: %d\n"
                lines.append(text % chunk.content.partition_id)
            case "ndb":
                data = chunk.content.data
                digits = b"0x" + data.hex().upper().encode() if data else b""
                text = b"### Extra row ndb info: data_format: %d, len: %d :%s\n"
                lines.append(text % (chunk.content.format, len(data), digits))
    return lines


#: Number of cached rows event headers, and of tables and programs; and of the columns of these, in all.
MOST_HEADERS, _MOST_COLUMNS = 1 << 10, 1 << 18
#: How many bytes of a header are looked up at once.
_KEY = 10
#: Maximum length of a header, in bytes: 64 KiB of extra data, and two bits for each column.
_LONGEST_HEADER = 128 << 10

#: The kinds of values that the kernel writes: see `put_client`.
_KINDS: dict[Kind, int] = {
    **{kind: kind.value for kind in (*TIMES, Kind.DOUBLE, Kind.FLOAT, Kind.DECIMAL, Kind.YEAR)},
    **dict.fromkeys((Kind.CHAR, Kind.VARCHAR, Kind.BLOB, *COMPRESSED, Kind.GEOMETRY), kinds.BYTES),
    Kind.INTEGER: kinds.SIGNED,
    Kind.ENUM: kinds.MEMBER,
    Kind.SET: kinds.MEMBERS,
    Kind.BIT: kinds.MEMBERS,
    Kind.JSON: kinds.DOCUMENT,
    Kind.VECTOR: kinds.OTHER,
}
#: Text in place of a value of a type that the client does not support: its number and metadata.
#: `mariadb-binlog` writes this to stderr, and ends.
_UNKNOWN_OF_MYSQL = b"!! Don't know how to handle column type=%d meta=%d (%04x)\n"
_UNKNOWN_OF_MARIADB = b"Don't know how to handle column type: %d meta: %d (%04x)\n"


@dataclass(eq=False)
class RowsHeader:
    """The part of a rows event before its images.

    `body`: the grammar's object of the first event with this header; only its images are specific to that
    event.
    `content`: everything between the event header and the images.
    `kind`: the event type.
    """

    body: Any
    content: bytes
    kind: int


class RowsHeaders:
    """Caches the headers of rows events."""

    def __init__(self) -> None:
        self._known: dict[tuple[Format, int, bytes], list[RowsHeader]] = {}

    def of(self, event: ParsedEvent) -> RowsHeader | None:
        """The header of an event; None if it is not a plain rows event.

        Raises `GrammarError`: the event cannot be parsed.
        """
        raw, layout = event.raw, event.layout
        start = layout.header_length_of(event.type_code)
        key = layout, event.type_code, raw[start : start + _KEY]
        known = self._known.get(key, ())
        for rows_header in known:
            if raw.startswith(rows_header.content, start) and start + len(rows_header.content) <= images_end(
                event
            ):
                return rows_header
        event = _without_most_images(event)
        body = event.body
        if not hasattr(body, "images"):
            return None
        end = images_end(event) - len(body.images)
        rows_header = RowsHeader(body, event.raw[start:end], layout.effective_type(event.type_code))
        if len(self._known) >= MOST_HEADERS or len(known) >= MOST_HEADERS:
            self._known.clear()
        self._known.setdefault(key, []).append(rows_header)
        return rows_header


def _without_most_images(event: ParsedEvent) -> ParsedEvent:
    """An event without most images and the table map: the cache must not hold a long event."""
    raw = event.raw
    if len(raw) > _LONGEST_HEADER:
        raw = raw[: _LONGEST_HEADER - CHECKSUM_SIZE] + raw[-CHECKSUM_SIZE:]
    frame = Frame(event.position, event.fixed_header, resized(raw, len(raw)))
    short = ParsedEvent(event.file, frame, event.layout, None)
    # A type whose images contain their own length cannot be parsed partially.
    with suppress(BinlogError):
        return short if hasattr(short.body, "images") else event
    return event


def images_end(event: ParsedEvent) -> int:
    """The end of the images of a rows event."""
    return len(event.raw) - (CHECKSUM_SIZE if event.layout.is_checksummed else 0)


def images_of(event: ParsedEvent, rows_header: RowsHeader) -> tuple[int, int]:
    """Start and end of the images of an event."""
    start = event.layout.header_length_of(event.type_code) + len(rows_header.content)
    return start, images_end(event)


class RowProgram(NamedTuple):
    """How the rows of events with a header and a table are printed.

    `images`: the layout of the images.
    `printed`, `counted`: the same for printing and for counting, which end where the client gives up.
    `pieces`: those of a line for `put_row_lines`.
    `is_cut`: the client prints no more of an event than what the pieces have.
    """

    stored: StoredTableMap
    images: ImageProgram
    printed: ImageProgram
    counted: ImageProgram
    pieces: list[tuple[int, ...]]
    is_cut: bool

    @property
    def mismatch(self) -> GrammarError:
        """Why rows do not fit."""
        if _UNKNOWN_LENGTH in self.images.steps[:, 1]:
            return GrammarError("the lengths of its values are unknown")
        return GrammarError("the rows do not match their table map")


class ProgramArrays(NamedTuple):
    """All programs, for `walk_images` and `put_row_lines`.

    `width`: the largest number of columns.
    """

    printed: tuple[Ints, Ints, Ints]
    counted: tuple[Ints, Ints, Ints]
    lines: row_lines.LinePrograms
    width: int


class _PrintedColumn(NamedTuple):
    """How the values of a column are printed.

    `step`, `counted`: its step in an image, and the one for counting.
    `cell`: the columns of a piece from KIND to FLAG; empty if the client prints no more of the event.
    `lead`: the text before a value, or instead of it.
    """

    step: Step
    counted: Step
    cell: tuple[int, ...]
    lead: bytes


class RowPrograms:
    """The programs of a dump, each with a number.

    `verbose`: 2 to include column types.
    """

    def __init__(self, verbose: int, *, is_mariadb: bool) -> None:
        self.is_mariadb = is_mariadb
        self.escapes = escapes_of(is_mariadb=is_mariadb)
        self._verbose = verbose
        self._clear()

    def _clear(self) -> None:
        self._numbers: dict[tuple[RowsHeader, bytes, bytes | None], int] = {}
        self._programs: list[RowProgram] = []
        #: Numbers of programs by table maps.
        self.of_stored: dict[tuple[RowsHeader, StoredTableMap], int] = {}
        self._tables: dict[tuple[bytes, object], list[_PrintedColumn]] = {}
        self._pool, self._words = bytearray(), list[bytes]()
        self._size = 0  # columns of tables and programs
        self._arrays: ProgramArrays | None = None

    def begin(self) -> None:
        """Clear the cache if it is too large, which invalidates all program numbers."""
        if len(self._numbers) >= MOST_HEADERS or self._size > _MOST_COLUMNS:
            self._clear()

    def __getitem__(self, number: int) -> RowProgram:
        return self._programs[number]

    def number_of(self, rows_header: RowsHeader, table_map: TableMapEvent, name: bytes | None = None) -> int:
        """The number of the program for events with this header.

        `table_map`: body of the table map.
        `name`: the database name, if it differs from the table map's.
        Raises `BinlogError`: the table map does not describe such rows.
        """
        stored = StoredTableMap(table_map)
        key = rows_header, stored.content, name
        if key not in self._numbers:
            self._programs.append(self._make(rows_header.body, table_map, stored, name))
            self._arrays = None
            self._numbers[key] = len(self._programs) - 1
        return self._numbers[key]

    def arrays(self) -> ProgramArrays:
        """All programs as arrays."""
        if self._arrays is None:
            programs = self._programs
            pieces = [piece for program in programs for piece in program.pieces]
            self._arrays = ProgramArrays(
                joined([program.printed for program in programs]),
                joined([program.counted for program in programs]),
                row_lines.LinePrograms(
                    np.cumsum([0, *(len(program.pieces) for program in programs)], dtype=np.int64),
                    np.array(pieces, dtype=np.int64).reshape(-1, row_lines.PIECE_SIZE),
                    np.frombuffer(bytes(self._pool) + bytes(row_lines.COPIED_AT_ONCE), dtype=np.uint8),
                    np.zeros(0, dtype=np.uint8),
                    np.frombuffer(b"".join(self._words), dtype=np.uint8),
                    np.cumsum([0, *map(len, self._words)], dtype=np.int64),
                ),
                max((program.stored.num_columns for program in programs), default=0),
            )
        return self._arrays

    def _make(self, body: Any, table_map: Any, stored: StoredTableMap, name: bytes | None) -> RowProgram:
        before, after = self._columns(body, table_map, stored.content)
        self._size += len(before) + len(after)
        verb = b"INSERT INTO" if body.is_write else b"UPDATE" if body.is_update else b"DELETE FROM"
        first = b"### " + verb + b" " + table_name(table_map, name)
        first += b"\n### SET\n" if body.is_write else b"\n### WHERE\n"
        which = (0 if body.is_write else 1) | (2 if body.is_write or body.is_update else 0)
        partial = len_partial_bits(table_map.num_json_columns) if body.is_partial_update else -1
        clauses = (
            (b"" if body.is_write else first),
            (first if body.is_write else b"### SET\n" * body.is_update),
        )
        pieces, text, is_cut = list[tuple[int, ...]](), b"", False
        for side, columns in enumerate((before, after)):
            text += b"" if is_cut else clauses[side]
            for column in () if is_cut else columns:
                cell = column.cell
                if partial >= 0 and side and cell and cell[0] == kinds.DOCUMENT:
                    cell = (kinds.OTHER, *cell[1:])
                place = column.step[0], int(side and which == 3)
                pieces.append(
                    self._piece(text + column.lead, *place, *cell)
                    if cell
                    else self._piece(text + column.lead)
                )
                text = b""
                if is_cut := not cell:
                    break
        steps = [column.step for column in before + after]
        images = ImageProgram.of(which, partial, steps[: len(before)], steps[len(before) :])
        counted = [column.counted for column in before + after]
        if is_cut:
            # Nothing after the last piece is looked at.
            rest = range(len(pieces) - 1, len(steps))
            steps = [(step[0], 0, 0) if number in rest else step for number, step in enumerate(steps)]
            which = 1 if len(pieces) <= len(before) else which
        elif text:
            pieces.append(self._piece(text))
        return RowProgram(
            stored,
            images,
            ImageProgram.of(which, partial, steps[: len(before)], steps[len(before) :]),
            ImageProgram.of(images.which, partial, counted[: len(before)], counted[len(before) :]),
            pieces,
            is_cut,
        )

    def _piece(self, lead: bytes, *cell: int) -> tuple[int, ...]:
        """A piece for a value after a text, or for the text alone."""
        kind, rest = (row_lines.VALUE, cell) if cell else (row_lines.CONSTANT, (0,) * (row_lines.LEAD - 1))
        self._pool += lead
        return kind, *rest, len(self._pool) - len(lead), len(lead)

    def _unknown(self, column: MapColumn) -> bytes:
        number = metadata_number(column)
        text = _UNKNOWN_OF_MARIADB if self.is_mariadb else _UNKNOWN_OF_MYSQL
        return text % (int(column.column_type), number, number)

    def _columns(
        self, body: Any, table_map: Any, content: bytes
    ) -> tuple[list[_PrintedColumn], list[_PrintedColumn]]:
        """The columns of both images."""
        has_rows = hasattr(type(body), "rows")  # of the class: the rows themselves may be damaged
        if not has_rows or not table_map.has_known_columns:
            raise GrammarError("the table map does not describe the rows")
        if body.num_columns.value != table_map.num_columns.value:
            raise GrammarError("the rows do not match their table map")
        key = content, table_map.server_year_bits
        if key not in self._tables:
            self._tables[key] = self._columns_of(table_map)
            self._size += len(self._tables[key])
        columns = self._tables[key]
        before = [columns[index] for index in _present(body.columns)]
        after = [columns[index] for index in _present(body.columns_after)] if body.is_update else before
        return [] if body.is_write else before, after if body.is_write or body.is_update else []

    def _columns_of(self, table_map: Any) -> list[_PrintedColumn]:
        """All columns of a table."""
        columns = Schema.of(table_map, is_mariadb=self.is_mariadb).columns
        widths, suffixes = widths_of(table_map, columns), column_suffixes(table_map, self._verbose)
        return [
            self._column(*values) for values in zip(table_map.columns, columns, widths, suffixes, strict=True)
        ]

    def _column(
        self, stored: MapColumn, column: Column, width: Width | None, texts: tuple[bytes, bytes]
    ) -> _PrintedColumn:
        index, lead, kind = column.index, b"###   @%d=" % (column.index + 1), _KINDS.get(column.kind)
        unknown = index, _UNKNOWN_LENGTH, 0
        if kind is None or width is None or (column.kind == Kind.GEOMETRY and not self.is_mariadb):
            return _PrintedColumn(unknown, unknown, (), lead + self._unknown(stored))
        step = index, *width
        words = self.escapes.tobytes() if kind in (kinds.BYTES, kinds.DOCUMENT) else b"", *texts
        self._words += words
        cell = kind, *width, _detail(column), len(self._words) - len(words), len(words), 0
        return _PrintedColumn(step, unknown if column.kind in _UNMEASURED else step, cell, lead)


def _present(columns: Any) -> list[int]:
    """The columns that images have, by the bitmap of their event."""
    bits = np.unpackbits(np.frombuffer(columns.bitmap, dtype=np.uint8), bitorder="little")
    present: list[int] = np.flatnonzero(bits[: columns.num_columns]).tolist()
    return present


def _detail(column: Column) -> int:
    """Additional parameter of a kind, see `put_client`."""
    if column.kind == Kind.DECIMAL:
        return (column.precision or 0) << 8 | (column.scale or 0)
    if column.kind in (Kind.BIT, Kind.SET):
        return (column.bits or 0) if column.kind == Kind.BIT else 8 * column.length
    return column.fractional_digits
