"""The viewer, a page on which binary logs are opened, or that has one inside.

The grammar compiled to JavaScript, and the libraries that it needs, are generated; see `tools/viewer`.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from importlib.resources import files
from typing import NamedTuple

from binlog_kaitai.core.context import FORMAT_TYPES
from binlog_kaitai.core.framing import MAGIC, Frame, Framer
from binlog_kaitai.errors import UsageError
from binlog_kaitai.render.static_page import as_script_data, assemble, read, script_of
from binlog_kaitai.sources.source import Source

_SCRIPTS = ("runtime", "log", "fields", "values", "summary", "list", "detail", "main")

#: The most that a page has of a log, in bytes: browsers open pages of this size.
LARGEST = 64 << 20


class Part(NamedTuple):
    """Bytes of a log from an offset on."""

    position: int
    data: bytes


class Excerpt(NamedTuple):
    """What a page has of a log.

    `parts`: the magic, format descriptions and other whole events, in order; or the whole log.
    `position`: the event that the page shows first.
    """

    name: str
    parts: list[Part]
    is_whole: bool = True
    position: int | None = None

    @classmethod
    def of(
        cls, source: Source, name: str, start: int | None, stop: int | None, position: int | None
    ) -> Excerpt:
        """The whole log, or the events from `start` up to `stop`.

        Raises `UsageError`: no event begins in the range, or there is more than `LARGEST`.
        """
        with source.open() as stream:
            if start is None and stop is None:
                data = stream.read(LARGEST + 1)
                _check_size(len(data))
                return cls(name, [Part(0, data)], position=position)
            parts, size = [Part(0, MAGIC)], len(MAGIC)
            for frame in _between(Framer.of_file(stream), start or 0, stop):
                parts.append(Part(frame.position, frame.raw))
                size += len(frame.raw)
                _check_size(size)
        if parts[-1].position < (start or 0):
            raise UsageError(f"no event begins from {start} to {stop or 'the end'}", file=source.name)
        return cls(name, list(_joined(parts)), is_whole=False, position=position)


def page(excerpt: Excerpt | None = None) -> bytes:
    """The page, as UTF-8; with a log if `excerpt` is given."""
    grammar = script_of(_generated("grammar.js"), *(read("viewer", f"{script}.js") for script in _SCRIPTS))
    return assemble("viewer", _generated("libraries.js") + grammar, _embedded(excerpt) if excerpt else "")


def _between(frames: Framer, start: int, stop: int | None) -> Iterator[Frame]:
    """The events that begin in a range, and the format descriptions before them."""
    for frame in frames:
        if stop is not None and frame.position >= stop:
            return
        if frame.position >= start or frame.header.type_code in FORMAT_TYPES:
            yield frame


def _joined(parts: list[Part]) -> Iterator[Part]:
    """Parts without neighbors."""
    begin = 0
    for index in range(1, len(parts) + 1):
        before = parts[index - 1]
        if index == len(parts) or before.position + len(before.data) != parts[index].position:
            yield Part(parts[begin].position, b"".join(part.data for part in parts[begin:index]))
            begin = index


def _check_size(size: int) -> None:
    if size > LARGEST:
        raise UsageError(
            f"a page holds at most {LARGEST // 2**20} MiB of a log: choose a range with --start-position and"
            " --stop-position, or open the log in the viewer"
        )


def _embedded(excerpt: Excerpt) -> str:
    parts = [
        {"position": part.position, "base64": base64.b64encode(part.data).decode()} for part in excerpt.parts
    ]
    data = as_script_data(
        {"name": excerpt.name, "parts": parts, "isWhole": excerpt.is_whole, "position": excerpt.position}
    )
    return f'<script id="log" type="application/json">{data}</script>'


def _generated(name: str) -> str:
    return files("binlog_grammar").joinpath("viewer", name).read_text("utf-8")
