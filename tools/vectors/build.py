"""The logs of the vectors, their trees, and their index."""

from __future__ import annotations

import hashlib
import io
import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from binlog_kaitai.check.log_writer import LogWriter
from binlog_kaitai.core.framing import MAGIC
from binlog_kaitai.core.grammar import EventType, header_offset
from binlog_kaitai.log.block_reader import BlockReader
from tools.conformance.compare import ERROR
from tools.conformance.reference import Enums, document
from tools.conformance.schema import Schema, enums, schema
from tools.generate.grammar import Grammar
from tools.vectors.choose import BEGINNING, Excerpt, info_of, stream_events

README = Path(__file__).with_name("README.md")
INDEX = "index.json"
_FORMAT = EventType.format_description_event

Chosen = dict[tuple[int, str], Excerpt]
"""The excerpt for each type code and server."""


def render(grammar: Grammar, corpus: Path, chosen: Chosen) -> Iterator[tuple[str, bytes]]:
    """Every file of the vectors, by path."""
    table, known = schema(grammar), enums(grammar)
    entries = []
    for (kind, server), excerpt in sorted(chosen.items()):
        log, event = cut(corpus / excerpt.log, excerpt)
        tree = _tree(log, table, known, excerpt)
        name = f"{server}/{kind:03}_{EventType(kind).name}"
        yield f"{name}.binlog", log
        yield f"{name}.json", tree
        entries.append(_entry(name, kind, log, tree, event, excerpt, info_of(corpus / excerpt.log)))
    index = {"vectors": entries, "event_types_without_a_log": _absent(corpus)}
    yield INDEX, _text(index)
    yield README.name, README.read_bytes()


def cut(path: Path, excerpt: Excerpt) -> tuple[bytes, int]:
    """The log made from an excerpt, and the position in it of the event shown."""
    data, start, end, event = path.read_bytes(), excerpt.start, excerpt.end, excerpt.event
    if excerpt.is_stream:
        events = stream_events(path)
        head = MAGIC + next(raw for raw in events if raw[header_offset("type_code")] == _FORMAT)
        data = head + events[excerpt.event]
        start, end, event = len(head), len(data), len(head)
    target, place = io.BytesIO(), 0
    writer = LogWriter(target)
    for block in BlockReader.of_file(io.BytesIO(data), str(path)):
        begins = np.isin(block.types, [int(kind) for kind in BEGINNING]) & (block.positions <= event)
        rows = np.flatnonzero(begins | ((block.positions >= start) & (block.positions < end)))
        if (block.positions[rows] == event).any():
            place = writer.position + int(block.sizes[rows][block.positions[rows] < event].sum())
        writer.write(block, rows)
    return target.getvalue(), place


def _tree(log: bytes, table: Schema, known: Enums, excerpt: Excerpt) -> bytes:
    tree = document(log, table, known)
    if _has_error(tree):
        raise ValueError(f"{excerpt}: the grammar cannot read all of it")
    return _text(tree)


def _has_error(value: Any) -> bool:
    if isinstance(value, dict):
        return value == ERROR or any(map(_has_error, value.values()))
    return isinstance(value, list) and any(map(_has_error, value))


def _entry(
    name: str, kind: int, log: bytes, tree: bytes, event: int, excerpt: Excerpt, info: dict[str, Any]
) -> dict[str, Any]:
    return {
        "log": f"{name}.binlog",
        "tree": f"{name}.json",
        "type": kind,
        "name": EventType(kind).name.upper(),
        "flavour": info["server"].partition("-")[0],
        "server_version": info["version"],
        "event_position": event,
        "bytes": len(log),
        "taken_from": {"log": excerpt.log, "event": excerpt.event, "is_stream": excerpt.is_stream},
        "provenance": info["provenance"],
        "log_sha256": hashlib.sha256(log).hexdigest(),
        "tree_sha256": hashlib.sha256(tree).hexdigest(),
    }


def _absent(corpus: Path) -> list[dict[str, Any]]:
    reasons = tomllib.loads((corpus / "absent_types.toml").read_text(encoding="utf-8"))["absent"]
    return [
        {"type": kind.value, "name": kind.name.upper(), "reason": reasons[kind.name.upper()]}
        for kind in EventType
        if kind.name.upper() in reasons
    ]


def _text(value: Any) -> bytes:
    return (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode()
