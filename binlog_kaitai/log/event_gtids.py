"""The GTID of each event's transaction, a block at a time.

The rules are those of `binlog_kaitai.core.transactions`; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from binlog_kaitai.arrow import pa
from binlog_kaitai.core.grammar import EventType
from binlog_kaitai.core.gtids import TAG
from binlog_kaitai.core.transactions import BETWEEN, GTID_TYPES, mysql_source
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.kernels.arrays import Array, Bools, Bytes, Ints
from binlog_kaitai.kernels.compile import kernel
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.gather import Gathered, chosen_texts
from binlog_kaitai.log.groups import distinct, group_ranges
from binlog_kaitai.log.line_arrays import Pool, TextColumn, json_text
from binlog_kaitai.log.text_kernels import TEXT, copy, put_number

#: Maximum number of digits, including spare room that `copy` needs.
NUMBER_ROOM = 40


@kernel
def number_markers(types: Bytes, is_marker: Bools, rows: Ints, latest: Ints) -> int:
    """Find the events of some types, and for each event the last of them up to it.

    `types`, `is_marker`: type of each event (uint8), and 256 flags.
    `rows`, `latest`: output: indexes of the events found, and for each event the index of the latest one up
    to it, or -1.
    Returns the number of events found.
    """
    count = 0
    for event in range(types.shape[0]):
        if is_marker[types[event]] and count < rows.shape[0]:
            rows[count] = event
            count += 1
        latest[event] = count - 1
    return count


@kernel
def write_numbered(
    texts: Bytes, starts: Ints, lengths: Ints, codes: Ints, numbers: Ints, after: int, out: Bytes, ends: Ints
) -> int:
    """For each code, write its text, a number and a byte; returns the total length, or -1 if full."""
    offset = 0
    for index in range(codes.shape[0]):
        code = codes[index]
        if code < 0 or code >= starts.shape[0]:
            return -1
        start = starts[code]
        length = lengths[code]
        if start < 0 or length < 0 or start + length > texts.shape[0]:
            return -1
        if offset + length + NUMBER_ROOM > out.shape[0]:
            return -1
        copy(texts, start, length, out, offset)
        offset = put_number(numbers[index], out, offset + length)
        out[offset] = after
        offset += 1
        ends[index] = offset
    return offset


_IS_MARKER = np.array([code in BETWEEN or code in GTID_TYPES for code in range(256)], dtype=np.bool_)

_QUOTE = ord('"')

#: The parts of a tagged GTID (MySQL 8.3 and later).
_UUIDS, _TAGS, _UUID_SIZE = "fields.uuid.bytes.value", "fields.tag.text", 16


class Markers(NamedTuple):
    """The events of a block that begin a transaction or stand between two.

    `rows`: numbers of these events in the block.
    `latest`: for each event of the block, the index in `rows` of the latest one up to it, or -1.
    """

    rows: NDArray[np.int64]
    latest: NDArray[np.int64]

    @classmethod
    def of(cls, block: Block) -> Markers:
        """The markers of a block."""
        rows, latest = np.empty(len(block), dtype=np.int64), np.empty(len(block), dtype=np.int64)
        count = number_markers.run(block.types, _IS_MARKER, rows, latest)
        return cls(rows[:count], latest)

    def spread(self, values: Array, before: int, events: Ints) -> Array:
        """The value in force at each of some events; one per marker, and one before the first of them."""
        return np.append(values, before)[self.latest[events]]


class Gtids(NamedTuple):
    """The GTIDs in force in a block, as JSON text in the pool.

    `first`, `second`: offsets and lengths, in the form of a `TextColumn`: of the GTIDs of its markers, then
    of the GTID before the block.
    `which`: for each event, the index of its GTID in these; -1 for the last.
    """

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    which: NDArray[np.int64]

    def column(self) -> TextColumn:
        """The GTID of each event."""
        return self.of(slice(None))._replace(by_event=True)

    def of(self, events: Ints | slice) -> TextColumn:
        """The GTIDs of some events."""
        which = self.which[events]
        return TextColumn(TEXT, self.first.take(which), self.second.take(which))


class GtidColumns:
    """Computes the GTID column of consecutive blocks of a file.

    `gtid`: JSON text of the GTID in force after the last block.
    """

    def __init__(self) -> None:
        self.gtid = b"null"

    def column(self, block: Block, pool: Pool, fail: Callable[[int, BinlogError], object]) -> TextColumn:
        """GTID of each event; `fail` is called with events that cannot be decoded."""
        return self.find(block, pool, fail).column()

    def find(
        self,
        block: Block,
        pool: Pool,
        fail: Callable[[int, BinlogError], object],
        markers: Markers | None = None,
    ) -> Gtids:
        """The GTIDs in force in the next block; `fail` is called with events that cannot be decoded."""
        markers = Markers.of(block) if markers is None else markers
        count = 1 + len(markers.rows)
        first = np.full(count, -pool.null[0] - 1, dtype=np.int64)
        second = np.full(count, pool.null[1], dtype=np.int64)
        offset, second[-1] = pool.add(self.gtid)
        first[-1] = -offset - 1
        for kind in block.kinds:
            if kind in GTID_TYPES:
                own = markers.latest.take(block.rows_of(kind))
                first[own], second[own] = _texts(block, kind, pool, fail)
        last = len(markers.rows) - 1
        self.gtid = pool.read(-int(first[last]) - 1, int(second[last]))
        return Gtids(first, second, markers.latest)


def check_gtids(block: Block, fail: Callable[[int, BinlogError], object]) -> None:
    """Call `fail` with the GTID events that cannot be decoded, like :meth:`GtidColumns.column`."""
    for kind in GTID_TYPES.intersection(block.kinds):
        rows = block.rows_of(kind)
        for row in rows[~readable(block, kind)].tolist():
            _by_reader(block, row, fail)


def readable(block: Block, kind: int) -> Bools:
    """Which GTID events of a type are certainly valid, as a bool array; the reader checks the others."""
    body = block.body(kind)
    if kind == EventType.gtid_tagged_log_event:
        return Stated.of(block, kind).matches
    return body.matches if _is_known(body, kind) else np.zeros(len(body.matches), dtype=np.bool_)


def _is_known(body: Gathered, kind: int) -> bool:
    """Whether the layout includes all parts of a GTID of this type."""
    fields = _FIELDS.get(kind)
    return fields is not None and all(path in body for path in fields)


#: The parts of a GTID, by event type.
_FIELDS: dict[int, tuple[str, ...]] = {
    EventType.gtid_log_event: ("uuid", "gno"),
    EventType.gtid_event: ("domain_id", "sequence_number"),
    EventType.anonymous_gtid_log_event: (),
}


def _by_reader(block: Block, row: int, fail: Callable[[int, BinlogError], object]) -> bytes | None:
    """The GTID of an event as JSON text; None if it cannot be decoded."""
    try:
        return json_text(block.event(row).stated_gtid)
    except BinlogError as error:
        fail(row, error)
        return None


class Stated(NamedTuple):
    """The GTIDs in the GTID events of one type.

    `sources`: the distinct ``uuid``, ``uuid:tag`` or ``domain-server``; empty if the type has no GTIDs.
    `codes`, `numbers`: for each event, the index of its source, and its number.
    `matches`: whether the GTID of an event is valid; the event reader decodes the others.
    """

    sources: list[str]
    codes: NDArray[np.int64]
    numbers: NDArray[np.int64]
    matches: NDArray[np.bool_]

    @classmethod
    def of(cls, block: Block, kind: int) -> Stated:
        """The GTIDs of a block."""
        rows, body = block.rows_of(kind), block.body(kind)
        if kind == EventType.gtid_tagged_log_event:
            return _of_tagged(block)
        if not _FIELDS.get(kind) or not _is_known(body, kind):
            nothing = np.zeros(len(rows), dtype=np.int64)
            return cls([], nothing, nothing, readable(block, kind))
        is_mysql = kind == EventType.gtid_log_event
        sources, codes, numbers = _of_mysql(body) if is_mysql else _of_mariadb(block, rows, body)
        # From 2^63 - 1 on, the event reader formats the number.
        return cls(sources, codes, numbers, body.matches & (numbers >= 0))


def _texts(
    block: Block, kind: int, pool: Pool, fail: Callable[[int, BinlogError], object]
) -> tuple[Ints, Ints]:
    """The GTIDs in the GTID events of one type, as text."""
    rows = block.rows_of(kind)
    stated = Stated.of(block, kind)
    first = np.full(len(rows), -pool.null[0] - 1, dtype=np.int64)
    second = np.full(len(rows), pool.null[1], dtype=np.int64)
    if stated.sources:
        mark = "-" if kind == EventType.gtid_event else ":"
        starts, ends = _write(
            pool, [f'"{source}{mark}' for source in stated.sources], stated.codes, stated.numbers
        )
        first, second = -starts - 1, ends - starts
    for index in np.flatnonzero(~stated.matches).tolist():
        text = _by_reader(block, int(rows[index]), fail)
        if text is not None:
            offset, second[index] = pool.add(text)
            first[index] = -offset - 1
    return first, second


def gtid_texts(first: Ints, second: Ints, choices: Ints, pool: Pool) -> pa.Array:
    """GTIDs from the pool, selected by number (-1 for the last), as an Arrow array; null for none."""
    choices = choices % len(first)
    is_null = first == -pool.null[0] - 1
    valid = ~is_null[choices] if is_null.any() else None
    # Exclude the quotes.
    return chosen_texts(pool.array(), -first, np.where(is_null, 0, second - 2), choices, valid)


def _write(pool: Pool, texts: list[str], codes: Ints, numbers: Ints) -> tuple[Ints, Ints]:
    """Write texts followed by a number and a quote into the pool; returns the range of each."""
    sources = [text.encode() for text in texts]
    lengths = np.array([len(source) for source in sources], dtype=np.int64)
    data = np.frombuffer(b"".join(sources), dtype=np.uint8)
    out = np.empty(int(lengths.max(initial=0) + NUMBER_ROOM) * (len(codes) + 1), dtype=np.uint8)
    ends = np.zeros(len(codes) + 1, dtype=np.int64)
    numbers = np.maximum(numbers, 0)
    size = write_numbered.run(
        data, np.cumsum(lengths) - lengths, lengths, codes, numbers, _QUOTE, out, ends[1:]
    )
    ends += pool.append(out[:size])
    return ends[:-1], ends[1:]


def _distinct(halves: Array) -> tuple[list[tuple[int, int]], Ints]:
    """Distinct columns of two rows of numbers, and for each column the index of its value."""
    if (halves == halves[:, :1]).all():
        return [tuple(halves[:, 0].tolist())], np.zeros(halves.shape[1], dtype=np.int64)
    found, codes = np.unique(halves.T, axis=0, return_inverse=True)
    return [tuple(pair) for pair in found.tolist()], codes.reshape(-1)


def _of_mysql(body: Gathered) -> tuple[list[str], Ints, Ints]:
    """The sources, the source of each event, and its number."""
    halves = np.stack(body.halves("uuid"))
    pairs, codes = _distinct(halves)
    uuids = [high.to_bytes(8, "big") + low.to_bytes(8, "big") for high, low in pairs]
    return [mysql_source(uuid) for uuid in uuids], codes, body.numbers("gno").view(np.int64)


def _of_mariadb(block: Block, rows: Ints, body: Gathered) -> tuple[list[str], Ints, Ints]:
    halves = np.stack((body.numbers("domain_id"), block.header_of(rows).numbers("server_id")))
    pairs, codes = _distinct(halves)
    numbers = body.numbers("sequence_number").view(np.int64)
    return [f"{domain}-{server}" for domain, server in pairs], codes, numbers


def _of_tagged(block: Block) -> Stated:
    body = block.body(EventType.gtid_tagged_log_event)
    parts, numbers = body.lists(_UUIDS), body.numbers("gno")
    matches = body.matches & ((parts >= 0) & (parts <= 0xFF)).all(axis=0) & (numbers > 0)
    uuids = np.ascontiguousarray(parts.T.astype(np.uint8)).reshape(-1)
    offsets = np.arange(len(numbers), dtype=np.int64) * _UUID_SIZE
    tags, lengths = body.ranges(_TAGS)
    of_uuid = group_ranges(uuids, offsets, offsets + _UUID_SIZE)
    of_tag = group_ranges(block.data, tags, tags + lengths)
    first, codes = distinct(of_uuid * (len(numbers) + 1) + of_tag)
    sources = []
    for number, index in enumerate(first.tolist()):
        start = int(tags[index])
        tag = bytes(block.data[start : start + int(lengths[index])])
        uuid = bytes(uuids[index * _UUID_SIZE : (index + 1) * _UUID_SIZE])
        text = tag.decode("latin-1")
        if text and TAG.fullmatch(text) is None:
            matches[codes == number] = False
            text = ""
        sources.append(mysql_source(uuid, text))
    return Stated(sources, codes, numbers, matches)
