"""Every byte of an event as a leaf of the grammar's tree.

The generated classes record the offset of each field in the stream of its type; a leaf has the offset in the
whole event. Leaves are in order and tile the event: each byte is in exactly one of them. If a lazy instance
reads the bytes of a field again (the cells of row images), its leaves replace the field. Bit fields that
share bytes are one leaf, with the fields as its parts.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

from kaitaistruct import KaitaiStruct

from binlog_kaitai.core.grammar import (
    bit_fields,
    meanings,
    read_encryption_header,
    read_event,
)
from binlog_kaitai.core.tree import extents, instance_bounds
from binlog_kaitai.errors import GrammarError
from binlog_kaitai.log.event_reader import Event

#: Types that are one number in parts: the meaning of the number is more useful than that of its parts.
_NUMBERS = frozenset(("PackedInteger", "VarlenInteger"))
_NUMBERS_IN = frozenset(("GtidTaggedEvent.Number.number",))


class Leaf(NamedTuple):
    """A field without subfields.

    Attributes
    ----------
    offset : int
        Offset from the start of the event, in bytes.
    size : int
        In bytes, at least 1.
    path : str
        Names in the grammar, such as ``"body.content.schema_name"``; for bit fields, the path of the
        structure that they form.
    value : object
        As parsed by the grammar; for bit fields, a dictionary of the fields.
    meaning : str
        The grammar's description of the field.
    parts : tuple of Leaf
        The bit fields, without offsets of their own; empty for a field of whole bytes.
    """

    offset: int
    size: int
    path: str
    value: Any
    meaning: str
    parts: tuple[Leaf, ...] = ()

    @property
    def end(self) -> int:
        return self.offset + self.size


class Dissection(NamedTuple):
    """The fields of an event.

    Attributes
    ----------
    leaves : list of Leaf
        In order; bytes that no field covers are leaves named ``"unread"``.
    derived : list of Leaf
        Values computed by the grammar's instances, without bytes of their own.
    error : GrammarError or None
        Why parsing stopped early; None if it did not.
    root : object
        The event, as far as it could be read.
    """

    leaves: list[Leaf]
    derived: list[Leaf]
    error: GrammarError | None
    root: Any


def dissect(event: Event) -> Dissection:
    """Dissect an event, as far as it follows the grammar."""
    root, error = read_event(event.raw, event.type_code, event.layout, event.table_map)
    parts = ((root, "header"), (getattr(root, "body", None), "content"))
    derived = [leaf for node, name in parts for leaf in _derived(getattr(node, name, None), name)]
    return Dissection(leaves_of(root, event.raw), derived, error, root)


def dissect_header(raw: bytes) -> Dissection:
    """Dissect the header of an encrypted log."""
    root, error = read_encryption_header(raw)
    return Dissection(leaves_of(root, raw), [], error, root)


def leaves_of(root: Any, raw: bytes) -> list[Leaf]:
    """The leaves of an object that was read from the bytes, at least in part."""
    found = [leaf for leaf in _walk(root, 0, "") if leaf.size]
    return list(_without_gaps(found, raw))


def _without_gaps(found: list[Leaf], raw: bytes) -> Iterator[Leaf]:
    end = 0
    for leaf in [*found, Leaf(len(raw), 0, "", None, "")]:
        if leaf.offset > end:
            unread = raw[end : leaf.offset]
            yield Leaf(end, len(unread), "unread", unread, "Bytes that no field claims.")
        if leaf.path:
            yield leaf
        end = leaf.end


def _derived(node: Any, prefix: str) -> Iterator[Leaf]:
    """Values of instances that are shown: numbers, names, and flags that are set."""
    if node is None:
        return
    docs = meanings().get(type(node).__qualname__, {})
    for name in _instances(type(node)):
        try:
            value = getattr(node, name)
        except Exception:  # an instance of an event that could not be parsed in full
            continue
        is_worth = value is True or (isinstance(value, (int, float)) and not isinstance(value, bool))
        if is_worth and name in docs:
            yield Leaf(0, 0, f"{prefix}.{name}", value, docs[name])


def _walk(node: Any, base: int, prefix: str, whole: str = "") -> Iterator[Leaf]:
    """Leaves of a structure; `whole` is the meaning of the field that contains it."""
    name_of_type = type(node).__qualname__
    docs = meanings().get(name_of_type, {})
    overlays = dict(_overlays(node, base, prefix))
    widths = bit_fields().get(name_of_type, {})
    group: list[Leaf] = []
    for name, (start, end, bounds) in extents(node).items():
        value = getattr(node, name, None)
        path, meaning = prefix + name, docs.get(name, "")
        is_number = name_of_type in _NUMBERS or f"{name_of_type}.{name}" in _NUMBERS_IN
        if whole and (is_number or not meaning):
            meaning = whole
        if name in widths and end is not None:
            group.append(Leaf(base + start, end - start, path, value, meaning))
            if sum(widths[leaf.path.removeprefix(prefix)] for leaf in group) % 8 == 0:
                yield _joined(group, prefix, whole)
                group = []
        elif isinstance(value, list) and value and isinstance(value[0], KaitaiStruct):
            for index, (item, item_start) in enumerate(zip(value, bounds, strict=False)):
                yield from _child(node, item, base, item_start, f"{path}[{index}].", meaning)
        elif isinstance(value, KaitaiStruct):
            yield from _child(node, value, base, start, f"{path}.", meaning)
        elif end is not None:
            leaf = Leaf(base + start, end - start, path, value, meaning)
            is_run = isinstance(value, bytes)
            yield from overlays.get((leaf.offset, leaf.size), [leaf]) if is_run else [leaf]


def _joined(group: list[Leaf], prefix: str, whole: str) -> Leaf:
    """Combine bit fields that share bytes."""
    values = {leaf.path.removeprefix(prefix): leaf.value for leaf in group}
    size = sum(leaf.size for leaf in group)
    parts = tuple(leaf._replace(size=0) for leaf in group)
    return Leaf(group[0].offset, size, prefix.removesuffix("."), values, whole, parts)


def _child(node: Any, child: Any, base: int, start: int, prefix: str, whole: str = "") -> Iterator[Leaf]:
    # A sized substructure has its own stream, which begins at the field's offset.
    return _walk(child, base if child._io is node._io else base + start, prefix, whole)


def _overlays(node: Any, base: int, prefix: str) -> Iterator[tuple[tuple[int, int], list[Leaf]]]:
    """Leaves of lazy instances that cover all bytes of a field again, by its offset and size."""
    if not any(isinstance(getattr(node, name, None), bytes) for name in extents(node)):
        return
    for name in _instances(type(node)):
        try:
            value = getattr(node, name)
        except Exception:  # hostile cells may raise any exception; the field's raw bytes are shown instead
            continue
        bounds = instance_bounds(node, name)
        items = value if isinstance(value, list) else [value]
        if not bounds or not items or not all(isinstance(item, KaitaiStruct) for item in items):
            continue
        found: list[Leaf] = []
        for index, (item, start) in enumerate(zip(items, bounds, strict=False)):
            label = f"{prefix}{name}[{index}]." if isinstance(value, list) else f"{prefix}{name}."
            found += _child(node, item, base, start, label)
        if found and _is_gapless(found):
            start, end = found[0].offset, found[-1].end
            yield (start, end - start), found


def _instances(kind: type) -> list[str]:
    return [name for name, value in vars(kind).items() if isinstance(value, property)]


def _is_gapless(found: list[Leaf]) -> bool:
    return all(left.end == right.offset for left, right in pairwise(found))
