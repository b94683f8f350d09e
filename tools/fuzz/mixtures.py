"""Mutations that mix logs: their events, their format descriptions, and the metadata of their tables."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from binlog_kaitai.core.event_types import type_name
from binlog_kaitai.core.grammar import CHECKSUM_SIZE, EventType
from binlog_kaitai.values.charsets import charset_of
from tools.fuzz import bases, values
from tools.fuzz.draft import Draft, Item
from tools.fuzz.fields import leaves_of, number_of, resized, with_number
from tools.fuzz.mutations import put

_DESCRIPTION, _TABLE_MAP = EventType.format_description_event, EventType.table_map_event

#: Values of `checksum_algorithm`: none, CRC32, unknown ones, and undefined.
_ALGORITHMS = (0, 0, 1, 1, 2, 254, 255)

#: A collation of each character set.
_COLLATIONS = tuple({charset_of(number): number for number in range(1, 250)}.values())

#: Fields of a table map that describe its columns.
_METADATA = tuple(f"body.{field}" for field in ("column_types", "null_bits", "metadata", "optional_metadata"))


def _with_checksum(item: Item, has_checksum: bool) -> Item:
    """An event with or without space for a checksum; a format description keeps its own."""
    if item.has_checksum == has_checksum or item.type_code == _DESCRIPTION:
        return item
    raw = item.raw + bytes(CHECKSUM_SIZE) if has_checksum else item.raw[: item.body_end]
    return replace(item, raw=raw, has_checksum=has_checksum)


def stranger(chance: Random, draft: Draft) -> str | None:
    """An event of another log inserted."""
    name, other = bases.chosen(chance)
    item = _with_checksum(chance.choice(other.items), draft.layout.is_checksummed)
    place = chance.randrange(len(draft.items) + 1)
    draft.items.insert(place, item)
    return f"{type_name(item.type_code)} of {name} at {place}"


def spliced(chance: Random, draft: Draft) -> str | None:
    """Consecutive events of another log, often of another server, inserted or in place of the rest."""
    name, other = bases.chosen(chance)
    begin = chance.choice((0, chance.randrange(len(other.items))))
    events = other.items[begin : begin + chance.choice((2, 3, 5, 20))]
    if chance.random() < 0.7:
        events = [_with_checksum(item, draft.layout.is_checksummed) for item in events]
    place = chance.randrange(len(draft.items) + 1)
    draft.items[place : None if chance.random() < 0.3 else place] = events
    return f"{len(events)} events of {name} from {begin} on at {place}"


def description(chance: Random, draft: Draft) -> str | None:
    """A second format description, perhaps of another log, and events with or without its checksums."""
    name, other = bases.chosen(chance)
    source = chance.choice((draft, other))
    index = next((number for number, item in enumerate(source.items) if item.type_code == _DESCRIPTION), None)
    if index is None:
        return None
    item, algorithm = source.items[index], None
    for leaf in leaves_of(source, index):
        if leaf.path.endswith(".checksum_algorithm") and chance.random() < 0.6:
            algorithm = chance.choice(_ALGORITHMS)
            item = item.with_raw(with_number(item.raw, leaf, algorithm))
    place = chance.randrange(len(draft.items) + 1)
    if chance.random() < 0.5:
        has_checksums = algorithm == 1
        draft.items[place:] = [_with_checksum(item, has_checksums) for item in draft.items[place:]]
    draft.items.insert(place, item)
    return f"format description of {name if source is other else 'this log'}, {algorithm}, at {place}"


def table_map(chance: Random, draft: Draft) -> str | None:
    """A table map replaced or repeated under the same table ID, with other metadata of its columns."""
    indexes = [number for number, item in enumerate(draft.items) if item.type_code == _TABLE_MAP]
    if not indexes:
        return None
    index = chance.choice(indexes)
    if chance.random() < 0.6:
        place = chance.choice((index, index + 1, len(draft.items)))
        draft.items.insert(place, draft.items[index])
        index = place
    changes = [_other_metadata(chance, draft, index) for _ in range(chance.choice((1, 1, 2, 3)))]
    return put(draft, index, draft.items[index].raw, ", ".join(changes))


def charset(chance: Random, draft: Draft) -> str | None:
    """Texts that are valid or not in the character set of their column, which is another one."""
    indexes = [number for number, item in enumerate(draft.items) if item.type_code == _TABLE_MAP]
    if not indexes:
        return None
    start, collation = chance.choice(indexes), chance.choice(_COLLATIONS)
    for index in range(start, min(start + 4, len(draft.items))):
        leaves = leaves_of(draft, index)
        for leaf in reversed(leaves):  # so that those before it keep their offsets
            content = None
            if index == start and ".collation" in leaf.path and leaf.size == 1:
                content = bytes([collation])
            elif index > start and leaf.path.endswith(".value.data") and chance.random() < 0.5:
                content = values.text(chance)
            if content is not None:
                raw = resized(draft.items[index].raw, leaves, leaf, content, adjusts_lengths=True)
                draft.items[index] = draft.items[index].with_raw(raw)
    return put(draft, start, draft.items[start].raw, f"collation {collation}")


def _other_metadata(chance: Random, draft: Draft, index: int) -> str:
    leaves, raw = leaves_of(draft, index), draft.items[index].raw
    fields = [leaf for leaf in leaves if leaf.path.startswith(_METADATA)]
    if not fields:
        return "no metadata"
    leaf = chance.choice(fields)
    now = number_of(leaf)
    if now is not None:
        others = [other for field in fields if (other := number_of(field)) is not None]
        new = values.number(chance, now, leaf.size, others)
        draft.items[index] = draft.items[index].with_raw(with_number(raw, leaf, new))
        return f"{leaf.path} {now} -> {new}"
    content = values.spoiled(chance, raw[leaf.offset : leaf.end])
    draft.items[index] = draft.items[index].with_raw(
        resized(raw, leaves, leaf, content, adjusts_lengths=chance.random() < 0.75)
    )
    return f"{leaf.path} = {content[:40].hex()}"
