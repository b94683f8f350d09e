"""The events inside a TRANSACTION_PAYLOAD_EVENT, decompressed as a stream.

Rules
-----
1. Memory is bounded by the largest event inside, never by what the payload claims to unpack to; that event is
   bounded by the size of the payload (`largest_event`).
2. The payload gives just as many bytes as it declares, and ends where an event ends; no more is unpacked.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any, BinaryIO

from binlog_kaitai.core.framing import Frame, Framer, TailKind
from binlog_kaitai.core.grammar import TransactionPayloadEvent
from binlog_kaitai.errors import FramingError, GrammarError

Compression = TransactionPayloadEvent.CompressionAlgorithm

#: A replication packet, and so an event, has at most 1 GiB (`max_log_event_size`, binlog_event.h).
MAX_EVENT_SIZE = 1 << 30

#: An event is unpacked up to this size however small its payload is, in bytes; a longer one up to so many
#: times what is compressed. Deflate cannot do better; zstd reaches 30,000, but only of one byte repeated.
_UNSUSPICIOUS = 256 << 20
_MOST_RATIO = 1 << 10

#: The largest window of zstd level 22, the highest that a server may be set to, in bytes.
_MAX_WINDOW = 1 << 27

_FIELD = "body.content.payload"


def read_payload(body: TransactionPayloadEvent, binlog_version: int) -> Iterator[Frame]:
    """The events inside a transaction payload; positions count from the first uncompressed byte.

    Parameters
    ----------
    body
        The body of the event, as the grammar reads it.
    binlog_version
        Version of the log around it.

    Raises
    ------
    GrammarError
        The compression is unknown, the compressed bytes are damaged, or they are not whole events.
    """
    framer = Framer(open_payload(body), binlog_version, max_event_size=largest_event(body))
    try:
        yield from framer
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
    """The most bytes that an event inside a payload may have to be unpacked.

    That is 1 GiB, the most that a server lets through; in payloads of less than 1 MiB, 1024 times what is
    compressed, but at least 256 MiB. Without a bound, 33 kB of zstd would take 1 GiB.
    """
    return min(MAX_EVENT_SIZE, max(_UNSUSPICIOUS, _MOST_RATIO * len(body.payload)))


def open_payload(body: TransactionPayloadEvent) -> BinaryIO:
    """A stream of the uncompressed bytes of a transaction payload; at most one more than it declares.

    Raises
    ------
    GrammarError
        The compression is of an unknown kind; while reading, the compressed bytes are damaged.
    """
    compression = int(body.compression_type)
    if compression == Compression.none:
        return io.BytesIO(body.payload)
    if compression != Compression.zstd:
        raise GrammarError(f"unknown compression {compression}", field="body.content.fields")
    stream: Any = _Unpacked(body.payload, declared_size(body) + 1)
    opened: BinaryIO = stream
    return opened


class _Unpacked(io.RawIOBase):
    """What compressed bytes unpack to, up to a size; damage in them is an error of this package."""

    def __init__(self, packed: bytes, size: int) -> None:
        import zstandard

        self._left = size

        self._error = zstandard.ZstdError
        decompressor = zstandard.ZstdDecompressor(max_window_size=_MAX_WINDOW)
        self._stream = decompressor.stream_reader(io.BytesIO(packed), read_across_frames=True)

    def readable(self) -> bool:
        return True

    def readinto(self, room: Any) -> int:
        room = memoryview(room)[: self._left]
        try:
            count = self._stream.readinto(room) if len(room) else 0
            self._left -= count
            return int(count)
        except self._error as error:
            raise GrammarError(f"does not decompress: {error}", field=_FIELD) from error


class SmallPayloads:
    """Unpacks one payload after the other, each in one go."""

    def __init__(self) -> None:
        import zstandard

        self._errors = zstandard.ZstdError, ValueError
        self._unknown = zstandard.CONTENTSIZE_UNKNOWN
        self._describe = zstandard.get_frame_parameters
        self._decompress = zstandard.ZstdDecompressor().decompress

    def unpack(self, packed: Any, room: memoryview) -> bool:
        """Unpack bytes that fill just this room; False where they do not, or may not be read."""
        try:
            stated = self._describe(packed)
            if stated.window_size > _MAX_WINDOW or stated.content_size not in (self._unknown, len(room)):
                return False
            data = self._decompress(packed, max_output_size=len(room), allow_extra_data=False)
        except self._errors:
            return False
        if len(data) != len(room):
            return False
        room[:] = data
        return True


def declared_size(body: TransactionPayloadEvent) -> int:
    """Length of the uncompressed events as the payload declares it, in bytes."""
    if int(body.compression_type) == Compression.none:
        return len(body.payload)
    return int(body.len_uncompressed)
