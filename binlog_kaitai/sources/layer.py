"""Streams computed from other streams, by decryption or decompression."""

from __future__ import annotations

import io
import os
import stat
import sys
from typing import TYPE_CHECKING, BinaryIO

from binlog_kaitai.errors import BinlogError, DamagedError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

#: Chunks of sequentially read streams grow, in bytes, so that reading a log's header costs little.
LEAST_CHUNK, MOST_CHUNK = 64 << 10, 1 << 20


class Layer(io.RawIOBase):
    """A stream above another, `raw`, which is closed with this one.

    Subclasses produce chunks and know the size.

    `file_header`: what the file has before the log: the header of MySQL's encrypted logs.
    """

    file_header = b""

    def __init__(self, raw: BinaryIO) -> None:
        self._raw = raw
        self._position = 0
        self._start = 0
        self._chunk = memoryview(b"")
        self._wanted = 0  # bytes that the caller still asks for

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._raw.seekable()

    def close(self) -> None:
        if not self.closed:
            self._raw.close()
        super().close()

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        if not self.seekable():
            raise io.UnsupportedOperation("the stream cannot seek")
        base = self._position if whence == io.SEEK_CUR else self._find_size() if whence == io.SEEK_END else 0
        self._position = max(base + offset, 0)
        return self._position

    def readinto(self, room: WriteableBuffer) -> int:
        """Fill the buffer from the current chunk."""
        view = memoryview(room).cast("B")
        self._wanted = len(view)
        if not len(view) or not self._has_next():
            return 0
        begin = self._position - self._start
        part = self._chunk[begin : begin + len(view)]
        view[: len(part)] = part
        self._position += len(part)
        return len(part)

    def read(self, size: int | None = -1) -> bytes:
        """As many bytes as asked for, unless the stream ends before.

        Where damage follows some of them, only these are given, and the next read raises the error. Asked for
        all bytes, it raises at once.
        """
        parts = bytearray()
        most = sys.maxsize if size is None or size < 0 else size
        while len(parts) < most:
            self._wanted = most - len(parts)
            try:
                if not self._has_next():
                    break
            except DamagedError:
                if most == sys.maxsize or not parts:
                    raise
                break
            begin = self._position - self._start
            part = self._chunk[begin : begin + self._wanted]
            parts += part
            self._position += len(part)
        return bytes(parts)

    def after_damage(self, position: int) -> int | None:
        """Where the log continues after damage that an error reported at this position; None if unknown."""
        return None

    def _has_next(self) -> bool:
        """Load the chunk with the byte at the current position; False at the end."""
        if not self._start <= self._position < self._start + len(self._chunk):
            self._start, self._chunk = self._load(self._position)
        return self._start <= self._position < self._start + len(self._chunk)

    def _load(self, position: int) -> tuple[int, memoryview]:
        """A chunk with the byte at a position, and its start; empty at the end."""
        raise NotImplementedError

    def _find_size(self) -> int:
        raise NotImplementedError


class Borrowed(io.RawIOBase):
    """A stream that belongs to the caller and stays open when this one is closed."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def read(self, size: int | None = -1) -> bytes:
        return self._stream.read(-1 if size is None else size)

    def seekable(self) -> bool:
        seekable = getattr(self._stream, "seekable", None)
        return bool(seekable and seekable())

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._stream.seek(offset, whence)

    def tell(self) -> int:
        return self._stream.tell()


class Refused(Layer):
    """A stream whose reads raise an error."""

    def __init__(self, raw: BinaryIO, error: BinlogError, file_header: bytes = b"") -> None:
        super().__init__(raw)
        self._error, self.file_header = error, file_header

    def _load(self, position: int) -> tuple[int, memoryview]:
        raise self._error

    def _find_size(self) -> int:
        raise self._error


class Preceded(Layer):
    """A stream part of which has been read, perhaps with other bytes before it.

    `raw`: the stream, after `data`.
    `data`: the bytes already read from it.
    `begin`: offset of `data` in it, if it is seekable.
    `added`: bytes before `data` that are not in it.
    """

    def __init__(self, raw: BinaryIO, data: bytes, begin: int = 0, added: bytes = b"") -> None:
        super().__init__(raw)
        self._added = added
        self._distance = len(added) - begin  # between offsets in this stream and in `raw`
        self._chunk = memoryview(added + data)
        self._next = len(self._chunk)

    def _load(self, position: int) -> tuple[int, memoryview]:
        if position < len(self._added):
            return 0, memoryview(self._added)
        if position != self._next:
            self._raw.seek(position - self._distance)
            self._next = position
        # What is not seekable, such as a pipe, may have no more for a while.
        size = MOST_CHUNK if self.seekable() else min(self._wanted, MOST_CHUNK)
        start, data = self._next, self._raw.read(size) or b""
        self._next += len(data)
        return start, memoryview(data)

    def _find_size(self) -> int:
        size = self._raw.seek(0, io.SEEK_END) + self._distance
        self._raw.seek(self._next - self._distance)
        return size


def after_damage(stream: object, position: int) -> int | None:
    """Where a log continues after damage at a position, if its stream knows; else events must be searched."""
    return stream.after_damage(position) if isinstance(stream, Layer) else None


def header_before(stream: object) -> bytes:
    """What the file of a log has before it; nothing for most."""
    return stream.file_header if isinstance(stream, Layer) else b""


def is_regular_file(stream: BinaryIO) -> bool:
    """Whether a stream reads a regular file, directly or through layers: it never waits for a writer."""
    while isinstance(stream, Layer):
        stream = stream._raw
    try:
        return stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
    except (AttributeError, OSError, ValueError):
        return False
