"""Changed rows: lines of JSON as they are, as a table for people, or as CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Collection, Iterator
from typing import Any, BinaryIO

from binlog_kaitai.columns.rows.origins import ORIGINS
from binlog_kaitai.core.adapter import utc
from binlog_kaitai.render.json_text import ENCODING_ERRORS, to_json
from binlog_kaitai.render.terminal import printable

#: The columns of a table with their widths; the row comes after them.
_COLUMNS = {
    "position": 10,
    "time (UTC)": 19,
    "gtid": 41,
    "thread": 7,
    "table": 24,
    "change": 6,
    "statement": 40,
}

#: Those that are shown on request.
_ON_REQUEST = ("gtid", *ORIGINS)

_OF_EVENT = ("file", "position", "row", "timestamp", "gtid", "server_id")
_OF_ROW = ("schema", "table", "change", "before", "after", "diffs")

#: Longer values are cut in a table.
_MAX_LENGTH = 60


def writer(output: str, stream: BinaryIO, shown: Collection[str] = ()) -> Callable[[Any], object]:
    """A function that takes lines of JSON, as bytes, and writes them in the form `output`.

    Parameters
    ----------
    shown
        Some of ``gtid``, ``thread`` and ``statement``. The lines have them.
    """
    if output == "json":
        return stream.write
    make = _csv_lines if output == "csv" else _table_lines
    is_first = [True]

    def write(lines: Any) -> None:
        # Numbers stay text: no digit of them may be lost.
        objects = [
            json.loads(line, parse_float=_Number, parse_int=_Number)
            for line in bytes(lines).split(b"\n")
            if line
        ]
        text = "".join(make(objects, shown, is_first[0]))
        is_first[0] = False
        stream.write(text.encode("utf-8", ENCODING_ERRORS))

    return write


class _Number(str):
    """A number as it was written."""


def _csv_lines(objects: list[dict[str, Any]], shown: Collection[str], is_first: bool) -> Iterator[str]:
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    keys = (*_OF_EVENT, *(name for name in ORIGINS if name in shown), *_OF_ROW)
    if is_first:
        rows.writerow(keys)
    for one in objects:
        values = (one.get(key) for key in keys)
        rows.writerow(_json(value) if isinstance(value, (dict, list)) else value for value in values)
    yield text.getvalue()


def _table_lines(objects: list[dict[str, Any]], shown: Collection[str], is_first: bool) -> Iterator[str]:
    names = [name for name in _COLUMNS if name in shown or name not in _ON_REQUEST]
    if is_first:
        yield _line(names, names, "row")
    for one in objects:
        cells = dict.fromkeys(_COLUMNS, "") | {
            "position": one["position"],
            "time (UTC)": f"{utc(int(one['timestamp'])):%Y-%m-%d %H:%M:%S}",
            "table": f"{one['schema']}.{one['table']}",
            "change": one["change"],
            **{name: one[name] for name in shown if one[name]},
        }
        cells["statement"] = _cut(" ".join(cells["statement"].split()), _COLUMNS["statement"])
        row = " ".join(_values(one["before"], one["after"]))
        yield _line(names, [cells[name] for name in names], row)


def _line(names: list[str], cells: list[str], rest: str) -> str:
    padded = (f"{cell:<{_COLUMNS[name]}}" for name, cell in zip(names, cells, strict=True))
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
    return _cut(text, _MAX_LENGTH)


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"


def _json(value: Any) -> str:
    if isinstance(value, _Number):
        return str(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{to_json(key)}: {_json(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_json, value)) + "]"
    return to_json(value)
