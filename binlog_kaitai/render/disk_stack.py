"""Compressed chunks on disk, written forward and read backward, for scripts of any size."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator

import zstandard

#: Fast, and sufficient for text.
_LEVEL = 1

#: Chunks are divided so that reading back takes little memory.
_LARGEST_CHUNK = 8 << 20


class Stack:
    """A stack of chunks in a temporary file, which is deleted when it is closed."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(prefix="binlog-kaitai-")  # noqa: SIM115 - closed by close()
        self._ends = [0]
        self._pack = zstandard.ZstdCompressor(level=_LEVEL).compress

    def __len__(self) -> int:
        return len(self._ends) - 1

    def append(self, chunk: memoryview | bytes) -> None:
        """Push a chunk; its content keeps its order."""
        view = memoryview(chunk)
        # The last part is written first, because chunks are read backward.
        for start in reversed(range(0, len(view), _LARGEST_CHUNK)):
            self._file.write(self._pack(view[start : start + _LARGEST_CHUNK]))
            self._ends.append(self._file.tell())

    def cut(self, count: int) -> None:
        """Drop all chunks above the first `count`."""
        del self._ends[count + 1 :]
        self._file.seek(self._ends[-1])
        self._file.truncate()

    def take(self, other: Stack) -> None:
        """Push all chunks of another stack, which is empty afterwards."""
        base = self._ends[-1]
        other._file.seek(0)
        while piece := other._file.read(_LARGEST_CHUNK):
            self._file.write(piece)
        self._ends.extend(base + end for end in other._ends[1:])
        other.cut(0)

    def backwards(self) -> Iterator[bytes]:
        """The chunks, last one first."""
        unpack = zstandard.ZstdDecompressor().decompress
        for start, end in zip(reversed(self._ends[:-1]), reversed(self._ends[1:]), strict=True):
            self._file.seek(start)
            yield unpack(self._file.read(end - start))

    def close(self) -> None:
        """Remove the file."""
        self._file.close()
