"""Walks from a checkpoint through the complete transactions of the logs, up to a limit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from binlog_kaitai.core.framing import MAGIC
from binlog_kaitai.core.grammar import EventType
from binlog_kaitai.core.gtids import GtidSet
from binlog_kaitai.core.spans import Span
from binlog_kaitai.core.transactions import GTID_TYPES
from binlog_kaitai.ddl import Definitions
from binlog_kaitai.ddl.definitions import save
from binlog_kaitai.errors import BinlogError, SourceError, TruncatedError
from binlog_kaitai.following.checkpoints import Checkpoint
from binlog_kaitai.following.effects import (
    ERRANT,
    Effect,
    Statements,
    TableStatement,
    take_statement,
    unclear,
)
from binlog_kaitai.following.log_headers import blocks_from, open_log, size_of
from binlog_kaitai.kernels.arrays import Ints
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.block_reader import BlockReader
from binlog_kaitai.log.boundaries import QuiescentPoints
from binlog_kaitai.log.gaps import Gap
from binlog_kaitai.log.gtid_runs import add_gtids, gtids_of
from binlog_kaitai.log.split_points import Log, SplitPointFinder
from binlog_kaitai.sources.keys import Keys
from binlog_kaitai.sources.source import Source

#: Beyond the end of any file.
FAR = 1 << 62

#: Minimum and maximum number of bytes read at a time. Most events need only their header inspected, so the
#: cost of a walk is proportional to the number of blocks.
_LEAST_BLOCK, _LARGEST_BLOCK = 1 << 12, 16 << 20


class Step(NamedTuple):
    """Consecutive complete transactions of one log, between two checkpoints.

    `source`: the log, with their span.
    `start`, `end`: positions of the checkpoints.
    `effects`: effects of their statements on whole tables.
    `errant`: GTIDs of transactions that the log has before some that were read from another server's log, so
    that those of this step come too late; "" if there are none.
    `gap`: why logs are missing before it; "" if none are.
    """

    source: Source
    start: int
    end: int
    effects: tuple[Effect, ...] = ()
    errant: str = ""
    gap: str = ""

    @property
    def span(self) -> Span:
        """The span of the source."""
        return self.source.span or Span()


@dataclass
class Limit:
    """Limits of a walk.

    `size`: bytes after which to stop; at least one transaction is read.
    `files`: maximum number of logs to read from.
    `file`, `position`: log and offset that must not be passed; None for no limit.
    """

    size: int = FAR
    files: int = FAR
    file: str | None = None
    position: int = FAR


def span_size(total: int, size: int, at_once: int) -> int:
    """Equal span sizes, in bytes, for dividing a number of bytes.

    `size`: target size of a span in bytes; exceeded only by a transaction that crosses it.
    `at_once`: number of spans read at a time: the number of spans is a multiple of it, so that no reader
    idles while others read the last ones, unless that would make the spans smaller than half of `size`.
    """
    count = max(-(-total // size), 1)
    full = count + -count % at_once
    if full * size <= 2 * total:
        count = full
    return max(-(-total // count), 1)


@dataclass
class _OpenStep:
    """The step that a walk is in: from `start` to the checkpoint that the walk has reached.

    `start`, `format`: where it begins, in the same log, and the format there, as a span.
    `effects`, `errant`, `gap`: so far; see `Step`.
    `has_torn_end`: it ends with the log, whose last event is cut off.
    """

    start: Checkpoint
    format: Span = field(default_factory=Span)
    effects: list[Effect] = field(default_factory=list)
    errant: str = ""
    gap: str = ""
    has_torn_end: bool = False

    def ended(self, position: int, keys: Keys | None) -> Step:
        """The step, if it ends at a position."""
        begin = self.start
        start = begin.position if begin.position > len(MAGIC) else 0
        span = replace(
            self.format,
            start=start,
            end=None if self.has_torn_end else position,
            formats=self.format.formats if start else (),
            definitions=begin.definitions,
            exclude=begin.skip,
            era=begin.era,
        )
        source = replace(Source.of_path(begin.file, keys), span=span)
        return Step(source, begin.position, position, tuple(self.effects), self.errant, self.gap)


@dataclass
class _OpenTransaction:
    """What takes effect with the end of the transaction that the walk is in.

    `statements`: by position; a gap is one of them.
    """

    gtids: GtidSet = field(default_factory=GtidSet)
    statements: list[tuple[int, TableStatement | Gap]] = field(default_factory=list)


@dataclass
class _LogLimits:
    """The limits within a log.

    `soft`, `hard`: offsets that the walk passes only if it has read nothing, and that it never passes.
    `begin`, `step`: where spans begin to be counted, and their size.
    """

    soft: int = FAR
    hard: int = FAR
    begin: int = 0
    step: int = FAR

    def goal_after(self, position: int) -> int:
        """Target end of a step that begins at a position."""
        return self.begin + ((position - self.begin) // self.step + 1) * self.step


class Walk:
    """Advances from a checkpoint, log by log; :attr:`checkpoint` is the position reached, after `steps`.

    The checkpoint is always between two transactions of its log. What the log has from there on, as far as it
    has been looked at, is in the open transaction; what it has had since the last step, in the open step.

    `split_size`, `at_once`: as for `span_size`.
    `wanted`: transactions whose statements count, if not all do; those that the checkpoint skips never do.
    `passes_damage`: continue after damage. The end of the last log may still become an event and is not read.
    """

    def __init__(
        self,
        start: Checkpoint,
        limit: Limit,
        definitions: Definitions | None,
        *,
        wanted: GtidSet | None = None,
        split_size: int,
        at_once: int,
        passes_damage: bool,
        keys: Keys | None,
    ) -> None:
        self.checkpoint = start
        self.steps: list[Step] = []
        self.is_over = False
        self._limit = limit
        self._split_size, self._at_once = split_size, at_once
        self._definitions = definitions
        self._passes_damage = passes_damage
        self._keys = keys
        self._gtids = GtidSet.parse(start.gtids)
        self._log, self._step, self._open = _LogLimits(), _OpenStep(start), _OpenTransaction()
        self._statements, self._wanted, self._counts = Statements(), wanted, True
        self._before_gap = start
        self._own_steps = 0  # the first step in this server's logs
        self._earlier = self._gtids - GtidSet.parse(start.skip)  # what earlier walks have read there
        self._quiescent = np.array([start.position], dtype=np.int64)  # of this block and the one before
        self._format = Span()  # at the checkpoint
        self._size = self._files = 0  # bytes and logs that were read

    @property
    def end(self) -> Checkpoint:
        """The checkpoint reached; that before missing logs if no step follows them, which would say so."""
        return self._before_gap if self._step.gap else self.checkpoint

    def enter(self, start: Checkpoint, lost: str) -> None:
        """Continue in the next log; `lost`: as for `forget`."""
        self._split_point()
        if not self._step.gap:
            self._before_gap = self.checkpoint
        self.forget(lost, start.position)
        if start.era != self.checkpoint.era:
            self._own_steps, self._earlier = len(self.steps), GtidSet()
        self._gtids.update(GtidSet.parse(start.gtids))
        self._quiescent = np.array([start.position], dtype=np.int64)
        if self._definitions is not None:
            self._definitions.reach(start.file, 0)
        self.checkpoint = self._step.start = replace(
            start, gtids=str(self._gtids), definitions=self.checkpoint.definitions
        )

    def forget(self, lost: str, position: int | None = None) -> None:
        """All tables are unknown from here on, because logs are missing; "" if none are.

        `position`: where the next step begins, if not at the checkpoint.
        """
        self._step.gap = lost or self._step.gap
        if lost and self._definitions is not None:
            self._definitions.forget(lost)
            self._step.effects.append(
                unclear(position or self.checkpoint.position, reason=f"logs are missing: {lost}")
            )
            self.checkpoint = self._step.start = replace(self.checkpoint, definitions=save(self._definitions))

    def read(self, *, is_last: bool) -> None:
        """Read the complete transactions of the checkpoint's log; all of the log if it is not the last one.

        Raises `BinlogError`: the log is damaged; the checkpoint is before the damage.
        """
        path, begin = self.checkpoint.file, self.checkpoint.position
        is_target = path == self._limit.file
        hard = self._limit.position if is_target else FAR
        soft = begin + self._limit.size - self._size
        try:
            total = min(hard, soft, size_of(path)) - begin
            self._log = _LogLimits(soft, hard, begin, span_size(total, self._split_size, self._at_once))
            if self._passes_damage:
                with open_log(path, self._keys) as stream:
                    self._read_around(Log(stream, path), is_last=is_last)
                return
            block_size = max(min(self._limit.size, _LARGEST_BLOCK), _LEAST_BLOCK)
            with blocks_from(self.checkpoint, self._keys, block_size) as (reader, span):
                self._format = self._step.format = span
                self._read(reader, is_last=is_last or hard != FAR)
        except BinlogError as error:  # first, since some are errors of the system, too
            raise error.at(file=path, position=self.checkpoint.position) from error.__cause__
        except OSError as error:
            raise SourceError(error.strerror or str(error), file=path) from error
        finally:
            self._files += self.checkpoint.position > begin
            self.is_over |= is_target or self._files >= self._limit.files
            self._split_point()

    def _read(self, reader: BlockReader, *, is_last: bool) -> None:
        quiescent = QuiescentPoints()
        for block in reader:
            self._take(block, quiescent.of(block))
            if self.is_over:
                return
        if not is_last and reader.tail is not None:
            reader.end()
            self._pass(None)
            self._move(reader.tail.position)

    def _read_around(self, log: Log, *, is_last: bool) -> None:
        """Read across damage, which belongs to the surrounding transaction, up to the next split."""
        begin = self.checkpoint.position
        span = log.log_header.span(begin if begin > len(MAGIC) else 0)
        if self.checkpoint.format_position > len(MAGIC):
            span = replace(span, formats=log.split_point_before(begin).formats)
        self._format = self._step.format = span
        quiescent, after, gap, end = QuiescentPoints(), None, None, begin
        for block in log.blocks(span):
            if isinstance(block, Gap):
                quiescent, gap = QuiescentPoints(), block
                if not gap.is_last:
                    self._open.statements.append((gap.start, gap))
                after = SplitPointFinder(log.log_header, is_sure=False)
                continue
            points, end = quiescent.of(block), int(block.end_positions[-1])
            if after is not None:
                split_points = after.positions(block)
                offsets = np.append(block.positions, end)
                points = points[offsets[points] >= split_points[0]] if split_points else points[:0]
                after = None if split_points else after
            self._take(block, points)
            if self.is_over:
                return
        is_torn = gap is not None and gap.is_last and not _is_in_use(log, gap)
        end = log.size if is_torn else end
        if not is_last or (is_torn and self._log.hard == end):
            self._pass(None)
            self._move(end)
            self._step.has_torn_end = is_torn

    def _take(self, block: Block, quiescent: Ints) -> None:
        """Take a block up to the limits, after which the walk is over."""
        if block.is_special and block.types[0] == EventType.format_description_event:
            formats = tuple(dict.fromkeys((*self._format.formats[:1], block.raw(0))))
            self._format = replace(self._format, binlog_version=block.layout.binlog_version, formats=formats)
        offsets = np.append(block.positions, block.end_positions[-1])[quiescent]
        self._quiescent = np.append(self._quiescent[-1], offsets)
        is_new = offsets > self.checkpoint.position
        limits = self._log
        within = np.flatnonzero(is_new & (offsets <= min(limits.soft, limits.hard)))
        if not len(within) and not self._size:
            within = np.flatnonzero(is_new & (offsets <= limits.hard))[:1]  # one transaction, however large
        first = 0
        stops = range(len(within)) if self._has_skipped(block) else self._stops(offsets[within])
        for number in stops:
            row = int(quiescent[within[number]])
            self._pass(_part(block, first, row))
            self._move(int(offsets[within[number]]))
            if block.is_special:
                self.checkpoint = replace(self.checkpoint, format_position=int(block.positions[0]))
            if self._step.errant or self.checkpoint.position >= self._goal():
                self._split_point()
            first = row
        if first < len(block):
            self._keep(_part(block, first, len(block)))
        end = int(block.end_positions[-1])
        self.is_over = end > limits.hard or (end > limits.soft and self._size > 0)

    def _stops(self, offsets: Ints) -> Iterator[int]:
        """Which of some ascending offsets to stop at, in order: the ends of spans, and the last offset."""
        number = 0
        while number < len(offsets):
            number = min(int(np.searchsorted(offsets, self._goal())), len(offsets) - 1)
            yield number
            number += 1

    def _goal(self) -> int:
        """Target end of the current step."""
        return self._log.goal_after(self._step.start.position)

    def _pass(self, block: Block | None) -> None:
        """Add the open transaction, and everything that takes effect with its end."""
        if block is not None:
            self._keep(block)
        if self._step.start.skip:
            self._find_errant()
        self._gtids.update(self._open.gtids)
        if self._definitions is not None:
            for position, body in self._open.statements:
                if isinstance(body, Gap):
                    self._definitions.observe_query(body.error)
                else:
                    self._step.effects += take_statement(position, body, self._definitions)
                    self._definitions.reach(self.checkpoint.file, position)
        self._open = _OpenTransaction()

    def _keep(self, block: Block) -> None:
        """Store what takes effect at the end of the open transaction."""
        add_gtids(self._open.gtids, block)
        if self._definitions is not None:
            for part in self._counting(block):
                self._open.statements += self._statements.of(part, self._quiescent)

    def _counting(self, block: Block) -> Iterator[Block]:
        """The parts of a block without transactions that were, or will be, read from another log."""
        skip, wanted = GtidSet.parse(self._step.start.skip), self._wanted

        def count(part: Block) -> bool:
            gtids = gtids_of(part)
            return not gtids & skip and (wanted is None or gtids in wanted)

        if not (skip or wanted) or (self._counts and count(block)):
            yield block
            return
        begins = np.isin(block.types, [*GTID_TYPES])
        for begin, end in pairwise([0, *np.flatnonzero(begins).tolist(), len(block)]):
            if begins[begin]:
                self._counts = count(block.part(begin, begin + 1))
            if self._counts and begin < end:
                yield block.part(begin, end)

    def _has_skipped(self, block: Block) -> bool:
        """Whether transactions of a block, or the open one, were read from another log."""
        skip = self._step.start.skip
        return bool(skip and GtidSet.parse(skip) & (gtids_of(block) | self._open.gtids))

    def _find_errant(self) -> None:
        """If the open transaction was read from another log, mark the steps that have some from before it.

        Those that the same server committed first are not errant: a replica changes their order only if they
        do not depend on each other.
        """
        skip = GtidSet.parse(self._step.start.skip)
        known = self._open.gtids & skip
        if not known or not (early := (self._gtids | self._open.gtids).without(skip).of_others(known)):
            return
        self._step.errant, own = str(early), self._own_steps
        self.steps[own:] = [step._replace(errant=str(early)) for step in self.steps[own:]]
        if self._earlier.of_others(known):
            self._step.effects.append(unclear(self.checkpoint.position, reason=ERRANT.format(early)))

    def _move(self, position: int) -> None:
        self._size += position - self.checkpoint.position
        self.checkpoint = replace(self.checkpoint, position=position)

    def _split_point(self) -> None:
        """End a step here."""
        self._gtids = self._gtids.up_to_last()
        definitions = "" if self._definitions is None else save(self._definitions)
        self.checkpoint = replace(self.checkpoint, gtids=str(self._gtids), definitions=definitions)
        if self.checkpoint.position > self._step.start.position:
            self.steps.append(self._step.ended(self.checkpoint.position, self._keys))
            self._step = _OpenStep(self.checkpoint)
        self._step.start, self._step.format = self.checkpoint, self._format


def _part(block: Block, begin: int, end: int) -> Block:
    return block if end - begin == len(block) else block.part(begin, end)


def _is_in_use(log: Log, gap: Gap) -> bool:
    """Whether the rest at the end is a partial event, from a server that is writing or was killed."""
    return isinstance(gap.error, TruncatedError) and log.log_header.context().is_in_use
