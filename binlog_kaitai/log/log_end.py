"""How a log ended: closed, in use, or truncated."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from binlog_kaitai.core.context import Context
from binlog_kaitai.core.event_types import type_name
from binlog_kaitai.core.framing import Tail, TailKind
from binlog_kaitai.core.grammar import POSITION_MASK, Header
from binlog_kaitai.errors import BinlogError, FramingError, TruncatedError


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


def classify_end(file: str, tail: Tail, context: Context, *, checks_pieces: bool = True) -> End:
    """Classify the end of a file by the bytes after its last complete event.

    `checks_pieces`: whether all events have been processed, so that missing pieces of a rows event are known.
    Raises `TruncatedError`: a closed file ends inside an event.
    Raises `FramingError`: a file in use ends inside an event whose header contradicts itself.
    Raises `GrammarError`: a closed file ends between the pieces of a rows event.
    """
    if context.is_in_use:
        if tail.header is not None and context.has_exact_positions:
            _check_header(file, tail, tail.header)
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


def _check_header(file: str, tail: Tail, header: Header) -> None:
    end = tail.position + header.len_event
    if header.next_position not in (0, end & POSITION_MASK):
        reason = f"its size puts its end at {end}, its header at {header.next_position}"
        kind = type_name(header.type_code)
        raise FramingError(
            reason, file=file, position=tail.position, event_type=kind, field="header.len_event"
        )
