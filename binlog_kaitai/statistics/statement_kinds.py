"""Classifies statements by their first words."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from typing import Any

import numpy as np

from binlog_kaitai.core.event_types import QUERY_TYPES
from binlog_kaitai.core.grammar import EventType
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.boundaries import first_words, unpacked_beginnings
from binlog_kaitai.log.groups import distinct, group_ranges

#: Statements with the same first bytes are classified once; at most this many bytes otherwise.
_PREFIX, _BEGINNING = 24, 512

#: After these words, the kind of object is part of the statement's kind.
_DEFINING = frozenset(b"CREATE ALTER DROP RENAME".split())
_THINGS = re.compile(
    rb"\b(TABLE|VIEW|INDEX|DATABASE|SCHEMA|PROCEDURE|FUNCTION|TRIGGER|EVENT|USER|ROLE|SEQUENCE|PACKAGE"
    rb"|TABLESPACE|SERVER|UNDO|RESOURCE)\b",
    re.IGNORECASE,
)
_TWO_WORDS = frozenset(b"XA START LOAD SET ROLLBACK SAVEPOINT TRUNCATE REPLACE".split())
_KEPT_SECOND = frozenset(b"START END PREPARE COMMIT ROLLBACK TRANSACTION DATA XML PASSWORD TO TABLE".split())
_UNKNOWN = "(other)"

#: Maximum number of distinct kinds.
_MAX_KINDS = 1000


@lru_cache(1 << 12)
def kind_of(beginning: bytes) -> str:
    """The kind of a statement, such as ``"INSERT"`` or ``"CREATE TABLE"``, by its beginning."""
    words = first_words(beginning)
    if words is None:
        return _UNKNOWN
    first, second = words
    if first in _DEFINING:
        found = _THINGS.search(beginning)
        thing = found[1].upper() if found else b""
        return b" ".join((first, b"DATABASE" if thing == b"SCHEMA" else thing)).strip().decode()
    if first in _TWO_WORDS and second in _KEPT_SECOND:
        return b" ".join(words).decode()
    return first.decode() if len(first) <= 32 else _UNKNOWN


def count_statements(block: Block, wanted: Any, counts: Counter[str], sizes: Counter[str]) -> None:
    """Count the selected statements of a block, and the bytes of their events, by kind."""
    for kind in (*QUERY_TYPES, *_LOADS):
        rows = block.rows_of(kind)
        if not len(rows):
            continue
        chosen = np.flatnonzero(wanted[rows])
        names, which = _kinds(block, kind, chosen)
        of_kind = np.bincount(which, minlength=len(names)).tolist()
        bytes_of = np.bincount(which, weights=block.sizes[rows[chosen]], minlength=len(names)).tolist()
        for name, count, size in zip(names, of_kind, bytes_of, strict=True):
            name = name if name in counts or len(counts) < _MAX_KINDS else _UNKNOWN
            counts[name] += count
            sizes[name] += int(size)


_LOADS = (EventType.execute_load_query_event, EventType.load_event, EventType.new_load_event)


def _kinds(block: Block, kind: int, chosen: Any) -> tuple[list[str], Any]:
    """Names of kinds, and for each selected statement the index of its kind."""
    if kind in _LOADS:
        return ["LOAD DATA"], np.zeros(len(chosen), dtype=np.int64)
    body = block.body(kind)
    if kind == EventType.query_compressed_event:
        texts = unpacked_beginnings(block, body)
        return _numbered([kind_of(texts[index]) for index in chosen.tolist()])
    starts, lengths = (values[chosen] for values in body.ranges("query"))
    firsts = group_ranges(block.data, starts, starts + np.minimum(lengths, _PREFIX))
    first, which = distinct(firsts)
    names: list[str] = []
    for index in first.tolist():
        if not body.matches[chosen[index]]:
            names.append(kind_of(_by_reader(block, int(block.rows_of(kind)[chosen[index]]))))
            continue
        text = bytes(block.data[int(starts[index]) : int(starts[index] + min(lengths[index], _BEGINNING))])
        names.append(kind_of(text) if _shows_kind(text[:_PREFIX]) or len(text) <= _PREFIX else "")
    found = [names[number] for number in which.tolist()] if "" in names else None
    if found is None:
        return _joined(names, which)
    for index, name in enumerate(found):
        if not name:
            start = int(starts[index])
            found[index] = kind_of(bytes(block.data[start : start + int(min(lengths[index], _BEGINNING))]))
    return _numbered(found)


@lru_cache(1 << 12)
def _shows_kind(prefix: bytes) -> bool:
    """Whether a prefix is enough to classify all statements that begin with it."""
    words = first_words(prefix)
    if words is None or prefix[:1] in b" \t\n/#-" or b"  " in prefix:
        return False
    # Both words must be complete.
    if words[0] in _DEFINING or words[0] in _TWO_WORDS:
        is_clear = words[0] in _TWO_WORDS or words[1] in _PLAIN_THINGS
        return is_clear and bool(words[1]) and len(b" ".join(words)) < len(prefix)
    return len(words[0]) < len(prefix)


_PLAIN_THINGS = frozenset(b"TABLE VIEW INDEX DATABASE USER PROCEDURE FUNCTION TRIGGER EVENT".split())


def _by_reader(block: Block, row: int) -> bytes:
    try:
        query: bytes = block.event(row).body.query
    except (BinlogError, AttributeError):
        return b""
    return query[:_BEGINNING]


def _joined(names: list[str], which: Any) -> tuple[list[str], Any]:
    """The same with duplicate names merged."""
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return list(numbers), np.array([numbers[name] for name in names], dtype=np.int64)[which]


def _numbered(found: list[str]) -> tuple[list[str], Any]:
    numbers = {name: number for number, name in enumerate(dict.fromkeys(found))}
    return list(numbers), np.array([numbers[name] for name in found], dtype=np.int64)
