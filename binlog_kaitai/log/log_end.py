"""How a log ended: closed, in use, or truncated."""

from __future__ import annotations

from enum import Enum
from typing import BinaryIO, NamedTuple

from binlog_kaitai.core.context import Context
from binlog_kaitai.core.event_types import type_name
from binlog_kaitai.core.framing import Tail, TailKind
from binlog_kaitai.core.grammar import POSITION_MASK, Header
from binlog_kaitai.errors import BinlogError, FramingError, TruncatedError
from binlog_kaitai.log.resync import Search


class EndKind(Enum):
    """How a file ended."""

    CLEAN = "clean"
    IN_USE = "in use"
    TRUNCATED = "truncated"


class End(NamedTuple):
    """The end of one file: its kind, where its last complete event ends, and how many bytes follow it."""

    file: str
    kind: EndKind
    position: int
    bytes_after: int


def classify_end(
    file: str,
    tail: Tail,
    context: Context,
    stream: BinaryIO,
    *,
    checks_pieces: bool = True,
    search: Search | None = None,
) -> End:
    """Classify the end of a file by the bytes after its last complete event.

    `stream`: the file. If it is seekable, its position changes.
    `checks_pieces`: whether all events have been processed, so that missing pieces of a rows event are known.
    `search`: finds complete events in the stream; it remembers what it found.
    Raises `TruncatedError`: a closed file ends inside an event.
    Raises `FramingError`: a file in use ends inside an event whose size is wrong, by its header or because
    complete events follow within it.
    Raises `GrammarError`: a closed file ends between the pieces of a rows event.
    """
    if context.is_in_use:
        if tail.header is not None:
            _check_size(file, tail, tail.header, context, search or Search(stream))
        return End(file, EndKind.IN_USE, tail.position, tail.size)
    if tail.kind is not TailKind.NOTHING:
        reason = f"ends inside an event; {tail.size} bytes follow the last complete one: {tail.kind.value}"
        raise TruncatedError(reason, file=file, position=tail.position)
    try:
        if checks_pieces:
            context.pieces.finish()
    except BinlogError as error:
        raise error.at(file=file, position=tail.position) from None
    return End(file, EndKind.CLEAN, tail.position, 0)


def _check_size(file: str, tail: Tail, header: Header, context: Context, search: Search) -> None:
    end = tail.position + header.len_event
    if context.has_exact_positions and header.next_position:
        if header.next_position == end & POSITION_MASK:
            return
        reason = f"its size puts its end at {end}, its header at {header.next_position}"
    else:
        following = search.after(tail.position, context)
        if following is None or following >= end:
            return
        reason = f"its size puts its end at {end}, but another event begins at {following}"
    kind = type_name(header.type_code)
    raise FramingError(reason, file=file, position=tail.position, event_type=kind, field="header.len_event")
