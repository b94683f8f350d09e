"""What a stream may be told, besides what a batch may be."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from binlog_kaitai.errors import UsageError
from binlog_kaitai.spark.options import ReadOptions
from binlog_kaitai.spark.stream import MAX_BYTES, Following

_OPTIONS = ("maxBytesPerTrigger", "maxFilesPerTrigger", "startingOffsets", "failOnDataLoss")
_BY_LOWER = {name.lower(): name for name in _OPTIONS}

_SIZE = re.compile(r"(\d+)\s*([kmgt]?)b?", re.IGNORECASE)
_UNITS = {"": 0, "k": 10, "m": 20, "g": 30, "t": 40}


def parse_stream(given: Mapping[str, str]) -> tuple[ReadOptions, Following]:
    """The options that a batch has too, and those of a stream, from Spark's, whose names come in any case.

    Raises
    ------
    UsageError
        An option is unknown, or its value makes no sense.
    """
    texts = {_BY_LOWER[name.lower()]: text for name, text in given.items() if name.lower() in _BY_LOWER}
    read = ReadOptions.parse(without_stream_options(given))
    if read.mode != "FAILFAST":
        raise UsageError(f"a stream has mode FAILFAST, not {read.mode}: a batch can be read around damage")
    if "start_position" in read.filters or "stop_position" in read.filters:
        raise UsageError("a stream begins at startingOffsets, and has no startPosition and stopPosition")
    files = texts.get("maxFilesPerTrigger")
    return read, Following(
        read.paths,
        parse_size("maxBytesPerTrigger", texts.get("maxBytesPerTrigger", str(MAX_BYTES))),
        None if files is None else parse_size("maxFilesPerTrigger", files),
        parse_starting("startingOffsets", texts.get("startingOffsets", "earliest")),
        _boolean("failOnDataLoss", texts.get("failOnDataLoss", "true")),
    )


def without_stream_options(given: Mapping[str, str]) -> dict[str, str]:
    """The options that a batch has, too."""
    return {name: text for name, text in given.items() if name.lower() not in _BY_LOWER}


def parse_size(name: str, text: str) -> int:
    """A number of at least 1, maybe with a unit of bytes: ``67108864``, ``64m``, ``1g``."""
    found = _SIZE.fullmatch(text.strip())
    size = int(found[1]) << _UNITS[found[2].lower()] if found else 0
    if not size:
        raise UsageError(f"option {name}: {text!r} is no size; write 67108864 or 64m")
    return size


def parse_starting(name: str, text: str) -> str | dict[str, Any]:
    if text.lower() in ("earliest", "latest"):
        return text.lower()
    try:
        place = json.loads(text)
    except ValueError:
        place = None
    if not isinstance(place, dict):
        example = '{"file": "binlog.000007", "position": 4}'
        raise UsageError(f"option {name}: {text!r} is not earliest, latest, or JSON like {example}")
    return place


def _boolean(name: str, text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise UsageError(f"option {name}: {text!r} is not true or false")
    return text.lower() == "true"
