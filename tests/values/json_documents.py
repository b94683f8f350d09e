"""Binary JSON documents, written from Python values."""

from __future__ import annotations

import random
import struct
from typing import Any, NamedTuple

from binlog_kaitai.core.grammar import ColumnType

LITERALS = {None: 0, True: 1, False: 2}
#: The struct of integers by their JSON type, in the order in which a type is chosen.
INTEGERS = {5: "<h", 6: "<H", 7: "<i", 8: "<I", 9: "<q", 10: "<Q"}
INLINED = (4, 5, 6)
INLINED_IF_LARGE = (*INLINED, 7, 8)


class Opaque(NamedTuple):
    """A value of a type that JSON lacks."""

    column_type: int
    data: bytes


def document(value: Any, *, is_large: bool = False) -> bytes:
    """The bytes of a document; `is_large` gives objects and arrays offsets of four bytes."""
    kind, content = _value(value, is_large=is_large)
    return bytes([kind]) + content


def _value(value: Any, *, is_large: bool) -> tuple[int, bytes]:
    match value:
        case None | True | False:
            return 4, bytes([LITERALS[value]])
        case int():
            return next((kind, data) for kind, form in INTEGERS.items() if (data := _packed(form, value)))
        case float():
            return 11, struct.pack("<d", value)
        case str():
            data = value.encode()
            return 12, length(len(data)) + data
        case Opaque(column_type, data):
            return 15, bytes([column_type]) + length(len(data)) + data
        case dict():
            items = sorted(value.items(), key=lambda item: (len(item[0].encode()), item[0].encode()))
            keys = [key.encode() for key, _ in items]
            return int(is_large), _container(keys, [one for _, one in items], is_large=is_large)
    return 2 + is_large, _container(None, value, is_large=is_large)


def _packed(form: str, number: int) -> bytes:
    try:
        return struct.pack(form, number)
    except struct.error:
        return b""


def _container(keys: list[bytes] | None, values: list[Any], *, is_large: bool) -> bytes:
    size = 4 if is_large else 2
    table = 2 * size + len(values) * ((size + 2) * (keys is not None) + 1 + size)
    entries, contents = b"", b""
    for key in keys or []:
        entries += (table + len(contents)).to_bytes(size, "little") + len(key).to_bytes(2, "little")
        contents += key
    for value in values:
        kind, content = _value(value, is_large=is_large)
        if kind in (INLINED_IF_LARGE if is_large else INLINED):
            entries += bytes([kind]) + content.ljust(size, b"\0")
        else:
            entries += bytes([kind]) + (table + len(contents)).to_bytes(size, "little")
            contents += content
    numbers = (len(values), table + len(contents))
    return b"".join(number.to_bytes(size, "little") for number in numbers) + entries + contents


def length(size: int) -> bytes:
    """The length before a string or an opaque value: groups of seven bits."""
    groups = [size & 0x7F]
    while size := size >> 7:
        groups[-1] |= 0x80
        groups.append(size & 0x7F)
    return bytes(groups)


def decimal(precision: int, scale: int, number: bytes) -> Opaque:
    """A DECIMAL; `number` as in a column of that precision and scale."""
    return Opaque(ColumnType.newdecimal, bytes([precision, scale]) + number)


def moment(
    column_type: int, day: tuple[int, int, int], clock: tuple[int, int, int] = (0, 0, 0), micros: int = 0
) -> Opaque:
    """A date or a date with time."""
    months = day[0] * 13 + day[1]
    seconds = (months << 5 | day[2]) << 17 | clock[0] << 12 | clock[1] << 6 | clock[2]
    return Opaque(column_type, (seconds << 24 | micros).to_bytes(8, "little"))


def time(
    hour: int, minute: int = 0, second: int = 0, micros: int = 0, *, is_negative: bool = False
) -> Opaque:
    """A TIME."""
    packed = (hour << 12 | minute << 6 | second) << 24 | micros
    return Opaque(ColumnType.time, (-packed if is_negative else packed).to_bytes(8, "little", signed=True))


def random_value(rng: random.Random, depth: int = 0) -> Any:
    """A value of any type that a server writes into documents."""
    kind = rng.randrange(12 if depth < 4 else 9)
    if kind == 0:
        return rng.choice([None, True, False])
    if kind == 1:
        return rng.randrange(-(1 << 63), 1 << 64) >> rng.randrange(64)
    if kind == 2:
        return rng.choice([rng.uniform(-1e6, 1e6), rng.choice([-1, 1]) * 10.0 ** rng.uniform(-320, 308)])
    if kind == 3:
        return "".join(rng.choices("ab'\"\\\n\x01é😀", k=rng.choice([0, 1, 8, 200])))
    if kind < 6:
        return random_decimal(rng)
    if kind == 6:
        clock = rng.randrange(24), rng.randrange(60), rng.randrange(60)
        day = rng.randrange(10000), rng.randrange(13), rng.randrange(32)
        types = [ColumnType.date, ColumnType.datetime, ColumnType.timestamp]
        return moment(rng.choice(types), day, clock, rng.choice([0, 1, 999999]))
    if kind == 7:
        clock = rng.choice([rng.randrange(100), rng.randrange(839)]), rng.randrange(60), rng.randrange(60)
        return time(*clock, rng.choice([0, 1, 999999]), is_negative=rng.random() < 0.5)
    if kind == 8:
        if rng.random() < 0.3:
            return Opaque(ColumnType.var_string, "ab\"\\\n'é".encode())
        types = [ColumnType.bit, ColumnType.blob, ColumnType.geometry, ColumnType.varchar]
        return Opaque(
            rng.choice([*map(int, types), 200]), rng.randbytes(rng.choice([0, 1, 2, 57, 58, 114, 300]))
        )
    members = [random_value(rng, depth + 1) for _ in range(rng.randrange(5))]
    if kind == 9:
        return members
    return {"".join(rng.choices("ab'\"\\é ", k=number)): one for number, one in enumerate(members)}


def random_decimal(rng: random.Random) -> Opaque:
    """A DECIMAL of any size, in which each group of digits may be zero."""
    precision = rng.choice([1, 2, 9, 10, 18, 19, 65, 72])
    scale = rng.randrange(min(precision, 30) + 1)
    digits = [*_group_sizes(precision - scale, is_first=True), *_group_sizes(scale, is_first=False)]
    groups = (rng.choice([0, 1, rng.randrange(10**count), 10**count - 1]) for count in digits)
    data = bytearray(
        b"".join(
            group.to_bytes((0, 1, 1, 2, 2, 3, 3, 4, 4, 4)[count], "big")
            for group, count in zip(groups, digits, strict=True)
        )
    )
    if rng.random() < 0.5:
        data = bytearray(byte ^ 0xFF for byte in data)
    data[0] ^= 0x80
    return decimal(precision, scale, bytes(data))


def _group_sizes(digits: int, *, is_first: bool) -> list[int]:
    whole, rest = divmod(digits, 9)
    groups = [9] * whole
    return ([rest] if rest and is_first else []) + groups + ([rest] if rest and not is_first else [])
