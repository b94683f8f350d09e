"""The first or the last of changed rows, and rows as records of several lines or of several fields."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator
from itertools import count
from os.path import basename

import numpy as np

from binlog_kaitai.errors import UsageError
from binlog_kaitai.kernels.arrays import Ints
from binlog_kaitai.log.line_arrays import json_text
from binlog_kaitai.render.output_text import (
    ENCODING_ERRORS,
    csv_line,
    iso_time,
    printable,
    shown_time,
    zone_name,
)
from binlog_kaitai.render.row_listing import changes_of, objects_of, value_text
from binlog_kaitai.rows.event_metadata import ORIGINS
from binlog_kaitai.views.row_forms import JsonForm
from binlog_kaitai.views.row_programs import TableLines

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
    """The same text in whole lines, many at a time."""
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
            place = f"{basename(row['file'])} position {row['position']} row {row['row']}"
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
        """See `JsonForm`."""
        names = [column.name for column in table_lines.table.schema.columns]
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
                    values = (_field(row[image].get(name)) for name in self._names)
                    yield csv_line([kind, *(row[name] for name in self._metadata), *values])


def _field(value: object) -> str | None:
    """The text of a value: bytes in hexadecimal digits; JSON documents as they are."""
    if isinstance(value, dict) and list(value) == ["hex"]:
        return f"0x{value['hex']}"
    return None if value is None else value_text(value)
