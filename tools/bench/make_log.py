"""Makes large logs from small ones: a transaction of the corpus, repeated as a server would write it.

Positions, GTIDs, times, connections and checksums are regenerated (see `vary`), so that the result is a valid
log as varied as a server's. Rows stay the same.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from binlog_kaitai.core.framing import MAGIC
from binlog_kaitai.core.grammar import EventType, Format, header_offset, parse_event
from binlog_kaitai.core.payload import declared_size
from binlog_kaitai.core.transactions import GTID_TYPES
from binlog_kaitai.kernels.arrays import view_of
from binlog_kaitai.log.block_reader import BlockReader, frame_all
from tools.bench.vary import (
    DIGITS,
    renew,
    status_variable,
    with_length,
    with_text,
    with_variable,
    within_statement,
)

#: Number of bytes written at a time.
_CHUNK = 8 << 20

#: A log with a statement whose timestamp has microseconds.
_WITH_MICROSECONDS = Path(__file__).parents[2] / "tests/corpus/mysql-9.7/mixed/binlog.000001"

_STATEMENT = b"INSERT INTO orders VALUES (%s, 'Ann \"x\" O''Neil\\\\', 12.50)" % DIGITS


class Shape(NamedTuple):
    """The content of a large log: complete events."""

    name: str
    layout: Format
    head: bytes  # everything before the first transaction, with the magic
    events: tuple[bytes, ...]  # of one transaction
    packed_ratio: float  # size in the file divided by the size of the events after decompression
    micros: int | None  # offset of the microseconds in statements


def shape_of(name: str, log: Path, *, event_size: int, repeat: int = 1) -> Shape:
    """A transaction whose largest event with rows is nearest to a size, with that event `repeat` times.

    Only the last one of these may end the statement, after which clients forget its table maps.
    """
    head, transactions, layout = _split(log)
    best = min(
        transactions, key=lambda events: abs(max(map(len, _rows(events)), default=1 << 30) - event_size)
    )
    largest = max(_rows(best), key=len)
    events: list[bytes] = []
    for event in best:
        if event is largest and repeat > 1:
            events += [within_statement(event, layout)] * (repeat - 1)
        events.append(event)
    return _finished(name, layout, head, events)


def statements_of(name: str, log: Path) -> Shape:
    """Transactions of one statement each, all different."""
    head, transactions, layout = _split(log)
    gtid, begin, *_, end = next(events for events in transactions if _type(events[-1]) == EventType.xid_event)
    return _finished(name, layout, head, [gtid, begin, with_text(begin, layout, _STATEMENT), end])


def _finished(name: str, layout: Format, head: bytes, events: list[bytes]) -> Shape:
    """A shape whose statements have microseconds, as in most MySQL logs."""
    events, micros = list(events), None
    for number, event in enumerate(events):
        if _type(event) == EventType.query_event:
            events[number] = with_variable(event, layout, _microseconds())
            variable = status_variable(events[number], layout, "microseconds")
            micros = variable and variable[1]  # the first variable in all statements
    if _type(events[0]) == EventType.gtid_log_event:
        events[0] = with_length(events[0], layout, sum(map(len, events)))
    return Shape(name, layout, head, tuple(events), _packed_ratio(events, layout), micros)


@cache
def _microseconds() -> bytes:
    """A status variable with microseconds, from a statement of the corpus."""
    _, transactions, layout = _split(_WITH_MICROSECONDS)
    for event in (event for events in transactions for event in events):
        variable = _type(event) == EventType.query_event and status_variable(event, layout, "microseconds")
        if variable:
            return event[variable[0] : variable[2]]
    raise LookupError(f"{_WITH_MICROSECONDS} has no statement with microseconds")


def _type(event: bytes) -> int:
    return event[header_offset("type_code")]


def _packed_ratio(events: list[bytes], layout: Format) -> float:
    """Size of events divided by their size with their payloads decompressed."""
    packed = unpacked = 0
    for event in events:
        packed += len(event)
        unpacked += len(event)
        if _type(event) == EventType.transaction_payload_event:
            payload: Any = parse_event(event, EventType.transaction_payload_event, layout).body.content
            unpacked += declared_size(payload)
    return packed / unpacked


def _split(log: Path) -> tuple[bytes, list[list[bytes]], Format]:
    head, transactions = MAGIC, list[list[bytes]]()
    with log.open("rb") as stream:
        reader = BlockReader.of_file(stream, str(log))
        for block in reader:
            for row, kind in enumerate(block.types.tolist()):
                if kind in GTID_TYPES:
                    transactions.append([])
                if transactions:
                    transactions[-1].append(block.raw(row))
                else:
                    head += block.raw(row)
    return head, transactions, reader.context.layout


def _rows(events: list[bytes]) -> list[bytes]:
    types = (
        EventType.write_rows_event,
        EventType.write_rows_event_v1,
        EventType.transaction_payload_event,
    )
    return [event for event in events if _type(event) in types]


def write(shape: Shape, path: Path, size: int, *, chunk: int | None = None) -> int:
    """Write a log of some `size` bytes, `chunk` bytes of it at a time; gives the number of its events."""
    once = b"".join(shape.events)
    times = max((_CHUNK if chunk is None else chunk) // len(once), 1)
    count, number = 0, 1
    block = frame_all(shape.name, once * times, shape.layout)
    assert block is not None
    with path.open("wb") as file:
        file.write(shape.head)
        while not count or file.tell() < size:
            number = renew(block, file.tell(), number, shape.micros)
            file.write(view_of(block.data))
            count += len(block)
    return count
