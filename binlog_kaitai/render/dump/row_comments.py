"""Rows as `-v` prints them: commented INSERT, UPDATE and DELETE statements.

A kernel writes the text: a program for the header of a rows event and its table describes the text around
each value, and how the value is printed.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from binlog_kaitai.core.framing import Frame, resized
from binlog_kaitai.core.grammar import CHECKSUM_SIZE, Format, TableMapEvent
from binlog_kaitai.errors import BinlogError, GrammarError
from binlog_kaitai.kernels.arrays import Array, Ints
from binlog_kaitai.log.decoders import len_partial_bits
from binlog_kaitai.log.event_reader import ParsedEvent
from binlog_kaitai.log.event_rows import may_have_fractions, schema_of
from binlog_kaitai.render.dump.client_values import MapColumn, encode, identifier, metadata_number, type_text
from binlog_kaitai.rows.table_maps import Width, widths_of
from binlog_kaitai.rows.text import dump_kernels as kernels
from binlog_kaitai.values.column_kinds import COMPRESSED, Kind
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
        hint = "TIME, DATETIME or TIMESTAMP may have fractional seconds; `rows` can tell from the log's DDL"
        return BinlogError(f"{reason}; {hint}", field=field)
    return error if isinstance(error, BinlogError) else GrammarError(reason, field=field)


def table_name(table_map: TableMapEvent, schema_name: bytes | None = None) -> bytes:
    """A table's name in a statement, with a new database name if one is given."""
    database = encode(table_map.schema_name) if schema_name is None else schema_name
    return identifier(database) + b"." + identifier(encode(table_map.table_name))


def content_of(table_map: TableMapEvent) -> bytes:
    """The bytes of the body of a table map."""
    content: bytes = table_map._io._io.getvalue()  # type: ignore[attr-defined]
    return content


def column_suffixes(table_map: Any, verbose: int) -> list[tuple[bytes, bytes]]:
    """For each column, the text after a value, and the texts that replace an unknown value and NULL."""
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


#: Column, kind, size, prefix and detail of a value.
_Step = tuple[int, int, int, int, int]
#: Number of cached rows event headers, and of tables and programs; and of the columns of these, in all.
MOST, _MOST_COLUMNS = 1 << 10, 1 << 18
#: How many bytes of a header are looked up at once.
_KEY = 10
#: Maximum length of a header, in bytes: 64 KiB of extra data, and two bits for each column.
_LONGEST_HEADER = 128 << 10

_KINDS: dict[Kind, int] = {
    Kind.INTEGER: kernels.INTEGER,
    Kind.DOUBLE: kernels.DOUBLE,
    Kind.FLOAT: kernels.FLOAT,
    Kind.DECIMAL: kernels.DECIMAL,
    Kind.DATE: kernels.DATE,
    Kind.DATETIME: kernels.DATETIME,
    Kind.TIME: kernels.TIME,
    Kind.TIMESTAMP: kernels.TIMESTAMP,
    Kind.OLD_DATETIME: kernels.OLD_DATETIME,
    Kind.OLD_TIME: kernels.OLD_TIME,
    Kind.OLD_TIMESTAMP: kernels.OLD_TIMESTAMP,
    Kind.YEAR: kernels.YEAR,
    Kind.ENUM: kernels.ENUM,
    Kind.SET: kernels.BITS,
    Kind.BIT: kernels.BITS,
    Kind.JSON: kernels.JSON,
    Kind.VECTOR: kernels.OTHER,
    **dict.fromkeys((Kind.CHAR, Kind.VARCHAR, Kind.BLOB, *COMPRESSED, Kind.GEOMETRY), kernels.STRING),
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
        if len(self._known) >= MOST or len(known) >= MOST:
            self._known.clear()
        self._known.setdefault(key, []).append(rows_header)
        return rows_header


def _without_most_images(event: ParsedEvent) -> ParsedEvent:
    """The same header without most images: the cache must not hold a long event."""
    raw = event.raw
    if len(raw) <= _LONGEST_HEADER:
        return event
    raw = raw[: _LONGEST_HEADER - CHECKSUM_SIZE] + raw[-CHECKSUM_SIZE:]
    frame = Frame(event.position, event.fixed_header, resized(raw, len(raw)))
    short = ParsedEvent(event.file, frame, event.layout, event.table_map)
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


@dataclass
class RowProgram:
    """The arguments of `put_rows` for a header and a table."""

    table_map: Any
    images: tuple[int, int]
    counts: tuple[int, int]
    steps: Ints  # array of shape (n, 4): kinds, sizes, prefixes, details
    columns: list[int]
    pool: bytes
    texts: Ints  # array of shape (n, 4), see `put_rows`
    clauses: list[int]

    @property
    def mismatch(self) -> GrammarError:
        """Why rows do not fit."""
        if _UNKNOWN_LENGTH in self.steps[:, 1]:
            return GrammarError("the lengths of its values are unknown")
        return GrammarError("the rows do not match their table map")

    @property
    def row_without_columns(self) -> bytes:
        """The text of the only row of an event without images."""
        return self.pool[: self.clauses[-1]]


class _PrintedColumn(NamedTuple):
    """How the values of a column are printed.

    `texts`: before a value, after it, and instead of NULL or an unknown value.
    """

    step: _Step
    texts: tuple[bytes, bytes, bytes]


class RowPrograms:
    """The programs of a dump, each with a number.

    `verbose`: 2 to include column types.
    """

    def __init__(self, verbose: int, *, is_mariadb: bool) -> None:
        self.is_mariadb = is_mariadb
        self._verbose = verbose
        self._numbers: dict[tuple[RowsHeader, bytes, bytes | None], int] = {}
        self._programs: list[RowProgram] = []
        self._tables: dict[tuple[bytes, object], list[_PrintedColumn]] = {}
        self._size = 0  # columns of tables and programs
        self._arrays: tuple[Array, ...] | None = None

    def begin(self) -> None:
        """Clear the cache if it is too large, which invalidates all program numbers."""
        if len(self._numbers) >= MOST or self._size > _MOST_COLUMNS:
            self._numbers.clear()
            self._programs.clear()
            self._tables.clear()
            self._size, self._arrays = 0, None

    def __getitem__(self, number: int) -> RowProgram:
        return self._programs[number]

    def number_of(self, rows_header: RowsHeader, table_map: TableMapEvent, name: bytes | None = None) -> int:
        """The number of the program for events with this header.

        `table_map`: body of the table map.
        `name`: the database name, if it differs from the table map's.
        Raises `BinlogError`: the table map does not describe such rows.
        """
        key = rows_header, content_of(table_map), name
        if key not in self._numbers:
            self._programs.append(self._make(rows_header.body, table_map, name))
            self._arrays = None
            self._numbers[key] = len(self._programs) - 1
        return self._numbers[key]

    def arrays(self) -> tuple[Array, ...]:
        """The arguments of `put_rows` for all programs, from `images` to `clauses`."""
        if self._arrays is None:
            programs = self._programs
            steps = np.concatenate(
                [program.steps for program in programs] or [np.zeros((0, 4), dtype=np.int64)]
            )
            limits, clauses, texts, step, place = [], [], [np.zeros((0, 4), dtype=np.int64)], 0, 0
            for program in programs:
                middle = step + program.counts[0]
                limits.append((step, middle, middle + program.counts[1]))
                clauses.append([place + end for end in program.clauses])
                texts.append(program.texts + place)
                step, place = middle + program.counts[1], place + len(program.pool)
            self._arrays = (
                np.array([program.images for program in programs], dtype=np.int64).reshape(-1, 2),
                np.array(limits, dtype=np.int64).reshape(-1, 3),
                *np.ascontiguousarray(steps.T),
                np.frombuffer(b"".join(program.pool for program in programs), dtype=np.uint8),
                np.concatenate(texts),
                np.array(clauses, dtype=np.int64).reshape(-1, 3),
            )
        return self._arrays

    def _make(self, body: Any, table_map: Any, name: bytes | None) -> RowProgram:
        before, after = self._columns(body, table_map)
        self._size += len(before) + len(after)
        table = table_name(table_map, name)
        verb = b"INSERT INTO" if body.is_write else b"UPDATE" if body.is_update else b"DELETE FROM"
        first = b"### " + verb + b" " + table + (b"\n### SET\n" if body.is_write else b"\n### WHERE\n")
        clauses = [first, b"### SET\n"] if body.is_update else [b"", first] if body.is_write else [first, b""]
        pieces = clauses + [text for column in before + after for text in column.texts]
        limits = np.cumsum([0, *map(len, pieces)], dtype=np.int64)
        # Each text ends where the next one begins.
        starts = np.arange(len(clauses), len(pieces), 3)
        has_options = bool(body.is_partial_update)
        return RowProgram(
            table_map,
            (
                (1 if not body.is_write else 0) | (2 if body.is_write or body.is_update else 0),
                len_partial_bits(table_map.num_json_columns) if has_options else -1,
            ),
            (len(before), len(after)),
            np.array([column.step[1:] for column in before + after], dtype=np.int64).reshape(-1, 4),
            [column.step[0] for column in before + after],
            b"".join(pieces),
            limits[starts[:, None] + np.arange(4)],
            limits[: len(clauses) + 1].tolist(),
        )

    def _unknown(self, column: MapColumn) -> bytes:
        number = metadata_number(column)
        text = _UNKNOWN_OF_MARIADB if self.is_mariadb else _UNKNOWN_OF_MYSQL
        return text % (int(column.column_type), number, number)

    def _columns(self, body: Any, table_map: Any) -> tuple[list[_PrintedColumn], list[_PrintedColumn]]:
        """The columns of both images."""
        has_rows = hasattr(type(body), "rows")  # of the class: the rows themselves may be damaged
        if not has_rows or not table_map.has_known_columns:
            raise GrammarError("the table map does not describe the rows")
        if body.num_columns.value != table_map.num_columns.value:
            raise GrammarError("the rows do not match their table map")
        key = content_of(table_map), table_map.server_year_bits
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
        printed = []
        for stored, column, width, (suffix, null) in zip(
            table_map.columns, columns, widths, suffixes, strict=True
        ):
            step = self._step(stored, column, width)
            null = self._unknown(stored) if step[1] == kernels.UNKNOWN else null
            printed.append(_PrintedColumn(step, (b"###   @%d=" % (column.index + 1), suffix, null)))
        return printed

    def _step(self, stored: MapColumn, column: Column, width: Width | None) -> _Step:
        kind = _KINDS.get(column.kind)
        if kind is None or (column.kind == Kind.GEOMETRY and not self.is_mariadb):
            return column.index, kernels.UNKNOWN, _UNKNOWN_LENGTH, 0, 0
        detail = stored.json_ordinal if kind == kernels.JSON else _detail(kind, column)
        is_usual = width is not None
        if width is not None and kind == kernels.BITS:
            is_usual = 0 < detail <= 8 * width.fixed and column.length == width.fixed
        if width is None or not is_usual:
            return column.index, kernels.OTHER, _UNKNOWN_LENGTH, 0, 0
        return column.index, kind, width.fixed, width.prefix, detail


def _present(columns: Any) -> list[int]:
    """The columns that images have, by the bitmap of their event."""
    bits = np.unpackbits(np.frombuffer(columns.bitmap, dtype=np.uint8), bitorder="little")
    present: list[int] = np.flatnonzero(bits[: columns.num_columns]).tolist()
    return present


def _detail(kind: int, column: Column) -> int:
    """Additional parameter of a kind, see `put_rows`."""
    if kind == kernels.DECIMAL:
        return (column.precision or 0) << 8 | (column.scale or 0)
    if kind == kernels.BITS:
        return (column.bits or 0) if column.kind == Kind.BIT else 8 * column.length
    if kind == kernels.STRING:
        return int(column.kind in _UNMEASURED)
    return column.fractional_digits
