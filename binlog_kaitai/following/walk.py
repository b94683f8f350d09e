"""Walks from a checkpoint through the complete transactions of the logs, up to a limit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from binlog_kaitai.core.gtids import GtidSet
from binlog_kaitai.ddl import Definitions
from binlog_kaitai.ddl.definitions import save
from binlog_kaitai.errors import BinlogError, SourceError, TruncatedError
from binlog_kaitai.following.checkpoints import Checkpoint
from binlog_kaitai.following.effects import Effect, Statements, take_statement
from binlog_kaitai.following.log_headers import open_log, read_from, size_of
from binlog_kaitai.following.quiescent_points import QuiescentPoints
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.block_reader import BlockReader
from binlog_kaitai.log.gaps import Gap
from binlog_kaitai.log.gtid_runs import add_gtids
from binlog_kaitai.log.split_points import Log, SplitPoint, SplitPointFinder
from binlog_kaitai.sources.keys import Keys
from binlog_kaitai.sources.source import MAGIC

#: Beyond the end of any file.
FAR = 1 << 62

#: Minimum and maximum number of bytes read at a time. Most events need only their header inspected, so the
#: cost of a walk is proportional to the number of blocks.
_LEAST, _MOST = 1 << 12, 16 << 20


@dataclass(frozen=True)
class Span:
    """Consecutive complete transactions of one log.

    Attributes
    ----------
    path : str
    start, end : int
        Offsets between transactions.
    format_position : int
        Offset of the format description in force at the start.
    definitions : str
        Table definitions at the start; see `binlog_kaitai.ddl.definitions`.
    include, exclude : str
        Only, or without, these GTIDs; ``""`` for all of them.
    effects : tuple of Effect
        Effects of its statements on whole tables.
    has_torn_end : bool
        It extends to the end of a log that ends with an incomplete event.
    name : str
        What outputs and errors call the log, if that is not its path.
    era : int
        The era of its checkpoint.
    """

    path: str
    start: int
    end: int
    format_position: int
    definitions: str = ""
    include: str = ""
    exclude: str = ""
    effects: tuple[Effect, ...] = ()
    has_torn_end: bool = False
    name: str = ""
    era: int = 0


@dataclass
class Limit:
    """Limits of a walk.

    Attributes
    ----------
    size : int
        Bytes after which to stop; at least one transaction is read.
    files : int
        Maximum number of logs to read from.
    file, position
        Log and offset that must not be passed; None for no limit.
    """

    size: int = FAR
    files: int = FAR
    file: str | None = None
    position: int = FAR


@dataclass(frozen=True)
class Division:
    """How logs are divided into spans.

    Attributes
    ----------
    size : int
        Target size of a span in bytes; exceeded only by a transaction that crosses it.
    at_once : int
        Number of spans read at a time.
    """

    size: int
    at_once: int = 1

    def step(self, total: int) -> int:
        """Equal span sizes, in bytes, for dividing a number of bytes.

        The number of spans is a multiple of `at_once`, so that no reader idles while others read the last
        ones, unless that would make the spans smaller than half of `size`.
        """
        count = max(-(-total // self.size), 1)
        full = count + -count % self.at_once
        if full * self.size <= 2 * total:
            count = full
        return max(-(-total // count), 1)


class Walk:
    """Advances from a checkpoint, log by log; :attr:`checkpoint` is the position reached, after `spans`.

    Parameters
    ----------
    passes_damage
        Continue after damage. The end of the last log may still become an event and is not read.
    keys
        Where to look for the keys of encrypted logs.
    """

    def __init__(
        self,
        start: Checkpoint,
        limit: Limit,
        division: Division,
        definitions: Definitions | None,
        *,
        passes_damage: bool = False,
        keys: Keys | None = None,
    ) -> None:
        self.checkpoint = start
        self.spans: list[Span] = []
        self.is_over = False
        self._limit = limit
        self._division = division
        self._base, self._step = start.position, FAR  # start of the log's first span, and span size
        self._definitions = definitions
        self._passes_damage = passes_damage
        self._keys = keys
        self._gtids = GtidSet.parse(start.gtids)
        # State of the open transaction:
        self._open_gtids, self._open_statements = GtidSet(), list[tuple[int, Any]]()
        self._effects: list[Effect] = []
        self._statements = Statements()
        self._quiescent = np.array([start.position], dtype=np.int64)  # of this block and the one before
        self._begin = start  # start of the next span
        self._has_torn_end = False
        self._size = self._files = 0

    def enter(self, start: Checkpoint) -> None:
        """Continue in the next log."""
        self._split_point()
        self._gtids.update(GtidSet.parse(start.gtids))
        self._quiescent = np.array([start.position], dtype=np.int64)
        self.checkpoint = self._begin = replace(
            start, gtids=str(self._gtids), definitions=self.checkpoint.definitions
        )

    def read(self, *, is_last: bool) -> None:
        """Read the complete transactions of the checkpoint's log; all of the log if it is not the last one.

        Raises
        ------
        BinlogError
            The log is damaged; the checkpoint is before the damage.
        """
        path, begin = self.checkpoint.file, self.checkpoint.position
        is_target = path == self._limit.file
        hard = self._limit.position if is_target else FAR
        soft = begin + self._limit.size - self._size
        try:
            self._base, self._step = begin, self._division.step(min(hard, soft, size_of(path)) - begin)
            with open_log(path, self._keys) as stream:
                if self._passes_damage:
                    self._read_around(Log(stream, path), soft, hard, is_last=is_last)
                    return
                block_size = max(min(self._limit.size, _MOST), _LEAST)
                reader = read_from(stream, path, begin, self.checkpoint.format_position, block_size)
                self._read(reader, soft, hard, is_last=is_last or hard != FAR)
        except OSError as error:
            raise SourceError(error.strerror or str(error), file=path) from error
        except BinlogError as error:
            raise error.at(file=path, position=self.checkpoint.position) from error.__cause__
        finally:
            self._files += self.checkpoint.position > begin
            self.is_over |= is_target or self._files >= self._limit.files
            self._split_point()

    def _read(self, reader: BlockReader, soft: int, hard: int, *, is_last: bool) -> None:
        quiescent = QuiescentPoints()
        for block in reader:
            self._take(block, quiescent.of(block), soft, hard)
            end = int(block.end_positions[-1])
            if end > hard or (end > soft and self._size):
                self.is_over = True
                return
        if not is_last and reader.tail is not None:
            reader.end()
            self._pass(None)
            self._move(reader.tail.position)

    def _read_around(self, log: Log, soft: int, hard: int, *, is_last: bool) -> None:
        """The same across damage, which belongs to the surrounding transaction, up to the next split."""
        begin, formats = self.checkpoint.position, log.log_header.formats
        if self.checkpoint.format_position > len(MAGIC):
            formats = log.split_point_before(begin).formats
        start = SplitPoint(0, ()) if begin <= len(MAGIC) else SplitPoint(begin, formats)
        quiescent, after, gap, end = QuiescentPoints(), None, None, begin
        for block in log.blocks(start):
            if isinstance(block, Gap):
                quiescent, after, gap = (
                    QuiescentPoints(),
                    SplitPointFinder(log.log_header, is_sure=False),
                    block,
                )
                continue
            found, end = quiescent.of(block), int(block.end_positions[-1])
            if after is not None:
                found_boundaries = after.take(block)
                offsets = np.append(block.positions, end)
                found = found[offsets[found] >= found_boundaries[0]] if found_boundaries else found[:0]
                after = None if found_boundaries else after
            self._take(block, found, soft, hard)
            if end > hard or (end > soft and self._size):
                self.is_over = True
                return
        is_torn = gap is not None and gap.is_last and not _is_in_use(log, gap)
        end = log.size if is_torn else end
        if not is_last or (is_torn and hard == end):
            self._pass(None)
            self._move(end)
            self._has_torn_end = is_torn

    def _take(self, block: Block, quiescent: Any, soft: int, hard: int) -> None:
        offsets = np.append(block.positions, block.end_positions[-1])[quiescent]
        self._quiescent = np.append(self._quiescent[-1], offsets)
        is_new = offsets > self.checkpoint.position
        taken = np.flatnonzero(is_new & (offsets <= min(soft, hard)))
        if not len(taken) and not self._size:
            taken = np.flatnonzero(is_new & (offsets <= hard))[:1]  # one transaction, however large
        at = 0
        for number in self._stops(offsets[taken]):
            row = int(quiescent[taken[number]])
            self._pass(_part(block, at, row))
            self._move(int(offsets[taken[number]]))
            if block.is_special:
                self.checkpoint = replace(self.checkpoint, format_position=int(block.positions[0]))
            if self.checkpoint.position >= self._goal():
                self._split_point()
            at = row
        if at < len(block):
            self._keep(_part(block, at, len(block)))

    def _stops(self, offsets: Any) -> Iterator[int]:
        """Which of some ascending offsets to stop at, in order: the ends of spans, and the last offset."""
        at = 0
        while at < len(offsets):
            at = min(int(np.searchsorted(offsets, self._goal())), len(offsets) - 1)
            yield at
            at += 1

    def _goal(self) -> int:
        """Target end of the current span."""
        return self._base + ((self._begin.position - self._base) // self._step + 1) * self._step

    def _pass(self, block: Block | None) -> None:
        """Add the open transaction, and everything that takes effect with its end."""
        if block is not None:
            self._keep(block)
        self._gtids.update(self._open_gtids)
        if self._definitions is not None:
            for position, body in self._open_statements:
                self._effects += take_statement(position, body, self._definitions)
        self._open_gtids, self._open_statements = GtidSet(), []

    def _keep(self, block: Block) -> None:
        """Store what takes effect at the end of the open transaction."""
        add_gtids(self._open_gtids, block)
        if self._definitions is not None:
            self._open_statements += self._statements.of(block, self._quiescent)

    def _move(self, position: int) -> None:
        self._size += position - self.checkpoint.position
        self.checkpoint = replace(self.checkpoint, position=position)

    def _split_point(self) -> None:
        """End a span here."""
        self._gtids = self._gtids.up_to_last()
        definitions = "" if self._definitions is None else save(self._definitions)
        self.checkpoint = replace(self.checkpoint, gtids=str(self._gtids), definitions=definitions)
        begin = self._begin
        if self.checkpoint.position > begin.position:
            offsets = begin.position, self.checkpoint.position, begin.format_position
            effects = tuple(self._effects)
            self.spans.append(
                Span(
                    begin.file,
                    *offsets,
                    begin.definitions,
                    exclude=begin.skip,
                    effects=effects,
                    has_torn_end=self._has_torn_end,
                    era=begin.era,
                )
            )
            self._effects, self._has_torn_end = [], False
        self._begin = self.checkpoint


def _part(block: Block, begin: int, end: int) -> Block:
    return block if end - begin == len(block) else block.part(begin, end)


def _is_in_use(log: Log, gap: Gap) -> bool:
    """Whether the rest at the end is a partial event, from a server that is writing or was killed."""
    return isinstance(gap.error, TruncatedError) and log.log_header.context().is_in_use
