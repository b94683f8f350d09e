"""Transaction payloads opened: the events inside take their place right behind the event that holds them.
So does a rows event that comes in pieces, behind the last of them.

Small payloads are put into the block that they lie in, so that a log of many small compressed transactions
is as much a log of columns as any other. A large one is a series of blocks of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from binlog_kaitai.columns.blocks.block import Block, Frames
from binlog_kaitai.columns.blocks.reader import BlockReader, frame_all
from binlog_kaitai.context import Context
from binlog_kaitai.errors import BinlogError, GrammarError
from binlog_kaitai.framing import TailKind, read_up_to
from binlog_kaitai.grammar import EventType
from binlog_kaitai.payload import MAX_EVENT_SIZE, declared_size, open_payload, read_payload

#: A payload that unpacks to more is read in blocks of its own; as much is put into one block.
_SMALL = 4 << 20
_ROOM = 8 << 20


def expand(block: Block) -> Iterator[Block]:
    """The block with the events inside its payloads, and with those that pieces make up.

    Raises
    ------
    BinlogError
        A payload cannot be unpacked, or its events cannot be framed, or pieces do not follow each other;
        after all that comes before.
    """
    rows = _rows_to_open(block)
    if not len(rows):
        yield block
        return
    begin, room = 0, _ROOM
    inner: list[tuple[int, Block]] = []
    for row in rows.tolist():
        try:
            small, large = _opened(block, row)
        except BinlogError as error:
            yield _merge(block, begin, row + 1, inner)
            raise error from error.__cause__
        if small is not None:
            inner.append((row, small))
            room -= len(small.data)
        if large is None and room > 0:
            continue
        merged = _merge(block, begin, row + 1, inner)
        if large is not None and merged is block:
            merged = block.part(0, len(block))  # what is known of what comes next does not hold
        # What has been put together is not held twice while it is used.
        begin, room, inner = row + 1, _ROOM, []
        del small
        yield merged
        del merged
        if large is not None:
            yield from large
    if begin < len(block):
        yield _merge(block, begin, len(block), inner)


def _rows_to_open(block: Block) -> Any:
    """Payloads, pieces of rows events, and events that stand where a piece should."""
    rows = block.rows_of(EventType.transaction_payload_event)
    is_open = block.pieces is not None and block.pieces.is_open
    if not is_open and EventType.partial_row_data_event not in block.counts:
        return rows
    pieces = block.rows_of(EventType.partial_row_data_event)
    places = np.unique(np.concatenate((rows, pieces, pieces + 1, [0])))
    return places[places < len(block)]


def _opened(block: Block, row: int) -> tuple[Block | None, Iterator[Block] | None]:
    """What to put in behind an event: a block for the same array, or blocks of their own, or neither."""
    pieces, kind = block.pieces, int(block.types[row])
    if kind == EventType.partial_row_data_event and pieces is not None:
        event = block.event(row)
        try:
            raw = pieces.take(event.body, block.layout)
        except BinlogError as error:
            raise event.locate(error) from error.__cause__
        whole = None if raw is None else frame_all(block.file, raw, block.layout.without_checksums())
        is_small = whole is None or len(whole.data) <= _SMALL
        return (whole, None) if whole is None or is_small else (None, iter([whole.moved_to(block, row)]))
    if pieces is not None and pieces.is_open:
        try:
            pieces.interrupt()
        except BinlogError as error:
            raise block.event(row).locate(error) from None
    if kind != EventType.transaction_payload_event:
        return None, None
    body: Any = block.event(row).body
    small = _small_payload(block, body) if declared_size(body) <= _SMALL else None
    return small, None if small is not None else _large_payload(block, row, body)


def _small_payload(block: Block, body: Any) -> Block | None:
    """The events of a payload as one block; None where they are not just that."""
    size = declared_size(body)
    try:
        data = read_up_to(open_payload(body), size + 1)
    except BinlogError:
        return None  # it is read again, and what is wrong is told, by `_large_payload`
    return frame_all(block.file, data, block.layout.without_checksums()) if len(data) == size else None


def _large_payload(block: Block, row: int, body: Any) -> Iterator[Block]:
    caught: BinlogError = GrammarError("is not whole events", field="body.content.payload")
    try:
        inner_context = Context(block.layout.binlog_version)
        inner_context.layout = block.layout.without_checksums()
        reader = BlockReader(
            open_payload(body), inner_context, name=block.file, max_event_size=MAX_EVENT_SIZE
        )
        for inner in reader:
            yield inner.moved_to(block, row)
        is_whole = reader.tail is not None and reader.tail.kind is TailKind.NOTHING
        if is_whole and reader.position == declared_size(body):
            return
    except BinlogError as error:
        caught = error
    try:
        # What is wrong is told by the reader, in its own words.
        for _ in read_payload(body, block.layout.binlog_version):
            pass
    except BinlogError as error:
        caught = error
    raise block.event(row).locate(caught) from caught.__cause__


def _merge(block: Block, begin: int, end: int, inner: list[tuple[int, Block]]) -> Block:
    """Events `begin` to `end` of a block, with other events put in behind some of them."""
    if not inner:
        return block if (begin, end) == (0, len(block)) else block.part(begin, end)
    pieces: list[Block] = []
    for row, payload in inner:
        pieces += [block.part(begin, row + 1), payload.moved_to(block, row)]
        begin = row + 1
    if begin < end:
        pieces.append(block.part(begin, end))
    offset, data, frames = len(block.data), [block.data], []
    for piece in pieces:
        is_inner = piece.data is not block.data
        frames.append(piece.frames._replace(starts=piece.starts + offset) if is_inner else piece.frames)
        if is_inner:
            data.append(piece.data)
            offset += len(piece.data)
    joined = Frames(*(np.concatenate(values) for values in zip(*frames, strict=True)))
    merged = Block(block.file, np.concatenate(data), 0, joined, block.layout)
    merged.positions = np.concatenate([piece.positions for piece in pieces])
    merged.end_positions = np.concatenate([piece.end_positions for piece in pieces])
    return merged
