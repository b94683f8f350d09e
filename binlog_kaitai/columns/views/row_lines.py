"""Changed rows as lines of JSON, put together by one kernel straight from the bytes of the log.

Numbers become digits and clean strings are copied where a line is written; only other values are made into
text before.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from binlog_kaitai.columns.gather import take_ranges
from binlog_kaitai.columns.kernel.text_kernels import TEXT
from binlog_kaitai.columns.lines import Column, Pool, Program, json_text, write_lines
from binlog_kaitai.columns.rows.arrow_types import arrow_type
from binlog_kaitai.columns.rows.builders import build
from binlog_kaitai.columns.rows.cells import Cells
from binlog_kaitai.columns.rows.images import Found
from binlog_kaitai.columns.rows.json_values import json_values, key_text
from binlog_kaitai.columns.rows.pages import RowsPage
from binlog_kaitai.columns.rows.string_kernels import find_text
from binlog_kaitai.columns.rows.strings import is_ascii_as_it_is
from binlog_kaitai.columns.rows.tables import Table
from binlog_kaitai.columns.rows.walk import ABSENT, AFTER, BEFORE, DELETE, INSERT, find_runs
from binlog_kaitai.reader.rows import to_json

#: What a change is, by what its first image is; and the images that it has, before and after.
CHANGES = {INSERT: "insert", BEFORE: "update", DELETE: "delete"}
_IMAGES = {INSERT: (None, INSERT), BEFORE: (BEFORE, AFTER), DELETE: (DELETE, None)}


class Lines(NamedTuple):
    """Lines of text of changed rows: each row's event and its number in that, bytes, where each line ends."""

    events: Any
    numbers: Any
    data: Any
    ends: Any

    def taken(self, rows: Any) -> Lines:
        """Some of the lines."""
        begins = np.concatenate(([0], self.ends[:-1]))[rows] if len(self.ends) else self.ends
        data, offsets = take_ranges(self.data, begins, self.ends[rows] - begins)
        return Lines(self.events[rows], self.numbers[rows], data, offsets[1:])

    @classmethod
    def joined(cls, parts: list[Lines]) -> Lines:
        """Several in one."""
        sizes = np.cumsum([0] + [len(part.data) for part in parts])
        ends = [part.ends + size for part, size in zip(parts, sizes, strict=False)]
        events, numbers, data = (np.concatenate([part[at] for part in parts]) for at in range(3))
        return cls(events, numbers, data, np.concatenate(ends))


def found_lines(page: RowsPage, table: Table, found: Found) -> Lines | None:
    """The lines of rows of one table; None where rows of the same kind have different columns.

    Raises
    ------
    CellError
        A value is none.
    """
    kinds = [kind for kind in range(4) if (found.changes == kind).any()]
    present = _present(table, found, kinds)
    if present is None:
        return None
    rows = np.flatnonzero(found.changes != AFTER)
    events = found.events[rows]
    limits = np.empty(len(rows) + 1, dtype=np.int64)
    limits = limits[: find_runs.run(events, limits) + 1]
    which = np.repeat(np.arange(len(limits) - 1), np.diff(limits))
    pool = Pool()
    # The columns of an image behind are those of the row after.
    columns = {column.index: _column(Cells.of(table, column, found), pool) for column in table.schema.columns}
    behind = {index: Column(one.kind, one.first[1:], one.second[1:]) for index, one in columns.items()}
    head = _Head(page, found, pool, events[limits[:-1]], page.numbered(found.events, found.numbers))
    programs = {}
    for kind in kinds:
        if kind != AFTER:
            program = head.begin(Program(pool), CHANGES[kind])
            for name, image in zip(("before", "after"), _IMAGES[kind], strict=True):
                program.text(f', "{name}": ')
                if image is None:
                    program.text("null")
                else:
                    _image(program, table, present[image], behind if image == AFTER else columns)
            programs[kind] = program.text("}\n")
    number_of = np.zeros(4, dtype=np.int64)
    number_of[list(programs)] = np.arange(len(programs))
    data, ends = write_lines(
        found.data, pool, list(programs.values()), which, number_of[found.changes[rows]], rows
    )
    return Lines(events, found.numbers[rows], data, ends)


def _present(table: Table, found: Found, kinds: list[int]) -> dict[int | None, list[int]] | None:
    """The columns that the images of each kind have; None where that is not the same for all."""
    is_there: dict[int | None, list[int]] = {kind: [] for kind in kinds}
    absent = found.starts == ABSENT
    if not absent.any():
        return {kind: list(range(len(table.schema.columns))) for kind in kinds}
    for kind in kinds:
        part = absent[:, found.changes == kind]
        some, every = part.any(axis=1), part.all(axis=1)
        if (some != every).any():
            return None
        is_there[kind] = np.flatnonzero(~some).tolist()
    return is_there


def _image(program: Program, table: Table, present: list[int], columns: dict[int, Column]) -> None:
    between = "{"
    for index in present:
        program.text(between + key_text(table.schema.columns[index].name)).column(columns[index])
        between = ", "
    program.text("}" if present else "{}")


class _Head:
    """What a line begins with."""

    def __init__(self, page: RowsPage, found: Found, pool: Pool, events: Any, numbers: Any) -> None:
        table = page.images.table(int(events[0]))
        assert isinstance(table, Table)
        rows, block = page.images.rows[events], page.block
        header = block.header_of(rows)
        schema, name = (json_text(part).decode() for part in table.key)
        self._file = json_text(block.file).decode()
        self._names = f', "schema": {schema}, "table": {name}, "change": '
        self._row = pool.numbers(numbers)
        self._position, self._server, self._time = (
            pool.numbers(values, by_event=True)
            for values in (block.positions[rows], header.numbers("server_id"), header.numbers("timestamp"))
        )
        starts, lengths = -page.gtids.first[rows] - 1, page.gtids.second[rows]
        data, offsets = take_ranges(page.pool.array(), starts, lengths)
        self._gtid = Column(TEXT, -(pool.append(data) + offsets[:-1]) - 1, lengths, by_event=True)
        self._origins: dict[str, Column] = {}
        for name, column in page.origins.items():
            data, ends = origin_texts(page, column, rows)
            starts = np.concatenate(([0], ends[:-1]))
            first = -(pool.append(data) + starts) - 1
            self._origins[name] = Column(TEXT, first, ends - starts, by_event=True)

    def begin(self, program: Program, change: str) -> Program:
        """The keys of `binlog_kaitai.reader.rows.row_object` up to the change."""
        program.text(f'{{"file": {self._file}, "position": ').column(self._position)
        program.text(', "row": ').column(self._row).text(', "timestamp": ').column(self._time)
        program.text(', "gtid": ').column(self._gtid).text(', "server_id": ').column(self._server)
        for name, column in self._origins.items():
            program.text(f', "{name}": ').column(column)
        return program.text(f'{self._names}"{change}"')


def origin_texts(page: RowsPage, column: Column, rows: Any) -> tuple[Any, Any]:
    """What `page.origins` says of some events of the block: JSON texts in one array, and where each ends."""
    program = Program(page.pool).column(column)
    return write_lines(page.block.data, page.pool, [program], rows, np.zeros(len(rows), dtype=np.int64), rows)


def _column(cells: Cells, pool: Pool) -> Column:
    kind = arrow_type(cells.column)
    if pa.types.is_integer(kind):
        values = np.frombuffer(build(cells).buffers()[1], dtype=kind.to_pandas_dtype())[: len(cells)]
        return pool.numbers(values, cells.valid)
    if is_ascii_as_it_is(cells, kind):
        return _strings(cells, pool)
    return _texts(json_values(cells), pool)


def _strings(cells: Cells, pool: Pool) -> Column:
    """Strings, those that are plain ASCII right from the log."""
    first, second = np.empty(len(cells), dtype=np.int64), np.empty(len(cells), dtype=np.int64)
    null = (-pool.null[0] - 1, pool.null[1])
    left = cells.run(find_text, cells.width.prefix, *null, first, second)
    if left:
        rows = np.flatnonzero(second < 0)
        made = _texts(json_values(cells.part(rows)), pool)
        first[rows], second[rows] = made.first, made.second
    return Column(TEXT, first, second)


def _texts(values: Any, pool: Pool) -> Column:
    """JSON text in an Arrow array."""
    _, offsets, data = values.buffers()
    places = np.frombuffer(offsets, dtype=np.int32)[values.offset : values.offset + len(values) + 1]
    places = places.astype(np.int64)
    base = pool.append(memoryview(data)[: places[-1]]) if data is not None and len(places) else 0
    first, second = -(base + places[:-1]) - 1, np.diff(places)
    if values.null_count:
        is_null = values.is_null().to_numpy(zero_copy_only=False)
        first[is_null], second[is_null] = -pool.null[0] - 1, pool.null[1]
    return Column(TEXT, first, second)


def lines_of(objects: list[tuple[int, int, dict[str, Any]]]) -> Lines:
    """The lines of rows as objects, each with its event and its number in that."""
    texts = [to_json(one).encode("utf-8", "backslashreplace") + b"\n" for _, _, one in objects]
    keys = np.array([one[:2] for one in objects], dtype=np.int64).reshape(-1, 2)
    ends = np.cumsum([len(text) for text in texts], dtype=np.int64)
    return Lines(keys[:, 0], keys[:, 1], np.frombuffer(b"".join(texts), dtype=np.uint8), ends)
