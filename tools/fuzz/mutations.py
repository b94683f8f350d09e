"""Single mutations of a draft.

A mutation changes a draft at random and describes the change; None if there is nothing to change.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from enum import Enum
from random import Random
from typing import NamedTuple

from binlog_kaitai.core.event_types import type_name
from binlog_kaitai.core.grammar import EventType, header_length, header_offset, read_header
from binlog_kaitai.render.explanation import Leaf
from tools.fuzz import values
from tools.fuzz.draft import Draft
from tools.fuzz.fields import leaves_of, number_of, resized, with_number

Mutation = Callable[[Random, Draft], str | None]

#: Probability that length fields are corrected after a change of length.
_ADJUSTS_LENGTHS = 0.75

#: Fields that are regenerated.
_MADE = ("header.len_event", "header.next_position", "checksum")

_FIRST = EventType.format_description_event


def event_of(chance: Random, draft: Draft) -> int | None:
    """An event to mutate; rarely the format description, on which the whole log depends."""
    if not draft.items:
        return None
    for _ in range(3):
        index = chance.randrange(len(draft.items))
        if draft.items[index].type_code != _FIRST:
            break
    return index


class _Field(NamedTuple):
    """A selected field: its event, all fields of the event, and its index."""

    event: int
    leaves: list[Leaf]
    leaf: Leaf


def _field_of(chance: Random, draft: Draft, matches: Callable[[Leaf], bool]) -> _Field | None:
    """A field that is not regenerated when the log is written."""
    index = event_of(chance, draft)
    leaves = leaves_of(draft, index) if index is not None else []
    fitting = [leaf for leaf in leaves if leaf.path not in _MADE and matches(leaf)]
    if index is None or not fitting:
        return None
    leaf = chance.choice(fitting)
    if leaf.path.startswith("header.") and chance.random() < 0.7:
        leaf = chance.choice(fitting)
    return _Field(index, leaves, leaf)


def put(draft: Draft, index: int, raw: bytes, what: str) -> str:
    item = draft.items[index]
    draft.items[index] = item.with_raw(raw)
    return f"{index} {type_name(item.type_code)}: {what}"


def number(chance: Random, draft: Draft) -> str | None:
    """Another number in a field."""
    chosen = _field_of(chance, draft, lambda leaf: number_of(leaf) is not None)
    if chosen is None:
        return None
    index, leaves, leaf = chosen
    now = number_of(leaf) or 0
    others = [other for field in leaves if (other := number_of(field)) is not None]
    new = values.number(chance, now, leaf.size, [*others, len(draft.items[index].raw)])
    return put(draft, index, with_number(draft.items[index].raw, leaf, new), f"{leaf.path} {now} -> {new}")


def member(chance: Random, draft: Draft) -> str | None:
    """Another member of an enumeration."""
    chosen = _field_of(chance, draft, lambda leaf: isinstance(leaf.value, Enum))
    if chosen is None:
        return None
    index, _, leaf = chosen
    new = chance.choice([member.value for member in type(leaf.value)])
    return put(draft, index, with_number(draft.items[index].raw, leaf, new), f"{leaf.path} = {new}")


def content(chance: Random, draft: Draft) -> str | None:
    """Other bytes of the same length in a field."""
    chosen = _field_of(chance, draft, lambda leaf: number_of(leaf) is None)
    if chosen is None:
        return None
    index, _, leaf = chosen
    raw = draft.items[index].raw
    if isinstance(leaf.value, float) and leaf.size in (4, 8) and chance.random() < 0.5:
        new = values.double(chance, leaf.size)
    else:
        new = values.flipped(chance, raw[leaf.offset : leaf.end])
    return put(draft, index, raw[: leaf.offset] + new + raw[leaf.end :], f"{leaf.path} = {new.hex()}")


def length(chance: Random, draft: Draft) -> str | None:
    """More or fewer bytes in a field."""
    chosen = _field_of(chance, draft, lambda leaf: not leaf.path.startswith("header."))
    if chosen is None:
        return None
    index, leaves, leaf = chosen
    raw = draft.items[index].raw
    adjusts_lengths = chance.random() < _ADJUSTS_LENGTHS
    new = values.grown(chance, raw[leaf.offset : leaf.end])
    what = f"{leaf.path} of {leaf.size} bytes has {len(new)}{', reported' if adjusts_lengths else ''}"
    return put(draft, index, resized(raw, leaves, leaf, new, adjusts_lengths=adjusts_lengths), what)


def copied(chance: Random, draft: Draft) -> str | None:
    """The bytes of a field copied to another field of the same name."""
    chosen = _field_of(chance, draft, lambda leaf: not leaf.path.startswith("header."))
    if chosen is None:
        return None
    index, leaves, leaf = chosen
    name, raw = leaf.path.rpartition(".")[2], draft.items[index].raw
    others = [field for field in leaves if field is not leaf and field.path.rpartition(".")[2] == name]
    if not others:
        return None
    other = chance.choice(others)
    new = resized(
        raw, leaves, leaf, raw[other.offset : other.end], adjusts_lengths=chance.random() < _ADJUSTS_LENGTHS
    )
    return put(draft, index, new, f"{leaf.path} as {other.path}")


def body_bytes(chance: Random, draft: Draft) -> str | None:
    """Arbitrary bytes of a body changed, inserted or removed."""
    index = event_of(chance, draft)
    if index is None:
        return None
    item = draft.items[index]
    begin, end = header_length(draft.binlog_version), item.body_end
    if end <= begin:
        return None
    start = chance.randrange(begin, end)
    stop = min(end, start + chance.choice((1, 4, 40)))
    new = values.spoiled(chance, item.raw[start:stop])
    return put(draft, index, item.raw[:start] + new + item.raw[stop:], f"bytes {start}-{stop} = {new.hex()}")


def end(chance: Random, draft: Draft) -> str | None:
    """A body truncated or extended."""
    index = event_of(chance, draft)
    if index is None:
        return None
    item = draft.items[index]
    begin, stop = header_length(draft.binlog_version), item.body_end
    if stop < begin or chance.random() < 0.4:
        more = chance.choice((b"\0", b"\xff", chance.randbytes(4), item.raw[begin:stop]))
        return put(draft, index, item.raw[:stop] + more + item.raw[stop:], f"{len(more)} bytes more")
    place = chance.randrange(begin, stop + 1)
    return put(draft, index, item.raw[:place] + item.raw[stop:], f"body ends at {place}, not {stop}")


def kind(chance: Random, draft: Draft) -> str | None:
    """Another event type, with the same body."""
    index = event_of(chance, draft)
    if index is None:
        return None
    known = [known.value for known in EventType]
    near = [other.type_code for other in draft.items]
    code = chance.choice((chance.choice(known), chance.choice(near), chance.randrange(256)))
    offset, raw = header_offset("type_code"), draft.items[index].raw
    return put(draft, index, raw[:offset] + bytes([code]) + raw[offset + 1 :], f"type {code}")


def left_out(chance: Random, draft: Draft) -> str | None:
    """An event removed."""
    if len(draft.items) < 2:
        return None
    index = chance.randrange(len(draft.items))
    gone = draft.items.pop(index)
    return f"{index} {type_name(gone.type_code)}: removed"


def twice(chance: Random, draft: Draft) -> str | None:
    """An event duplicated."""
    index = event_of(chance, draft)
    if index is None:
        return None
    place = chance.choice((index, chance.randrange(len(draft.items) + 1)))
    draft.items.insert(place, draft.items[index])
    return f"{index}: duplicated at {place}"


def order(chance: Random, draft: Draft) -> str | None:
    """Two events swapped."""
    if len(draft.items) < 2:
        return None
    first, other = chance.sample(range(len(draft.items)), 2)
    draft.items[first], draft.items[other] = draft.items[other], draft.items[first]
    return f"{first} and {other} swapped"


def header(chance: Random, draft: Draft) -> str | None:
    """A wrong size or position in a header."""
    index = event_of(chance, draft)
    if index is None or len(draft.items[index].raw) < header_length(draft.binlog_version):
        return None
    item = draft.items[index]
    name = chance.choice(("len_event", "len_event", "next_position"))
    now = getattr(read_header(item.raw, draft.binlog_version), name)
    sizes = [len(item.raw) for item in draft.items]
    new = values.number(chance, now, 4, [*sizes, sum(sizes)]) & 0xFFFFFFFF
    draft.items[index] = replace(item, stated=(*item.stated, (name, new)))
    return f"{index} {type_name(item.type_code)}: {name} {new}"


def unsealed(chance: Random, draft: Draft) -> str | None:
    """A changed byte in an event, whose checksum is not corrected."""
    index = event_of(chance, draft)
    if index is None or not draft.items[index].has_checksum:
        return None
    item = draft.items[index]
    draft.items[index] = replace(item, raw=values.flipped(chance, item.raw), is_sealed=False)
    return f"{index} {type_name(item.type_code)}: checksum not corrected"


def file_bytes(chance: Random, draft: Draft) -> str | None:
    """Arbitrary bytes of the file changed."""
    size = 4 + sum(len(item.raw) for item in draft.items)
    start = chance.randrange(size)
    stop = min(size, start + chance.choice((0, 1, 1, 4, 40)))
    some, zeros = chance.randbytes(chance.choice((1, 2, 20))), bytes(chance.choice((1, 19, 100)))
    new = chance.choice((some, zeros, b""))
    draft.edits.append((start, stop, new))
    return f"file bytes {start}-{stop} = {new.hex()}"


def cut(chance: Random, draft: Draft) -> str | None:
    """A truncated file."""
    size = 4 + sum(len(item.raw) for item in draft.items)
    place = chance.randrange(size)
    draft.edits.append((place, 1 << 62, b""))
    return f"file ends at {place}"
