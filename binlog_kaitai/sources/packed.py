"""Decompresses logs while they are read: gzip, zstd, xz, lzma, bzip2 and lz4.

Memory is bounded by the formats' window sizes, which are limited here. Seeking backward by more than some
megabytes restarts decompression at the start of the file or, in a zstd file with a seek table, of a frame.
"""

from __future__ import annotations

import io
import os
import zlib
from bisect import bisect_right
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from itertools import accumulate
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, Protocol, cast

from binlog_kaitai.arrow import pa
from binlog_kaitai.core.framing import read_up_to
from binlog_kaitai.core.grammar import ZstdSeekTable, parse_structure, sizes
from binlog_kaitai.core.payload import ZstdFrames
from binlog_kaitai.errors import (
    DamagedError,
    FramingError,
    GrammarError,
    SourceError,
    TruncatedError,
    UsageError,
)
from binlog_kaitai.sources.layer import LEAST_CHUNK, Borrowed, Layer

if TYPE_CHECKING:
    from lzma import LZMADecompressor

#: Extensions of compressed logs.
SUFFIXES = (".gz", ".zst", ".xz", ".lzma", ".bz2", ".lz4")

#: Maximum memory that a file may require, in bytes; `zstd --long=27` and `xz -9` require less.
_MOST_MEMORY = 1 << 27

#: A file may decompress to this many bytes, or to this multiple of its size unless the variable says another.
#: Logs reach 5 to 30; zstd, xz and bzip2 can exceed 10,000.
_UNSUSPICIOUS, _MOST_EXPANSION, _VARIABLE = 1 << 28, 100, "BINLOG_KAITAI_MAX_EXPANSION"

#: Output bytes per step; constant, so that damage is always found at the same offset.
_CHUNK = 1 << 17

#: Decompressed bytes that are kept: after damage, a log is read again from some megabytes before.
_RECENT = 8 << 20

#: Maximum number of frames in a seek table.
_MOST_FRAMES = 1 << 20


class Unpacker(Protocol):
    """What decompresses: `read` returns the requested number of bytes, or fewer at the end."""

    def read(self, size: int, /) -> bytes: ...


def _gzip(raw: BinaryIO) -> Unpacker:
    import gzip

    return gzip.GzipFile(fileobj=raw, mode="rb")


def _bzip2(raw: BinaryIO) -> Unpacker:
    import bz2

    return bz2.BZ2File(raw)


def _lz4(raw: BinaryIO) -> Unpacker:
    reader: Unpacker = pa.CompressedInputStream(pa.PythonFile(Borrowed(raw), mode="r"), "lz4")
    return reader


class _Xz:
    """The streams of an xz or lzma file, with a memory limit, which `lzma.LZMAFile` does not support."""

    def __init__(self, raw: BinaryIO) -> None:
        self._raw = raw
        self._unpacker = self._new()
        self._pending = b""

    @staticmethod
    def _new() -> LZMADecompressor:
        import lzma

        return lzma.LZMADecompressor(lzma.FORMAT_AUTO, memlimit=_MOST_MEMORY)

    def read(self, size: int) -> bytes:
        while True:
            if self._unpacker.eof:
                # Streams may be separated by zero padding.
                self._pending = (self._unpacker.unused_data or self._pending).lstrip(b"\0")
                self._pending = self._pending or read_up_to(self._raw, LEAST_CHUNK).lstrip(b"\0")
                if not self._pending:
                    return b""
                self._unpacker = self._new()
            if self._unpacker.needs_input and not self._pending:
                self._pending = self._raw.read(LEAST_CHUNK)
                if not self._pending:
                    raise EOFError
            data = self._unpacker.decompress(self._pending, size)
            self._pending = b""
            if data:
                return data


class Packing(NamedTuple):
    """A compression format."""

    name: str
    open: Callable[[BinaryIO], Unpacker]


_ZSTD = Packing("zstd", ZstdFrames)
_FORMATS = {
    b"\x1f\x8b": Packing("gzip", _gzip),
    b"\x28\xb5\x2f\xfd": _ZSTD,
    b"\xfd7zX": Packing("xz", _Xz),
    # Lzma has no magic: the usual parameters, and the low bytes of a dictionary size from 64 KiB.
    b"\x5d\0\0": Packing("lzma", _Xz),
    b"BZh": Packing("bzip2", _bzip2),
    b"\x04\x22\x4d\x18": Packing("lz4", _lz4),
}

_MAGIC_SIZE = 4


def _errors() -> tuple[type[Exception], ...]:
    """What these raise where the data are not what they should be."""
    from lzma import LZMAError

    from zstandard import ZstdError

    return OSError, zlib.error, LZMAError, ZstdError, ValueError


def format_of(start: bytes) -> Packing | None:
    """The compression format of a file that begins with these four bytes; None if it is not compressed."""
    # A zstd file may begin with a frame to skip, of which there are sixteen kinds.
    skipped = sizes.ZstdSeekTable.MAGIC
    if start[1:] == skipped[1:] and start[0] in range(0x50, 0x60):
        return _ZSTD
    return next((packing for magic, packing in _FORMATS.items() if start.startswith(magic)), None)


def open_file(path: str) -> BinaryIO:
    """Open a file, decompressed if it is compressed; raises ``OSError``."""
    return unpacked(open(path, "rb"))


def unpacked(raw: BinaryIO) -> BinaryIO:
    """A file at its first byte: decompressed if it is compressed, else as it is."""
    packing = format_of(read_up_to(raw, _MAGIC_SIZE))
    raw.seek(0)
    return raw if packing is None else cast(BinaryIO, PackedStream(raw, packing))


def _most_expansion() -> int:
    multiple = os.environ.get(_VARIABLE, "").strip() or str(_MOST_EXPANSION)
    if not multiple.isdecimal():
        raise UsageError(f"{_VARIABLE} is not a whole number: {multiple!r}")
    return int(multiple)


class _SeekPoint(NamedTuple):
    """A position at which decompression can start: offsets in the output, and in the file."""

    plain: int
    packed: int


class PackedStream(Layer):
    """The decompressed bytes of a file.

    `raw`: the file, at its first byte.
    """

    def __init__(self, raw: BinaryIO, packing: Packing) -> None:
        super().__init__(raw)
        self._packing = packing
        self._frames, self._size = [_SeekPoint(0, 0)], cast("int | None", None)
        if packing is _ZSTD and raw.seekable():
            if (table := seek_table(raw)) is not None:
                self._frames, self._size = table
            raw.seek(0)
        self._reader = packing.open(raw)
        self._next = 0
        self._most_expansion = _most_expansion()
        self._recent: deque[tuple[int, bytes]] = deque()
        self._damage: DamagedError | None = None  # at the offset where decompression ends

    @property
    def has_frames(self) -> bool:
        """Whether it can be read from the middle."""
        return len(self._frames) > 1

    def _load(self, position: int) -> tuple[int, memoryview]:
        if self._damage is not None and position >= (self._damage.position or 0):
            raise self._damage
        if position < self._next:
            for start, data in self._recent:
                if start <= position < start + len(data):
                    return start, memoryview(data)
        frame = self._frames[bisect_right(self._frames, position, key=lambda frame: frame.plain) - 1]
        if position < self._next or self._next < frame.plain:
            self._raw.seek(frame.packed)
            self._reader = self._packing.open(self._raw)
            self._next = frame.plain
            self._recent.clear()
        while True:
            start, data = self._next, self._unpack()
            self._next += len(data)
            self._recent.append((start, data))
            while len(self._recent) > 1 and self._next - self._recent[0][0] > _RECENT:
                self._recent.popleft()
            if not data or position < self._next:
                return start, memoryview(data)

    def _unpack(self) -> bytes:
        name, position = self._packing.name, self._next
        if position > max(_UNSUSPICIOUS, self._most_expansion * self._raw.tell()):
            reason = f"the {name} file decompresses to more than {self._most_expansion} times its size"
            advice = f"if you trust it, decompress it first, or set {_VARIABLE} to a larger multiple"
            raise SourceError(f"{reason}; {advice}")
        try:
            return self._reader.read(_CHUNK)
        except EOFError:
            reason = f"the {name} file is truncated: its decompressed content ends here"
            self._damage = TruncatedError(reason, position=position)
            raise self._damage from None
        except _errors() as error:
            reason = f"the {name} file cannot be decompressed further: {error}"
            self._damage = FramingError(reason, position=position)
            raise self._damage from error

    def _find_size(self) -> int:
        """The size of the decompressed bytes."""
        if self._size is None:
            size = self._next
            with suppress(DamagedError):
                while True:
                    start, data = self._load(size)
                    if not len(data):
                        break
                    size = start + len(data)
            self._size = size
        return self._size


def seek_table(raw: BinaryIO) -> tuple[list[_SeekPoint], int] | None:
    """The frames of a zstd file with a seek table, and the size of their content; None for other files."""
    with suppress(GrammarError, OSError):
        end = raw.seek(0, io.SEEK_END)
        raw.seek(max(end - sizes.ZstdSeekTable.Footer.SIZE, 0))
        footer = parse_structure(ZstdSeekTable.Footer, read_up_to(raw, sizes.ZstdSeekTable.Footer.SIZE))
        if footer.num_frames > _MOST_FRAMES or footer.len_table > end:
            return None
        raw.seek(end - footer.len_table)
        table = parse_structure(ZstdSeekTable, read_up_to(raw, footer.len_table))
        entries = table.entries or []
        plain = [0, *accumulate(entry.len_plain for entry in entries)]
        packed = [0, *accumulate(entry.len_packed for entry in entries)]
        if packed[-1] == end - footer.len_table:
            return list(map(_SeekPoint, plain[:-1], packed[:-1])) or [_SeekPoint(0, 0)], plain[-1]
    return None
