"""Assembles the page: style, script and data in one file."""

from __future__ import annotations

import base64
import hashlib
import json
from importlib.resources import files
from typing import Any

from binlog_kaitai.render.html.details import Details
from binlog_kaitai.statistics.model import Part, Stats

_SCRIPTS = ("base.js", "tables.js", "timeline.js", "detail.js", "bars.js", "main.js")

#: Maximum number of rows per table on the page.
_MAX_ROWS = 2000


def page(stats: Stats, version: str) -> bytes:
    """The page, as UTF-8; `version` is the package's."""
    style = _read("page.css")
    script = "(function () {\n'use strict';\n" + "".join(map(_read, _SCRIPTS)) + "})();\n"
    policy = f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; img-src data:"
    text = _read("page.html")
    # The data is inserted last, so that it is not searched for placeholders.
    data = _data(stats, version)
    for name, value in (("policy", policy), ("style", style), ("script", script), ("data", data)):
        head, _, tail = text.partition(f"<!--{name}-->")
        text = head + value + tail
    return text.encode()


def _read(name: str) -> str:
    return files(__package__).joinpath(name).read_text("utf-8")


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def _data(stats: Stats, version: str) -> str:
    details = Details.of(stats)
    whole = {
        "version": version,
        "files": [source.name for source in stats.sources],
        "totals": stats.totals,
        "step": stats.parts["timeline"].step,
        "parts": [_part(part) for part in stats.parts.values()],
        "transactions": details.transactions,
        "texts": details.texts,
        "notes": [*([str(stats.error)] if stats.error else []), *details.notes],
    }
    return as_script_data(whole)


def _part(part: Part) -> dict[str, Any]:
    rows = part.rows if part.name == "timeline" else part.rows[:_MAX_ROWS]
    return {
        "name": part.name,
        "title": part.title,
        "columns": [[column.name, column.kind.value] for column in part.columns],
        "rows": rows,
        "left_out": part.left_out + len(part.rows) - len(rows),
    }


def as_script_data(value: Any) -> str:
    """JSON that is safe in a script element: it can neither end the element nor begin a comment."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.replace("&", r"\u0026").replace("<", r"\u003c").replace(">", r"\u003e")
