"""Decompresses zstd frames, one after another; unlike zstandard's reader, it detects a truncated one."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from zstandard import ZstdDecompressionObj

#: Maximum window of a frame, in bytes: that of zstd's level 22, the highest, and of `zstd --long=27`.
MAX_WINDOW = 1 << 27

#: Compressed bytes read, and decompressed, at a time. A step yields at most 8 MiB.
_INPUT, _STEP = 1 << 16, 1 << 8


class ZstdFrames:
    """The content of the frames in a stream.

    `raw`: a binary stream at the start of a frame.
    """

    def __init__(self, raw: BinaryIO) -> None:
        self._raw = raw
        self._unpacker: ZstdDecompressionObj | None = None
        self._pending = memoryview(b"")

    def read(self, size: int) -> bytes:
        """At least `size` decompressed bytes, fewer before the end, none at the end.

        How the compressed bytes are divided does not depend on `size`.

        Raises `EOFError`: the last frame is truncated.
        Raises `zstandard.ZstdError`: a frame is damaged, or its window is too large.
        """
        import zstandard

        parts = bytearray()
        while len(parts) < size:
            if not self._pending:
                self._pending = memoryview(self._raw.read(_INPUT) or b"")
                if not self._pending:
                    if self._unpacker is not None and not parts:
                        raise EOFError
                    break
            if self._unpacker is None:
                self._unpacker = zstandard.ZstdDecompressor(max_window_size=MAX_WINDOW).decompressobj()
            # Smaller inputs limit the size of the output.
            step, self._pending = self._pending[:_STEP], self._pending[_STEP:]
            parts += self._unpacker.decompress(step)
            if self._unpacker.eof:
                self._pending = memoryview(self._unpacker.unused_data + bytes(self._pending))
                self._unpacker = None
        return bytes(parts)
