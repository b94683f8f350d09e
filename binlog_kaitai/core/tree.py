"""Traverses objects of any generated class: finds unread bytes and the field where parsing stopped.

This module does not know the grammar; `binlog_kaitai.core.grammar` decides what to traverse.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Hashable, Iterator
from functools import cache
from inspect import signature
from typing import Any, NamedTuple, cast

from kaitaistruct import KaitaiStream, KaitaiStruct, KaitaiStructError, ValidationFailedError

#: Maximum length of a field in the output of `describe`, in characters.
_MOST_SHOWN = 200

#: How much is decompressed at a time, in bytes.
_DECOMPRESSED_AT_ONCE = 1 << 20


def children(node: KaitaiStruct) -> Iterator[tuple[str, KaitaiStruct]]:
    """The parsed substructures of a generated object, with their field names."""
    for name in node._STRUCTURES:
        value = getattr(node, name, None)
        if isinstance(value, KaitaiStruct):
            yield name, value
        elif isinstance(value, list) and value and isinstance(value[0], KaitaiStruct):
            for index, item in enumerate(value):
                yield f"{name}[{index}]", item


@cache
def parameters_of(kind: Hashable) -> frozenset[str]:
    """Names of the parameters of a generated class; its objects have them as attributes, like fields."""
    return frozenset(signature(cast(Callable[..., object], kind)).parameters)


def describe(node: KaitaiStruct) -> str:
    """A generated object with its fields, without nested structures."""
    fields = ", ".join(f"{name}={text}" for name, text in described_fields(node))
    return f"<{type(node).__name__} {fields}>"


def described_fields(node: KaitaiStruct) -> Iterator[tuple[str, str]]:
    """The fields of a generated object, with their values in short."""
    parameters = parameters_of(node.__class__)
    for name, value in vars(node).items():
        if name[0] != "_" and name not in parameters:
            yield name, _shown(value)


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
    """Path and size of the bytes of a sized substream, or of the event, that no field has read.

    `outer` is the stream of the enclosing structure; a stream shared by both is checked once, by its owner.
    """
    stream = node._io
    if stream is not outer and not stream.is_eof():
        return path or "event", stream.size() - stream.pos()
    for name, child in children(node):
        is_leaf = child._io is stream and not child._STRUCTURES
        if not is_leaf and (leftover := find_leftover(child, f"{path}.{name}" if path else name, stream)):
            return leftover
    return None


def reason_of(error: Exception) -> str:
    """The reason why the bytes are invalid, from any exception raised by generated code."""
    if isinstance(error, EOFError):
        return f"ends early: {error}"
    if isinstance(error, ValidationFailedError):
        return f"impossible value: {error}"
    if isinstance(error, KaitaiStructError):
        return str(error)
    return f"cannot be read ({type(error).__name__}: {error})"


#: An object of any generated class, with the debug attributes of the compiler.
Node = Any


class Extent(NamedTuple):
    """Where a field lies in the stream of its object.

    `end`: None if the field could not be read in full.
    `bounds`: for a list, the start of each item and the end of the last one; otherwise empty.
    """

    start: int
    end: int | None
    bounds: list[int]


def extents(node: Node) -> dict[str, Extent]:
    """The fields of an object that have been read, at least in part, in the order of their bytes."""
    fields = list(_fields(node))
    end = node._end
    if end is None and fields and not _is_unfinished(node, fields[-1][0]):
        end = node._io.pos()  # the value of the last field failed validation
    spans = []
    for name, mark in reversed(fields):
        start, bounds = (mark[0], mark) if isinstance(mark, list) else (mark, [])
        spans.append((name, Extent(start, end, bounds)))
        end = start
    return dict(reversed(spans))


def instance_bounds(node: Node, name: str) -> list[int]:
    """The start and end of the bytes of an instance that has been read, with the bounds of its items between
    them; empty if it has no bytes.
    """
    return list(node._starts.get(f"_m_{name}", ()))


def _fields(node: Node) -> Iterator[tuple[str, int | list[int]]]:
    return ((name, mark) for name, mark in node._starts.items() if not name.startswith("_m_"))


def _is_unfinished(node: Node, name: str) -> bool:
    """Whether the last field of an object that could not be read in full is where reading stopped."""
    value = getattr(node, name, None)
    if isinstance(value, KaitaiStruct):
        return cast(Node, value)._end is None
    return value is None or isinstance(value, list)


def unfinished_field(node: Node, error: Exception) -> str:
    """Path of the field at which reading of an object stopped.

    This is the field that was started but not finished; if a value failed validation, the last finished one.
    """
    names = [name for name, _ in _fields(node)]
    if node._end is not None or not names:
        return ""
    name = names[-1]
    value = getattr(node, name, None)
    if not _is_unfinished(node, name):
        return name if isinstance(error, ValidationFailedError) else ""
    path = name
    if isinstance(value, list):
        path = f"{name}[{len(node._starts[name]) - 1}]"
        value = value[-1] if value else None
    inner = unfinished_field(value, error) if isinstance(value, KaitaiStruct) else ""
    return f"{path}.{inner}" if inner else path


def inflated_size(deflated: bytes, limit: int) -> int | None:
    """Length of the decompressed bytes; a number above `limit` if they exceed it; None if they are
    incomplete.
    """
    stream, size = zlib.decompressobj(), 0
    while size <= limit and not stream.eof and (part := stream.decompress(deflated, _DECOMPRESSED_AT_ONCE)):
        size += len(part)
        deflated = stream.unconsumed_tail
    return size if stream.eof or size > limit else None
