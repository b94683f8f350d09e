"""Mutations of compressed data, and rows events split into pieces."""

from __future__ import annotations

import struct
import zlib
from dataclasses import replace
from random import Random
from typing import Any

import zstandard

from binlog_kaitai.core.event_types import type_name
from binlog_kaitai.core.framing import Framer
from binlog_kaitai.core.grammar import (
    ROWS_TYPES,
    EventType,
    TransactionPayloadEvent,
    header_length,
    header_struct,
    parse_event,
    read_header,
)
from binlog_kaitai.core.payload import open_payload
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.render.explanation import Leaf
from tools.fuzz import values
from tools.fuzz.draft import Draft, Item
from tools.fuzz.fields import leaves_of, number_of, resized, with_number
from tools.fuzz.mutations import Mutation, put

_PAYLOAD = EventType.transaction_payload_event

#: Larger data is not decompressed for mutation, in bytes.
_MOST = 1 << 20


def payload(inner: tuple[Mutation, ...]) -> Mutation:
    """Mutated events inside a compressed transaction."""

    def change(chance: Random, draft: Draft) -> str | None:
        indexes = [number for number, item in enumerate(draft.items) if item.type_code == _PAYLOAD]
        if not indexes:
            return None
        index = chance.choice(indexes)
        inside = _opened(draft, index)
        if inside is None:
            return None
        old = inside.content()
        tried = [chance.choice(inner)(chance, inside) for _ in range(chance.choice((1, 1, 2)))]
        done = [what for what in tried if what is not None]
        new = inside.content()
        if chance.random() < 0.1:
            new = new[: chance.randrange(len(new) + 1)]
        _repack(chance, draft, index, len(old), new)
        return f"{index} inside: {'; '.join(done)}"

    return change


def packed_frame(chance: Random, draft: Draft) -> str | None:
    """Mutated frames of a compressed transaction: their bytes, their number, their headers."""
    indexes = [number for number, item in enumerate(draft.items) if item.type_code == _PAYLOAD]
    if not indexes:
        return None
    index = chance.choice(indexes)
    leaf = _leaf(leaves_of(draft, index), "body.payload")
    if leaf is None:
        return None
    raw = draft.items[index].raw
    new = values.spoiled(chance, raw[leaf.offset : leaf.end])
    _put_payload(draft, index, leaf, new, {})
    return f"{index} {type_name(_PAYLOAD)}: the frames"


def payload_in_payload(chance: Random, draft: Draft) -> str | None:
    """A compressed transaction inside another, or several times inside itself."""
    indexes = [number for number, item in enumerate(draft.items) if item.type_code == _PAYLOAD]
    if not indexes:
        return None
    index, inserted = chance.choice(indexes), draft.items[chance.choice(indexes)]
    depth = chance.choice((1, 1, 2, 9))
    for _ in range(depth):
        inside = _opened(draft, index)
        if inside is None:
            return None
        size = len(inside.content())
        event = Item(inserted.raw[: inserted.body_end], has_checksum=False, has_position=False)
        inside.items.insert(chance.randrange(len(inside.items) + 1), event)
        _repack(chance, draft, index, size, inside.content())
        inserted = draft.items[index]
    return f"{index} {type_name(_PAYLOAD)}: {depth} inside"


def payload_field(chance: Random, draft: Draft) -> str | None:
    """A compressed transaction with another length or algorithm, or with none."""
    fields = [
        (index, leaf)
        for index, item in enumerate(draft.items)
        if item.type_code == _PAYLOAD
        for leaf in leaves_of(draft, index)
        if leaf.path.startswith("body.fields")
    ]
    if not fields:
        return None
    index, leaf = chance.choice(fields)
    now, raw = number_of(leaf) or 0, draft.items[index].raw
    new = values.number(chance, now, leaf.size, [number_of(field) or 0 for _, field in fields])
    packed = chance.choice((b"\xfc\xff\0", b"\xfd\xff\xff\xff", b"\xfe" + b"\xff" * 8, b"\xfe" + bytes(8)))
    if leaf.path.endswith(".number.first") and chance.random() < 0.5:
        raw = resized(raw, leaves_of(draft, index), leaf, packed, adjusts_lengths=True)
        what = f"{leaf.path} = {packed.hex()}"
    else:
        raw, what = with_number(raw, leaf, new), f"{leaf.path} {now} -> {new}"
    if chance.random() < 0.3 and (inside := _opened(draft, index)) is not None:
        frames = next(leaf for leaf in leaves_of(draft, index) if leaf.path == "body.payload")
        raw = raw[: len(raw) - (len(draft.items[index].raw) - frames.offset)] + inside.content()
        raw += bytes(len(draft.items[index].raw) - frames.end)
        what += ", not compressed"
    return put(draft, index, raw, what)


def _opened(draft: Draft, index: int) -> Draft | None:
    """The events inside."""
    try:
        parsed = parse_event(draft.items[index].raw, _PAYLOAD, draft.layout_of(index))
        body = parsed.body.content
        assert isinstance(body, TransactionPayloadEvent)
        framer = Framer(open_payload(body), draft.binlog_version, max_event_size=_MOST)
        items = [Item(frame.raw, has_checksum=False, has_position=False) for frame in framer]
    except BinlogError:
        return None
    return Draft(draft.binlog_version, draft.layout.without_checksums(), items) if items else None


def _repack(chance: Random, draft: Draft, index: int, old_size: int, content: bytes) -> None:
    leaf = _leaf(leaves_of(draft, index), "body.payload")
    if leaf is None:
        return
    match chance.randrange(8):
        case 0:
            half = len(content) // 2
            packed = b"".join(zstandard.compress(part) for part in (content[:half], content[half:]))
        case 1:
            packed = zstandard.ZstdCompressor(write_content_size=False).compress(content)
        case _:
            packed = zstandard.compress(content)
    reported = {old_size: len(content), leaf.size: len(packed)} if chance.random() < 0.9 else {}
    _put_payload(draft, index, leaf, packed, reported)


def _put_payload(draft: Draft, index: int, leaf: Leaf, packed: bytes, reported: dict[int, int]) -> None:
    """Replace the frames; `reported` maps old numbers of fields to new ones."""
    item = draft.items[index]
    raw = item.raw
    for field in leaves_of(draft, index):
        now = number_of(field)
        if now in reported and field.path.startswith("body.fields") and ".number." in field.path:
            raw = with_number(raw, field, reported[now])
    draft.items[index] = item.with_raw(raw[: leaf.offset] + packed + raw[leaf.end :])


def _leaf(leaves: list[Leaf], path: str) -> Leaf | None:
    return next((leaf for leaf in leaves if leaf.path == path), None)


def deflated(chance: Random, draft: Draft) -> str | None:
    """Mutated data under MariaDB's compression, of an event or a value."""
    ending = ".deflated.data"
    indexes = [
        (index, leaf)
        for index in range(len(draft.items))
        for leaf in leaves_of(draft, index)
        if leaf.path.endswith(ending)
    ]
    if not indexes:
        return None
    index, leaf = chance.choice(indexes)
    item = draft.items[index]
    raw = item.raw
    unpacker = zlib.decompressobj()
    try:
        old = unpacker.decompress(raw[leaf.offset : leaf.end], _MOST)
    except zlib.error:
        return None
    new = values.spoiled(chance, old)
    prefix, adjusts_lengths = leaf.path.removesuffix(ending), chance.random() < 0.9
    for field in leaves_of(draft, index):
        if adjusts_lengths and field.path.startswith(prefix + ".len_") and number_of(field) == len(old):
            raw = with_number(raw, field, len(new))
    packed = zlib.compress(new)
    if chance.random() < 0.1:
        packed = values.spoiled(chance, packed)
    draft.items[index] = item.with_raw(raw[: leaf.offset] + packed + raw[leaf.end :])
    return f"{index} {type_name(item.type_code)}: {prefix}, unpacked {new[:40].hex()}"


def pieces(chance: Random, draft: Draft) -> str | None:
    """A rows event in pieces, possibly incomplete or out of order."""
    indexes = [number for number, item in enumerate(draft.items) if item.type_code in ROWS_TYPES]
    if not indexes:
        return None
    index = chance.choice(indexes)
    item = draft.items[index]
    data, count = item.raw[: item.body_end], chance.choice((1, 2, 2, 3, 5))
    step = max(-(-len(data) // count), 1)
    parts = [data[start : start + step] for start in range(0, len(data), step)]
    made = [_piece(item, number, len(parts), part, len(data)) for number, part in enumerate(parts, 1)]
    match chance.randrange(6):
        case 0:
            made.pop(chance.randrange(len(made)))
        case 1:
            chance.shuffle(made)
        case 2:
            made.insert(chance.randrange(len(made) + 1), chance.choice((made[0], item)))
    draft.items[index : index + 1] = made
    return f"{index} {type_name(item.type_code)}: in {len(parts)} pieces"


def _piece(item: Item, number: int, count: int, data: bytes, size: int) -> Item:
    """A PARTIAL_ROW_DATA_EVENT: `formats/events/partial_row_data_event.ksy` describes its fields."""
    packed = header_struct(4)
    head = read_header(item.raw, 4)._replace(type_code=int(EventType.partial_row_data_event))
    body: Any = struct.pack("<IIB", number, count, number == 1)
    body += struct.pack("<Q", size) if number == 1 else b""
    raw = packed.pack(*head) + body + data + bytes(len(item.raw) - item.body_end)
    assert len(raw) > header_length(4)
    return replace(item, raw=raw)
