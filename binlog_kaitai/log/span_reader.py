"""Blocks of a log, or of a span of it."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import BinaryIO, Unpack, cast

from binlog_kaitai.core.context import Context
from binlog_kaitai.core.event_types import type_name
from binlog_kaitai.core.framing import Framer, Tail, TailKind, read_up_to
from binlog_kaitai.core.grammar import EventType, Format, header_length, read_header
from binlog_kaitai.core.spans import Span
from binlog_kaitai.errors import BAD_CHECKSUM, BinlogError, ChecksumError, DamagedError, FramingError
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.block_reader import BlockOptions, BlockReader
from binlog_kaitai.log.log_end import End, classify_end
from binlog_kaitai.log.resync import Search
from binlog_kaitai.sources.source import Source


def blocks_of(source: Source, stream: BinaryIO, **options: Unpack[BlockOptions]) -> BlockReader | SpanReader:
    """Blocks of a source, from a stream at its first byte; for a span, the stream must be seekable.

    The options are those of :class:`BlockReader`.

    Raises `NotABinlogError`, `EncryptedError`, `FramingError`, `GrammarError`: as the reader does, also
    during iteration.
    """
    if source.span is None:
        return BlockReader.of_file(stream, source.name, **options)
    return SpanReader(stream, source.span, source.name, **options)


def type_in_gap(stream: BinaryIO, start: int, stop: int, layout: Format) -> int | None:
    """The type in the header of the event that fills a gap; None if the header does not state this length."""
    stream.seek(start)
    length = header_length(layout.binlog_version)
    try:
        data = read_up_to(stream, length)
    except DamagedError:
        return None  # the damage is inside the header
    if len(data) < length:
        return None
    header = read_header(data, layout.binlog_version)
    return layout.effective_type(header.type_code) if start + header.len_event == stop else None


def pass_gap(stream: BinaryIO, start: int, stop: int, context: Context) -> None:
    """Update the context at a gap, which may contain a table map unless it is one event of another type."""
    if type_in_gap(stream, start, stop, context.layout) in (None, EventType.table_map_event):
        context.lose_table_maps()


class SpanReader:
    """Blocks of a span, in order, without its gaps.

    `options`: options of `BlockReader`.
    """

    def __init__(self, stream: BinaryIO, span: Span, name: str, **options: Unpack[BlockOptions]) -> None:
        self.name = name
        self.position = span.start
        self._stream = stream
        self._span = span
        self._options = options
        self._reader: BlockReader | None = None
        self.context = span.context()

    def __iter__(self) -> Iterator[Block]:
        gap_start = None
        for start, stop in self._span.pieces:
            if gap_start is not None:
                pass_gap(self._stream, gap_start, start, self.context)
            gap_start = stop
            if stop is not None and stop <= start:
                continue
            self._stream.seek(start)
            stream = self._stream
            if stop is not None:
                stream = cast(BinaryIO, Limited(stream, stop - start))
            if start == 0:
                reader = BlockReader.of_file(stream, self.name, **self._options)
                self.context = reader.context
            else:
                reader = BlockReader(stream, self.context, start, name=self.name, **self._options)
            self._reader = reader
            for block in reader:
                self.position = reader.position
                yield block
            self.position = reader.position
            if stop is not None and reader.tail is not None and reader.tail.kind is not TailKind.NOTHING:
                raise self._past(stop, reader.tail, reader.context)

    def _past(self, stop: int, tail: Tail, context: Context) -> BinlogError:
        """The error for an event that extends past the start of the next piece.

        If it extends past the end of the log too, or is not an event, the error is that for a whole log.
        """
        version, size = context.layout.binlog_version, self._stream.seek(0, io.SEEK_END)
        self._stream.seek(tail.position)
        head = read_up_to(self._stream, header_length(version))
        self._stream.seek(tail.position)
        header = read_header(head, version) if len(head) == header_length(version) else None
        try:
            if header is None or tail.position + header.len_event > size:
                whole = Tail(TailKind.PART, tail.position, size - tail.position, header)
                classify_end(self.name, whole, context, self._stream)
            elif header.len_event < len(head):
                next(iter(Framer(self._stream, version, tail.position)), None)
            elif context.layout.is_checksummed and not Search(self._stream).is_whole(
                tail.position, context.layout
            ):
                kind = type_name(context.layout.effective_type(header.type_code))
                return ChecksumError(BAD_CHECKSUM, position=tail.position, event_type=kind, field="checksum")
        except DamagedError as error:
            return error
        return FramingError(f"an event extends past {stop}, where another begins", position=tail.position)

    def end(self) -> End | None:
        return None if self._reader is None else self._reader.end()


class Limited(io.RawIOBase):
    """The next `left` bytes of a stream, as a stream.

    `left`: number of bytes that remain.
    """

    def __init__(self, stream: BinaryIO, size: int) -> None:
        self.raw = stream
        self.left = size

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self.raw.fileno()

    def tell(self) -> int:
        return self.raw.tell()

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        before = self.raw.tell()
        after = self.raw.seek(offset, whence)
        self.left -= after - before
        return after

    def read(self, size: int = -1) -> bytes:
        data = self.raw.read(self.left if size < 0 else min(size, self.left)) or b""
        self.left -= len(data)
        return data

    def readinto(self, room: memoryview) -> int:  # type: ignore[override]
        room = room[: self.left]
        read = getattr(self.raw, "readinto", None)
        if read is None:
            data = self.raw.read(len(room)) or b""
            room[: len(data)] = data
            count = len(data)
        else:
            count = (read(room) or 0) if len(room) else 0
        self.left -= count
        return count
