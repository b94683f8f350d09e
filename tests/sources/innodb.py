"""Writes logs in MariaDB 12.3's InnoDB format, following the specification (Docs/replication/binlog.md).

No such server could be had; these files are made by hand.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from pathlib import Path

import binlog_kaitai as bk

COMMIT, GTID_STATE, OOB, DUMMY, XA_PREPARE, XA_COMPLETE = range(1, 7)
CONTINUES, LAST = 0x80, 0x40


def crc32c(data: bytes | bytearray) -> int:
    """The checksum, a byte at a time."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ _TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def _entry(value: int) -> int:
    for _ in range(8):
        value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
    return value


_TABLE = [_entry(value) for value in range(256)]


def integer(value: int) -> bytes:
    """A compressed integer."""
    size = next((size for size in range(1, 8) if value < 1 << 8 * size - 3), 9)
    return (value << 3 | min(size - 1, 7)).to_bytes(9, "little")[:size] if size < 9 else _widest(value)


def _widest(value: int) -> bytes:
    return ((value << 3 | 7) & (1 << 72) - 1).to_bytes(9, "little")


def integers(*values: int) -> bytes:
    return b"".join(map(integer, values))


def sealed(page: bytes | bytearray) -> bytes:
    """A page with its checksum."""
    return bytes(page[:-4]) + struct.pack("<I", crc32c(page[:-4]))


def header(number: int, pages: int, bits: int = 14, earliest: int = 0) -> bytes:
    """The first page."""
    data = struct.pack(
        "<4sIIIQQQQQQ", b"\xfe\xfe\r\x01", bits, 1, 0, number, pages, 1 << 20, 1 << 21, earliest, 0
    )
    data = data.ljust(508, b"\0")
    data += struct.pack("<I", crc32c(data))
    return sealed(data.ljust(1 << bits, b"\0"))


class Writer:
    """Writes records into files of some pages.

    Parameters
    ----------
    pages
        Size of a file in pages.
    state_every
        Number of pages between GTID state records.
    """

    def __init__(self, pages: int = 64, bits: int = 14, first: int = 0, state_every: int = 1 << 30) -> None:
        self.bits, self.size, self.pages, self.first = bits, 1 << bits, pages, first
        self.state_every = state_every
        self.files: list[list[bytearray]] = []
        self._new_file()

    @property
    def place(self) -> tuple[int, int]:
        return self.first + len(self.files) - 1, (len(self.files[-1])) * self.size + len(self.page)

    @property
    def page(self) -> bytearray:
        return self.files[-1][-1]

    def _new_file(self) -> None:
        self.files.append([bytearray()])
        self._put(GTID_STATE | LAST, integers(2, 0, 0, 1, 5, 7, 1, 1 << 40))

    def _room(self) -> int:
        """Bytes of data that a chunk may have here."""
        if self.size - 4 - len(self.page) < 4:
            self.page.extend(b"\xff" * (self.size - 4 - len(self.page)))
            self._new_page()
        return self.size - 4 - len(self.page) - 3

    def _new_page(self) -> None:
        if len(self.files[-1]) == self.pages - 1:
            self._new_file()
            return
        self.files[-1].append(bytearray())
        if len(self.files[-1]) % self.state_every == 0:
            self._put(GTID_STATE | LAST, integers(0, 0))

    def _put(self, code: int, data: bytes) -> None:
        self.page.extend(struct.pack("<BH", code, len(data)) + data)

    def record(self, kind: int, data: bytes, most: int = 1 << 20) -> tuple[int, int]:
        """Write a record in chunks of some bytes at most; where it is."""
        place, flag = None, 0
        while True:
            room = min(self._room(), most)
            place = place or self.place
            part, data = data[:room], data[room:]
            self._put(kind | flag | (0 if data else LAST), part)
            flag = CONTINUES
            if not data:
                return place

    def dummy(self) -> None:
        """A meaningless chunk, which may occur inside a record."""
        self._put(DUMMY | LAST, b"any")

    def tree(self, pieces: Iterable[bytes], between: Iterable[bytes] = ()) -> list[int]:
        """Write out-of-band records; what a commit record says of them."""
        trees: list[tuple[int, tuple[int, int]]] = []  # height and root
        first, count, other = None, 0, iter(between)
        for piece in pieces:
            if len(trees) > 1 and trees[-1][0] == trees[-2][0]:
                (height, right), (_, left) = trees.pop(), trees.pop()
                place = self.record(OOB, integers(count, *left, *right) + piece)
                trees.append((height + 1, place))
            else:
                before = trees[-1][1] if trees else (0, 0)
                place = self.record(OOB, integers(count, 0, 0, *before) + piece)
                trees.append((0, place))
            first, count = first or place, count + 1
            # Another session's records.
            for one in other:
                self.record(OOB, integers(0, 0, 0, 0, 0) + one)
                break
        return [count, *(first or ()), *(trees[-1][1] if trees else ())]

    def group(self, events: list[bytes], piece: int = 0, second: int = 0) -> None:
        """Write a group, its later events in out-of-band records of some bytes, the last `second` apart."""
        if not piece:
            self.record(COMMIT, integer(0) + b"".join(events))
            return
        main = events[1 : len(events) - second]
        said = self.tree(_cut(b"".join(main), piece), [b"of others"] * 5)
        others = self.tree(_cut(b"".join(events[len(events) - second :]), piece)) if second else [0]
        self.record(COMMIT, integers(*said, *others) + events[0])

    def data(self, tail: int = 3) -> list[bytes]:
        """The files; the last one ends with some empty pages."""
        found = []
        for at, pages in enumerate(self.files):
            is_last = at == len(self.files) - 1
            body = [sealed(page.ljust(self.size, b"\0")) for page in pages]
            count = len(body) + 1 + (tail if is_last else 0)
            head = header(self.first + at, count, self.bits)
            found.append(b"".join((head, *body, bytes(tail * self.size if is_last else 0))))
        return found

    def write(self, folder: Path, tail: int = 3) -> list[Path]:
        paths = [folder / f"binlog-{self.first + index:06}.ibb" for index in range(len(self.files))]
        for path, data in zip(paths, self.data(tail), strict=True):
            path.write_bytes(data)
        return paths


def _cut(data: bytes, size: int) -> list[bytes]:
    return [data[index : index + size] for index in range(0, len(data), size)]


def groups_of(log: Path) -> list[list[bytes]]:
    """The groups of a plain log of MariaDB, as such a server writes them: no checksums, and no positions."""
    found: list[list[bytes]] = []
    with bk.open(log) as events:
        for event in events:
            raw = event.raw[:-4] if event.layout.is_checksummed else event.raw
            raw = raw[:9] + struct.pack("<II", len(raw), 0) + raw[17:]
            if event.type_code == 162:
                found.append([])
            if event.type_code not in (3, 4, 15, 161, 163):
                found[-1].append(raw)
    return found
