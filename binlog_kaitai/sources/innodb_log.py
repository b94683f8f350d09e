"""Reads logs that MariaDB stores inside InnoDB (`binlog_storage_engine=innodb`) as logs of version 4.

A file yields the magic, a format description, and the events of the groups whose commit records begin in it,
in order. The format description is constructed, because such files contain none: it has the flag of
artificial events and declares events without checksums. The checksums of the pages are verified. Offsets
refer to the resulting log; errors also name file, page and record.
"""

from __future__ import annotations

import io
import tempfile
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import suppress
from typing import BinaryIO, NamedTuple, TypeVar, cast

from binlog_kaitai.core.framing import MAGIC, read_up_to
from binlog_kaitai.core.grammar import InnodbLog, header_length, parse_structure
from binlog_kaitai.core.grammar import read_header as read_event_header
from binlog_kaitai.core.known_formats import artificial_event, known_formats
from binlog_kaitai.errors import BinlogError, DamagedError, FramingError, GrammarError, TruncatedError
from binlog_kaitai.sources.innodb_pages import (
    HEADER_SIZE,
    NESTED,
    Beside,
    Chunk,
    ChunkPlace,
    Cursor,
    Kind,
    LogSeries,
    name,
    read_header,
    record,
)
from binlog_kaitai.sources.layer import Layer
from binlog_kaitai.sources.packed import PackedStream

_VERSION = "12.3.0-MariaDB-ibb"
FORMAT = artificial_event(known_formats(_VERSION)[0], _VERSION, begin=len(MAGIC))

#: The first bytes of a file.
_START = MAGIC + FORMAT

_HEADER = header_length(4)

_Head = TypeVar("_Head", InnodbLog.CommitHead, InnodbLog.OobHead)

#: Maximum size of the header of a record, in bytes.
_MOST_HEAD = 128

#: Number of bytes joined before they are returned, and distance between the offsets where reading can start.
_CHUNK, _STEP = 1 << 18, 1 << 20

#: Bytes to decompress, or to read from a pipe, unless the header states that the file is longer.
_USUAL_SIZE = 1 << 30

#: First byte of a commit record without out-of-band records: the number 0.
_NO_RECORDS = b"\0"


def opened(raw: BinaryIO, start: bytes, beside: Beside | None) -> BinaryIO:
    """The log of version 4.

    `raw`: the file, after `start`; a file that is slow to seek, or not seekable, is copied to a temporary
    file.
    `beside`: opens the files of other numbers in the series.
    Raises `BinlogError`: the header is damaged.
    """
    if isinstance(raw, PackedStream) or not raw.seekable() or raw.tell() != len(start):
        raw = copied(raw, start)
    return cast(BinaryIO, InnodbStream(LogSeries(raw, beside)))


def copied(raw: BinaryIO, start: bytes = b"") -> BinaryIO:
    """A temporary copy of a file, which is closed."""
    header_bytes = read_up_to(raw, HEADER_SIZE - len(start), start)
    header = read_header(header_bytes)
    most = max(header.num_pages << header.page_size_bits, _USUAL_SIZE)
    copy = cast(BinaryIO, tempfile.TemporaryFile())  # noqa: SIM115 - closed with the stream
    copy.write(header_bytes)
    while data := raw.read(_CHUNK):
        copy.write(data)
        if copy.tell() > most:
            raise FramingError(f"the file has more than the {most} bytes that its header allows", position=0)
    raw.close()
    return copy


class _ReadPoint(NamedTuple):
    """A position where reading can begin: offsets in the log that is made, and in the file.

    A record that began earlier may continue there; it is left out.
    """

    position: int
    offset: int
    may_go_on: bool = False


class InnodbStream(Layer):
    """The bytes of a log of version 4.

    Where damage is, the log has one byte that cannot be read: its offset raises the error. That error has the
    position of the event that is cut off there. After the byte, the log continues with the next intact group.
    """

    def __init__(self, series: LogSeries) -> None:
        own = series.file(series.own)
        assert own is not None
        super().__init__(own.raw)
        self._series = series
        self._chunk = memoryview(_START)
        self._starts = [_ReadPoint(len(_START), own.page_size, may_go_on=True)]
        self._damages: dict[int, BinlogError] = {}  # by the offset that cannot be read
        self._size: int | None = None
        self._begin_at(self._starts[0])

    def seekable(self) -> bool:
        return True

    def close(self) -> None:
        if not self.closed:
            self._series.close()
        super().close()

    def after_damage(self, position: int) -> int | None:
        after = next(
            (place + 1 for place, error in self._damages.items() if error.position == position), None
        )
        if after is None:
            return None
        try:
            goes_on = len(self._load(after)[1]) > 0
        except DamagedError:
            goes_on = self._size is None or after < self._size
        return after if goes_on else None

    def _begin_at(self, start: _ReadPoint) -> None:
        self._next = start.position
        self._group = start
        self._cursor = Cursor(self._series, ChunkPlace(self._series.own, start.offset))
        self._pieces = groups(self._series, self._cursor, may_go_on=start.may_go_on)
        self._damage: BinlogError | None = None  # of the next byte

    def _load(self, position: int) -> tuple[int, memoryview]:
        if position < len(_START):
            return 0, memoryview(_START)
        if position in self._damages:
            raise self._damages[position]
        if self._size is not None and position >= self._size:
            if self._size in self._damages:
                raise self._damages[self._size]
            return self._size, memoryview(b"")
        start = self._starts[bisect_right(self._starts, position, key=lambda start: start.position) - 1]
        if position < self._next or self._next < start.position:
            self._begin_at(start)
        while True:
            begin, data = self._next, self._join()
            self._next += len(data)
            if position < self._next:
                return begin, memoryview(data)
            if self._damage is not None:
                self._pass_damage(self._damage)
                if position in self._damages:
                    raise self._damages[position]
            elif not data:
                # The log ends before a byte that cannot be read, not with it.
                self._size = begin - (begin - 1 in self._damages)
                return self._load(self._size)

    def _pass_damage(self, damage: BinlogError) -> None:
        """Go on after the byte that cannot be read."""
        if self._next not in self._damages:
            self._damages[self._next] = type(damage)(damage.reason, position=self._last_event())
        self._cursor.pass_damage()
        is_own = self._cursor.file == self._series.own
        offset = self._cursor.offset if is_own else self._raw.seek(0, io.SEEK_END)
        start = _ReadPoint(self._next + 1, offset, may_go_on=True)
        if start.position > self._starts[-1].position:
            self._starts.append(start)
        self._begin_at(start)

    def _last_event(self) -> int:
        """Where the event begins that is cut off at the next offset; that offset, if none is."""
        begin, data = self._group.position, b""
        cursor = Cursor(self._series, ChunkPlace(self._series.own, self._group.offset))
        with suppress(BinlogError):
            for _, piece in groups(self._series, cursor, may_go_on=self._group.may_go_on):
                data += piece
                while len(data) >= _HEADER and begin < self._next:
                    size = read_event_header(data, 4).len_event
                    if not _HEADER <= size <= len(data):
                        break
                    begin, data = begin + size, data[size:]
        return min(begin, self._next)

    def _join(self) -> bytes:
        """The next bytes; empty at the end, or where damage begins."""
        parts: list[bytes] = []
        size = 0
        try:
            for place, piece in self._pieces:
                if place is not None:
                    self._group = _ReadPoint(self._next + size, place)
                    if self._group.position >= self._starts[-1].position + _STEP:
                        self._starts.append(self._group)
                parts.append(piece)
                size += len(piece)
                if size >= _CHUNK:
                    break
        except BinlogError as error:
            self._damage = error
        return b"".join(parts)

    def _find_size(self) -> int:
        """The size of the bytes that can be read."""
        position = self._next
        while self._size is None:
            try:
                begin, data = self._load(position)
                position = begin + len(data)
            except DamagedError:
                position += 1
        return self._size


def groups(series: LogSeries, cursor: Cursor, *, may_go_on: bool) -> Iterator[tuple[int | None, bytes]]:
    """The events of the groups whose commit records begin in a file, piece by piece.

    The first piece of each group comes with the offset of the record, others with None.

    `cursor`: where to begin in the file; afterwards, where the damage is.
    `may_go_on`: a record that began before may go on here; it is left out.
    Raises `DamagedError`: a page or a record is damaged, or a record that a group needs is missing.
    """
    while (chunk := cursor.next()) is not None:
        is_whole = chunk.is_last and not chunk.is_continuation
        if is_whole and chunk.kind == Kind.commit and chunk.data.startswith(_NO_RECORDS):
            may_go_on = False
            yield chunk.place.offset, chunk.data[len(_NO_RECORDS) :]
            continue
        if chunk.kind in NESTED:
            continue
        if chunk.is_continuation:
            if not may_go_on:
                raise FramingError(f"the {name(chunk)} has no beginning")
            continue
        may_go_on = False
        if chunk.kind == Kind.commit:
            yield from _group(series, cursor, chunk)
        elif chunk.kind not in list(Kind):
            raise FramingError(f"the {name(chunk)} is not of a known type")
        elif not chunk.is_last and not _skip(series, cursor, chunk):
            return
        if cursor.file != series.own:
            return


def _skip(series: LogSeries, cursor: Cursor, first: Chunk) -> bool:
    """Skip a record without events of this file; returns False if it has no end in it."""
    chunk: Chunk | None = first
    while chunk is not None and (not chunk.is_last or chunk.kind != first.kind):
        chunk = cursor.next()
        if chunk is None or chunk.kind in NESTED:
            continue
        if chunk.kind != first.kind or not chunk.is_continuation:
            cursor.back_to(chunk)
            raise FramingError(f"the {name(first)} is not whole: the {name(chunk)} begins inside it")
    if chunk is None and cursor.is_at_end_of_file():
        own = series.file(series.own)
        assert own is not None
        is_short = own.page(own.header.num_pages - 1) is None if own.header.num_pages else False
        if is_short and series.file(series.own + 1) is None:
            reason = f"the {name(first)} is incomplete; log {series.own + 1}, which continues it, is missing"
            raise TruncatedError(reason)
    return chunk is not None


def _group(series: LogSeries, cursor: Cursor, first: Chunk) -> Iterator[tuple[int | None, bytes]]:
    """The events of a commit record, then those of the out-of-band records that it refers to."""
    parts = record(cursor, first)
    head, rest = _head(InnodbLog.CommitHead, parts, first)
    yield first.place.offset, rest
    for part in parts:
        yield None, part
    for reference in (head.main, head.other):
        if reference is not None and reference.num_records.value:
            last = None if reference.last is None else _place(reference.last)
            if last is None:
                raise FramingError(f"the {name(first)} does not refer to its out-of-band records")
            for part in out_of_band(series, last, reference.num_records.value, name(first)):
                yield None, part


class _Node(NamedTuple):
    """A record whose children are being read: its number, and its bytes."""

    number: int
    rest: bytes
    parts: Iterator[bytes]
    name: str


def out_of_band(series: LogSeries, last: ChunkPlace, count: int, what: str) -> Iterator[bytes]:
    """The bytes of the out-of-band records of a group, in order.

    `last`: the root of the last tree.
    `count`: number of records.
    `what`: the commit record, for error messages.
    Raises `DamagedError`: a record is damaged or missing, or the records do not form the complete group.
    """
    # The stack: offsets, with a flag if reached through left children only, or nodes to return.
    stack: list[_Node | tuple[ChunkPlace, bool, int]] = [(last, True, count)]
    next_index = 0
    while stack:
        top = stack.pop()
        if isinstance(top, _Node):
            if top.number != next_index:
                raise FramingError(f"{what}: the {top.name} is number {top.number}, not {next_index}")
            next_index += 1
            yield top.rest
            yield from top.parts
            continue
        place, is_leftmost, above = top
        node, left, right = _node(series, place, what)
        # Numbers increase in reading order, so records cannot refer to each other in a cycle.
        if node.number >= above:
            raise FramingError(f"{what}: the {node.name} is number {node.number}, not one below {above}")
        stack.append(node)
        if left is not None:
            if right is None:
                raise FramingError(f"{what}: the {node.name} has one child only")
            stack += [(right, False, node.number), (left, is_leftmost, node.number)]
        elif is_leftmost and right is not None:
            stack.append((right, True, node.number))
    if next_index != count:
        raise FramingError(f"{what}: it has {count} out-of-band records, {next_index} were found")


def _node(
    series: LogSeries, place: ChunkPlace, what: str
) -> tuple[_Node, ChunkPlace | None, ChunkPlace | None]:
    """An out-of-band record, and what it refers to."""
    target = f"the out-of-band record at offset {place.offset} of log {place.file}"
    file = series.file(place.file)
    if file is None:
        raise TruncatedError(f"{what}: {target} is in a file that is not there; put it beside this one")
    cursor = Cursor(series, place)
    chunk = cursor.next() if place.offset >= file.page_size else None
    if chunk is None or chunk.place != place or chunk.is_continuation or chunk.kind != Kind.oob_data:
        raise FramingError(f"{what}: {target} is not there")
    parts = record(cursor, chunk)
    head, rest = _head(InnodbLog.OobHead, parts, chunk)
    return _Node(head.index.value, rest, parts, name(chunk)), _place(head.left), _place(head.right)


def _head(kind: type[_Head], parts: Iterator[bytes], first: Chunk) -> tuple[_Head, bytes]:
    """The structure that a record begins with, and the bytes after it that were read along."""
    data = b""
    for part in parts:
        data += part
        if len(data) >= _MOST_HEAD:
            break
    try:
        head = parse_structure(kind, data)
    except GrammarError as error:
        raise GrammarError(f"the {name(first)} cannot be read: {error.reason}") from None
    return head, data[head._io.pos() :]


def _place(location: InnodbLog.Location) -> ChunkPlace | None:
    """Where a record is; None for no record."""
    place = ChunkPlace(location.file_number.value, location.offset.value)
    return place if any(place) else None
