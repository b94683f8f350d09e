"""The tree of a log from the Python classes, with which all other languages are compared."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator
from typing import Any

from binlog_grammar import KaitaiStruct
from binlog_grammar.mysql_binlog import MysqlBinlog

from tools.conformance.compare import ERROR
from tools.conformance.schema import Schema

_NOT_FINITE = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}

Enums = dict[str, dict[int, str]]


def lines(
    data: bytes, schema: Schema, enums: Enums, parse: Callable[[bytes], Any] = MysqlBinlog.from_bytes
) -> Iterator[str]:
    """A line of JSON for the file without its entries, one for each entry, then the seconds taken."""
    tree = _Tree(schema, enums)
    begin = time.perf_counter()
    try:
        log = parse(data)
    except Exception:  # any exception of the runtime; other languages raise others
        yield json.dumps(ERROR)
    else:
        taken = time.perf_counter() - begin
        yield _json(tree.record(log, skip="entries"))
        for entry in log.entries:
            yield _json(tree.record(entry))
        yield f"end {taken:.6f}"
        return
    yield "end 0"


def document(data: bytes, schema: Schema, enums: Enums) -> dict[str, Any]:
    """The whole tree of a log: the output of `lines`, with the entries inserted."""
    return _Tree(schema, enums).record(MysqlBinlog.from_bytes(data))


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


class _Tree:
    def __init__(self, schema: Schema, enums: Enums) -> None:
        self._schema = schema
        self._enums = enums

    def record(self, record: KaitaiStruct, skip: str = "") -> dict[str, Any]:
        path = type(record).__qualname__
        fields: dict[str, Any] = {"_type": path}
        for name, kind, enum, _ in self._schema[path]:
            if name == skip:
                continue
            try:
                value = getattr(record, name)
            except Exception:  # see above
                fields[name] = ERROR
                continue
            fields[name] = self._value(value, kind, enum)
        return fields

    def _value(self, value: Any, kind: str, enum: str | None) -> Any:
        if value is None:
            return None
        if kind.endswith("*"):
            return [self._value(item, kind[:-1], enum) for item in value]
        if isinstance(value, KaitaiStruct):
            return self.record(value)
        if isinstance(value, bytes):
            return {"hex": value.hex()}
        if enum is not None:
            return self._enums[enum].get(int(value), int(value))
        if isinstance(value, float) and not math.isfinite(value):
            return _NOT_FINITE[str(value)]
        if isinstance(value, str):
            return value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        if kind == "i" and value >= 2**63:
            return value - 2**64  # fields declared as signed are signed in languages with 64-bit integers
        return value
