"""The options of a Spark reader: validates Spark's strings and converts them to values."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from binlog_kaitai.arrow import pa, pc
from binlog_kaitai.core.filters import ZERO_DATES, Filters, is_pattern, moment_of, parse_size, whole_number
from binlog_kaitai.errors import UsageError
from binlog_kaitai.rows.row_masks import NO_MASKS, Masks, Method
from binlog_kaitai.sources.keys import Keys
from binlog_kaitai.views import VIEWS
from binlog_kaitai.views.row_conditions import Where
from binlog_kaitai.views.splits import SPLIT_SIZE

#: The view of one table, with its columns, selected by the option `table`.
TABLE = "table"
_VIEWS = (*VIEWS, "ddl")
#: The views that need table definitions.
WITH_DEFINITIONS = ("changes", "ddl", TABLE)
MODES = ("FAILFAST", "PERMISSIVE", "DROPMALFORMED")


def _items(text: str) -> list[str]:
    """A JSON list, or comma-separated items."""
    if not text.lstrip().startswith("["):
        return _names(text)
    items = json.loads(text)
    if not all(isinstance(item, str) for item in items):
        raise ValueError(f"{text} is not a list of texts")
    return list(items)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


#: Each filter's name in Spark, its name in Python, and the parser of its text. A time without a zone is the
#: driver's local time, the same for all tasks.
FILTERS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "startPosition": ("start_position", whole_number),
    "stopPosition": ("stop_position", whole_number),
    "startDatetime": ("start_datetime", moment_of),
    "stopDatetime": ("stop_datetime", moment_of),
    "includeGtids": ("include_gtids", str),
    "excludeGtids": ("exclude_gtids", str),
    "database": ("database", _names),
    "table": ("table", _names),
    "tables": ("table", _items),
    "eventType": ("event_type", _names),
    "serverId": ("server_id", lambda text: [whole_number(name) for name in _names(text)]),
}


@dataclass(frozen=True)
class Offset:
    """A position in a series of logs: a file name without folders, and an offset in it, in bytes."""

    file: str
    position: int


@dataclass(frozen=True)
class ReadOptions:
    """The validated options of one read.

    `paths`: paths, globs, directories and index files, as given except for the scheme ``file:``.
    `view`: one of `VIEWS`, ``ddl``, or `TABLE`.
    `table`: in the view `TABLE`, ``schema.table``.
    `mode`: one of `MODES`.
    `corrupt_column`: in mode PERMISSIVE, the column that describes damage.
    `split_size`: approximate bytes per task; 0 for whole files.
    `starting`, `ending`: the range to read.
    `ddl`: CREATE TABLE statements.
    `scan_ddl`: search the logs before a split for definitions.
    `infers`: read all logs to find the columns of a table.
    `lists_absent`: in the view `TABLE`, add a column with the names of the columns missing from an image.
    `zero_dates`: one of `ZERO_DATES`.
    `bit1_as_boolean`: in the view `TABLE`, BIT(1) is boolean.
    `where`: in the view `TABLE`, a condition on the rows.
    `filters`: filters under their Python names.
    `masks`: in the view `TABLE`, columns that are left out or masked.
    `keys`: files with the keys of encrypted logs, which each executor reads.
    """

    paths: tuple[str, ...]
    view: str = "events"
    table: str | None = None
    mode: str = "FAILFAST"
    corrupt_column: str = "_corrupt_record"
    split_size: int = SPLIT_SIZE
    starting: Offset | None = None
    ending: Offset | None = None
    ddl: str | None = None
    scan_ddl: bool = True
    infers: bool = False
    lists_absent: bool = False
    zero_dates: str = "null"
    bit1_as_boolean: bool = False
    where: Where | None = None
    filters: Mapping[str, Any] = field(default_factory=dict)
    keys: Keys = field(default_factory=Keys)
    masks: Masks = NO_MASKS

    @classmethod
    def parse(cls, raw: Mapping[str, str]) -> ReadOptions:
        """Parse Spark's options, whose names may have any case.

        Raises `UsageError`: an option is unknown or invalid; the message lists the valid ones.
        """
        unknown = [name for name in raw if name.lower() not in _KNOWN]
        if unknown:
            raise UsageError(_unknown(unknown))
        texts = {_KNOWN[name.lower()]: text for name, text in raw.items()}
        filters = {FILTERS[name][0]: _value(name, text) for name, text in texts.items() if name in FILTERS}
        if {"table", "tables"} <= texts.keys():
            raise UsageError("use either table or tables, not both")
        Filters.of(**filters)  # Raises errors about filters here, before any task runs.
        view, table = _view(texts, filters)
        plain = {
            name: parse(option, texts[option]) for option, (name, parse) in _PLAIN.items() if option in texts
        }
        for field_name, name in (("starting", "start_position"), ("ending", "stop_position")):
            if plain.get(field_name) is not None and name in filters:
                raise UsageError("offsets and positions cannot be given together")
        masks, where = _masks(texts, table), _where(texts.get("where"), view)
        if masks and where is not None:
            _check_where(where, masks, str(table))
        return cls(
            _paths(texts), view, table, **plain, where=where, filters=filters, keys=_keys(texts), masks=masks
        )


def _unknown(names: Sequence[str]) -> str:
    """Spark passes names in lower case, so the message gives the name that was probably meant."""
    close = [_KNOWN[option] for name in names for option in get_close_matches(name.lower(), _KNOWN, 1)]
    guess = f" (did you mean {', '.join(close)}?)" if close else ""
    return f"unknown option {', '.join(names)}{guess}; available: {', '.join(_KNOWN.values())}"


def _where(text: str | None, view: str) -> Where | None:
    if text is None:
        return None
    if view != TABLE:
        raise UsageError("option where is only for the changes of one table")
    return of_text(text)


def _masks(texts: Mapping[str, str], table: str | None) -> Masks:
    """Rules for columns of one table; the other views have values in texts, which cannot be masked."""
    names = ("includeColumns", "excludeColumns", "mask")
    include, exclude, mask = (_value(name, texts.get(name, ""), _items) for name in names)
    masks = Masks.of(include, exclude, mask, texts.get("maskKeyFile"))
    if masks and table is None:
        reason = "the other views contain values in statements and JSON documents"
        raise UsageError(
            f"{', '.join(names)} are for the changes of one table, by the option table: {reason}"
        )
    if table is not None and (others := masks.others(table)):
        raise UsageError(f"{others[0]} is not about columns of {table}")
    return masks


def _check_where(where: Where, masks: Masks, table: str) -> None:
    for name in where.needed.names:
        # A reserved name of the server has underscores appended in the view.
        spellings = (name[:length] for length in range(len(name.rstrip("_")), len(name) + 1))
        if any(masks.treatment(table, spelling).method is not Method.KEPT for spelling in spellings):
            raise UsageError(f"where refers to {name}, which is masked or left out")


def _view(texts: Mapping[str, str], filters: dict[str, Any]) -> tuple[str, str | None]:
    """The view; `table` selects its own view unless another is given, and is a filter otherwise."""
    if "view" in texts:
        return _one_of("view", texts["view"].lower(), _VIEWS), None
    tables = filters.get("table", [])
    if not tables or "tables" in texts:
        return VIEWS[0], None
    if len(tables) > 1 or is_pattern(tables[0]):
        reason = "several tables have no common schema; choose one table, or option('view', 'changes')"
        raise UsageError(f"option table: {reason}")
    filters.pop("table")
    return TABLE, tables[0]


def _paths(texts: Mapping[str, str]) -> tuple[str, ...]:
    """`load` passes one path as ``path``, and several as a JSON list in ``paths``."""
    paths = json.loads(texts.get("paths", "[]"))
    if "path" in texts:
        paths.append(texts["path"])
    if not paths:
        raise UsageError("no path given; use load(path), load([path, ...]) or option('path', path)")
    return tuple(_without_scheme(path) for path in paths)


def _keys(texts: Mapping[str, str]) -> Keys:
    """Only paths: the values of options appear in plans and logs."""
    secret = texts.get("keyFileSecretFile")
    return Keys.of(
        _names(texts.get("keyring", "")),
        key_file=_names(texts.get("keyFile", "")),
        key_file_secret=None if secret is None else f"FILE:{secret}",
    )


def _without_scheme(path: str) -> str:
    return unquote(urlsplit(path).path) if path.startswith("file:") else path


def _one_of(name: str, value: str, allowed: tuple[str, ...]) -> str:
    if value not in allowed:
        raise UsageError(f"{name} {value!r} does not exist; use {', '.join(allowed)}")
    return value


def _value(name: str, text: str, parse: Callable[[str], Any] | None = None) -> Any:
    try:
        return (parse or FILTERS[name][1])(text)
    except (ValueError, OverflowError, UsageError) as error:
        raise UsageError(f"option {name}: {error}") from error


def parse_bool(name: str, text: str) -> bool:
    """``true`` or ``false`` in any case.

    Raises `UsageError`: it is neither.
    """
    if text.lower() not in ("true", "false"):
        raise UsageError(f"option {name}: {text!r} is not true or false")
    return text.lower() == "true"


def _offset(name: str, text: str) -> Offset | None:
    if text.lower() in ("", "earliest", "latest"):
        if text.lower() == {"startingOffsets": "latest", "endingOffsets": "earliest"}[name]:
            raise UsageError(f"option {name}: {text} selects nothing")
        return None
    try:
        fields = json.loads(text)
        return Offset(str(fields["file"]), whole_number(str(fields.get("position", 0))))
    except (ValueError, TypeError, KeyError, AttributeError):
        example = '{"file": "binlog.000007", "position": 4}'
        raise UsageError(f"option {name}: {text!r} is not earliest, latest, or JSON like {example}") from None


def _ddl(name: str, text: str) -> str:
    """Statements, or the path of a file with statements, which the driver reads."""
    if re.search(r"\bcreate\s", text, re.IGNORECASE):
        return text
    try:
        return Path(_without_scheme(text)).read_bytes().decode("utf-8", "surrogateescape")
    except OSError as error:
        raise UsageError(f"option {name}: {text}: {error.strerror}") from error


#: Each option that stands for itself: its name in Spark, its field, and the parser of that name and its text.
_PLAIN: dict[str, tuple[str, Callable[[str, str], Any]]] = {
    "mode": ("mode", lambda name, text: _one_of(name, text.upper(), MODES)),
    "columnNameOfCorruptRecord": ("corrupt_column", lambda name, text: text),
    "splitSize": ("split_size", parse_size),
    "startingOffsets": ("starting", _offset),
    "endingOffsets": ("ending", _offset),
    "ddl": ("ddl", _ddl),
    "scanDdl": ("scan_ddl", parse_bool),
    "inferSchema": ("infers", parse_bool),
    "absentColumns": ("lists_absent", parse_bool),
    "bit1AsBoolean": ("bit1_as_boolean", parse_bool),
    "zeroDates": ("zero_dates", lambda name, text: _one_of(name, text.lower(), ZERO_DATES)),
}

_OTHERS = (
    "path", "paths", "view", "where", "keyring", "keyFile", "keyFileSecretFile",
    "includeColumns", "excludeColumns", "mask", "maskKeyFile",
)  # fmt: skip

_KNOWN = {name.lower(): name for name in (*_PLAIN, *_OTHERS, *FILTERS)}


def as_text(where: Where) -> str:
    """A condition as text, as Spark's options require: serialized by Arrow, with the columns that it needs.

    No such text can name code to run.
    """
    # Arrow's support for pickle; its public form, Substrait, does not support dictionaries.
    _, (expression,) = where.expression.__reduce__()
    parts = {"expression": expression, "needed": where.needed.serialize()}
    return json.dumps({name: base64.b64encode(part).decode() for name, part in parts.items()})


def of_text(text: str) -> Where:
    """The condition serialized by :func:`as_text`.

    Raises `UsageError`: the text is invalid.
    """
    try:
        parts = {name: base64.b64decode(part) for name, part in json.loads(text).items()}
        expression = pc.Expression._deserialize(pa.py_buffer(parts["expression"]))
        return Where(expression, pa.ipc.read_schema(pa.py_buffer(parts["needed"])))
    except (ValueError, TypeError, KeyError, AttributeError, binascii.Error, pa.ArrowException) as error:
        reason = "conditions are given to binlog_kaitai.spark.read, or to DataFrame.where"
        raise UsageError(f"option where: {reason}") from error
