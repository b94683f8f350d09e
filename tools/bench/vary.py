"""Varies copies of a transaction like the transactions of a busy server.

Timestamps advance by some hundred microseconds, connections alternate, numbers increase. The offsets of
values come from the record layouts and, inside status variables, from the traced classes.
"""

from __future__ import annotations

import re
import zlib
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from binlog_kaitai.core.grammar import CHECKSUM_SIZE, EventType, Format, header_offset, masks, parse_event
from binlog_kaitai.core.transactions import GTID_TYPES
from binlog_kaitai.core.tree import extents
from binlog_kaitai.kernels.arrays import view_of
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.block_reader import frame_all

#: Start of the first transaction, in microseconds since 1970, and average interval between transactions.
_FIRST, _STEP = 1_780_000_000_000_000, 173

#: Number of connections, which alternate.
_CONNECTIONS = 61

#: The digits in a statement's text that differ in each transaction.
DIGITS = b"0000000000"

_TOP_BIT = 0x80


class Moment(NamedTuple):
    """Transactions by number, as arrays: number, microseconds since 1970, connection."""

    numbers: Any
    times: Any
    threads: Any

    @classmethod
    def of(cls, numbers: Any) -> Moment:
        """Values as on a server, with some irregularity."""
        jitter = numbers * 2_654_435_761 % (2 * _STEP)
        return cls(numbers, _FIRST + numbers * _STEP + jitter, 8 + numbers * 7919 % _CONNECTIONS)


def renew(block: Block, position: int, first: int, micros: int | None) -> int:
    """Update copies of a transaction for an offset in a log; returns the number of the next transaction.

    Parameters
    ----------
    position
        Offset of the block in the log.
    first
        Number of the first transaction.
    micros
        Offset of the microseconds in statement events, if there are any.
    """
    put(block.data, block.starts + header_offset("next_position"), position + block.starts + block.sizes, 4)
    is_begin = np.isin(block.types, list(GTID_TYPES))
    of_event = first - 1 + np.cumsum(is_begin)
    put(block.data, block.starts + header_offset("timestamp"), Moment.of(of_event).times // 1_000_000, 4)
    for kind in block.kinds:
        moment = Moment.of(of_event[block.rows_of(kind)])
        for path, values in _values(block, kind, moment).items():
            positions, width = _field(block, kind, path)
            put(block.data, positions, values, width)
    if micros is not None:
        rows = block.rows_of(EventType.query_event)
        put(block.data, block.starts[rows] + micros, Moment.of(of_event[rows]).times % 1_000_000, 3)
    _number_statements(block, of_event)
    _sign(block)
    return int(of_event[-1]) + 1


def _values(block: Block, kind: int, moment: Moment) -> dict[str, Any]:
    """New values for the fields of events of one type."""
    numbers, body = moment.numbers, block.body(kind)
    match kind:
        case EventType.gtid_log_event:
            high = body.numbers("immediate_commit_timestamp_high") & _TOP_BIT
            return {
                "gno": numbers,
                "last_committed": numbers - 1,
                "sequence_number": numbers,
                "immediate_commit_timestamp_low": moment.times & 0xFFFFFFFF,
                "immediate_commit_timestamp_middle": moment.times >> 32 & 0xFFFF,
                "immediate_commit_timestamp_high": moment.times >> 48 | high,
            }
        case EventType.gtid_event:
            return {"sequence_number": numbers}
        case EventType.query_event:
            return {"thread_id": moment.threads}
        case EventType.xid_event:
            return {"xid": 10 + 3 * numbers}
    return {}


def _field(block: Block, kind: int, path: str) -> tuple[Any, int]:
    body = block.body(kind)
    return body.positions(path), int(body.field(path).dtype[-1])


def _number_statements(block: Block, of_event: Any) -> None:
    kind = EventType.query_event
    if kind not in block.counts:
        return
    starts, lengths = block.body(kind).ranges("query")
    numbers = of_event[block.rows_of(kind)]
    for length in np.unique(lengths).tolist():
        chosen = np.flatnonzero(lengths == length)
        start = int(starts[chosen[0]])
        text = bytes(block.data[start : start + length])
        for match in re.finditer(rb"\d{%d}" % len(DIGITS), text):
            for digit in range(len(DIGITS)):
                values = numbers[chosen] // 10 ** (len(DIGITS) - 1 - digit) % 10 + ord("0")
                put(block.data, starts[chosen] + match.start() + digit, values, 1)


def _sign(block: Block) -> None:
    if block.layout.is_checksummed:
        after = block.starts + block.sizes - CHECKSUM_SIZE
        view, pairs = view_of(block.data), zip(block.starts.tolist(), after.tolist(), strict=True)
        crc32s = np.array([zlib.crc32(view[start:end]) for start, end in pairs])
        put(block.data, after, crc32s, CHECKSUM_SIZE)


def put(data: Any, positions: Any, values: Any, width: int) -> None:
    """Write little-endian numbers of `width` bytes."""
    for step in range(width):
        data[positions + step] = (values >> (8 * step)) & 0xFF


# Single events ---------------------------------------------------------------------------------------------


def status_variable(event: bytes, layout: Format, key: str) -> tuple[int, int, int] | None:
    """Range of a status variable in a statement's event, and its value; None without it."""
    content: Any = parse_event(event, EventType.query_event, layout).body.content
    outer = extents(content)["status_vars"].start + _start_of_body(event, layout)
    bounds = extents(content.status_vars)["variables"].bounds
    for variable, (start, end) in zip(content.status_vars.variables, pairwise(bounds), strict=True):
        if variable.key.name == key:
            value = extents(variable)["value"].start
            return outer + start, outer + value, outer + end
    return None


def _start_of_body(event: bytes, layout: Format) -> int:
    return layout.header_length_of(event[header_offset("type_code")])


def with_variable(event: bytes, layout: Format, variable: bytes) -> bytes:
    """A statement with an additional status variable before the others."""
    block = frame_all("", event, layout)
    assert block is not None
    kind = EventType.query_event
    offset = int(block.body(kind).ranges("status_vars")[0][0])
    positions, width = _field(block, kind, "len_status_vars")
    put(block.data, positions, block.body(kind).numbers("len_status_vars") + len(variable), width)
    return _resized(bytes(block.data[:offset]) + variable + bytes(block.data[offset:]))


def with_text(event: bytes, layout: Format, text: bytes) -> bytes:
    """A statement with another text."""
    block = frame_all("", event, layout)
    assert block is not None
    start, length = (int(ranges[0]) for ranges in block.body(EventType.query_event).ranges("query"))
    return _resized(event[:start] + text + event[start + length :])


def within_statement(event: bytes, layout: Format) -> bytes:
    """A rows event that does not end its statement; a transaction payload unchanged."""
    block = frame_all("", event, layout)
    assert block is not None
    (kind,) = block.kinds
    if kind != EventType.transaction_payload_event:
        positions, width = _field(block, kind, "flags")
        flags = block.body(kind).numbers("flags").astype(np.int64)
        put(block.data, positions, flags & ~masks.RowsEvent.IS_STATEMENT_END, width)
    return bytes(block.data)


def with_length(event: bytes, layout: Format, length: int) -> bytes:
    """A GTID event with another transaction length."""
    block = frame_all("", event, layout)
    assert block is not None
    body, kind = block.body(EventType.gtid_log_event), EventType.gtid_log_event
    for part in ("first", "value_2", "value_3"):
        path = f"packed_len_transaction.{part}"
        if body.mask(path)[0] and (part != "first" or length <= 250):
            positions, width = _field(block, kind, path)
            if length < 1 << 8 * width:
                put(block.data, positions, np.array([length]), width)
    return bytes(block.data)


def _resized(event: bytes) -> bytes:
    offset = header_offset("len_event")
    return event[:offset] + len(event).to_bytes(4, "little") + event[offset + 4 :]
