"""Expands transaction payloads: the events inside follow the payload event directly.

A rows event split into pieces is likewise inserted after its last piece.

Small payloads are expanded together into the block that contains them, so that a log of many small
compressed transactions is processed as columns too. A large payload becomes a series of blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from binlog_kaitai.core.context import Context
from binlog_kaitai.core.framing import TailKind, read_up_to
from binlog_kaitai.core.grammar import EventType, TransactionPayloadEvent
from binlog_kaitai.core.payload import SmallPayloads, declared_size, largest_event, open_payload, read_payload
from binlog_kaitai.errors import BinlogError, GrammarError, out_of_memory
from binlog_kaitai.kernels.arrays import Bytes, Ints, OutIntTable, view_of
from binlog_kaitai.kernels.compile import kernel
from binlog_kaitai.kernels.groups import distinct_values
from binlog_kaitai.log.block import Block, Frames
from binlog_kaitai.log.block_reader import BLOCK_SIZE, BlockReader, frame_all
from binlog_kaitai.values.decoders import packed_integer

_Fact = TransactionPayloadEvent.PayloadFact
_END, _LAST = int(_Fact.end_mark), int(max(_Fact))
_COMPRESSION, _ZSTD = int(_Fact.compression_type), int(TransactionPayloadEvent.CompressionAlgorithm.zstd)
#: Maximum length of a field, of three packed integers, in bytes.
_LONGEST_FIELD = 27


class PayloadHeaders(NamedTuple):
    """Headers of several payload events, as int64 and bool arrays.

    `matches`: which events the other arrays are valid for: compressed with zstd, with a header that matches.
    `starts`, `ends`: range of the compressed bytes in the block.
    `payload_sizes`, `uncompressed_sizes`: lengths according to the event.
    """

    matches: NDArray[np.bool_]
    starts: Ints
    ends: Ints
    payload_sizes: Ints
    uncompressed_sizes: Ints

    def part(self, begin: int, end: int) -> PayloadHeaders:
        """A range of the events."""
        return PayloadHeaders._make(values[begin:end] for values in self)


@kernel
def read_headers(data: Bytes, starts: Ints, ends: Ints, headers: OutIntTable) -> None:
    """Read the headers of payload events, as servers write them: each fact once.

    `starts`, `ends`: range of each body.
    `headers`: output, -1 before: the facts by their kinds; for the end mark the offset after it, if the event
    need not be left to the event reader.
    """
    for event in range(min(starts.shape[0], ends.shape[0], headers.shape[1])):
        position, last = starts[event], min(ends[event], data.shape[0]) - _LONGEST_FIELD
        kind, known = -1, 0
        while 0 <= position <= last:
            _, kind, position = packed_integer(data, position)
            if kind == _END or kind < 0 or kind > _LAST or headers[kind, event] >= 0:
                break
            _, size, begin = packed_integer(data, position)
            is_valid, value, position = packed_integer(data, begin)
            if not is_valid or value < 0 or position != begin + size:
                kind = -1
                break
            headers[kind, event] = value
            known += 1
        if kind == _END and known == _LAST and headers[_COMPRESSION, event] == _ZSTD:
            headers[_END, event] = position


def payload_headers(block: Block, rows: Ints) -> PayloadHeaders:
    """Headers of the given transaction payload events of a block."""
    ends, headers = block.body_ends(rows), np.full((_LAST + 1, len(rows)), -1, dtype=np.int64)
    read_headers.run(block.data, block.starts[rows] + block.header_length, ends, headers)
    starts, sizes, unpacked_sizes = (
        headers[fact] for fact in (_END, _Fact.len_payload, _Fact.len_uncompressed)
    )
    return PayloadHeaders(starts >= 0, starts, ends, sizes, unpacked_sizes)


#: Payloads that decompress to more than this become separate blocks; also the limit for expanding in place.
_SMALL = 4 << 20
_EXPANDED_IN_PLACE = 8 << 20
#: Maximum number of events of a damaged payload per block.
_BATCH = 1 << 10

#: Converts expanded events to the form that the consumer needs. The second argument holds, for each event,
#: the number of the event that contains it.
BlockChange = Callable[[Block, Ints], Block]


class _Opened(NamedTuple):
    """Events to insert after event `row`: a block and the numbers of the containing events; then separate
    blocks, or the error that ends the payload."""

    row: int
    small: tuple[Block, Ints] | None = None
    large: Iterator[Block] | None = None
    error: BinlogError | None = None


def expand(
    block: Block, *, change: BlockChange | None = None, block_size: int = BLOCK_SIZE
) -> Iterator[Block]:
    """The block with its payloads expanded and split rows events joined.

    `block_size` limits the blocks of a large payload, in bytes.

    Raises `BinlogError`: a payload cannot be decompressed or framed, or the pieces of a rows event are out of
    order; raised after all preceding events.
    """
    rows = _rows_to_open(block)
    if not len(rows):
        yield block
        return
    begin, room = 0, _EXPANDED_IN_PLACE
    inner: list[tuple[Block, Ints]] = []
    for row, small, large, error in _opened_in_order(block, rows, block_size):
        if error is not None:
            yield _merge(block, begin, row + 1, inner)
            raise error from error.__cause__
        if small is not None:
            inner.append(small if change is None else (change(*small), small[1]))
            room -= len(small[0].data)
        if large is None and room > 0:
            continue
        merged = _merge(block, begin, row + 1, inner)
        if large is not None and merged is block:
            merged = block.part(0, len(block))  # lookahead flags of the original do not apply to parts
        # Release merged events before they are processed, so that they are not held twice.
        begin, room, inner = row + 1, _EXPANDED_IN_PLACE, []
        del small
        yield merged
        del merged
        for expanded in large or ():
            holders = np.full(len(expanded), row)
            yield (expanded if change is None else change(expanded, holders)).moved_to(block, holders)
    if begin < len(block):
        yield _merge(block, begin, len(block), inner)


def _rows_to_open(block: Block) -> Ints:
    """Payloads, pieces of rows events, and events where a piece is expected."""
    rows = block.rows_of(EventType.transaction_payload_event)
    if not _has_pieces(block):
        return rows
    pieces = block.rows_of(EventType.partial_row_data_event)
    offsets = distinct_values(np.concatenate((rows, pieces, pieces + 1, [0])))
    return offsets[offsets < len(block)]


def _has_pieces(block: Block) -> bool:
    is_open = block.pieces is not None and block.pieces.is_open
    return is_open or EventType.partial_row_data_event in block.counts


def _opened_in_order(block: Block, rows: Ints, block_size: int) -> Iterator[_Opened]:
    """Contents of the given events."""
    headers = payload_headers(block, rows[:0] if _has_pieces(block) else rows)
    begin = 0
    while begin < len(rows):
        count = _number_of_small(headers, begin)
        small = (
            _many_payloads(block, rows[begin : begin + count], headers.part(begin, begin + count))
            if count
            else None
        )
        if small is not None:
            begin += count
            yield _Opened(int(rows[begin - 1]), small)
            continue
        for row in rows[begin : begin + max(count, 1)].tolist():
            begin += 1
            try:
                yield _opened(block, row, block_size)
            except BinlogError as error:
                yield _Opened(row, error=error)
            except MemoryError as error:
                yield _Opened(row, error=block.locate(row, out_of_memory(error)))


def _number_of_small(headers: PayloadHeaders, begin: int) -> int:
    """Number of consecutive payloads, from `begin`, that can be expanded together."""
    sizes = headers.uncompressed_sizes[begin:]
    matches = headers.matches[begin:] & (sizes <= _SMALL) & (np.cumsum(sizes) <= _EXPANDED_IN_PLACE)
    return int(np.argmin(matches)) if not matches.all() else len(matches)


def _many_payloads(block: Block, rows: Ints, headers: PayloadHeaders) -> tuple[Block, Ints] | None:
    """The events of small payloads as one block, and the number of the event that holds each.

    Returns None if a payload cannot be expanded this way; the payloads are then expanded one at a time.
    """
    ends = np.cumsum(headers.uncompressed_sizes)
    data = np.empty(int(ends[-1]), dtype=np.uint8)
    unpack = SmallPayloads().unpack
    packed, room = view_of(block.data), view_of(data)
    limits = headers.starts, headers.ends, ends - headers.uncompressed_sizes, ends
    for start, end, begin, stop in zip(*(values.tolist() for values in limits), strict=True):
        if not unpack(packed[start:end], room[begin:stop]):
            return None
    frames = frame_all(block.file, data, block.layout.without_checksums())
    if frames is None:
        return None
    # Each payload must end with a complete event.
    after = np.searchsorted(frames.starts + frames.sizes, ends)
    if not np.array_equal((frames.starts + frames.sizes)[after], ends):
        return None
    return frames, rows[np.searchsorted(ends, frames.starts, side="right")]


def _opened(block: Block, row: int, block_size: int) -> _Opened:
    """Contents of one event."""
    pieces, kind = block.pieces, int(block.types[row])
    if kind == EventType.partial_row_data_event and pieces is not None:
        event = block.event(row)
        try:
            raw = pieces.take(event.body, block.layout)
        except BinlogError as error:
            raise event.locate(error) from error.__cause__
        whole = None if raw is None else _framed(block, raw)
        if whole is None:
            return _Opened(row)
        is_small = len(whole.data) <= _SMALL
        return _Opened(row, _held(whole, row)) if is_small else _Opened(row, large=iter([whole]))
    if pieces is not None and pieces.is_open:
        try:
            pieces.interrupt()
        except BinlogError as error:
            raise block.event(row).locate(error) from None
    if kind != EventType.transaction_payload_event:
        return _Opened(row)
    body = block.event(row).body
    small = _small_payload(block, body) if declared_size(body) <= _SMALL else None
    if small is not None:
        return _Opened(row, _held(small, row))
    return _Opened(row, large=_large_payload(block, row, body, block_size))


def _held(inner: Block, row: int) -> tuple[Block, Ints]:
    return inner, np.full(len(inner), row)


def _framed(block: Block, data: bytes) -> Block | None:
    return frame_all(block.file, data, block.layout.without_checksums())


def _small_payload(block: Block, body: TransactionPayloadEvent) -> Block | None:
    """Events of a payload as one block; None if it cannot be framed as one block."""
    size = declared_size(body)
    try:
        data = read_up_to(open_payload(body), size + 1)
    except BinlogError:
        return None  # `_large_payload` reads it again and reports the error
    return _framed(block, data) if len(data) == size else None


def _large_payload(block: Block, row: int, body: TransactionPayloadEvent, block_size: int) -> Iterator[Block]:
    caught: BinlogError = GrammarError("does not contain complete events", field="body.payload")
    count = 0
    try:
        context = Context.of(block.layout.without_checksums())
        reader = BlockReader(
            open_payload(body),
            context,
            name=block.file,
            block_size=block_size,
            max_event_size=largest_event(body),
        )
        for inner in reader:
            if inner.is_special:
                break  # `read_payload` says why it cannot be here
            count += len(inner)
            yield inner
        is_whole = reader.tail is not None and reader.tail.kind is TailKind.NOTHING
        if is_whole and reader.position == declared_size(body):
            return
    except BinlogError as error:
        caught = error
    except MemoryError as error:
        raise block.locate(row, out_of_memory(error)) from error
    # The event reader reports the error; it may also get a little further.
    frames: list[bytes] = []
    try:
        for number, event in enumerate(read_payload(body, block.layout)):
            if number < count:
                continue
            frames.append(event.raw)
            if len(frames) == _BATCH:
                yield from _whole(block, frames)
    except BinlogError as error:
        caught = error
    yield from _whole(block, frames)
    raise block.event(row).locate(caught) from caught.__cause__


def _whole(block: Block, frames: list[bytes]) -> Iterator[Block]:
    """Blocks of the given events; the list is emptied."""
    framed = _framed(block, b"".join(frames)) if frames else None
    frames.clear()
    if framed is not None:
        yield framed


def _merge(block: Block, begin: int, end: int, inner: list[tuple[Block, Ints]]) -> Block:
    """Events `begin` to `end` of a block, with inner events inserted after the events that contain them."""
    if not inner:
        return block if (begin, end) == (0, len(block)) else block.part(begin, end)
    outer = block.part(begin, end)
    first, last = int(outer.starts[0]), int(outer.starts[-1] + outer.sizes[-1])
    parts = [(outer, block.data[first:last], -first)]
    offset = last - first
    for piece, _ in inner:
        parts.append((piece, piece.data, offset))
        offset += len(piece.data)
    # An inner event sorts after its container and before the next event.
    held = np.concatenate([holders for _, holders in inner])
    order = np.argsort(np.concatenate((2 * np.arange(begin, end), 2 * held + 1)), kind="stable")
    frames = [piece.frames._replace(starts=piece.starts + moved) for piece, _, moved in parts]
    joined = Frames._make(np.concatenate(values)[order] for values in zip(*frames, strict=True))
    merged = Block(block.file, np.concatenate([data for _, data, _ in parts]), 0, joined, block.layout)
    merged.types = np.concatenate([piece.types for piece, _, _ in parts])[order]
    merged.holders = np.concatenate((np.full(end - begin, -1), held))[order]
    of_log = np.concatenate((np.arange(begin, end), held))[order]
    merged.positions, merged.end_positions = block.positions[of_log], block.end_positions[of_log]
    return merged
