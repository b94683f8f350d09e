"""The lines of the events of a block: what programs write them, and the columns that all events have."""

from __future__ import annotations

from typing import Any

import numpy as np

from binlog_kaitai.columns.blocks.block import Block
from binlog_kaitai.columns.gather import Gathered
from binlog_kaitai.columns.lines import Column, Field, Pool, Program
from binlog_kaitai.columns.text.hexdump import Style
from binlog_kaitai.columns.text_kernels import find_clean
from binlog_kaitai.grammar import CHECKSUM_SIZE
from binlog_kaitai.render.dump.blocks.inside import Inside
from binlog_kaitai.render.dump.blocks.renamed import Renamed
from binlog_kaitai.render.dump.printer import CHECKSUM, FRONT, PLACE
from binlog_kaitai.render.dump.text import second_of, timestamp

_MILLION = 10**6


class Lines:
    """The lines of the events of a block.

    Attributes
    ----------
    as_printed : Renamed
        The bytes of the events in BINLOG statements.
    inside : Inside or None
        Which events are inside payloads, if these were opened.
    hexdump_style : Style or None
        How their bytes are shown, if they are.
    programs : list of Program
        Of their lines; the first is the line of an event's place alone.
    program_of, row_of : int64 arrays
        For each event the number of its program, -1 where there is none and the reader has to print it; and
        its row in the columns of its type.
    """

    def __init__(
        self,
        block: Block,
        as_printed: Renamed,
        inside: Inside | None = None,
        hexdump_style: Style | None = None,
    ) -> None:
        self.block = block
        self.as_printed = as_printed
        self.inside = inside
        self.pool = Pool()
        header, count = block.header, len(block)
        self.flags = header.numbers("flags")
        self.timestamps = header.numbers("timestamp").astype(np.int64)
        self.server_ids = header.numbers("server_id").astype(np.int64)
        positions, ends = block.positions, header.numbers("next_position")
        if inside is not None:
            positions, ends = (np.where(inside.is_inside, inside.places, told) for told in (positions, ends))
        self._fields: dict[str, Field] = {
            "position": self.pool.numbers(positions, by_event=True),
            "time": self.seconds(self.timestamps, timestamp, by_event=True),
            "server_id": self.pool.numbers(self.server_ids, by_event=True),
            "end_position": self.pool.numbers(ends, by_event=True),
        }
        if block.layout.is_checksummed:
            sums = np.zeros(count, dtype=np.int64)
            is_there = np.flatnonzero(block.sizes >= block.header_length + CHECKSUM_SIZE)
            places = block.sizes[is_there] - CHECKSUM_SIZE
            sums[is_there] = block.numbers_at(is_there, places, CHECKSUM_SIZE).view(np.int64)
            if as_printed.checksums:
                made = as_printed.checksums
                sums[list(made)] = list(made.values())
            self._fields["checksum"] = self.pool.hexadecimal(sums, by_event=True)
        self._hexdumps = None
        if hexdump_style is not None:
            bytes_of = as_printed.starts, as_printed.sizes
            self._hexdumps = self.pool.hexdumps(*bytes_of, positions, hexdump_style)
        self.program_of = np.full(count, -1, dtype=np.int64)
        self.row_of = np.zeros(count, dtype=np.int64)
        self.programs: list[Program] = [Program(self.pool).fill(PLACE, self._fields)]

    def program(self, *, with_place: bool = True, ahead: Column | None = None) -> Program:
        """A new program that begins with the lines of all events, up to what their type adds.

        `ahead` stands behind the place of the event.
        """
        program = Program(self.pool)
        if with_place:
            program.fill(PLACE, self._fields)
        if ahead is not None:
            program.column(ahead)
        program.fill(FRONT, self._fields)
        if "checksum" in self._fields:
            program.fill(CHECKSUM, self._fields)
        return program if self._hexdumps is None else program.column(self._hexdumps)

    def show_bytes_at(self, events: Any, others: Any) -> None:
        """Show the bytes of some events as if they were where others are."""
        if self._hexdumps is not None:
            positions = self._hexdumps.first[1::2]
            positions[events] = positions[others]

    def add(self, program: Program, events: Any, rows: Any) -> None:
        """Say that some events have the lines of a program, and where their values are in its columns."""
        self.program_of[events] = self.number(program)
        self.row_of[events] = rows

    def number(self, program: Program) -> int:
        """The number of a program, which is put in if it is new."""
        for number in range(len(self.programs) - 1, -1, -1):
            if self.programs[number] is program:
                return number
        self.programs.append(program)
        return len(self.programs) - 1

    def seconds(self, seconds: Any, text: Any, *, by_event: bool = False) -> Column:
        """A column of times by a function of seconds; mostly many are the same one after the other."""
        changes = np.flatnonzero(np.diff(seconds, prepend=seconds[:1] - 1))
        texts = [text(second) for second in seconds[changes].tolist()]
        codes = np.repeat(np.arange(len(changes)), np.diff(changes, append=len(seconds)))
        return self.pool.choice(codes, texts, by_event=by_event)

    def moments(self, micros: Any) -> Field:
        """Microseconds since 1970-01-01 UTC as `text.microseconds` writes them."""
        seconds = micros // _MILLION
        second = self.seconds(seconds, lambda one: second_of(one)[0])
        zone = self.seconds(seconds, lambda one: second_of(one)[1])
        return second, b".", self.pool.fractions(micros - seconds * _MILLION), b" ", zone

    def fits(self, kind: int) -> tuple[Any, Gathered]:
        """Which events of a type its record layout describes, and their columns."""
        body = self.block.body(kind)
        reached = body.fits & (body.pos == body.size)
        return np.broadcast_to(reached, len(self.block.rows_of(kind))), body

    def clean(self, starts: Any, lengths: Any, is_clean: Any) -> Any:
        """Which ranges of the block have bytes, and only such that stand for themselves."""
        clean = np.empty(len(starts), dtype=np.bool_)
        starts, lengths = np.array(starts, dtype=np.int64), np.array(lengths, dtype=np.int64)
        find_clean.for_work(int(lengths.sum()))(self.block.data, starts, lengths, is_clean, clean)
        return clean & (lengths > 0)


def clean_bytes(but: bytes) -> Any:
    """For each byte whether it is none of these."""
    return np.array([byte not in but for byte in range(256)], dtype=np.bool_)
