"""A parsed log as plain data: the same from the Python classes as tree.mjs makes of the JavaScript ones."""

from __future__ import annotations

import hashlib
import math
import re
from typing import Any

from binlog_grammar import KaitaiStruct

from tools.generate.grammar import Grammar, Node, Type, camel_case

Schema = dict[str, list[tuple[str, str, bool]]]
"""By class path: the fields (name, JavaScript's name, whether computed) that can be read at any time."""

EXACT = 2**53  # beyond this, JavaScript's numbers are rounded


def schema(grammar: Grammar) -> Schema:
    return {type_.class_path: _fields(type_) for type_ in grammar}


def _fields(type_: Type) -> list[tuple[str, str, bool]]:
    fields = [(field["id"], False) for field in type_.seq]
    ahead = _look_ahead(type_.instances)
    fields += [(name, "value" in node) for name, node in type_.instances.items() if name not in ahead]
    return [(name, _js_name(name), computed) for name, computed in fields]


def _look_ahead(instances: dict[str, Node]) -> set[str]:
    """Instances that read from where the stream happens to be, and those made from them."""
    found: set[str] = set()
    pattern = re.compile(r"_io\.(?:pos|eof)\b")
    while new := {name for name, node in instances.items() if pattern.search(str(node))} - found:
        found |= new
        pattern = re.compile("|".join([r"_io\.(?:pos|eof)\b", *(rf"(?<!\.)\b{name}\b" for name in found)]))
    return found


def _js_name(name: str) -> str:
    camel = camel_case(name)
    return camel[:1].lower() + camel[1:]


def tree(value: Any, schema: Schema, skip: str = "") -> Any:
    """A value of a field as JSON has it; `skip` leaves out a field of a record."""
    if isinstance(value, KaitaiStruct):
        return _record(value, schema, skip)
    if isinstance(value, list):
        return [tree(item, schema) for item in value]
    if isinstance(value, bytes):
        if len(value) <= 64:
            return {"hex": value.hex()}
        return {"length": len(value), "sha1": hashlib.sha1(value).hexdigest()}
    if isinstance(value, str):
        # JavaScript puts U+FFFD for what is no UTF-8, and drops a byte order mark.
        text = value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        return text.removeprefix("\ufeff")
    if isinstance(value, float) and not math.isfinite(value):
        return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[str(value)]
    return value


def _record(record: KaitaiStruct, schema: Schema, skip: str) -> dict[str, Any]:
    class_path = type(record).__qualname__
    found: dict[str, Any] = {"_type": class_path}
    for name, _, computed in schema[class_path]:
        if name == skip:
            continue
        value = getattr(record, name)
        items = value if isinstance(value, list) else [value]
        if computed and any(isinstance(item, KaitaiStruct) for item in items):
            continue
        found[name] = tree(value, schema)
    return found


def difference(python: Any, javascript: Any, path: str = "") -> str | None:
    """The first place where the trees differ, or None."""
    if isinstance(python, dict) and isinstance(javascript, dict):
        for name in python.keys() | javascript.keys():
            if name not in python or name not in javascript:
                return f"{path}.{name}: only one has it"
            if found := difference(python[name], javascript[name], f"{path}.{name}"):
                return found
        return None
    if isinstance(python, list) and isinstance(javascript, list) and len(python) == len(javascript):
        pairs = enumerate(zip(python, javascript, strict=True))
        return next((d for i, (p, j) in pairs if (d := difference(p, j, f"{path}[{i}]"))), None)
    return None if _is_same(python, javascript) else f"{path}: {python!r} is not {javascript!r}"


def _is_same(python: Any, javascript: Any) -> bool:
    if isinstance(python, bool) or isinstance(javascript, bool):
        return python is javascript
    if isinstance(python, int) and isinstance(javascript, int | float):
        # The runtime misreads a negative `s8` whose lower half is below 2^31: 2^32 too much
        # (kaitai_struct_javascript_runtime, pull request 16).
        misread = python < 0 and python & 0xFFFF_FFFF < 0x8000_0000
        values = [python, python + 2**32] if misread else [python]
        if abs(python) > EXACT:
            return float(javascript) in map(float, values)
        return javascript in values
    return bool(python == javascript)
