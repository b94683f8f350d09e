"""Offsets of the fields of an event, from the generated classes; replacing their bytes."""

from __future__ import annotations

import re
from enum import Enum
from functools import lru_cache

from binlog_kaitai.core import framing
from binlog_kaitai.core.framing import Frame
from binlog_kaitai.core.grammar import Format, TableMapEvent, header_length, read_header
from binlog_kaitai.log.event_reader import ParsedEvent
from binlog_kaitai.render.explanation import Leaf, dissect
from tools.fuzz.draft import Draft

#: Names of fields with the length of another field.
_LENGTHS = re.compile(r"len_|size|number_1|number_2|group|first|next_|value_")


def leaves_of(draft: Draft, index: int) -> list[Leaf]:
    """The fields of an event, in order; empty for an event without a complete header."""
    raw = draft.items[index].raw
    if len(raw) < header_length(draft.binlog_version):
        return []
    # The grammar uses the size in the header.
    raw = framing.resized(raw, len(raw))
    return _leaves(raw, draft.layout_of(index), draft.table_map_of(index), draft.binlog_version)


@lru_cache(maxsize=1 << 11)
def _leaves(raw: bytes, layout: Format, table_map: TableMapEvent | None, binlog_version: int) -> list[Leaf]:
    header = read_header(raw, binlog_version)
    return dissect(ParsedEvent("", Frame(0, header, raw), layout, table_map)).leaves


def number_of(leaf: Leaf) -> int | None:
    """The value of an integer field."""
    value = leaf.value.value if isinstance(leaf.value, Enum) else leaf.value
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def with_number(raw: bytes, leaf: Leaf, value: int) -> bytes:
    """An event with another number in a field, reduced to the field's width."""
    old, now = raw[leaf.offset : leaf.end], number_of(leaf) or 0
    mask = (1 << 8 * leaf.size) - 1
    is_little = old == (now & mask).to_bytes(leaf.size, "little")
    new = (value & mask).to_bytes(leaf.size, "little" if is_little else "big")
    return raw[: leaf.offset] + new + raw[leaf.end :]


def resized(raw: bytes, leaves: list[Leaf], leaf: Leaf, new: bytes, *, adjusts_lengths: bool) -> bytes:
    """An event with other bytes in a field, possibly of another length.

    With `adjusts_lengths`, the length fields of the field, and of structures that contain it, are corrected:
    the nearest preceding number with that value and a suitable name.
    """
    change = len(new) - leaf.size
    lengths: dict[int, Leaf] = {}
    if change and adjusts_lengths:
        for begin, end in _extents(leaves, leaf):
            length = _length_before(leaves, begin, end - begin)
            if length is not None:
                lengths.setdefault(length.offset, length)
    for length in lengths.values():
        raw = with_number(raw, length, (number_of(length) or 0) + change)
    return raw[: leaf.offset] + new + raw[leaf.end :]


def _extents(leaves: list[Leaf], leaf: Leaf) -> list[tuple[int, int]]:
    """The range of a field, and of each structure that contains it."""
    extents = [(leaf.offset, leaf.end)]
    path = leaf.path
    while "." in path:
        path = path.rpartition(".")[0]
        inside = [field for field in leaves if field.path.startswith((path + ".", path + "["))]
        extents.append((min(field.offset for field in inside), max(field.end for field in inside)))
        name, bracket, _ = path.rpartition("[")
        if bracket and path.endswith("]"):
            items = [field for field in leaves if field.path.startswith(name + "[")]
            extents.append((min(item.offset for item in items), max(item.end for item in items)))
    return extents


def _length_before(leaves: list[Leaf], begin: int, size: int) -> Leaf | None:
    for leaf in leaves[::-1]:
        if leaf.end > begin or leaf.path.startswith("header."):
            continue
        if number_of(leaf) == size and _LENGTHS.search(leaf.path):
            return leaf
    return None
