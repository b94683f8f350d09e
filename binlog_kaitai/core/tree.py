"""Walks over objects of generated classes, whatever the class: what was not read, what was being read.

Nothing here knows the grammar; `binlog_kaitai.core.grammar` says what is walked.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Hashable, Iterator
from functools import cache
from inspect import signature
from typing import Any, cast

from kaitaistruct import KaitaiStream, KaitaiStruct, KaitaiStructError, ValidationFailedError

#: Characters of a field that `describe` shows.
_MOST_SHOWN = 200

#: How much is unpacked at a time, in bytes.
_STEP = 1 << 20


def children(node: KaitaiStruct) -> Iterator[tuple[str, KaitaiStruct]]:
    """The parsed substructures of a generated object, with their field names."""
    parameters = _parameters(node.__class__)
    for name, value in vars(node).items():
        # A parameter is the object of another event.
        if name.startswith("_") or name in parameters:
            continue
        if isinstance(value, KaitaiStruct):
            yield name, value
        elif isinstance(value, list) and value and isinstance(value[0], KaitaiStruct):
            for index, item in enumerate(value):
                yield f"{name}[{index}]", item


def structures(node: KaitaiStruct, path: str = "") -> Iterator[tuple[str, KaitaiStruct]]:
    """A generated object and all structures in it, those of evaluated instances too, with their paths."""
    pending, seen = [(path, node)], {id(node)}
    while pending:
        path, node = pending.pop()
        yield path, node
        parameters = _parameters(node.__class__)
        for attribute, value in vars(node).items():
            name = attribute.removeprefix("_m_")
            if name.startswith("_") or name in parameters:
                continue
            items = enumerate(value) if isinstance(value, list) else [(None, value)]
            for index, item in items:
                if isinstance(item, KaitaiStruct) and id(item) not in seen:
                    seen.add(id(item))
                    label = name if index is None else f"{name}[{index}]"
                    pending.append((f"{path}.{label}" if path else label, item))


@cache
def _parameters(kind: Hashable) -> frozenset[str]:
    return frozenset(signature(cast(Callable[..., object], kind)).parameters)


def show(package: str) -> None:
    """Let the objects of generated classes show their fields; Kaitai gives them no representation."""
    for kind in KaitaiStruct.__subclasses__():
        if kind.__module__.startswith(package):
            kind.__repr__ = describe


def describe(node: KaitaiStruct) -> str:
    """A generated object with its fields, those of structures in it left out."""
    parameters = _parameters(node.__class__)
    fields = (
        (name, value) for name, value in vars(node).items() if name[0] != "_" and name not in parameters
    )
    return f"<{type(node).__name__} {', '.join(f'{name}={_shown(value)}' for name, value in fields)}>"


def _shown(value: object) -> str:
    if isinstance(value, KaitaiStruct):
        return f"<{type(value).__name__}>"
    if isinstance(value, list) and value and isinstance(value[0], KaitaiStruct):
        return f"[{len(value)} x {_shown(value[0])}]"
    text = repr(value)
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}… ({len(text):,} characters)"


def find_leftover(
    node: KaitaiStruct, path: str = "", outer: KaitaiStream | None = None
) -> tuple[str, int] | None:
    """Path and number of the bytes of a sized substream, or of the event, that no field has read.

    `outer` is the stream of the structure around the node; the same stream is looked at once, by its owner.
    """
    stream = node._io
    if stream is not outer and not stream.is_eof():
        return path or "event", stream.size() - stream.pos()
    for name, child in children(node):
        if found := find_leftover(child, f"{path}.{name}" if path else name, stream):
            return found
    return None


def reason_of(error: Exception) -> str:
    """What is wrong with the bytes, out of any exception of generated code."""
    if isinstance(error, EOFError):
        return f"ends early: {error}"
    if isinstance(error, ValidationFailedError):
        return f"impossible value: {error}"
    if isinstance(error, KaitaiStructError):
        return str(error)
    return f"cannot be read ({type(error).__name__}: {error})"


def unfinished_field(node: Any, error: Exception) -> str:
    """Path of the field that reading a traced object stopped at.

    It is the one that was begun and not ended; where its value is not valid, the last one that ended.
    """
    for name, where in reversed(node._debug.items()):
        if "start" in where and "end" not in where:
            value = getattr(node, name, None)
            path = name
            if "arr" in where:
                path = f"{name}[{max(len(where['arr']) - 1, 0)}]"
                value = value[-1] if value else None
            inner = unfinished_field(value, error) if hasattr(value, "_debug") else ""
            return f"{path}.{inner}" if inner else path
    return next(reversed(node._debug), "") if isinstance(error, ValidationFailedError) else ""


def inflated_size(deflated: bytes, limit: int) -> int | None:
    """Length of the unpacked bytes; of more than `limit`, a number above it; None if they are cut off."""
    stream, size = zlib.decompressobj(), 0
    while size <= limit and not stream.eof and (part := stream.decompress(deflated, _STEP)):
        size += len(part)
        deflated = stream.unconsumed_tail
    return size if stream.eof or size > limit else None
