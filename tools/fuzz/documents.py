"""Mutated JSON documents: values of other types and lengths than their documents declare."""

from __future__ import annotations

import struct
from random import Random

from binlog_kaitai.core.grammar import ROWS_TYPES
from tools.fuzz import values
from tools.fuzz.draft import Draft
from tools.fuzz.fields import leaves_of, number_of, with_number
from tools.fuzz.mutations import put

#: Types of binary JSON, and the column types of opaque values (`formats/values/json_binary.ksy`).
_OBJECT, _ARRAY, _OPAQUE = 0, 2, 0x0F
_COLUMN_TYPES = (0, 1, 3, 5, 7, 10, 11, 12, 13, 15, 16, 17, 18, 19, 245, 246, 247, 248, 252, 253, 254, 255)

#: Data of opaque values: times, decimals with their precision and scale, text.
_DATA = (
    b"", b"\0", bytes(7), bytes(8), b"\xff" * 8, b"\0\0\0\0\0\x42\x96\x19", b"\0\0\0\0\0\0\0\x80", bytes(9),
    b"\x05\x02\x80\x01\x05", b"\x05\x02\x80", b"\x41\x1e" + bytes(30), b"\xff\xff" + bytes(60), b"\x02\x05\0",
    b"\0\0", b"\x01\0\x80", b"text", b"\xff\xfe", b"\xf0\x9f\x98\x80", b"a" * 200,
)  # fmt: skip


def opaque(chance: Random, draft: Draft) -> str | None:
    """A JSON document replaced by an opaque value, alone or inside an array or an object."""
    lengths = [
        (index, leaf)
        for index, item in enumerate(draft.items)
        if draft.layout.effective_type(item.type_code) in ROWS_TYPES
        for leaf in leaves_of(draft, index)
        if ".len_document." in leaf.path
    ]
    if not lengths:
        return None
    index, length = chance.choice(lengths)
    document = _document(chance)
    if chance.random() < 0.2:
        document = values.spoiled(chance, document)
    raw, size = draft.items[index].raw, number_of(length) or 0
    if chance.random() < 0.9:
        raw = with_number(raw, length, len(document))
    raw = raw[: length.end] + document + raw[length.end + size :]
    return put(draft, index, raw, f"{length.path}: {document.hex()}")


def _document(chance: Random) -> bytes:
    value = _opaque(chance)
    count = chance.choice((1, 1, 1, 2))
    match chance.randrange(3):
        case 0:
            return bytes([_OPAQUE]) + value
        case 1:
            start = 4 + 3 * count
            entries = struct.pack("<BH", _OPAQUE, start) * count
            return struct.pack("<BHH", _ARRAY, count, start + len(value)) + entries + value
        case _:
            start = 4 + 7 * count
            keys = b"".join(struct.pack("<HH", start + index, 1) for index in range(count))
            names = b"ab"[:count]
            entries = struct.pack("<BH", _OPAQUE, start + count) * count
            size = start + count + len(value)
            return struct.pack("<BHH", _OBJECT, count, size) + keys + entries + names + value


def _opaque(chance: Random) -> bytes:
    data = chance.choice(_DATA)
    size = max(len(data) + chance.choice((0, 0, 0, 0, -1, 1, 1 << 14)), 0)
    length = bytearray()
    while size > 0x7F:
        length.append(size & 0x7F | 0x80)
        size >>= 7
    return bytes([chance.choice(_COLUMN_TYPES), *length, size]) + data
