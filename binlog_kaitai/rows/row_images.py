"""The rows events of a block: location and columns of their images."""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from binlog_kaitai.core.grammar import ROWS_TYPES, parse_compressed
from binlog_kaitai.errors import BinlogError, GrammarError
from binlog_kaitai.kernels.arrays import Bools, Bytes, Ints
from binlog_kaitai.kernels.groups import distinct, group_ranges
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.body_validator import BodyValidator
from binlog_kaitai.log.gather import Gathered
from binlog_kaitai.rows.table_maps import Table, Tables, Width
from binlog_kaitai.values.decoders import len_partial_bits

_COMPRESSED = "compressed_images"

#: Size of decompressed events held at a time, in bytes; a single event may be larger.
_DECOMPRESSED_ROOM = 16 << 20

_NO_BYTES, _NONE = np.zeros(0, dtype=np.uint8), np.zeros(0, dtype=np.int64)

#: Maximum number of programs cached per table.
_MAX_PROGRAMS = 1 << 10

#: Deflate compresses by at most a factor of about 1000.
_MOST_RATIO = 1032


#: Column, length, and size of the length prefix of a value in an image.
Step = tuple[int, int, int]


class ImageProgram(NamedTuple):
    """Layout of the images of some events; see `WalkInput`.

    `updated`: for rows with partial updates: their columns.
    """

    which: int
    partial: int
    counts: tuple[int, int]  # number of steps of each image
    steps: Ints  # int64 array of shape (n, 3): column, length, size of the length prefix
    hop_counts: tuple[int, int]  # number of hops of each image
    hops: Ints  # int64 array of shape (n, 2): number of bytes, size of a length prefix
    updated: tuple[int, ...] = ()

    def for_updates(self, updated: tuple[int, ...], unknown: Collection[int]) -> ImageProgram:
        """The program for rows with partial updates of columns, without those whose values are unknown."""
        first, _ = self.counts
        is_known = [step < first or column not in unknown for step, column in enumerate(self.steps[:, 0])]
        steps = self.steps[np.array(is_known, dtype=np.bool_)]
        return self._replace(counts=(first, len(steps) - first), steps=steps, updated=updated)

    def columns(self) -> tuple[list[int], list[int]]:
        """Columns of the before image and of the after image."""
        columns: list[int] = self.steps[:, 0].tolist()
        return columns[: self.counts[0]], columns[self.counts[0] :]

    @classmethod
    def of(cls, which: int, partial: int, before: list[Step], after: list[Step]) -> ImageProgram:
        """The program for the steps of both images."""
        hops, hops_after = _hops(before), _hops(after)
        return cls(
            which,
            partial,
            (len(before), len(after)),
            np.array(before + after, dtype=np.int64).reshape(-1, 3),
            (len(hops), len(hops_after)),
            np.array(hops + hops_after, dtype=np.int64).reshape(-1, 2),
        )


def _hops(steps: list[Step]) -> list[tuple[int, int]]:
    """Merge the steps of an image: numbers of bytes, and the size of the length prefix after each, or 0."""
    hops, gap = list[tuple[int, int]](), 0
    for _, size, prefix in steps:
        if prefix:
            hops.append((gap, prefix))
        gap = 0 if prefix else gap + size
    return [*hops, (gap, 0)] if gap else hops


class Images:
    """The rows events of a block, in block order, without those that only end a statement.

    `rows`: int64 array, event numbers in the block.
    `tables`: the tables of the events, or the error that prevents decoding one.
    `table_of`: int64 array, index of each event's table in `tables`; -1 if its table map is missing.
    """

    def __init__(self, block: Block, tables: Tables) -> None:
        self.block = block
        kinds = [kind for kind in block.kinds if kind in ROWS_TYPES]
        parts = [_Part.of(block, kind, tables.validator) for kind in kinds]
        part = parts[0] if len(parts) == 1 else _Part.joined(parts)
        self.tables, self.table_of = tables.take(block, part.rows)
        is_dummy = (self.table_of < 0) & part.is_dummy.astype(np.bool_)
        if is_dummy.any():
            part, self.table_of = part.select(~is_dummy), self.table_of[~is_dummy]
        self.rows = part.rows
        self._part = part
        self._unpacked_sizes = np.zeros(len(self.rows), dtype=np.int64)
        self._programs: list[ImageProgram | None] | None = None
        self._program_of: Ints = _NONE

    def __len__(self) -> int:
        return len(self.rows)

    def table(self, index: int) -> Table | BinlogError | None:
        """The table of an event."""
        number = int(self.table_of[index])
        return None if number < 0 else self.tables[number]

    def programs(self) -> tuple[list[ImageProgram | None], Ints]:
        """The distinct programs, None for events that match none, and the program number of each event."""
        if self._programs is None:
            self._programs, self._program_of = self._find_programs()
        return self._programs, self._program_of

    @cached_property
    def has_program(self) -> Bools:
        """Which events have a program, as a bool array."""
        programs, program_of = self.programs()
        return np.array([program is not None for program in programs], dtype=np.bool_)[program_of]

    def _find_programs(self) -> tuple[list[ImageProgram | None], Ints]:
        part = self._part
        columns = group_ranges(self.block.data, part.columns, part.images)
        keys = ((self.table_of + 1) * len(self.rows) + columns) * 256 + part.kinds
        first, which = distinct(np.where(part.matches, keys, -1))
        return [self._program(index) for index in first.tolist()], which

    def _program(self, index: int) -> ImageProgram | None:
        part, table = self._part, self.table(index)
        if not isinstance(table, Table) or table.widths is None or not part.matches[index]:
            return None
        kind, columns = int(part.kinds[index]), slice(int(part.columns[index]), int(part.images[index]))
        key = kind, bytes(self.block.data[columns])
        programs: dict[tuple[int, bytes], ImageProgram | None]
        programs = table.memory.setdefault("image programs", {})
        if key not in programs:
            if len(programs) >= _MAX_PROGRAMS:
                programs.clear()
            body = self.block.gather(kind, self.rows[index : index + 1])
            programs[key] = self._new_program(body, table.widths, len(table.json_columns))
        return programs[key]

    def _new_program(self, body: Gathered, widths: list[Width], json_columns: int) -> ImageProgram | None:
        """The program for an event, whose columns and type are the same in other events."""
        if int(body.numbers("num_columns.value")[0]) != len(widths):
            return None
        is_write, is_update, is_partial = (
            path in body and bool(body.numbers(path)[0])
            for path in ("is_write", "is_update", "is_partial_update")
        )
        which = 3 if is_update else 2 if is_write else 1
        first = self._bitmap(body, "columns.bitmap")
        second = self._bitmap(body, "columns_after.bitmap") if is_update else first
        if which & 1 and not (is_partial or any(first + second)):
            return None  # the number of rows is unknown
        return ImageProgram.of(
            which,
            len_partial_bits(json_columns) if is_partial else -1,
            _steps(widths, first) if which & 1 else [],
            _steps(widths, second) if which & 2 else [],
        )

    def _bitmap(self, body: Gathered, path: str) -> bytes:
        (start,), (size,) = (values.tolist() for values in body.ranges(path))
        return bytes(self.block.data[start : start + size])

    def portions(self, chosen: Ints) -> Iterator[tuple[Ints, Bytes, Ints, Ints]]:
        """Some of the events with their images decompressed: events, data, starts and ends of images.

        Images that cannot be decompressed get an end before their start, which kernels reject.

        `chosen`: int64 array, numbers of events in this object.
        """
        part = self._part
        packed = part.is_packed[chosen]
        if not packed.any():
            yield chosen, self.block.data, part.images[chosen], part.ends[chosen]
            return
        offset = 0
        while offset < len(chosen):
            begin, room, pieces, limits = offset, _DECOMPRESSED_ROOM, list[Bytes](), [0]
            is_wrong = []
            while offset < len(chosen) and (room > 0 or offset == begin):
                data = self._unpacked(int(chosen[offset]))
                is_wrong.append(data is None)
                pieces.append(_NO_BYTES if data is None else data)
                limits.append(limits[-1] + len(pieces[-1]))
                room -= len(pieces[-1])
                offset += 1
            offsets = np.array(limits, dtype=np.int64)
            yield chosen[begin:offset], np.concatenate(pieces), offsets[:-1], offsets[1:] - np.array(is_wrong)

    @property
    def starts(self) -> Ints:
        """The offset of the images of each event in the block's data, int64."""
        return self._part.images

    @property
    def is_packed(self) -> Bools:
        """Which events have compressed images, as a bool array."""
        return self._part.is_packed.astype(np.bool_)

    def unpacked(self) -> tuple[Ints, Ints]:
        """Compressed and decompressed sizes of the images of each event; 0 if uncompressed or not needed."""
        sizes = self._unpacked_sizes
        return np.where(sizes > 0, self._part.ends - self._part.images, 0), sizes

    def _unpacked(self, index: int) -> Bytes | None:
        """Images of one event as an array; None if they are damaged."""
        part = self._part
        data: bytes | None = bytes(self.block.data[int(part.images[index]) : int(part.ends[index])])
        if part.is_packed[index]:
            data = _unpack(data or b"")
            self._unpacked_sizes[index] = len(data or b"")
        return None if data is None else np.frombuffer(data, dtype=np.uint8)


def _steps(widths: list[Width], bitmap: bytes) -> list[Step]:
    """The steps of an image with the columns of a bitmap."""
    present = np.unpackbits(np.frombuffer(bitmap, dtype=np.uint8), bitorder="little")[: len(widths)]
    return [(column, *widths[column]) for column in np.flatnonzero(present).tolist()]


def _unpack(data: bytes) -> bytes | None:
    """Decompressed images; None if they are damaged, which the event reader then reports."""
    try:
        packed = parse_compressed(data)
        size = packed.len_uncompressed
        if size > len(data) * _MOST_RATIO:
            return None
        stream = zlib.decompressobj()
        images = stream.decompress(packed.deflated.data, size + 1)
    except (GrammarError, zlib.error):
        return None
    return images if len(images) == size and size and stream.eof else None


class _Part(NamedTuple):
    """Columns of rows events, one row per event; `columns` is where the number and bitmaps of columns begin,
    which end at `images`; `ends` is after the images.
    """

    rows: Ints
    kinds: Ints
    matches: Bools
    is_dummy: Bools
    is_packed: Bools
    columns: Ints
    images: Ints
    ends: Ints

    @classmethod
    def of(cls, block: Block, kind: int, validator: BodyValidator) -> _Part:
        rows, body = block.rows_of(kind), block.body(kind)
        # Rows events from before 5.1.16 use another record, without extra data.
        matches = body.matches & ("len_extra_data" in body)
        if "extra_data" in body and (has_extra := matches & (body.ranges("extra_data")[1] > 0)).any():
            matches &= ~has_extra | validator.accepts(block, kind, has_extra)
        is_dummy = matches & (body.numbers("is_dummy").astype(np.bool_) if "is_dummy" in body else False)
        is_packed = _COMPRESSED in body
        images, sizes = body.ranges(_COMPRESSED if is_packed else "images")
        columns = np.where(body.matches, body.positions("num_columns.first"), images)
        flags = np.full(len(rows), is_packed)
        return cls(rows, np.full(len(rows), kind), matches, is_dummy, flags, columns, images, images + sizes)

    @classmethod
    def joined(cls, parts: list[_Part]) -> _Part:
        """Merge the parts of several event types in log order."""
        if not parts:
            nothing: Any = np.zeros(0, dtype=np.int64)
            return cls(*(nothing for _ in cls._fields))
        columns = cls(*(np.concatenate(values) for values in zip(*parts, strict=True)))
        return columns.select(np.argsort(columns.rows, kind="stable"))

    def select(self, events: Ints | Bools) -> _Part:
        """Some of the events."""
        arrays: Any = (values[events] for values in self)
        return _Part(*arrays)
