"""The pages of MariaDB's logs inside InnoDB, and the chunks on them, across the files of a series."""

from __future__ import annotations

import io
import struct
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import BinaryIO, NamedTuple

from google_crc32c import value as crc32c

from binlog_kaitai.core.framing import read_up_to
from binlog_kaitai.core.grammar import CHECKSUM_SIZE, InnodbLog, masks, parse_structure, sizes
from binlog_kaitai.errors import BinlogError, ChecksumError, FramingError, GrammarError, TruncatedError

#: Size of the header, which is read before the page size is known, in bytes.
HEADER_SIZE = sizes.InnodbLog.FileHeader.SIZE

#: Code and length of a chunk; an object for each would take too long.
CHUNK_HEAD = struct.Struct(sizes.InnodbLog.Chunk.HEAD_FORMAT)

#: The codes of what is not a chunk: the end of the data, and bytes that fill up a page.
_END, _FILLER = 0x00, 0xFF

_IS_CONTINUATION, _IS_LAST = masks.InnodbLog.Chunk.IS_CONTINUATION, masks.InnodbLog.Chunk.IS_LAST

#: So many pages are read and verified at a time, and so many of these runs are kept.
_RUN, _KEPT = 32, 24

Kind = InnodbLog.RecordKind

#: Records that may stand inside others.
NESTED = frozenset((Kind.gtid_state.value, Kind.dummy.value))

#: Opens the file of a number in the same series; None if it is not there.
Beside = Callable[[int], "BinaryIO | None"]


class ChunkPlace(NamedTuple):
    """The location of a chunk: the number of the file, and an offset in it."""

    file: int
    offset: int


class Chunk(NamedTuple):
    """A part of a record.

    `kind`: the type of the record, one of `Kind` or unknown.
    `is_continuation`, `is_last`: whether it is not the first chunk of its record; whether it is the last.
    """

    kind: int
    is_continuation: bool
    is_last: bool
    data: bytes
    place: ChunkPlace


class LogFile:
    """A file of a series.

    Raises `DamagedError`: the header is damaged.

    """

    def __init__(self, raw: BinaryIO) -> None:
        self.raw = raw
        raw.seek(0)
        self.header = read_header(read_up_to(raw, HEADER_SIZE))
        self.number: int = self.header.file_number
        self.page_size: int = 1 << self.header.page_size_bits
        self._run = lru_cache(_KEPT)(self._read)
        self._zeros: int | None = None  # all pages from this one on are known to be empty
        self.page(0)

    def page(self, number: int) -> bytes | None:
        """A verified page; None after the last one.

        Raises `DamagedError`: the page is damaged or truncated.
        """
        first = number - number % _RUN
        data, sums = self._run(first)
        begin = (number - first) * self.page_size
        page = data[begin : begin + self.page_size]
        if not page:
            return None
        if len(page) < self.page_size:
            reason = f"the file ends inside {self.name(number)}, after {len(page)} of {self.page_size} bytes"
            raise TruncatedError(reason)
        stored = int.from_bytes(page[-CHECKSUM_SIZE:], "little")
        if stored != sums[number - first] and page.strip(b"\0"):
            computed = sums[number - first]
            reason = f"the CRC-32C of {self.name(number)} is {stored:08x}, its bytes give {computed:08x}"
            raise ChecksumError(reason)
        return page

    def name(self, page: int) -> str:
        """The name of a page in errors."""
        return f"page {page} (offset {page * self.page_size}) of log {self.number}"

    def check_empty_from(self, place: ChunkPlace) -> None:
        """Check that nothing follows the end of the data.

        Raises `DamagedError`: data follows that would be lost.
        """
        if self._zeros is not None and place.offset >= self._zeros:
            return
        self.raw.seek(place.offset)
        number, within = divmod(place.offset, self.page_size)
        data = read_up_to(self.raw, self.page_size - within)
        if not data[:-CHECKSUM_SIZE].strip(b"\0"):
            number = self.next_page(number)
            if number * self.page_size >= self.raw.seek(0, io.SEEK_END):
                self._zeros = place.offset
                return
        reason = f"the data end at offset {place.offset}, but bytes follow on {self.name(number)}"
        raise FramingError(reason)

    def next_page(self, number: int) -> int:
        """The first page after another that is not empty; where there is none, that after the last one."""
        number += 1
        self.raw.seek(number * self.page_size)
        while data := read_up_to(self.raw, _RUN * self.page_size):
            zeros = len(data) - len(data.lstrip(b"\0"))
            if zeros < len(data):
                return number + zeros // self.page_size
            number += -(-len(data) // self.page_size)
        return number

    def close(self) -> None:
        self.raw.close()

    def _read(self, first: int) -> tuple[bytes, list[int]]:
        """Several pages, and the expected checksums of the complete ones."""
        self.raw.seek(first * self.page_size)
        data = read_up_to(self.raw, _RUN * self.page_size)
        ends = range(self.page_size, len(data) + 1, self.page_size)
        return data, [crc32c(data[end - self.page_size : end - CHECKSUM_SIZE]) for end in ends]


def read_header(data: bytes) -> InnodbLog.FileHeader:
    """The header of a file.

    Raises `DamagedError`: it is damaged, or of another version.
    """
    what = "the header of the log inside InnoDB"
    if len(data) < HEADER_SIZE:
        reason = f"the file ends inside {what}, after {len(data)} of {HEADER_SIZE} bytes"
        raise TruncatedError(reason, position=0)
    computed = crc32c(data[:-CHECKSUM_SIZE])
    try:
        header = parse_structure(InnodbLog.FileHeader, data)
    except GrammarError as error:
        raise GrammarError(f"{what} cannot be read: {error.reason}", position=0) from None
    if header.crc32c != computed:
        reason = f"the CRC-32C of {what} is {header.crc32c:08x}, its bytes give {computed:08x}"
        raise ChecksumError(reason, position=0)
    return header


class LogSeries:
    """The existing files of one server.

    `raw`: a seekable file of the series.
    `beside`: opens the other files.
    """

    def __init__(self, raw: BinaryIO, beside: Beside | None = None) -> None:
        own = LogFile(raw)
        self.own = own.number
        self.page_size = own.page_size
        self._beside = beside
        self._files: dict[int, LogFile | None] = {own.number: own}

    def file(self, number: int) -> LogFile | None:
        """A file of the series; None if it does not exist.

        Raises `DamagedError`: its number differs from its name, or its header is damaged.
        """
        if number not in self._files:
            try:
                raw = None if self._beside is None else self._beside(number)
                file = None if raw is None else LogFile(raw)
            except BinlogError as error:
                raise type(error)(f"log {number} of the series: {error.reason}") from None
            if file is not None and file.number != number:
                raise FramingError(f"log {number} of the series has the number {file.number} in its header")
            self._files[number] = file
        return self._files[number]

    def close(self) -> None:
        for file in self._files.values():
            if file is not None:
                file.close()


class Cursor:
    """Steps from chunk to chunk."""

    def __init__(self, series: LogSeries, place: ChunkPlace) -> None:
        self._series = series
        self.file, self.offset = place
        self._is_stuck = False

    def next(self) -> Chunk | None:
        """The next chunk of the file; None at the end of its data.

        Raises `DamagedError`: a page, or the length of the chunk, is damaged.
        """
        try:
            return self._next()
        except BinlogError:
            self._is_stuck = True
            raise

    def pass_damage(self) -> None:
        """If the last chunk could not be read, go to the next page that has data."""
        if self._is_stuck:
            file = self._series.file(self.file)
            assert file is not None
            self.offset = file.page_size * file.next_page(self.offset // file.page_size)
            self._is_stuck = False

    def back_to(self, chunk: Chunk) -> None:
        """Go back to a chunk, so that it is the next one."""
        self.file, self.offset = chunk.place

    def _next(self) -> Chunk | None:
        file = self._series.file(self.file)
        assert file is not None
        while True:
            number, head = divmod(self.offset, file.page_size)
            end = file.page_size - CHECKSUM_SIZE
            page = file.page(number)
            if page is None:
                return None
            if head + CHUNK_HEAD.size >= end or page[head] == _FILLER:
                self.offset += file.page_size - head
                continue
            code, size = CHUNK_HEAD.unpack_from(page, head)
            if code == _END:
                file.check_empty_from(ChunkPlace(self.file, self.offset))
                return None
            begin = head + CHUNK_HEAD.size
            if begin + size > end:
                reason = f"a chunk of {size} bytes at offset {head} does not fit on {file.name(number)}"
                raise FramingError(reason)
            place = ChunkPlace(self.file, self.offset)
            self.offset += CHUNK_HEAD.size + size
            flags = bool(code & _IS_CONTINUATION), bool(code & _IS_LAST)
            return Chunk(code & ~(_IS_CONTINUATION | _IS_LAST), *flags, page[begin : begin + size], place)

    def is_at_end_of_file(self) -> bool:
        """Whether the file ends here, not only its data."""
        file = self._series.file(self.file)
        return file is None or file.page(self.offset // file.page_size) is None

    def go_to_next_file(self) -> bool:
        """Go to the first page with data in the next file; returns False if the file does not exist."""
        file = self._series.file(self.file + 1)
        if file is None:
            return False
        self.file, self.offset = file.number, file.page_size
        return True


def record(cursor: Cursor, first: Chunk) -> Iterator[bytes]:
    """The bytes of a record, chunk by chunk, including those in the next file.

    Raises `DamagedError`: the record is incomplete.
    """
    yield first.data
    chunk: Chunk | None = first
    while chunk is not None and not chunk.is_last:
        chunk = cursor.next()
        while chunk is None:
            what = f"the {name(first)} is not whole"
            if not cursor.is_at_end_of_file():
                raise TruncatedError(f"{what}: the data end at offset {cursor.offset} of log {cursor.file}")
            if not cursor.go_to_next_file():
                raise TruncatedError(f"{what}: it continues in log {cursor.file + 1}, which is missing")
            chunk = cursor.next()
        if chunk.kind in NESTED and first.kind != chunk.kind:
            chunk = chunk._replace(is_last=False)
            continue
        if chunk.kind != first.kind or not chunk.is_continuation:
            cursor.back_to(chunk)
            raise FramingError(f"the {name(first)} is not whole: the {name(chunk)} begins inside it")
        yield chunk.data


def name(chunk: Chunk) -> str:
    """The name of a record in errors, from its first chunk."""
    known = Kind(chunk.kind).name.upper() if chunk.kind in list(Kind) else f"type {chunk.kind}"
    return f"{known} record at offset {chunk.place.offset} of log {chunk.place.file}"
