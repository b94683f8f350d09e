"""The events inside a TRANSACTION_PAYLOAD_EVENT, decompressed as a stream.

Rules
-----
1. Memory is bounded by the largest event inside, never by the declared uncompressed size; that event is
   bounded by the size of the payload (`largest_event`).
2. The payload must yield exactly as many bytes as it declares, and end with an event; no more is unpacked.
3. It is part of a transaction: it contains no event after which a log is read differently.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import TYPE_CHECKING, BinaryIO, cast

from binlog_kaitai.core.context import FORMAT_TYPES
from binlog_kaitai.core.event_types import type_name
from binlog_kaitai.core.framing import Frame, Framer, TailKind
from binlog_kaitai.core.grammar import Format, TransactionPayloadEvent
from binlog_kaitai.errors import FramingError, GrammarError

if TYPE_CHECKING:
    from zstandard import ZstdDecompressionObj

Compression = TransactionPayloadEvent.CompressionAlgorithm

#: The maximum size of a replication packet, and so of an event, is 1 GiB (`max_log_event_size`,
#: binlog_event.h).
MAX_EVENT_SIZE = 1 << 30

#: Events up to this size, in bytes, are decompressed however small their payload is; larger ones only up to
#: this multiple of the compressed size. Deflate cannot exceed it; zstd reaches 30,000, but only for one
#: repeated byte.
_UNSUSPICIOUS = 256 << 20
_MOST_RATIO = 1 << 10

_FIELD = "body.payload"

#: Maximum window of a frame, in bytes: that of zstd's level 22, the highest, and of `zstd --long=27`.
MAX_WINDOW = 1 << 27

#: Compressed bytes read, and decompressed, at a time. A step yields at most 8 MiB.
_INPUT, _STEP = 1 << 16, 1 << 8


def read_payload(body: TransactionPayloadEvent, layout: Format) -> Iterator[Frame]:
    """The events inside a transaction payload; positions count from the first uncompressed byte.

    `body`: the body of the event, as the grammar reads it.
    `layout`: layout of the log that contains the event.
    Raises `GrammarError`: the compression is unknown, the compressed bytes are damaged, they are not complete
    events, or an event among them cannot be part of a transaction.
    """
    framer = Framer(open_payload(body), layout.binlog_version, max_event_size=largest_event(body))
    try:
        for frame in framer:
            kind = layout.effective_type(frame.header.type_code)
            if kind in FORMAT_TYPES:
                raise GrammarError(f"contains a {type_name(kind)}", field=_FIELD)
            yield frame
    except FramingError as error:
        reason = f"at uncompressed offset {error.position}: {error.reason}"
        raise GrammarError(reason, field=_FIELD) from error
    declared = declared_size(body)
    if framer.position + framer.tail.size > declared:
        raise GrammarError(f"decompresses to more than the declared {declared} bytes", field=_FIELD)
    if framer.tail.kind is not TailKind.NOTHING:
        raise GrammarError("ends inside an event", field=_FIELD)
    if framer.position != declared:
        reason = f"decompresses to {framer.position} bytes instead of the declared {declared}"
        raise GrammarError(reason, field=_FIELD)


def largest_event(body: TransactionPayloadEvent) -> int:
    """The largest uncompressed event size accepted inside a payload.

    This is 1 GiB, the server's own limit; for payloads of less than 1 MiB it is 1024 times the compressed
    size, but at least 256 MiB. Without a bound, 33 kB of zstd could take 1 GiB.
    """
    return min(MAX_EVENT_SIZE, max(_UNSUSPICIOUS, _MOST_RATIO * len(body.payload)))


def open_payload(body: TransactionPayloadEvent) -> BinaryIO:
    """A stream of the uncompressed bytes of a transaction payload, ending at most one byte past the declared
    size.

    Raises `GrammarError`: the compression type is unknown, or (while reading) the compressed bytes are
    damaged.
    """
    compression = int(body.compression_type)
    if compression == Compression.none:
        return io.BytesIO(body.payload)
    if compression != Compression.zstd:
        raise GrammarError(f"unknown compression {compression}", field="body.fields")
    return cast(BinaryIO, _Unpacked(body.payload, declared_size(body) + 1))


class ZstdFrames:
    """The content of the zstd frames in a stream; unlike zstandard's reader, it detects a truncated one.

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


class _Unpacked(io.RawIOBase):
    """Stream of decompressed bytes, up to a size; damaged input raises an error of this package."""

    def __init__(self, packed: bytes, size: int) -> None:
        import zstandard

        self._error = zstandard.ZstdError
        self._frames = ZstdFrames(io.BytesIO(packed))
        self._unread = memoryview(b"")
        self._left = size

    def readable(self) -> bool:
        return True

    def readinto(self, room: memoryview) -> int:  # type: ignore[override]
        room = memoryview(room)[: self._left]
        if len(room) and not self._unread:
            self._unread = memoryview(self._next())
        count = min(len(room), len(self._unread))
        room[:count], self._unread = self._unread[:count], self._unread[count:]
        self._left -= count
        return count

    def _next(self) -> bytes:
        try:
            return self._frames.read(1)
        except EOFError:
            raise GrammarError("its last zstd frame is truncated", field=_FIELD) from None
        except self._error as error:
            raise GrammarError(f"does not decompress: {error}", field=_FIELD) from error


class SmallPayloads:
    """Decompresses payloads one after the other, each in a single call."""

    def __init__(self) -> None:
        import zstandard

        self._errors = zstandard.ZstdError, ValueError
        self._unknown = zstandard.CONTENTSIZE_UNKNOWN
        self._describe = zstandard.get_frame_parameters
        self._decompress = zstandard.ZstdDecompressor().decompress

    def unpack(self, packed: bytes | memoryview, room: memoryview) -> bool:
        """Decompress into a buffer that must be filled exactly; False if that fails or the payload is not
        allowed.
        """
        try:
            stated = self._describe(packed)
            if stated.window_size > MAX_WINDOW or stated.content_size not in (self._unknown, len(room)):
                return False
            data = self._decompress(packed, max_output_size=len(room), allow_extra_data=False)
        except self._errors:
            return False
        if len(data) != len(room):
            return False
        room[:] = data
        return True


def declared_size(body: TransactionPayloadEvent) -> int:
    """The declared uncompressed size of a payload, in bytes."""
    if int(body.compression_type) == Compression.none:
        return len(body.payload)
    return int(body.len_uncompressed)
