"""Changed rows: lines of JSON as they are, as a table for people, or as CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

from binlog_kaitai.core.adapter import utc
from binlog_kaitai.render.json_text import ENCODING_ERRORS, to_json
from binlog_kaitai.render.terminal import printable

_COLUMNS = (("position", 10), ("time (UTC)", 19), ("table", 24), ("change", 6))
_OF_EVENT = ("file", "position", "row", "timestamp", "gtid", "server_id", "schema", "table")
_KEYS = (*_OF_EVENT, "change", "before", "after", "diffs")

#: Longer values are cut in a table.
_MAX_LENGTH = 60


def writer(output: str, stream: BinaryIO) -> Callable[[Any], object]:
    """A function that takes lines of JSON, as bytes, and writes them in the form `output`."""
    if output == "json":
        return stream.write
    made = _csv_lines if output == "csv" else _table_lines
    is_first = [True]

    def write(lines: Any) -> None:
        # Numbers stay text: no digit of them may be lost.
        objects = [
            json.loads(line, parse_float=_Number, parse_int=_Number)
            for line in bytes(lines).split(b"\n")
            if line
        ]
        text = "".join(made(objects, is_first[0]))
        is_first[0] = False
        stream.write(text.encode("utf-8", ENCODING_ERRORS))

    return write


class _Number(str):
    """A number as it was written."""


def _csv_lines(objects: list[dict[str, Any]], is_first: bool) -> Iterator[str]:
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    if is_first:
        rows.writerow(_KEYS)
    for one in objects:
        values = (one.get(key) for key in _KEYS)
        rows.writerow(_json(value) if isinstance(value, (dict, list)) else value for value in values)
    yield text.getvalue()


def _table_lines(objects: list[dict[str, Any]], is_first: bool) -> Iterator[str]:
    if is_first:
        yield _line([name for name, _ in _COLUMNS], "row")
    for one in objects:
        time = f"{utc(int(one['timestamp'])):%Y-%m-%d %H:%M:%S}"
        cells = [one["position"], time, f"{one['schema']}.{one['table']}", one["change"]]
        yield _line(cells, " ".join(_values(one["before"], one["after"])))


def _line(cells: list[str], rest: str) -> str:
    padded = (f"{cell:<{width}}" for cell, (_, width) in zip(cells, _COLUMNS, strict=True))
    return printable(f"{'  '.join(padded)}  {rest}".rstrip()) + "\n"


def _values(before: dict[str, Any] | None, after: dict[str, Any] | None) -> Iterator[str]:
    """Of an insert or delete all values, of an update those that are the same, and both of others."""
    if before is None or after is None:
        for name, value in (before or after or {}).items():
            yield f"{name}={_shown(value)}"
        return
    for name in {**before, **after}:
        old, new = before.get(name), after.get(name)
        if name not in after or old == new:
            yield f"{name}={_shown(old)}"
        else:
            yield f"{name}={_shown(old) if name in before else ''}→{_shown(new)}"


def _shown(value: Any) -> str:
    if isinstance(value, dict) and list(value) == ["json"]:  # the marker of a document, see `marked`
        text = _json(value["json"])
    else:
        text = "NULL" if value is None else value if isinstance(value, str) else _json(value)
    return text if len(text) <= _MAX_LENGTH else text[: _MAX_LENGTH - 1] + "…"


def _json(value: Any) -> str:
    if isinstance(value, _Number):
        return str(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{to_json(key)}: {_json(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_json, value)) + "]"
    return to_json(value)
