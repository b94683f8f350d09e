"""The CSV of all output: RFC 4180 in UTF-8, with line feeds, and quotes around control characters."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from binlog_kaitai.render.json_text import ENCODING_ERRORS, to_json

#: Python's writer leaves control characters, among them carriage returns, without quotes.
_IN_QUOTES = re.compile('[",\x00-\x1f\x7f-\x9f]')


def csv_line(values: Iterable[Any]) -> bytes:
    """One line of fields: None is an empty one; objects, lists and truth values are JSON."""
    return (",".join(map(_field, values)) + "\n").encode("utf-8", ENCODING_ERRORS)


def _field(value: Any) -> str:
    if value is None:
        return ""
    text = to_json(value) if isinstance(value, (dict, list, bool)) else str(value)
    return '"' + text.replace('"', '""') + '"' if _IN_QUOTES.search(text) else text
