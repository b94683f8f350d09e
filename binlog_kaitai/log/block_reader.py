"""Reads a log in blocks: many complete events per array, with the state needed to decode them.

Rules
-----
1. All events of a block have one format. An event that changes the format (a format description, the start
   of encryption) forms a block of its own and is parsed by the grammar.
2. The array of a block is reused; keep no references into it after requesting the next block, unless the
   reader shares its blocks.
3. The array grows only when it is full of bytes actually read.
4. An event too long for memory forms a block of its own, an array outside of it (`mapped_memory`).
5. The event reader's `Framer` reports impossible headers and how the file ends.
"""

from __future__ import annotations

import io
import sys
from collections import deque
from collections.abc import Generator, Iterator
from contextlib import suppress
from functools import lru_cache
from typing import BinaryIO, NamedTuple, TypedDict, Unpack, cast

import numpy as np

from binlog_kaitai.core.context import CLOSING_STATEMENTS, FORMAT_TYPES, TABLES_CLOSE, Context
from binlog_kaitai.core.framing import FIRST_TYPES, MAGIC, Framer, Tail, TailKind, read_start
from binlog_kaitai.core.grammar import (
    CHECKSUM_SIZE,
    POSITION_MASK,
    EventType,
    Format,
    header_length,
    header_offset,
    read_header,
)
from binlog_kaitai.core.transactions import GTID_TYPES
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.kernels.arrays import Bools, Bytes, Ints, Number, OutBytes, OutInts, view_of
from binlog_kaitai.kernels.byte_kernels import BAD, NONE, PENDING, are_equal, read_u4
from binlog_kaitai.kernels.compile import inlined, kernel
from binlog_kaitai.log import checksum_runs as checksums
from binlog_kaitai.log.block import Block, Frames, OutFrames, offset_of
from binlog_kaitai.log.log_end import End, classify_end
from binlog_kaitai.log.mapped_memory import LONG, bytes_remaining, map_next
from binlog_kaitai.log.resync import Search
from binlog_kaitai.log.threads import prefetch
from binlog_kaitai.sources.layer import is_regular_file


class Buffers:
    """Arrays that have been filled, the oldest first.

    `are_shared`: threads may use a block long after the next one is read, since those without wanted events
    are passed over. So an array is reused once nothing else refers to it. Otherwise two arrays alternate.
    """

    def __init__(self, *, are_shared: bool) -> None:
        self._are_shared = are_shared
        self._used: deque[Bytes] = deque()

    def after(self, used: Bytes) -> Bytes:
        """An array of the same size to fill after this one."""
        spare = self._spare()
        self._used.append(used)
        return np.empty_like(used) if spare is None or spare.size != used.size else spare

    def _spare(self) -> Bytes | None:
        for index in range(len(self._used)):
            if not self._are_shared or _references(self._used, index) == _UNUSED:
                spare = self._used[index]
                del self._used[index]
                return spare
        return None


def _references(arrays: deque[Bytes], index: int) -> int:
    return sys.getrefcount(arrays[index])


#: References to an array that only the queue refers to; they depend on the version of Python.
_UNUSED = _references(deque([np.empty(0, dtype=np.uint8)]), 0)


#: Why `frame` stopped: the next event is incomplete; its header is impossible; its type is one to stop at;
#: the output arrays are full; it is the first piece of a rows event.
MORE, IMPOSSIBLE, SPECIAL, FULL, PIECE = range(5)

# The start of another log in the same file: its magic as a number, type and position of its first event.
_MAGIC, _MAGIC_SIZE = int.from_bytes(MAGIC, "little"), len(MAGIC)
_FIRST_TYPES = tuple(int(kind) for kind in FIRST_TYPES)
_SIZE_AT, _TYPE_AT, _POSITION_AT = map(header_offset, ("len_event", "type_code", "next_position"))
_WHOLE_HEADER = header_length(4)
# With a signed index, Numba would generate code for negative indexes.
_ONE = np.uint64(1)

#: All types, see `_rules`.
_ALL = frozenset(range(256))

#: Roles of type codes in `frame`; all others are 0. The last four are for a search for definitions.
_STATEMENT, _CLOSES, _STOP, _SKIPPED, _DEFINING_STATEMENT, _MAP, _PIECE = range(1, 8)

#: Number of distinct table maps that are compared with the next one, and length of the longest of them.
_RECENT, _LONGEST = 16, 1 << 12

#: BEGIN and COMMIT, each with the zero byte that terminates the schema name before it, and their limits.
_WORDS = np.frombuffer(b"".join(CLOSING_STATEMENTS), dtype=np.uint8)
_LIMITS = np.cumsum([0, *map(len, CLOSING_STATEMENTS)])


def _is_start(data: Bytes, start: Number, header_length: Number) -> Number:
    """`framing.is_start` for a header that is completely in the buffer."""
    if read_u4(data, np.uint64(start)) != _MAGIC:
        return False
    if data[np.uint64(start + _MAGIC_SIZE + _TYPE_AT)] not in _FIRST_TYPES:
        return False
    if header_length < _WHOLE_HEADER:
        return True
    position_at = np.uint64(start + _MAGIC_SIZE + _POSITION_AT)
    position = np.int64(data[position_at]) | np.int64(data[position_at + _ONE]) << 8
    size = np.int64(read_u4(data, np.uint64(start + _MAGIC_SIZE + _SIZE_AT)))
    return position == _MAGIC_SIZE or position == (_MAGIC_SIZE + size) & 0xFFFF


@inlined
def size_of_event(data: Bytes, start: int, end: int, header_length: int, max_size: int) -> int:
    """Length of the event at `start`; `~MORE` or `~IMPOSSIBLE` if it is incomplete or impossible."""
    if start < 0 or end > data.shape[0] or start + header_length > end:
        return ~MORE
    size = read_u4(data, np.uint64(start + _SIZE_AT))
    if size < header_length or size > max_size or _is_start(data, start, header_length):
        return ~IMPOSSIBLE
    return size if start + size <= end else ~MORE


@inlined
def _ends_with_word(data: Bytes, start: int, end: int) -> bool:
    """Whether a range of `data` ends with one of `_WORDS`."""
    if start < 0 or end > data.shape[0]:
        return False
    for word in range(_LIMITS.shape[0] - 1):
        first, length = _LIMITS[word], _LIMITS[word + 1] - _LIMITS[word]
        step = length if end - length < start else 0
        while step < length and data[np.uint64(end - length + step)] == _WORDS[np.uint64(first + step)]:
            step += 1
            if step == length:
                return True
    return False


class KnownMaps(NamedTuple):
    """The latest distinct table maps, by which a search for definitions leaves repeated ones out.

    `sizes`: their number, then the length of each; empty to keep all events.
    `contents`: the bytes of each after its table id, `_LONGEST` apart.
    """

    sizes: OutInts
    contents: OutBytes

    @classmethod
    def none(cls, *, are_compared: bool) -> KnownMaps:
        """None yet."""
        room = _RECENT if are_compared else 0
        return cls(np.zeros(room and room + 1, dtype=np.int64), np.zeros(room * _LONGEST, dtype=np.uint8))


class FrameRules(NamedTuple):
    """What `frame` needs to know of a format, as arrays.

    `roles`: for each type code, whether to stop at its events (_STOP), they close tables (_CLOSES), or do so
    if they are BEGIN or COMMIT (_STATEMENT), as in `_WORDS`. In a search for definitions: whether to leave
    its events out (_SKIPPED), or to do so if they are BEGIN or COMMIT (_DEFINING_STATEMENT) or repeat a known
    table map (_MAP), or to stop and leave nothing out from there on (_PIECE).
    `sizes`: length of a header, of a checksum, and of a table map before its content, with its header.
    """

    roles: Bytes
    sizes: Ints


@inlined
def _is_known(data: Bytes, start: int, length: int, known: KnownMaps) -> bool:
    """Whether a table map is one of the known ones; otherwise, it becomes the latest."""
    for number in range(min(known.sizes[0], _RECENT)):
        if known.sizes[1 + number] == length and are_equal(
            data, start, known.contents, number * _LONGEST, length
        ):
            return True
    if 0 <= length <= _LONGEST:
        number = known.sizes[0] % _RECENT
        known.sizes[0] += 1
        known.sizes[1 + number] = length
        for step in range(length):
            known.contents[number * _LONGEST + step] = data[start + step]
    return False


@kernel
def frame(
    data: Bytes, begin: int, end: int, rules: FrameRules, max_size: int, known: KnownMaps, room: OutFrames
) -> Number:
    """Find the events in `data[begin:end]`.

    `max_size`: a header with a larger event size is impossible.
    `known`: kept from call to call.
    `room`: output: the events found, without their checksum states.
    Returns (the number of events found, offset after the last one, why it stopped)
    """
    starts, sizes, codes, _, closes = room
    header_length, after, content = rules.sizes[0], rules.sizes[1], rules.sizes[2]
    count = 0
    while True:
        size = size_of_event(data, begin, end, header_length, max_size)
        if size < 0:
            return count, begin, ~size
        code = data[np.uint64(begin + _TYPE_AT)]
        role = rules.roles[code]
        if role in (_STOP, _PIECE):
            return count, begin, SPECIAL if role == _STOP else PIECE
        if count == starts.shape[0]:
            return count, begin, FULL
        if role >= _SKIPPED and (
            role == _SKIPPED
            or (role == _DEFINING_STATEMENT and _ends_with_word(data, begin, begin + size - after))
            or (role == _MAP and _is_known(data, begin + content, size - content - after, known))
        ):
            begin += size
            continue
        if role != _MAP and known.sizes.shape[0] > 0:
            known.sizes[0] = 0  # after a statement, the same table map may have another definition
        starts[count] = begin
        sizes[count] = size
        codes[count] = code
        closes[count] = role == _CLOSES or (
            role == _STATEMENT and _ends_with_word(data, begin, begin + size - after)
        )
        begin += size
        count += 1


@kernel
def find_drifts(
    data: Bytes, starts: Ints, sizes: Ints, stated_at: int, position: int, drift: int, out: OutInts
) -> Number:
    """Find the events whose position is off by another distance than that of the event before.

    `stated_at`: offset within an event of its stated end position (4 bytes, 0 for none).
    `position`, `drift`: offset of `data[0]` in the file, and the distance of the last event before.
    `out`: output: event numbers.
    Returns (the number of events found, distance of the last event)
    """
    count = 0
    for event in range(starts.shape[0]):
        position_at = starts[event] + stated_at
        if position_at < 0 or position_at + 4 > data.shape[0]:
            continue
        stated = read_u4(data, np.uint64(position_at))
        if stated != 0:
            distance = (stated - position - starts[event] - sizes[event]) & POSITION_MASK
            if distance not in (0, drift) and count < out.shape[0]:
                out[count] = event
                count += 1
            drift = distance
    return count, drift


BLOCK_SIZE = 4 << 20

#: Smaller files are read without a thread.
_PREFETCH_FROM = 16 << 20

#: Number of bytes read and framed at a time.
_FRAMED_AT_ONCE = 4 << 20

#: Buffers of this size and more, in bytes, grow by 1/n, since NumPy touches all of the memory added.
_LARGE, _GROWTH = 64 << 20, 8

#: Default maximum number of events per block, which keeps the columns small.
MAX_EVENTS = 1 << 17

#: A block ends at its last GTID event only if the remainder is at most 1/n of the block.
_READ_AGAIN = 8


class BlockOptions(TypedDict, total=False):
    """Options of :class:`BlockReader`, which describes them."""

    block_size: int
    max_events: int
    leaves_checks: bool
    verify_checksums: bool
    prefetches: bool
    shares_blocks: bool
    ends_at_gtids: bool
    only_definitions: bool


class BlockReader:
    """Blocks of a stream, in order.

    `stream`: a binary stream at an event; see :meth:`of_file` for a stream at a file's magic.
    `context`: state before the event.
    `position`: offset of the event in the file.
    `peeked`: bytes already taken from the stream.
    `block_size`, `max_events`: maximum size in bytes, unless a single event is longer, and maximum number of
    events of a block.
    `leaves_checks`: leave checksums to the consumer, who may verify them (`checksums.check`).
    `verify_checksums`: raise ChecksumError for an event that cannot be decoded and has a wrong checksum.
    `prefetches`: read, frame and check blocks of a regular file in a thread, one block ahead.
    `shares_blocks`: other threads may use a block after the next one is requested.
    `ends_at_gtids`: end a block before a GTID event near its end, so that few transactions span two blocks.
    `only_definitions`: leave out the events that cannot define a table, nor contain events that may, and
    table maps that repeat one of the latest while no statement can have changed their table. From the first
    piece of a rows event on, all events are kept, so that missing pieces end the search.
    `position`: offset of the next event, or of a later one if blocks are prefetched.
    `tail`: set after iteration: the bytes after the last complete event.
    Raises `NotABinlogError`, `EncryptedError`, `FramingError`, `GrammarError`: as the reader does.
    """

    def __init__(
        self,
        stream: BinaryIO,
        context: Context,
        position: int = 0,
        *,
        name: str = "<stream>",
        peeked: bytes = b"",
        block_size: int = BLOCK_SIZE,
        max_events: int = MAX_EVENTS,
        max_event_size: int = 1 << 32,
        leaves_checks: bool = False,
        verify_checksums: bool = True,
        prefetches: bool = False,
        shares_blocks: bool = False,
        ends_at_gtids: bool = False,
        only_definitions: bool = False,
    ) -> None:
        self.name = name
        self._ends_at_gtids, self._prefetches = ends_at_gtids, prefetches
        self._leaves_checks, self._verify_checksums = leaves_checks, verify_checksums
        self.context = context
        self.position = position  # of the next event, in the file
        self.tail: Tail | None = None
        self._stream = stream
        self._only_definitions = only_definitions
        self._set_rules()
        self._max_events, self._max_event_size = max_events, max_event_size
        self._buffer: Bytes = np.empty(max(block_size, 256, len(peeked)), dtype=np.uint8)
        self._buffer[: len(peeked)] = np.frombuffer(peeked, dtype=np.uint8)
        self._buffers = Buffers(are_shared=shares_blocks)
        self._error: BinlogError | None = None  # raised after the events before it
        # Offsets in the buffer: of the next block, of the bytes not framed yet, and after the bytes read.
        self._begin, self._scanned, self._end = 0, 0, len(peeked)

    @classmethod
    def of_file(cls, stream: BinaryIO, name: str, **options: Unpack[BlockOptions]) -> BlockReader:
        """Blocks of a whole file, from its magic on; the options are those of the class."""
        version, peeked = read_start(stream)
        return cls(stream, Context(version, peeked), len(MAGIC), name=name, peeked=peeked, **options)

    def end(self, *, checks_pieces: bool = True, search: Search | None = None) -> End | None:
        """Set after iteration: how the log ended; None if its end was not reached.

        `checks_pieces` and `search` are those of `classify_end`.

        Raises `DamagedError`: as `classify_end` does.
        """
        if self.tail is None:
            return None
        own = self.name, self.tail, self.context, self._stream
        return classify_end(*own, checks_pieces=checks_pieces, search=search)

    def __iter__(self) -> Iterator[Block]:
        blocks = self._blocks()
        for block in blocks:
            yield block
            if self._prefetches and self.position >= _PREFETCH_FROM and is_regular_file(self._stream):
                yield from prefetch(blocks)

    def _blocks(self) -> Generator[Block, None, None]:
        room, count = room_for(self._max_events), 0
        while True:
            added, why = self._find(room.part(count, self._max_events))
            count += added
            if not count:  # pass over events that were left out
                self._drop_consumed()
            if why == PIECE or (why == FULL and count < self._max_events):
                continue
            if why == MORE and self._read_on():
                continue
            if count:
                is_full = why == FULL or (why == MORE and self._end == self._buffer.size)
                block = self._block(room.part(0, count), ends_at_gtid=self._ends_at_gtids and is_full)
                yield block
                room, count = room_for(self._max_events), 0
                if block.is_before_gtid and why == MORE:
                    self._make_room()
            elif why == SPECIAL:
                yield self._special_block()
            elif why == MORE and (long := self._long_block()) is not None:
                yield long
            elif self.tail is not None:
                return
            elif why == IMPOSSIBLE or not self._make_room():
                self._leave_to_framer(is_at_end=why != IMPOSSIBLE)
                return

    def _set_rules(self) -> None:
        """Set the rules of framing for the format from here on."""
        special = _ALL if self.context.is_encrypted else FORMAT_TYPES
        self._rules = _rules(self.context.layout, special, only_definitions=self._only_definitions)
        self._known = KnownMaps.none(are_compared=self._only_definitions)

    def _find(self, room: Frames) -> tuple[int, int]:
        frames, self._scanned, why = find_events(
            self._buffer,
            self._scanned,
            self._end,
            self._rules,
            self._known,
            room=room,
            max_event_size=self._max_event_size,
            leaves_checks=self._leaves_checks,
        )
        if why == PIECE:
            self._only_definitions = False
            self._set_rules()
        return len(frames.starts), why

    def _block(self, frames: Frames, *, ends_at_gtid: bool) -> Block:
        if last := self._last_gtid(frames) if ends_at_gtid else 0:
            self._scanned, frames = int(frames.starts[last]), frames.part(0, last)
        self._close_tables(frames)
        data = self._buffer[: self._scanned]
        block = Block(self.name, data, self.position - self._begin, frames, self.context.layout)
        block.pieces, block.is_before_gtid = self.context.pieces, last > 0
        self._drop_consumed()
        return block

    def _close_tables(self, frames: Frames) -> None:
        """Let the first event after a lost table map close all tables; in a statement, it means BEGIN."""
        if self.context.lacks_table_maps:
            others = np.flatnonzero(self._rules.roles[frames.codes] != _STATEMENT)[:1]
            frames.closes[others] = True
            self.context.lacks_table_maps = not len(others)

    def _last_gtid(self, frames: Frames) -> int:
        """Number of the last GTID event, if so few bytes follow that framing them again is cheap; else 0."""
        begin, end = int(frames.starts[0]), self._scanned
        near = int(np.searchsorted(frames.starts, end - (end - begin) // _READ_AGAIN))
        gtids = np.flatnonzero(_is_gtid(self.context.layout)[frames.codes[near:]])
        return near + int(gtids[-1]) if len(gtids) else 0

    def _drop_consumed(self) -> None:
        self.position += self._scanned - self._begin
        self._begin = self._scanned

    def _special_block(self) -> Block:
        self.context.check_readable(self.name, self.position)
        layout = self.context.layout
        frames, end, _ = find_events(self._buffer, self._begin, self._end, _rules(layout), room=room_for(1))
        position = self.position - self._begin
        block = Block(self.name, self._buffer[:end], position, frames, layout, is_special=True)
        block.pieces = self.context.pieces
        try:
            self.context.observe(block.raw(0), block.fixed_header(0))
        except BinlogError as error:
            if self._verify_checksums and _is_bad(block):
                raise checksums.error_at(block, 0) from None
            raise block.locate(0, error) from error.__cause__
        self._set_rules()
        self._scanned = end
        self._drop_consumed()
        return block

    def _long_block(self) -> Block | None:
        """The next event, if it is too long for memory. For an incomplete event, only `tail` is set."""
        layout, have = self.context.layout, self._end - self._begin
        if self._error or have < (length := header_length(layout.binlog_version)):
            return None
        header = read_header(bytes(self._buffer[self._begin : self._begin + length]), layout.binlog_version)
        size, code = header.len_event, header.type_code
        if size <= LONG or self._rules.roles[code] == _STOP:
            return None
        left = bytes_remaining(self._stream)
        data, count = None, have if left is None else have + left
        if left is None or count >= size:
            data, count = map_next(self._stream, self._buffer[self._begin : self._end], size)
        if data is None:
            self.tail = Tail(TailKind.PART, self.position, count, header)
            return None
        rules, is_left = _rules(layout, FORMAT_TYPES), self._leaves_checks
        frames, _, _ = find_events(data, 0, size, rules, room=room_for(1), leaves_checks=is_left)
        self._close_tables(frames)
        block = Block(self.name, data, self.position, frames, layout)
        block.pieces = self.context.pieces
        self.position += size
        self._begin = self._scanned = self._end = 0
        return block

    def _read_on(self) -> bool:
        """Read a small step, to frame it while cached; False if the buffer is full or at the end."""
        room = view_of(self._buffer)[self._end : self._end + _FRAMED_AT_ONCE]
        # Some streams do not accept an empty buffer.
        try:
            count = _read_into(self._stream, room) if len(room) and self._error is None else 0
        except BinlogError as error:
            self._error, count = error, 0
        self._end += count
        return count > 0

    def _make_room(self) -> bool:
        """Move incomplete bytes to the start of a buffer and read on; False at the end of the stream."""
        have = self._end - self._begin
        if have == self._buffer.size:
            more = have if have < _LARGE else have // _GROWTH
            try:  # The system moves the pages of a large array, so that no byte is held twice.
                self._buffer.resize(have + more)
            except ValueError:  # A block refers to it.
                self._buffer = np.concatenate((self._buffer, np.empty(more, dtype=np.uint8)))
        elif self._begin:
            # The previous blocks may still be in use while this one is filled, so buffers alternate.
            spare = self._buffers.after(self._buffer)
            spare[:have] = self._buffer[self._begin : self._end]
            self._buffer = spare
            self._begin, self._scanned, self._end = 0, 0, have
        return self._read_on()

    def _leave_to_framer(self, *, is_at_end: bool) -> None:
        if self._error is not None and is_at_end:
            raise self._error
        rest = bytes(self._buffer[self._begin : self._end])
        # At the end, use only the bytes already seen: an active log may have grown since.
        stream = io.BytesIO(rest) if is_at_end else cast(BinaryIO, _Rest(rest, self._stream))
        version = self.context.layout.binlog_version
        framer = Framer(stream, version, self.position, self._max_event_size)
        for _ in framer:
            raise AssertionError("the framer found an event that the kernel did not")
        self.tail = framer.tail


def room_for(count: int) -> Frames:
    """Arrays for some events, with undefined values."""
    kinds = np.int64, np.int64, np.uint8, np.uint8, np.bool_
    return Frames._make(np.empty(count, dtype=kind) for kind in kinds)


_NONE_KNOWN = KnownMaps.none(are_compared=False)


def find_events(
    data: Bytes,
    begin: int,
    end: int,
    rules: FrameRules,
    known: KnownMaps = _NONE_KNOWN,
    *,
    room: Frames,
    max_event_size: int = 1 << 32,
    leaves_checks: bool = False,
) -> tuple[Frames, int, int]:
    """The events in `data[begin:end]`, the offset after them, and why framing stopped: see `frame`.

    The events are written to `room`, which limits their number.
    """
    count, after, why = frame.run(data, begin, end, rules, max_event_size, known, room)
    frames = room.part(0, count)
    frames.checksums[:] = PENDING if rules.sizes[1] else NONE
    if not leaves_checks:
        checksums.settle(data, frames)
    return frames, int(after), why


def _is_bad(block: Block) -> bool:
    """Whether a special block has a wrong checksum; False if the event has none."""
    with suppress(BinlogError):
        return bool(checksums.check(block)[0] == BAD)
    return False


def frame_all(name: str, data: Bytes | bytes, layout: Format) -> Block | None:
    """Events that fill the given bytes, as one block; None if they are not complete events of this format.

    A uint8 array becomes the array of the block, without a copy.
    """
    array = data if isinstance(data, np.ndarray) else np.frombuffer(bytearray(data), dtype=np.uint8)
    room = room_for(len(array) // header_length(layout.binlog_version) + 1)
    frames, end, _ = find_events(array, 0, len(array), _rules(layout, FORMAT_TYPES), room=room)
    return Block(name, array, 0, frames, layout) if end == len(array) else None


class _Rest(io.RawIOBase):
    """Bytes already read from a stream, followed by the rest of the stream."""

    def __init__(self, start: bytes, stream: BinaryIO) -> None:
        self._start = start
        self._stream = stream

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        if self._start:
            part, self._start = self._start[:size], self._start[size:]
            return part
        return self._stream.read(size)


@lru_cache
def _is_gtid(layout: Format) -> Bools:
    """For each type code, whether it is a GTID event."""
    return np.array([layout.effective_type(code) in GTID_TYPES for code in range(256)], dtype=np.bool_)


#: What the events of a type mean for definitions; others mean nothing.
_DEFINING: dict[int, int] = {
    EventType.table_map_event: _MAP,
    EventType.query_event: _DEFINING_STATEMENT,
    EventType.query_compressed_event: 0,
    EventType.transaction_payload_event: 0,
    EventType.partial_row_data_event: _PIECE,
}


@lru_cache
def _rules(
    layout: Format, special: frozenset[int] = frozenset(), *, only_definitions: bool = False
) -> FrameRules:
    """The rules of framing; events of the special types form blocks of their own."""
    kinds = [layout.effective_type(code) for code in range(256)]
    roles = np.zeros(256, dtype=np.uint8)
    for code, kind in enumerate(kinds):
        if kind in special:
            roles[code] = _STOP
        elif only_definitions:
            roles[code] = _DEFINING.get(kind, _SKIPPED)
        elif kind == EventType.query_event:
            roles[code] = _STATEMENT
        elif kind in TABLES_CLOSE:
            roles[code] = _CLOSES
    kind = EventType.table_map_event
    content = offset_of(layout, kind, kinds.index(kind), "flags") if kind in kinds else 0
    length, after = header_length(layout.binlog_version), CHECKSUM_SIZE if layout.is_checksummed else 0
    sizes = np.array([length, after, layout.header_length + (content or 0)], dtype=np.int64)
    return FrameRules(roles, sizes)


def _read_into(stream: BinaryIO, room: memoryview) -> int:
    try:
        return stream.readinto(room) or 0  # type: ignore[attr-defined]
    except (AttributeError, TypeError, NotImplementedError, io.UnsupportedOperation):
        data = stream.read(len(room)) or b""
        room[: len(data)] = data
        return len(data)
