"""Changed rows as a table, as CSV, or as records of several lines or fields; the first or last of them."""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import count
from typing import Any

import numpy as np

from binlog_kaitai.errors import UsageError
from binlog_kaitai.kernels.arrays import Bytes, Ints
from binlog_kaitai.lines.row_forms import (
    Form,
    JsonForm,
    OfEvents,
    RowShape,
    column_texts,
    put_image,
)
from binlog_kaitai.lines.row_line_kernel import ADDED, CHANGED, MAX_LENGTH, SHOWN
from binlog_kaitai.lines.row_programs import PEOPLE, QUOTED_JSON, Line, TableLines
from binlog_kaitai.rows.event_metadata import ORIGINS
from binlog_kaitai.text.line_arrays import LineProgram, Pool, TextColumn, json_text
from binlog_kaitai.text.moment_texts import number_texts
from binlog_kaitai.text.output_text import (
    ENCODING_ERRORS,
    csv_line,
    iso_time,
    printable,
    shown_time,
    to_json,
    zone_name,
)
from binlog_kaitai.text.text_kernels import TEXT

#: The columns of a table with their widths; the row follows them.
_COLUMNS = {
    "file": 16,
    "position": 10,
    "time": 19,
    "gtid": 41,
    "thread": 7,
    "table": 24,
    "change": 6,
    "statement": 40,
}

#: Columns that are shown on request.
_ON_REQUEST = ("file", "gtid", *ORIGINS)

_OF_EVENT = ("file", "position", "row", "timestamp", "gtid", "server_id")
_OF_ROW = ("schema", "table", "change", "before", "after", "diffs")


def form_of(output: str, shown: Collection[str] = ()) -> tuple[Form, bytes]:
    """The line format of an output, and its line of column names.

    `shown`: some of ``file``, ``gtid``, ``thread`` and ``statement``. The pages must have the last two. JSON
    and CSV always have the first two.
    """
    if output == "json":
        return JsonForm(), b""
    if output == "debezium":
        from binlog_kaitai.lines.debezium_rows import DebeziumForm

        return DebeziumForm(), b""
    if output == "csv":
        csv_form = _Csv(shown)
        return csv_form, csv_line(csv_form.keys)
    table = _Table(shown)
    headings = [f"time ({zone_name()})" if name == "time" else name for name in table.names]
    return table, _line(table.names, headings, "row").encode()


class ExactNumber(str):
    """A number in its original digits, none of which may be lost."""


def objects_of(lines: bytes) -> Iterator[dict[str, Any]]:
    for line in lines.split(b"\n")[:-1]:
        yield json.loads(line, parse_float=ExactNumber, parse_int=ExactNumber)


class _Csv(Form):
    """One line per row, with a field for each key of its JSON object."""

    style = QUOTED_JSON
    text_count = 2

    def __init__(self, shown: Collection[str]) -> None:
        self._origins = [name for name in ORIGINS if name in shown]
        self.keys = (*_OF_EVENT, *self._origins, *_OF_ROW)

    def of_events(self, events: OfEvents, pool: Pool) -> list[LineProgram]:
        begin = LineProgram(pool).text(_csv_fields([events.file]) + b",")
        begin.column(pool.numbers(events.positions)).text(",")
        end = LineProgram(pool).text(",").column(_times(events, iso_time, pool)).text(",")
        end.column(pool.unquoted(events.gtids)).text(",").column(pool.numbers(events.server_ids))
        for name in self._origins:
            end.text(",").column(
                _converted(events, events.origins[name], pool, lambda text: _csv_fields([text]))
            )
        return [begin, end.text(b"," + _csv_fields([events.schema, events.table]) + b",")]

    def put(self, line: Line, table_lines: TableLines, shape: RowShape) -> None:
        change, before, after, has_updates = shape
        line.event(0).number().event(1).text(change)
        for columns, is_second in ((before, False), (after, before is not None)):
            line.text(b",")
            if columns is not None:
                quote = b'"' if columns else b""
                line.text(quote)
                put_image(line, table_lines, columns, is_second=is_second)
                line.text(quote)
        line.text(b",")
        if has_updates:
            line.text(b'"').updates().text(b'"')
        line.text(b"\n")


def _csv_fields(values: Sequence[str | None]) -> bytes:
    return csv_line(values)[: -len(b"\n")]


def _converted(
    events: OfEvents, column: TextColumn, pool: Pool, convert: Callable[[str | None], bytes]
) -> TextColumn:
    """JSON values of events in another format, each distinct one converted once."""
    texts = column_texts(events.data, pool, column, len(events.positions))
    converted = {text: convert(json.loads(text, parse_int=ExactNumber)) for text in set(texts)}
    return pool.verbatim([converted[text] for text in texts])


def _times(events: OfEvents, text_of: Callable[[int], str], pool: Pool) -> TextColumn:
    """The timestamps of events as text, each distinct one converted once."""
    distinct, codes = np.unique(events.timestamps, return_inverse=True)
    return pool.choice(codes.reshape(-1), [text_of(second).encode() for second in distinct.tolist()])


def text_column(data: Bytes, offsets: Ints, pool: Pool) -> TextColumn:
    """Texts, and the start of each."""
    base = pool.append(data)
    return TextColumn(TEXT, -(base + offsets[:-1]) - 1, np.diff(offsets))


def _padding(offsets: Ints, width: int, pool: Pool) -> TextColumn:
    """The spaces that pad texts to a width."""
    place, _ = pool.add(b" " * width)
    lengths = np.maximum(width - np.diff(offsets), 0)
    return TextColumn(TEXT, np.full(len(lengths), -place - 1), lengths)


class _Table(Form):
    """One line per row: the kind of change, and the values."""

    style = PEOPLE

    def __init__(self, shown: Collection[str]) -> None:
        self._shown = shown
        self.names = [name for name in _COLUMNS if name in shown or name not in _ON_REQUEST]
        self.text_count = 2 if "statement" in shown else 1

    def of_events(self, events: OfEvents, pool: Pool) -> list[LineProgram]:
        positions = number_texts(events.positions)
        program = LineProgram(pool)
        if "file" in self._shown:
            program.text(_cell("file", os.path.basename(events.file)) + "  ")
        program.column(text_column(*positions, pool))
        program.column(_padding(positions[1], _COLUMNS["position"], pool)).text("  ")
        program.column(_times(events, shown_time, pool)).text("  ")
        columns: dict[str, TextColumn] = {"gtid": events.gtids, **events.origins}
        for name in self.names:
            if name in columns and name != "statement":
                program.column(self._cells(events, name, columns[name], pool)).text("  ")
        program.text(_cell("table", f"{events.schema}.{events.table}") + "  ")
        if self.text_count == 1:
            return [program]
        statements = self._cells(events, "statement", columns["statement"], pool)
        return [program, LineProgram(pool).text("  ").column(statements)]

    def _cells(self, events: OfEvents, name: str, column: TextColumn, pool: Pool) -> TextColumn:
        return _converted(events, column, pool, lambda value: _cell(name, value).encode())

    def put(self, line: Line, table_lines: TableLines, shape: RowShape) -> None:
        change, before, after, _ = shape
        line.event(0).text(change)
        if self.text_count > 1:
            line.event(1)
        shown = list(dict.fromkeys([*(before or ()), *(after or ())]))
        between = b"  "
        for index in shown:
            line.text(between + printable(table_lines.table.schema.columns[index].name).encode() + b"=")
            kind = SHOWN
            if before is not None and after is not None and index in after:
                kind = CHANGED if index in before else ADDED
            line.value(index, is_second=kind == ADDED, kind=kind, has_flag=index == shown[-1])
            between = b" "
        line.text(b"\n")

    def from_json(self, lines: bytes) -> Iterable[bytes]:
        for row in objects_of(lines):
            cells = {
                "position": row["position"],
                "time": shown_time(int(row["timestamp"])),
                "table": f"{row['schema']}.{row['table']}",
                "change": row["change"],
                **{name: row[name] for name in self._shown},
                "file": os.path.basename(row["file"]),
            }
            values = " ".join(_values(row["before"], row["after"]))
            yield _line(self.names, [cells[name] for name in self.names], values).encode()


def _cell(name: str, value: str | None) -> str:
    text = value or ""
    if name == "statement":
        text = _cut(" ".join(text.split()), _COLUMNS[name])
    return printable(text.ljust(_COLUMNS[name]))


def _line(names: Sequence[str], values: Sequence[str | None], rest: str) -> str:
    cells = "  ".join(_cell(name, value) for name, value in zip(names, values, strict=True))
    return f"{cells}  {printable(rest.rstrip())}".rstrip() + "\n"


def _values(before: dict[str, Any] | None, after: dict[str, Any] | None) -> Iterator[str]:
    for name, *values in changes_of(before, after):
        yield f"{name}={'→'.join(_cut(value, MAX_LENGTH) for value in values)}"


def changes_of(before: dict[str, Any] | None, after: dict[str, Any] | None) -> Iterator[tuple[str, ...]]:
    """Name and value of each column of an insert or delete; of an update, changed ones have two values."""
    if before is None or after is None:
        for name, value in (before or after or {}).items():
            yield name, value_text(value)
        return
    for name in {**before, **after}:
        old, new = before.get(name), after.get(name)
        if name not in after or _json(old) == _json(new):
            yield name, value_text(old)
        else:
            yield name, value_text(old) if name in before else "", value_text(new)


def value_text(value: object) -> str:
    """A value of a row's JSON object as text."""
    if isinstance(value, dict) and list(value) == ["json"]:  # the marker of a document, see `marked`
        return _json(value["json"])
    return "NULL" if value is None else value if isinstance(value, str) else _json(value)


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"


def _json(value: object) -> str:
    if isinstance(value, ExactNumber):
        return str(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{to_json(key)}: {_json(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_json, value)) + "]"
    return to_json(value)


# -- records

_Chunks = Iterable[bytes | memoryview]


class _Records:
    """Where records end in text that arrives in pieces: at line ends outside quotes, if it is CSV."""

    def __init__(self, *, is_csv: bool) -> None:
        self._is_csv, self._quotes = is_csv, 0

    def ends(self, text: bytes | memoryview) -> Ints:
        """The offsets after the records that end in the next piece."""
        data = np.frombuffer(text, dtype=np.uint8)
        is_end = data == ord("\n")
        if self._is_csv:
            quotes = self._quotes + np.cumsum(data == ord('"'))
            is_end &= quotes % 2 == 0
            self._quotes = int(quotes[-1]) % 2 if len(quotes) else self._quotes
        return np.flatnonzero(is_end) + 1


def first_records(chunks: _Chunks, number: int, *, is_csv: bool = False) -> Iterator[bytes | memoryview]:
    """At most the first records; what follows them is not read."""
    records = _Records(is_csv=is_csv)
    for text in chunks:
        ends = records.ends(text)
        if len(ends) >= number:
            yield text[: int(ends[number - 1])]
            return
        number -= len(ends)
        yield text


def last_records(chunks: _Chunks, number: int, *, is_csv: bool = False) -> Iterator[bytes]:
    """At most the last records; not many more are held in memory."""
    records = _Records(is_csv=is_csv)
    kept: deque[tuple[bytes, Ints]] = deque()
    total = 0
    for text in chunks:
        kept.append((bytes(text), records.ends(text)))
        total += len(kept[-1][1])
        # Of what is left, the first record may be incomplete, so it must be one too many.
        while total - len(kept[0][1]) > number:
            total -= len(kept.popleft()[1])
    for text, ends in kept:
        skipped = min(total - number, len(ends))
        if skipped > 0:
            total -= skipped
            yield text[int(ends[skipped - 1]) :] if total == number else b""
        else:
            yield text


def _lines(chunks: _Chunks) -> Iterator[bytes]:
    """Text in whole lines, many at a time."""
    rest = b""
    for text in chunks:
        lines, end, rest = (rest + bytes(text)).rpartition(b"\n")
        yield lines + end


class Vertical:
    """Rows like the client's ``\\G``: a line for each column. Made from lines of JSON."""

    def __init__(self, shown: Collection[str]) -> None:
        self._origins = [name for name in ORIGINS if name in shown]
        self._numbers = count(1)

    def __call__(self, chunks: _Chunks) -> Iterator[bytes]:
        """The text of rows."""
        for row in (row for lines in _lines(chunks) for row in objects_of(lines)):
            stars = "*" * 27
            lines = [f"{stars} {next(self._numbers)}. row {stars}"]
            place = f"{os.path.basename(row['file'])} position {row['position']} row {row['row']}"
            lines.append(
                f"{place}  {shown_time(int(row['timestamp']))} {zone_name()}  server {row['server_id']}"
            )
            lines += [f"gtid {row['gtid']}"] if row["gtid"] else []
            lines += [f"{name} {row[name]}" for name in self._origins if row[name] is not None]
            lines.append(f"{row['change']} {row['schema']}.{row['table']}")
            values = list(changes_of(row["before"], row["after"]))
            width = max((len(name) for name, *_ in values), default=0)
            lines += [f"{name:>{width}}: {' → '.join(texts)}" for name, *texts in values]
            yield "".join(f"{printable(line)}\n" for line in lines).encode("utf-8", ENCODING_ERRORS)


class NamedForm(JsonForm):
    """Lines of JSON with the names of the table's columns, for `Fields`."""

    def end(self, table_lines: TableLines) -> bytes:
        left_out = self.left_out(table_lines.table)
        names = [column.name for column in table_lines.table.schema.columns if column.name not in left_out]
        return b', "columns": ' + json_text(names) + super().end(table_lines)


class Fields:
    """CSV of the rows of one table, with a field for each of its columns. Made from lines of `NamedForm`.

    The other fields are named, and an update is two records, as in the view of changes.
    """

    def __init__(self, shown: Collection[str]) -> None:
        self._metadata = ["timestamp", "file", "position", "row", "gtid", "server_id"]
        self._metadata += [name for name in ORIGINS if name in shown]
        self._names: list[str] | None = None

    def __call__(self, chunks: _Chunks) -> Iterator[bytes]:
        """The records of rows."""
        for row in (row for lines in _lines(chunks) for row in objects_of(lines)):
            names = row.get("columns") or list({**(row["before"] or {}), **(row["after"] or {})})
            if self._names is None:
                self._names = names
                yield csv_line(["_change_type", *(f"_{name}" for name in self._metadata), *names])
            if new := [name for name in names if name not in self._names]:
                table = f"{row['schema']}.{row['table']}"
                raise UsageError(
                    f"{table} has a new column {new[0]} from here on; choose rows before or after, or JSON",
                    file=row["file"],
                    position=int(row["position"]),
                )
            row["timestamp"] = iso_time(int(row["timestamp"]))
            kinds = {"before": "delete", "after": "insert"}
            if row["change"] == "update":
                kinds = {"before": "update_preimage", "after": "update_postimage"}
            for image, kind in kinds.items():
                if row[image] is not None:
                    values = (_field_text(row[image].get(name)) for name in self._names)
                    yield csv_line([kind, *(row[name] for name in self._metadata), *values])


def _field_text(value: object) -> str | None:
    """The text of a value: bytes in hexadecimal digits; JSON documents as they are."""
    if isinstance(value, dict) and list(value) == ["hex"]:
        return f"0x{value['hex']}"
    return None if value is None else value_text(value)
