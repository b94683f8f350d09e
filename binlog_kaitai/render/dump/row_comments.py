"""Rows as `-v` prints them: commented INSERT, UPDATE and DELETE statements.

The text comes from the grammar's objects, or, for most rows, from a kernel: a program for the header of a
rows event and its table describes the text around each value, and how the value is printed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np

from binlog_kaitai.core.framing import Frame, resized
from binlog_kaitai.core.grammar import CHECKSUM_SIZE, Format, RowImage, TableMapEvent
from binlog_kaitai.errors import BinlogError, GrammarError
from binlog_kaitai.kernels.arrays import Array, Ints
from binlog_kaitai.log.event_reader import ParsedEvent
from binlog_kaitai.log.event_rows import schema_of
from binlog_kaitai.render.dump.client_values import (
    CellText,
    diff_text,
    encode,
    identifier,
    metadata_number,
    type_text,
)
from binlog_kaitai.rows.table_maps import Width, widths_of
from binlog_kaitai.rows.text import dump_kernels as kernels
from binlog_kaitai.values.column_kinds import COMPRESSED, OLD_TIMES, STRINGS, Kind, of_type
from binlog_kaitai.values.schema import Column, Schema, facts_of, is_mariadb

#: Types whose lengths `mariadb-binlog` does not know when it counts rows.
UNMEASURED = COMPRESSED | {Kind.GEOMETRY}


class RowsText(NamedTuple):
    """The statements of an event, and their number of rows."""

    text: bytes
    rows: int


class RowStyle(NamedTuple):
    """How to print the rows of a dump.

    Attributes
    ----------
    texts : mapping
        Formatters of values, by kind of column.
    verbose : int
        2 to include column types.
    unknown : bytes
        Placeholder for a value of an unknown type; a template for type and metadata.
    """

    texts: Mapping[Kind, CellText]
    verbose: int
    unknown: bytes


def rows_text(event: ParsedEvent, style: RowStyle, schema_name: bytes | None = None) -> RowsText:
    """The text of a rows event, with a new database name if one is given.

    Raises
    ------
    GrammarError
        The rows contradict the table map.
    """
    body, table_map = event.body, event.table_map
    if table_map is None:
        return RowsText(b"### Row event for unknown table #%d" % body.table_id.value, 0)
    table = table_name(table_map, schema_name)
    if body.is_write and not (body.columns.num_present and _has_images(body)):
        return RowsText(b"### INSERT INTO " + table + b" VALUES ()\n", 1)
    pieces: list[bytes] = []
    count = 0
    try:
        for image_pieces, is_first, is_whole in _images(event, style, table):
            pieces.extend(image_pieces)
            count += is_first
            if not is_whole:
                break
    except Exception as error:  # includes generated code on hostile bytes
        raise event.locate(refusal(event, table, error)) from error.__cause__
    return RowsText(b"".join(pieces), count)


def refusal(event: ParsedEvent, table: bytes, error: Exception) -> BinlogError:
    """The error for rows that cannot be read: not damage if only a definition can tell their lengths."""
    field = table.decode("utf-8", "replace")
    reason = error.reason if isinstance(error, BinlogError) else f"the rows cannot be read: {error}"
    if is_mariadb(event.layout) and any(column.kind in OLD_TIMES for column in schema_of(event).columns):
        # Values with fractions are longer, and MariaDB's table maps do not record which columns have them.
        hint = "TIME, DATETIME or TIMESTAMP may have fractional seconds; `rows` can tell from the log's DDL"
        return BinlogError(f"{reason}; {hint}", field=field)
    return error if isinstance(error, BinlogError) else GrammarError(reason, field=field)


def table_name(table_map: TableMapEvent, schema_name: bytes | None = None) -> bytes:
    """A table's name in a statement, with a new database name if one is given."""
    database = encode(table_map.schema_name) if schema_name is None else schema_name
    return identifier(database) + b"." + identifier(encode(table_map.table_name))


def counted_rows(event: ParsedEvent) -> int:
    """How many rows `mariadb-binlog` counts in an event whose rows it does not print.

    It stops after a value whose length it does not know.
    """
    body = event.body
    try:
        rows = body.rows or ()
    except Exception:  # generated code on rows that contradict their table map; they are not printed
        return len(getattr(getattr(body, "_m_inflated_rows", body), "_m_rows", ())) or 1
    for count, row in enumerate(rows, 1):
        if any(_is_unmeasured(cell) for image in (row.before, row.after) if image for cell in image.cells):
            return count
    return len(rows)


def _is_unmeasured(cell: RowImage.Cell) -> bool:
    return cell.has_value and of_type(cell.column.real_type).kind in UNMEASURED


def _has_images(body: Any) -> bool:
    images = getattr(body, "images", None)
    return images is None or len(images) > 0


def _images(event: ParsedEvent, style: RowStyle, table: bytes) -> Iterator[tuple[list[bytes], bool, bool]]:
    body = event.body
    if not hasattr(body, "rows"):
        reason = "rows from servers before 5.1.16 are in an internal format that the log does not describe"
        raise GrammarError(reason, field=table.decode("utf-8", "replace"))
    rows = body.rows
    if rows is None:
        raise GrammarError("the rows do not match their table map", field=table.decode("utf-8", "replace"))
    verb = b"INSERT INTO" if body.is_write else b"UPDATE" if body.is_update else b"DELETE FROM"
    head = b"### " + verb + b" " + table + b"\n"
    suffixes = column_suffixes(event.table_map, style.verbose)
    for row in rows:
        first, second = (row.before, row.after) if body.is_update else (row.after or row.before, None)
        clause = b"### SET\n" if body.is_write else b"### WHERE\n"
        pieces = [head, clause]
        is_whole = image_text(first, event.table_map, style, suffixes, pieces)
        yield pieces, True, is_whole
        if second is not None and is_whole:
            pieces = [b"### SET\n"]
            yield pieces, False, image_text(second, event.table_map, style, suffixes, pieces)


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


def image_text(
    image: RowImage,
    table_map: Any,
    style: RowStyle,
    suffixes: list[tuple[bytes, bytes]],
    pieces: list[bytes],
) -> bool:
    """Append the text of one image to `pieces`; False if the client would stop in it."""
    columns = table_map.columns
    for cell in image.cells:
        if not cell.is_present:
            continue
        index = cell.index
        column = columns[index]
        suffix, null = suffixes[index]
        text = style.texts.get(of_type(column.real_type).kind)
        if text is None:
            number = metadata_number(column)
            unknown = style.unknown % (int(column.column_type), number, number)
            pieces.append(b"###   @%d=" % (index + 1) + unknown)
            return False
        if cell.is_null:
            pieces.append(b"###   @%d=" % (index + 1) + null)
            continue
        value = diff_text(cell, index + 1) if cell.is_partial else text(cell.value, column)
        pieces += b"###   @%d=" % (index + 1), value, suffix
    return True


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
#: Number of cached rows event headers, and of tables and programs.
MOST = 1 << 10
#: The servers' maximum.
_MOST_PRECISION, _MOST_SCALE, _MOST_FRACTION = 65, 38, 6
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
    Kind.YEAR: kernels.YEAR,
    Kind.ENUM: kernels.ENUM,
    Kind.SET: kernels.BITS,
    Kind.BIT: kernels.BITS,
    Kind.JSON: kernels.JSON,
    **dict.fromkeys((*STRINGS, *COMPRESSED, Kind.GEOMETRY), kernels.STRING),
}


@dataclass(eq=False)
class RowsHeader:
    """The part of a rows event before its images.

    Attributes
    ----------
    body
        The grammar's object of the first event with this header; only its images are specific to that event.
    content : bytes
        Everything between the event header and the images.
    kind : int
        The event type.
    line, extra : bytes and list of bytes
        Text cached by the printer; None until then.
    """

    body: Any
    content: bytes
    kind: int
    line: bytes | None = None
    extra: list[bytes] | None = None


class RowsHeaders:
    """Caches the headers of rows events."""

    def __init__(self) -> None:
        self._known: dict[tuple[Format, int, bytes], list[RowsHeader]] = {}

    def of(self, event: ParsedEvent) -> RowsHeader | None:
        """The header of an event; None if it is not a plain rows event.

        Raises
        ------
        GrammarError
            The event cannot be parsed.
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


@dataclass
class RowProgram:
    """The arguments of `put_rows` for a header and a table."""

    table_map: Any
    images: int
    counts: tuple[int, int]
    steps: Ints  # array of shape (n, 4): kinds, sizes, prefixes, details
    columns: list[int]
    pool: bytes
    texts: Ints  # array of shape (n, 4), see `put_rows`
    clauses: list[int]
    has_unmeasured: bool


class RowPrograms:
    """The programs of a dump, each with a number."""

    def __init__(self, style: RowStyle, *, is_mariadb: bool) -> None:
        self.style = style
        self.is_mariadb = is_mariadb
        self._numbers: dict[tuple[RowsHeader, bytes, bytes | None], int] = {}
        self._programs: list[RowProgram] = []
        self._arrays: tuple[Array, ...] | None = None

    def __iter__(self) -> Iterator[RowProgram]:
        return iter(self._programs)

    def begin(self) -> None:
        """Clear the cache if it is too large, which invalidates all program numbers."""
        if len(self._numbers) >= MOST:
            self._numbers.clear()
            self._programs.clear()
            self._arrays = None

    def __getitem__(self, number: int) -> RowProgram:
        return self._programs[number]

    def number_of(
        self, rows_header: RowsHeader, table_map: TableMapEvent, content: bytes, name: bytes | None
    ) -> int:
        """The number of the program for events with this header; -1 if there is none.

        Parameters
        ----------
        table_map, content
            Body of the table map, and its bytes.
        name
            The database name, if it differs from the table map's.
        """
        key = rows_header, content, name
        if key not in self._numbers:
            program = self._make(rows_header.body, table_map, name)
            if program is not None:
                self._programs.append(program)
                self._arrays = None
            self._numbers[key] = -1 if program is None else len(self._programs) - 1
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
                np.array([program.images for program in programs], dtype=np.int64),
                np.array(limits, dtype=np.int64).reshape(-1, 3),
                *np.ascontiguousarray(steps.T),
                np.frombuffer(b"".join(program.pool for program in programs), dtype=np.uint8),
                np.concatenate(texts),
                np.array(clauses, dtype=np.int64).reshape(-1, 3),
            )
        return self._arrays

    def _make(self, body: Any, table_map: Any, name: bytes | None) -> RowProgram | None:
        steps = self._steps(body, table_map)
        if steps is None:
            return None
        before, after = steps
        table = table_name(table_map, name)
        verb = b"INSERT INTO" if body.is_write else b"UPDATE" if body.is_update else b"DELETE FROM"
        first = b"### " + verb + b" " + table + (b"\n### SET\n" if body.is_write else b"\n### WHERE\n")
        clauses = [first, b"### SET\n"] if body.is_update else [b"", first] if body.is_write else [first, b""]
        suffixes = column_suffixes(table_map, self.style.verbose)
        pool = b"".join(clauses)
        limits = [0, len(clauses[0]), len(pool)]
        texts = []
        for column, *_ in before + after:
            suffix, null = suffixes[column]
            ends = [len(pool)]
            for piece in (b"###   @%d=" % (column + 1), suffix, null):
                pool += piece
                ends.append(len(pool))
            texts.append(ends)
        return RowProgram(
            table_map,
            (1 if not body.is_write else 0) | (2 if body.is_write or body.is_update else 0),
            (len(before), len(after)),
            np.array([step[1:] for step in before + after], dtype=np.int64).reshape(-1, 4),
            [step[0] for step in before + after],
            pool,
            np.array(texts, dtype=np.int64).reshape(-1, 4),
            limits,
            any(
                of_type(table_map.columns[column].real_type).kind in UNMEASURED
                for column, *_ in before + after
            ),
        )

    def _steps(self, body: Any, table_map: TableMapEvent) -> tuple[list[_Step], list[_Step]] | None:
        """Column, kind, size, prefix and detail of the values of both images; None if unavailable."""
        has_rows = hasattr(type(body), "rows")  # of the class: the rows themselves may be damaged
        if not has_rows or body.is_partial_update or not table_map.has_known_columns:
            return None
        if body.num_columns.value != table_map.num_columns.value:
            return None
        try:
            columns = Schema.of(table_map, is_mariadb=self.is_mariadb).columns
        except BinlogError:
            return None
        widths = widths_of(table_map, columns)
        every = [self._step(column, width) for column, width in zip(columns, widths, strict=True)]
        present = [column.is_present for column in body.columns.columns]
        after = [column.is_present for column in body.columns_after.columns] if body.is_update else present
        first = [] if body.is_write else _present(every, present)
        second = _present(every, after) if body.is_write or body.is_update else []
        if None in first or None in second or not (first or second):
            return None
        return cast("tuple[list[_Step], list[_Step]]", (first, second))

    def _step(self, column: Column, width: Width | None) -> _Step | None:
        if width is None or column.kind not in self.style.texts:
            return None
        kind = _KINDS.get(column.kind, kernels.OTHER)
        detail = _detail(kind, column)
        # The kernel trusts these numbers; values that servers never write take the slow path.
        if kind == kernels.BITS:
            is_usual = 0 < detail <= 8 * width.fixed and column.length == width.fixed
        elif kind == kernels.DECIMAL:
            is_usual = (detail & 0xFF) <= _MOST_SCALE and (detail >> 8) <= _MOST_PRECISION
        else:
            is_usual = detail <= _MOST_FRACTION
        return (column.index, kind, width.fixed, width.prefix, detail) if is_usual else None


def _detail(kind: int, column: Column) -> int:
    """Additional parameter of a kind, see `put_rows`."""
    if kind == kernels.DECIMAL:
        return (column.precision or 0) << 8 | (column.scale or 0)
    if kind == kernels.BITS:
        return (column.bits or 0) if column.kind == Kind.BIT else 8 * column.length
    return column.fractional_digits


def _present(steps: Sequence[_Step | None], bits: list[bool]) -> list[_Step | None]:
    return [step for step, is_there in zip(steps, bits, strict=True) if is_there]
