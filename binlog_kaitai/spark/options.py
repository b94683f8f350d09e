"""What a Spark reader may be told: from Spark's texts to checked values."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from urllib.parse import unquote, urlsplit

from binlog_kaitai.errors import UsageError
from binlog_kaitai.options import Filters

VIEWS = ("events",)
MODES = ("FAILFAST",)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _datetime(text: str) -> datetime:
    """A time that is the same for all tasks: one without a zone is the driver's local time."""
    return datetime.fromisoformat(text).astimezone()


#: Spark's name of each filter, its name in Python, and how its text is read.
FILTERS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "startPosition": ("start_position", int),
    "stopPosition": ("stop_position", int),
    "startDatetime": ("start_datetime", _datetime),
    "stopDatetime": ("stop_datetime", _datetime),
    "includeGtids": ("include_gtids", str),
    "excludeGtids": ("exclude_gtids", str),
    "database": ("database", _names),
    "table": ("table", _names),
    "eventType": ("event_type", _names),
    "serverId": ("server_id", lambda text: [int(name) for name in _names(text)]),
}

_KNOWN = {name.lower(): name for name in ("path", "paths", "view", "mode", *FILTERS)}


@dataclass(frozen=True)
class ReadOptions:
    """The options of one read, checked.

    Attributes
    ----------
    paths : tuple of str
        Paths, globs, directories and index files, as given but for the scheme ``file:``.
    view, mode : str
        One of `VIEWS` and of `MODES`.
    filters : dict
        Filters under their Python names.
    """

    paths: tuple[str, ...]
    view: str = "events"
    mode: str = "FAILFAST"
    filters: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def parse(cls, given: Mapping[str, str]) -> ReadOptions:
        """Options from Spark's, whose names come in any case.

        Raises
        ------
        UsageError
            An option is unknown, or its value makes no sense; names those that do.
        """
        unknown = [name for name in given if name.lower() not in _KNOWN]
        if unknown:
            raise UsageError(f"unknown option {', '.join(unknown)}; there are {', '.join(_KNOWN.values())}")
        texts = {_KNOWN[name.lower()]: text for name, text in given.items()}
        filters = {FILTERS[name][0]: _value(name, text) for name, text in texts.items() if name in FILTERS}
        Filters.of(**filters)  # Refuses here, before any task runs, what it would refuse there.
        return cls(
            paths=_paths(texts),
            view=_one_of("view", texts.get("view", VIEWS[0]).lower(), VIEWS),
            mode=_one_of("mode", texts.get("mode", MODES[0]).upper(), MODES),
            filters=filters,
        )

    def filters_for(self, *, is_first: bool, is_last: bool) -> dict[str, Any]:
        """Those that hold for one file: a start position is one in the first, a stop in the last."""
        filters = dict(self.filters)
        if not is_first:
            filters.pop("start_position", None)
        if not is_last:
            filters.pop("stop_position", None)
        return filters


def _paths(texts: Mapping[str, str]) -> tuple[str, ...]:
    """`load` gives one path as ``path``, and several as a JSON list in ``paths``."""
    paths = json.loads(texts.get("paths", "[]"))
    if "path" in texts:
        paths.append(texts["path"])
    if not paths:
        raise UsageError("no path is given: load(path), load([path, ...]) or option('path', path)")
    return tuple(_without_scheme(path) for path in paths)


def _without_scheme(path: str) -> str:
    return unquote(urlsplit(path).path) if path.startswith("file:") else path


def _one_of(name: str, value: str, allowed: tuple[str, ...]) -> str:
    if value not in allowed:
        raise UsageError(f"{name} {value!r} does not exist; there is {', '.join(allowed)}")
    return value


def _value(name: str, text: str) -> Any:
    try:
        return FILTERS[name][1](text)
    except ValueError as error:
        raise UsageError(f"option {name}: {error}") from error
