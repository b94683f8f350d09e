"""Every byte of an event as a leaf of the grammar's tree.

The traced classes note where each field of a type lies in the type's own stream; a leaf has the place in the
whole event. Leaves come in order and tile the event: no byte is in two of them or in none. Where a lazy
instance reads the very bytes of a field once more (the cells of row images), its leaves stand for the field.
Fields of single bits that share bytes are one leaf, with the fields as its parts.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

from binlog_kaitai.core.grammar import bit_fields, meanings, trace_encryption_header, trace_event
from binlog_kaitai.errors import GrammarError
from binlog_kaitai.reader.reader import Event

#: Types that are one number in parts: what the number means is worth more than what the part is.
_NUMBERS = frozenset(("PackedInteger", "VarlenInteger"))
_NUMBERS_IN = frozenset(("GtidTaggedEvent.Number.number",))


class Leaf(NamedTuple):
    """One field that has no parts.

    Attributes
    ----------
    offset : int
        From the event's first byte, in bytes.
    size : int
        In bytes, at least 1.
    path : str
        Names in the grammar, such as ``"body.content.schema_name"``; of fields of bits, that of the structure
        that they make up.
    value : object
        As the grammar reads it; of fields of bits, a dictionary of the fields.
    meaning : str
        The grammar's words for the field.
    parts : tuple of Leaf
        The fields of bits, without a place of their own; empty for a field of bytes.
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
    """An event taken apart.

    Attributes
    ----------
    leaves : list of Leaf
        In order; bytes that no field claims are leaves named ``"unread"``.
    derived : list of Leaf
        What follows from the fields by the grammar's instances: values without bytes of their own.
    error : GrammarError or None
        Why reading stopped early, if it did.
    root : object
        The event as the traced classes read it.
    """

    leaves: list[Leaf]
    derived: list[Leaf]
    error: GrammarError | None
    root: Any


def dissect(event: Event) -> Dissection:
    """Take an event apart, as far as it follows the grammar."""
    traced, error = trace_event(event.raw, event.type_code, event.layout, event.table_map)
    parts = ((traced, "header"), (getattr(traced, "body", None), "content"))
    derived = [leaf for node, name in parts for leaf in _derived(getattr(node, name, None), name)]
    return Dissection(leaves_of(traced, event.raw), derived, error, traced)


def dissect_header(raw: bytes) -> Dissection:
    """Take the header of an encrypted log apart."""
    traced, error = trace_encryption_header(raw)
    return Dissection(leaves_of(traced, raw), [], error, traced)


def leaves_of(root: Any, raw: bytes) -> list[Leaf]:
    """The leaves of an object of a traced class, which was read from the bytes."""
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
    """Values of instances that are worth a line: numbers, names, and what is true."""
    if node is None:
        return
    docs = meanings().get(type(node).__qualname__, {})
    for name in _instances(type(node)):
        try:
            value = getattr(node, name)
        except Exception:  # an instance of an event that could not be read in full
            continue
        is_worth = value is True or (isinstance(value, (int, float)) and not isinstance(value, bool))
        if is_worth and name in docs:
            yield Leaf(0, 0, f"{prefix}.{name}", value, docs[name])


def _walk(node: Any, base: int, prefix: str, whole: str = "") -> Iterator[Leaf]:
    """Leaves of a structure; `whole` is the meaning of the field that it is."""
    name_of_type = type(node).__qualname__
    docs = meanings().get(name_of_type, {})
    overlays = dict(_overlays(node, base, prefix))
    widths = bit_fields().get(name_of_type, {})
    group: list[Leaf] = []
    for name in node.SEQ_FIELDS:
        where = node._debug.get(name)
        if where is None:
            continue
        value = getattr(node, name, None)
        path, meaning = prefix + name, docs.get(name, "")
        is_number = name_of_type in _NUMBERS or f"{name_of_type}.{name}" in _NUMBERS_IN
        if whole and (is_number or not meaning):
            meaning = whole
        start = where["start"]
        if name in widths and "end" in where:
            group.append(Leaf(base + start, where["end"] - start, path, value, meaning))
            if sum(widths[leaf.path.removeprefix(prefix)] for leaf in group) % 8 == 0:
                yield _joined(group, prefix, whole)
                group = []
        elif isinstance(value, list) and value and hasattr(value[0], "_debug"):
            for index, item in enumerate(value):
                start = where["arr"][index]["start"]
                yield from _child(node, item, base, start, f"{path}[{index}].", meaning)
        elif hasattr(value, "_debug"):
            yield from _child(node, value, base, start, f"{path}.", meaning)
        elif "end" in where:
            leaf = Leaf(base + start, where["end"] - start, path, value, meaning)
            is_run = isinstance(value, bytes)
            yield from overlays.get((leaf.offset, leaf.size), [leaf]) if is_run else [leaf]


def _joined(group: list[Leaf], prefix: str, whole: str) -> Leaf:
    """Fields of bits that fill some bytes together."""
    values = {leaf.path.removeprefix(prefix): leaf.value for leaf in group}
    size = sum(leaf.size for leaf in group)
    parts = tuple(leaf._replace(size=0) for leaf in group)
    return Leaf(group[0].offset, size, prefix.removesuffix("."), values, whole, parts)


def _child(node: Any, child: Any, base: int, start: int, prefix: str, whole: str = "") -> Iterator[Leaf]:
    # A sized substructure has a stream of its own, which begins where the field does.
    return _walk(child, base if child._io is node._io else base + start, prefix, whole)


def _overlays(node: Any, base: int, prefix: str) -> Iterator[tuple[tuple[int, int], list[Leaf]]]:
    """Leaves of lazy instances that read, without gap, bytes that a field has too; by offset and size."""
    if not any(isinstance(getattr(node, name, None), bytes) for name in node.SEQ_FIELDS):
        return
    for name in _instances(type(node)):
        try:
            value = getattr(node, name)
        except Exception:  # cells of hostile rows may raise anything; the field's raw bytes are shown then
            continue
        where = node._debug.get(f"_m_{name}")
        items = value if isinstance(value, list) else [value]
        if not where or not items or not all(hasattr(item, "_debug") for item in items):
            continue
        offsets = where.get("arr") or [where]
        found: list[Leaf] = []
        for index, (item, place) in enumerate(zip(items, offsets, strict=True)):
            label = f"{prefix}{name}[{index}]." if isinstance(value, list) else f"{prefix}{name}."
            found += _child(node, item, base, place["start"], label)
        if found and _is_gapless(found):
            start, end = found[0].offset, found[-1].end
            yield (start, end - start), found


def _instances(kind: type) -> list[str]:
    return [name for name, value in vars(kind).items() if isinstance(value, property)]


def _is_gapless(found: list[Leaf]) -> bool:
    return all(left.end == right.offset for left, right in pairwise(found))
