"""The viewer, a page on which binary logs are opened, or that has one inside.

The grammar compiled to JavaScript, and the libraries that it needs, are generated; see `tools/viewer`.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterator
from importlib.resources import files
from typing import NamedTuple

from binlog_kaitai.core.context import FORMAT_TYPES
from binlog_kaitai.core.framing import MAGIC, Frame, Framer
from binlog_kaitai.errors import BinlogError, UsageError
from binlog_kaitai.log.series import SeriesDefinitions
from binlog_kaitai.render.static_page import as_script_data, assemble, read, script_of
from binlog_kaitai.rows.log_definitions import table_maps_of
from binlog_kaitai.rows.table_maps import Table
from binlog_kaitai.sources.source import Source
from binlog_kaitai.values.charsets import BINARY
from binlog_kaitai.values.column_kinds import OLD_TIMES
from binlog_kaitai.values.schema import Column
from binlog_kaitai.values.strings import has_own_text

_FOLDER = "render/viewer"
_SCRIPTS = ("runtime", "log", "fields", "values", "summary", "list", "detail", "main")

#: The most that a page has of a log, in bytes: browsers open pages of this size.
LARGEST = 64 << 20


class LogPart(NamedTuple):
    """Bytes of a log from an offset on."""

    position: int
    data: bytes


class Defined(NamedTuple):
    """What a definition says of the columns of equal table maps, from a position on.

    `checksum`: CRC32 of the content of the table maps, which follows the table id.
    `columns`: index in `ViewerDefinitions.columns`; None if no definition fits.
    """

    position: int
    checksum: int
    columns: int | None


class ViewerDefinitions(NamedTuple):
    """The definitions of a log's tables: distinct lists of columns, and the table maps to which each applies.

    The page cannot follow statements, so it gets the result.
    """

    columns: list[list[dict[str, object]]]
    tables: list[Defined]

    @classmethod
    def of(cls, source: Source, ddl: str | None, stop: int | None = None) -> ViewerDefinitions:
        """By the statements of a log before a position, and by `ddl`, in the format of mysqldump."""
        numbers: dict[str, int] = {}
        definitions = cls([], [])
        latest: dict[int, Defined] = {}
        try:
            for position, content, table in table_maps_of(source, SeriesDefinitions([source], ddl)):
                if stop is not None and position >= stop:
                    break
                checksum, number = zlib.crc32(content), None
                if isinstance(table, Table) and any(column.type_name for column in table.schema.columns):
                    columns = [_facts(column) for column in table.schema.columns]
                    number = numbers.setdefault(repr(columns), len(numbers))
                    if number == len(definitions.columns):
                        definitions.columns.append(columns)
                before = latest.get(checksum, Defined(-1, checksum, None))
                if before.columns != number:  # not twice in a payload, whose events share its position
                    now = Defined(position, checksum, None if before.position == position else number)
                    latest[checksum] = now
                    definitions.tables.append(now)
        except BinlogError:
            pass  # the page reports the damage
        return definitions


def _facts(column: Column) -> dict[str, object]:
    """What a definition says of a column and the log may not; the page shows UUIDs and the like as bytes."""
    facts = {
        "name": column.name,
        "type": column.type_name,
        "charset": BINARY if has_own_text(column) else column.charset,
        "members": column.members,
        "isUnsigned": column.is_unsigned,
        "oldDigits": column.kind in OLD_TIMES and column.fractional_digits,
    }
    return {name: fact for name, fact in facts.items() if fact}


class Excerpt(NamedTuple):
    """What a page has of a log.

    `parts`: the magic, format descriptions and other whole events, in order; or the whole log.
    `definitions`: what is known of its tables.
    `position`: the event that the page shows first.
    """

    name: str
    parts: list[LogPart]
    definitions: ViewerDefinitions
    is_whole: bool = True
    position: int | None = None

    @classmethod
    def of(
        cls,
        source: Source,
        name: str,
        *,
        start: int | None = None,
        stop: int | None = None,
        position: int | None = None,
        ddl: str | None = None,
    ) -> Excerpt:
        """The whole log, or the events from `start` up to `stop`.

        Raises `UsageError`: no event begins in the range, or there is more than `LARGEST`.
        """
        with source.open() as stream:
            if start is None and stop is None:
                data = stream.read(LARGEST + 1)
                _check_size(len(data))
                return cls(name, [LogPart(0, data)], ViewerDefinitions.of(source, ddl), position=position)
            parts, size = [LogPart(0, MAGIC)], len(MAGIC)
            for frame in _between(Framer.of_file(stream), start or 0, stop):
                parts.append(LogPart(frame.position, frame.raw))
                size += len(frame.raw)
                _check_size(size)
        if parts[-1].position < (start or 0):
            raise UsageError(f"no event begins from {start} to {stop or 'the end'}", file=source.name)
        definitions = ViewerDefinitions.of(source, ddl, stop)
        return cls(name, list(_joined(parts)), definitions, is_whole=False, position=position)


def page(version: str, excerpt: Excerpt | None = None, sample: Excerpt | None = None) -> bytes:
    """The page of a version of this package, as UTF-8; with a log that it shows, or that a button shows."""
    grammar = script_of(_generated("grammar.js"), *(read(_FOLDER, f"{script}.js") for script in _SCRIPTS))
    script = _generated("libraries.js") + grammar
    logs = {"log": excerpt, "sample": sample}
    data = "".join(_embedded(name, log) for name, log in logs.items() if log)
    return assemble(_FOLDER, "Binary log viewer", version, script, data)


def _between(frames: Framer, start: int, stop: int | None) -> Iterator[Frame]:
    """The events that begin in a range, and the format descriptions before them."""
    for frame in frames:
        if stop is not None and frame.position >= stop:
            return
        if frame.position >= start or frame.header.type_code in FORMAT_TYPES:
            yield frame


def _joined(parts: list[LogPart]) -> Iterator[LogPart]:
    """Parts without neighbors."""
    begin = 0
    for index in range(1, len(parts) + 1):
        before = parts[index - 1]
        if index == len(parts) or before.position + len(before.data) != parts[index].position:
            yield LogPart(parts[begin].position, b"".join(part.data for part in parts[begin:index]))
            begin = index


def _check_size(size: int) -> None:
    if size > LARGEST:
        raise UsageError(
            f"a page holds at most {LARGEST // 2**20} MiB of a log: choose a range with --start-position and"
            " --stop-position, or open the log in the viewer"
        )


def _embedded(name: str, excerpt: Excerpt) -> str:
    parts = [
        {"position": part.position, "base64": base64.b64encode(part.data).decode()} for part in excerpt.parts
    ]
    return as_script_data(
        name,
        {
            "name": excerpt.name,
            "parts": parts,
            "definitions": excerpt.definitions._asdict(),
            "isWhole": excerpt.is_whole,
            "position": excerpt.position,
        },
    )


def _generated(name: str) -> str:
    return files("binlog_grammar").joinpath("viewer", name).read_text("utf-8")
