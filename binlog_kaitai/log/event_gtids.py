"""The GTID of each event's transaction: a block at a time, and event by event."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from binlog_kaitai.arrow import pa
from binlog_kaitai.core.grammar import EventType
from binlog_kaitai.core.gtids import TAG
from binlog_kaitai.core.transactions import BETWEEN, GTID_TYPES, mysql_source
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.kernels.arrays import Array, Bools, Bytes, Ints, OutBytes, OutInts
from binlog_kaitai.kernels.compile import kernel
from binlog_kaitai.kernels.groups import distinct, group_ranges
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.boundaries import Boundaries
from binlog_kaitai.log.gather import Gathered
from binlog_kaitai.text.line_arrays import Pool, TextColumn
from binlog_kaitai.text.text_kernels import TEXT, copy, put_number

#: Maximum number of digits, including spare room that `copy` needs.
NUMBER_ROOM = 40


@kernel
def number_markers(types: Bytes, is_marker: Bools, others: Ints, rows: OutInts, latest: OutInts) -> int:
    """Find the events of some types, and further ones, and for each event the last of them up to it.

    `types`, `is_marker`: type of each event (uint8), and 256 flags.
    `others`: numbers of the further ones, ascending.
    `rows`, `latest`: output: indexes of the events found, and for each event the index of the latest one up
    to it, or -1.
    Returns the number of events found.
    """
    count = other = 0
    for event in range(types.shape[0]):
        is_other = other < others.shape[0] and others[other] == event
        if is_other:
            other += 1
        if (is_marker[types[event]] or is_other) and count < rows.shape[0]:
            rows[count] = event
            count += 1
        latest[event] = count - 1
    return count


@kernel
def write_numbered(
    texts: Bytes,
    starts: Ints,
    lengths: Ints,
    codes: Ints,
    numbers: Ints,
    after: int,
    out: OutBytes,
    ends: OutInts,
) -> int:
    """For each code, write its text, the number unless it is negative, and a byte unless `after` is.

    Nothing for a negative code. Returns the total length, or -1 if `out` is full or a text is not in `texts`.
    """
    offset = 0
    for index in range(codes.shape[0]):
        code = codes[index]
        if code >= 0:
            if code >= starts.shape[0]:
                return -1
            start = starts[code]
            length = lengths[code]
            if start < 0 or length < 0 or start + length > texts.shape[0]:
                return -1
            if offset + length + NUMBER_ROOM > out.shape[0]:
                return -1
            offset = copy(texts, start, length, out, offset)
            if numbers[index] >= 0:
                offset = put_number(numbers[index], out, offset)
            if after >= 0:
                out[offset] = after
                offset += 1
        ends[index] = offset
    return offset


_IS_MARKER = np.array([code in BETWEEN or code in GTID_TYPES for code in range(256)], dtype=np.bool_)

_QUOTE = ord('"')

#: The parts of a tagged GTID (MySQL 8.3 and later).
_UUIDS, _TAGS, _UUID_SIZE = "fields.uuid.bytes.value", "fields.tag.text", 16


class Markers(NamedTuple):
    """The events of a block from which on another GTID applies, or none: GTID events, events of the log
    itself, and those that begin a transaction without GTID event.

    `rows`: numbers of these events in the block.
    `latest`: for each event of the block, the index in `rows` of the latest one up to it, or -1.
    """

    rows: NDArray[np.int64]
    latest: NDArray[np.int64]

    @classmethod
    def of(cls, block: Block, boundaries: Boundaries) -> Markers:
        """The markers of the next block of a file; `boundaries` has followed the blocks before."""
        rows, latest = np.empty((2, len(block)), dtype=np.int64)
        others = boundaries.without_gtid(block)
        count = number_markers.run(block.types, _IS_MARKER, others, rows, latest)
        return cls(rows[:count], latest)


class Gtids:
    """The GTIDs in force in a block: those of its markers, then that before the block.

    `sources`: GTIDs up to their numbers, such as ``uuid:``, and whole ones.
    `codes`, `numbers`: of each GTID, the index of its source, or -1 for none; and its number, or -1 if the
    source is all of it.
    `markers`: the markers of the block.
    `which`: for each event, the index of its GTID in these; -1 for the last.
    `pool`: where the GTIDs are written as JSON text, once they are asked for.
    """

    def __init__(self, sources: list[str], codes: Ints, numbers: Ints, markers: Markers, pool: Pool) -> None:
        self.markers, self.which = markers, markers.latest
        self._sources, self._codes, self._numbers, self._pool = sources, codes, numbers, pool

    def part(self, events: slice) -> Gtids:
        """The GTIDs in force in a range of the block."""
        markers = self.markers._replace(latest=self.which[events])
        return Gtids(self._sources, self._codes, self._numbers, markers, self._pool)

    @property
    def is_given(self) -> Bools:
        """Which of these are a GTID, as a bool array."""
        return self._codes >= 0

    @cached_property
    def texts(self) -> list[str | None]:
        """Each GTID; None for none."""
        pairs = zip(self._codes.tolist(), self._numbers.tolist(), strict=True)
        return [
            None if code < 0 else self._sources[code] + (str(number) if number >= 0 else "")
            for code, number in pairs
        ]

    def array(self, choices: Ints) -> pa.Array:
        """Some of the GTIDs, by their index, as an Arrow array; null for none."""
        codes = self._codes.take(choices)
        data, limits = _written(self._sources, codes, self._numbers.take(choices))
        bits = pa.py_buffer(np.packbits(codes >= 0, bitorder="little")) if (codes < 0).any() else None
        buffers = [bits, pa.py_buffer(limits.astype(np.int32)), pa.py_buffer(data)]
        return pa.Array.from_buffers(pa.string(), len(codes), buffers)

    def column(self, events: Ints | slice = slice(None)) -> TextColumn:
        """The GTIDs of some events, or by event, as JSON text."""
        which = self.which[events]
        first, second = (values.take(which) for values in self._places)
        return TextColumn(TEXT, first, second, by_event=isinstance(events, slice))

    @cached_property
    def _places(self) -> tuple[Ints, Ints]:
        """Offset and length of each GTID in the pool, in the form of a `TextColumn`."""
        sources = [f'"{source}' for source in self._sources]
        data, limits = _written(sources, self._codes, self._numbers, _QUOTE)
        null, is_null = self._pool.null, self._codes < 0
        starts = np.where(is_null, null[0], limits[:-1] + self._pool.append(data))
        return -starts - 1, np.where(is_null, null[1], np.diff(limits))


class GtidColumns:
    """Finds the GTIDs in force in consecutive blocks of a file."""

    def __init__(self) -> None:
        self._boundaries = Boundaries()
        self._last: tuple[str, int] | None = None  # source and number

    def find(self, block: Block, pool: Pool, fail: Callable[[int, BinlogError], object]) -> Gtids:
        """The GTIDs in force in the next block; `fail` is called with events that cannot be decoded."""
        markers = Markers.of(block, self._boundaries)
        codes, numbers = np.full((2, len(markers.rows) + 1), -1, dtype=np.int64)
        sources = list[str]()
        if self._last is not None:
            sources.append(self._last[0])
            codes[-1], numbers[-1] = 0, self._last[1]
        for kind in block.kinds:
            if kind in GTID_TYPES:
                own = markers.latest.take(block.rows_of(kind))
                codes[own], numbers[own] = _stated(block, kind, sources, fail)
        last = len(markers.rows) - 1
        self._last = None if codes[last] < 0 else (sources[codes[last]], int(numbers[last]))
        return Gtids(sources, codes, numbers, markers, pool)


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


def _by_reader(block: Block, row: int, fail: Callable[[int, BinlogError], object]) -> str | None:
    """The GTID of an event; None if there is none, or it cannot be decoded."""
    try:
        return block.event(row).stated_gtid
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


def _stated(
    block: Block, kind: int, sources: list[str], fail: Callable[[int, BinlogError], object]
) -> tuple[Ints, Ints]:
    """`Gtids.codes` and `numbers` of the GTID events of one type, whose sources are added to `sources`."""
    rows, stated = block.rows_of(kind), Stated.of(block, kind)
    codes = stated.codes + len(sources) if stated.sources else np.full(len(rows), -1, dtype=np.int64)
    numbers = np.where(stated.matches, stated.numbers, -1)
    mark = "-" if kind == EventType.gtid_event else ":"
    sources += [source + mark for source in stated.sources]
    for index in np.flatnonzero(~stated.matches).tolist():
        gtid = _by_reader(block, int(rows[index]), fail)
        codes[index] = -1 if gtid is None else len(sources)
        sources += [] if gtid is None else [gtid]
    return codes, numbers


def _written(texts: list[str], codes: Ints, numbers: Ints, after: int = -1) -> tuple[Bytes, Ints]:
    """The texts of codes, each with a number and a byte, see `write_numbered`, and the limits of each."""
    sources = [text.encode() for text in texts]
    lengths = np.array([len(source) for source in sources], dtype=np.int64)
    data = np.frombuffer(b"".join(sources), dtype=np.uint8)
    out = np.empty(int(lengths.max(initial=0) + NUMBER_ROOM) * (len(codes) + 1), dtype=np.uint8)
    limits = np.zeros(len(codes) + 1, dtype=np.int64)
    starts = np.cumsum(lengths) - lengths
    size = write_numbered.run(data, starts, lengths, codes, numbers, after, out, limits[1:])
    return out[:size], limits


def _distinct(high: Array, low: Array) -> tuple[list[tuple[int, int]], Ints]:
    """Distinct pairs of numbers, and for each pair the index of its value."""
    groups = distinct(high)[1] * (len(low) + 1) + distinct(low)[1]
    first, codes = distinct(groups)
    return list(zip(high[first].tolist(), low[first].tolist(), strict=True)), codes


def _of_mysql(body: Gathered) -> tuple[list[str], Ints, Ints]:
    """The sources, the source of each event, and its number."""
    pairs, codes = _distinct(*body.halves("uuid"))
    uuids = [high.to_bytes(8, "big") + low.to_bytes(8, "big") for high, low in pairs]
    return [mysql_source(uuid) for uuid in uuids], codes, body.numbers("gno").view(np.int64)


def _of_mariadb(block: Block, rows: Ints, body: Gathered) -> tuple[list[str], Ints, Ints]:
    pairs, codes = _distinct(body.numbers("domain_id"), block.header_of(rows).numbers("server_id"))
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
