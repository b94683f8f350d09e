"""Inverts rows events: the inverse operation, and all images in reverse order."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from binlog_kaitai.core.framing import Frame
from binlog_kaitai.core.grammar import EventType, Format, header_offset, masks
from binlog_kaitai.errors import GrammarError, UsageError
from binlog_kaitai.log.block import offset_of
from binlog_kaitai.log.decoders import len_null_bits
from binlog_kaitai.log.event_reader import Event
from binlog_kaitai.log.gather import take_ranges
from binlog_kaitai.render.dump.row_programs import RowsHeader, images_end
from binlog_kaitai.rows.cell_widths import widths_of
from binlog_kaitai.rows.image_walk import FULL, MISMATCH, STATE_SIZE, locate
from binlog_kaitai.values.schema import Schema

if TYPE_CHECKING:
    from binlog_kaitai.core.bodies import RowsEvent
    from binlog_kaitai.kernels.arrays import Bytes, Ints


_STATEMENT_END = masks.RowsEvent.IS_STATEMENT_END
_TYPE_AT = header_offset("type_code")
#: How many rows are located at once.
_ROWS = 1 << 14
#: Number of cached pairs of a table and a rows event header.
_MOST = 1 << 10
_NOWHERE = np.iinfo(np.int64).max


@lru_cache
def opposite(kind: int) -> int:
    """The inverse of a rows event type."""
    name = EventType(kind).name
    for verb, other in (("write_", "delete_"), ("delete_", "write_")):
        if name.startswith(verb):
            return int(getattr(EventType, other + name.removeprefix(verb)))
    return kind


def flagged(event: Event, *, is_end: bool) -> bytes:
    """A rows event with its end-of-statement flag set or cleared."""
    at = _flags_at(event.layout, event.type_code)
    if at is None:
        raise event.locate(GrammarError("its flags cannot be located"))
    raw = event.raw
    flags = raw[at] | _STATEMENT_END if is_end else raw[at] & ~_STATEMENT_END
    return raw[:at] + bytes([flags]) + raw[at + 1 :]


@lru_cache
def _flags_at(layout: Format, code: int) -> int | None:
    place = offset_of(layout, layout.effective_type(code), code, "flags")
    return None if place is None else layout.header_length + place


def event_of(event: Event, raw: bytes) -> Event:
    """An event with other bytes, and the type in these."""
    header = event.fixed_header._replace(type_code=raw[_TYPE_AT])
    frame = Frame(event.position, header, raw)
    return Event(event.file, frame, event.layout, event.table_map, event.checksum_status)


class _Program(NamedTuple):
    """The arguments of `locate` for a table and a rows event header."""

    which: int
    width: int
    null_bytes: int
    limits: Any
    steps: Any


class InverseRows:
    """Inverts rows events, one after another."""

    def __init__(self) -> None:
        self._programs: dict[tuple[RowsHeader, bytes], _Program] = {}

    def __call__(self, event: Event, rows_header: RowsHeader | None, content: bytes | None) -> Event:
        """The inverse of an event.

        Its checksum stays unchanged, as in `mariadb-binlog`.

        Parameters
        ----------
        event
            A rows event that is not compressed.
        rows_header, content
            Its header, and the bytes of its table map, if known.

        Raises
        ------
        UsageError
            Rows do not have all columns.
        GrammarError
            The rows contradict their table map.
        """
        end = images_end(event)
        body: Any = event.body if rows_header is None else rows_header.body
        header = event.layout.header_length_of(event.type_code)
        start = end - len(body.images) if rows_header is None else header + len(rows_header.content)
        if event.table_map is None:
            raise event.locate(GrammarError("the rows have no table map"))
        _check_images(event, body)
        data = np.frombuffer(event.raw, dtype=np.uint8)
        begins = self._begins(event, self._program(event, rows_header, content), data, (start, end))[::-1]
        lengths = -np.diff(begins, prepend=end)
        images, _ = take_ranges(data, np.ascontiguousarray(begins), lengths)
        raw, code = event.raw, bytes([opposite(event.type_code)])
        front = raw[:_TYPE_AT] + code + raw[_TYPE_AT + 1 : start]
        return event_of(event, front + images.tobytes() + raw[end:])

    def _program(self, event: Event, rows_header: RowsHeader | None, content: bytes | None) -> _Program:
        if rows_header is None or content is None:
            return _program(event, event.body if rows_header is None else rows_header.body)
        if (rows_header, content) not in self._programs:
            if len(self._programs) >= _MOST:
                self._programs.clear()
            self._programs[rows_header, content] = _program(event, rows_header.body)
        return self._programs[rows_header, content]

    def _begins(self, event: Event, program: _Program, data: Bytes, place: tuple[int, int]) -> Any:
        """The start of each image, in order, int64."""
        start, end = place
        one = np.zeros(1, dtype=np.int64)
        state = np.zeros(STATE_SIZE, dtype=np.int64)
        begins: list[Any] = []
        room = min(_ROWS, end - start + 2)
        starts = np.empty((program.width, room), dtype=np.int64)
        found = [np.empty(room, dtype=kind) for kind in (np.int64, np.int64, np.uint8, np.int64)]
        find = locate.run
        ranges = one + start, one + end, one, one, one + program.which, one - 1
        while True:
            count = find(data, *ranges, program.limits, *program.steps, state, starts, *found)
            if state[3] == MISMATCH:
                raise event.locate(GrammarError("the rows do not match their table map"))
            offsets = starts[:, :count]
            first = np.where(offsets < 0, _NOWHERE, offsets).min(axis=0, initial=_NOWHERE)
            begins.append(first - program.null_bytes)
            if state[3] != FULL:
                return _filled(np.concatenate(begins), end, program.null_bytes)
            state[3] = 1


def _filled(begins: Ints, end: int, size: int) -> Any:
    """The same, including all-NULL images, which have `size` bytes."""
    for index in np.flatnonzero(begins > end)[::-1].tolist():
        begins[index] = (begins[index + 1] if index + 1 < len(begins) else end) - size
    return begins


def _check_images(event: Event, body: Any) -> None:
    columns = [] if body.is_write else [body.columns]
    columns += [body.columns_after] if body.is_update else []
    if any(one.num_present < body.num_columns.value for one in columns):
        place = f"{event.file}, position {event.position}"
        raise UsageError(f"{place}: --flashback requires full row images (binlog_row_image=FULL)")


def _program(event: Event, body: RowsEvent) -> _Program:
    table_map: Any = event.table_map
    columns = Schema.of(table_map, is_mariadb=True).columns
    widths = widths_of(table_map, columns)
    present = [index for index, one in enumerate(body.columns.columns) if one.is_present]
    if None in widths or (present and present[-1] >= len(columns)):
        raise event.locate(GrammarError("the lengths of its values are unknown"))
    steps = [(index, *(widths[index] or ())) for index in present]
    numbers = np.array(steps * (2 if body.is_update else 1), dtype=np.int64).reshape(-1, 3)
    limits = np.array([0, 0 if body.is_write else len(steps), len(numbers)], dtype=np.int64)
    which = 3 if body.is_update else 2 if body.is_write else 1
    by_name = tuple(np.ascontiguousarray(numbers[:, at]) for at in range(3))
    return _Program(which, len(columns), len_null_bits(len(present)), limits, by_name)
