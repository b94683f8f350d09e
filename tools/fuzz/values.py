"""Mutated numbers, text and bytes."""

from __future__ import annotations

import struct
from random import Random

_TEXTS = (
    b"", b"\0", b"'", b"\"", b"`", b"\\", b"\n", b"\r\n", b"\x1a", b"\x1b[31m", b"%s", b"*/", b"/*!", b"-- ",
    b";", b"..", b"/etc/x", b"=cmd", b"\xff\xfe", b"\xc3", b"\xe2\x82", b"\xed\xa0\x80", b"\xf0\x9f\x98\x80",
    b"\x95\\", b"\x83\\", b"a" * 64, b"a" * 65, b"a" * 255, b"\xc3\xa9" * 40, b"c1", b"t", b"NULL", b"9" * 70,
)  # fmt: skip


def text(chance: Random) -> bytes:
    """Up to 24 bytes: text in UTF-8, an odd text, or random bytes, perhaps without the last one."""
    letters = "".join(chance.choices("aé߄中😀", k=chance.randrange(1, 5))).encode()
    data = chance.choice(
        (letters, letters, chance.choice(_TEXTS)[:24], chance.randbytes(chance.randrange(9)))
    )
    return data[:-1] if chance.random() < 0.3 else data


def number(chance: Random, now: int, size: int, others: list[int]) -> int:
    """A number for a field of `size` bytes: a boundary, close to its value, from another field, or random."""
    bits = 8 * size
    most, half = (1 << bits) - 1, 1 << (bits - 1)
    match chance.randrange(6):
        case 0:
            return chance.choice((0, 1, 2, most, most - 1, half, half - 1))
        case 1:
            return now + chance.choice((-2, -1, 1, 2, 8, -8))
        case 2:
            return now ^ 1 << chance.randrange(bits)
        case 3 if others:
            return chance.choice(others) + chance.choice((0, 0, 1, -1))
        case 4:
            return chance.choice((0x7F, 0x80, 0xFA, 0xFB, 0xFC, 0xFD, 0xFE, 0xFF, 0x100, 0xFFFF, 0x10000))
        case _:
            return chance.getrandbits(bits)


def double(chance: Random, size: int) -> bytes:
    """The bytes of a float that is hard to print."""
    least = 5e-324 if size == 8 else 1e-45
    value = chance.choice((float("nan"), float("inf"), -float("inf"), -0.0, 1e38, least, 1e22))
    return struct.pack("<d" if size == 8 else "<f", value)


def flipped(chance: Random, data: bytes) -> bytes:
    """Bytes with a few changes."""
    result = bytearray(data)
    for _ in range(chance.choice((1, 1, 1, 2, 4)) if data else 0):
        place = chance.randrange(len(result))
        others = (0, 1, 0x7F, 0x80, 0xFB, 0xFC, 0xFD, 0xFE, 0xFF, chance.randrange(256))
        result[place] = chance.choice((*others, result[place] ^ 1 << chance.randrange(8)))
    return bytes(result)


def grown(chance: Random, data: bytes) -> bytes:
    """Bytes of another length: some inserted, removed or replaced, or none."""
    place = chance.randrange(len(data) + 1)
    match chance.randrange(6):
        case 0:
            return data[:place]
        case 1:
            return data[:place] + chance.randbytes(chance.choice((1, 1, 2, 3, 8, 40))) + data[place:]
        case 2:
            return data[:place] + data[place + chance.choice((1, 1, 2, 4)) :]
        case 3:
            return data[:place] + chance.choice(_TEXTS) + data[place:]
        case 4:
            return chance.choice(_TEXTS)
        case _:
            return data + data[: chance.choice((1, 4, 64, 300))]


def spoiled(chance: Random, data: bytes) -> bytes:
    """Bytes changed in any of these ways."""
    return flipped(chance, data) if chance.random() < 0.6 else grown(chance, data)
