"""Vectors of the grammar tests: given these bytes, these fields, also if bytes are cut off or appended."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any

from kaitaistruct import KaitaiStream, KaitaiStruct, KaitaiStructError

from binlog_kaitai.core.grammar import parsed
from tests.extent import sample

#: Bytes appended to an event, as a newer server might do.
EXTRA = b"\x83\x00\xfe"

#: The number of ends at which a long structure is truncated, except in whole runs.
_MOST_ENDS = 80


@dataclass(frozen=True)
class Vector:
    """The bytes of one structure, the parameters it is parsed with, the fields to expect by their path."""

    name: str
    structure: type[KaitaiStruct]
    parameters: tuple[Any, ...]
    data: bytes
    fields: dict[str, Any]

    def __str__(self) -> str:
        return self.name

    def parse(self, data: bytes | None = None) -> Any:
        return parse(self.structure, self.data if data is None else data, *self.parameters)


def vector(
    name: str, structure: type[KaitaiStruct], data: str | bytes, /, *parameters: Any, **fields: Any
) -> Vector:
    """A vector; text is hexadecimal, and `a__b__0` in a field's name means the path `a.b.0`."""
    raw = bytes.fromhex(data) if isinstance(data, str) else data
    paths = {path.replace("__", "."): value for path, value in fields.items()}
    return Vector(name, structure, parameters, raw, paths)


def parse(structure: type[KaitaiStruct], data: bytes, *parameters: Any) -> Any:
    return parsed(structure(*parameters, KaitaiStream(io.BytesIO(data))))


def field(parsed: Any, path: str) -> Any:
    """The value at `path`; enum members are converted to names, structures are unchanged."""
    for step in path.split("."):
        parsed = parsed[int(step)] if step.isdigit() else getattr(parsed, step)
    return parsed.name if isinstance(parsed, Enum) else parsed


def structures(parsed: Any) -> Iterator[Any]:
    """`parsed` and every structure below it that was read in sequence."""
    if isinstance(parsed, list):
        for item in parsed:
            yield from structures(item)
    elif isinstance(parsed, KaitaiStruct):
        yield parsed
        for name, value in vars(parsed).items():
            if not name.startswith("_"):
                yield from structures(value)


def unread(parsed: Any) -> list[str]:
    """Structures whose bytes were not read to the end."""
    return [
        f"{type(part).__name__}: {part._io.pos()} of {part._io.size()} bytes"
        for part in structures(parsed)
        if not part._io.is_eof()
    ]


def assert_fields(case: Vector) -> None:
    parsed = case.parse()
    assert {path: field(parsed, path) for path in case.fields} == case.fields
    assert unread(parsed) == []


def assert_nothing_is_dropped(case: Vector) -> None:
    """Truncated anywhere, or with bytes appended: a parser error, or every byte belongs to a field."""
    ends = sample(range(len(case.data)), _MOST_ENDS)
    for data in (*(case.data[:end] for end in ends), case.data + EXTRA):
        try:
            parsed = case.parse(data)
        except KaitaiStructError:
            continue
        assert unread(parsed) == [], data.hex()
