"""The JSON format of all output: one object per line, no spaces, unescaped UTF-8."""

from __future__ import annotations

import json
from typing import Any

#: Invalid UTF-8 is decoded to lone surrogates, which UTF-8 cannot represent: they are written as escapes.
ENCODING_ERRORS = "backslashreplace"

_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def to_json(value: Any) -> str:
    """A value as JSON text in one line."""
    return _ENCODER.encode(value)
