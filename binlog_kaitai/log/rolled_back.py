"""Finds rows events whose changes were rolled back, before their rows are read.

Servers log a transaction that was rolled back if they cannot leave it out: it created or dropped a temporary
table, or changed a table without transactions. The changes of its rows events did not happen, nor did those
between SAVEPOINT and ROLLBACK TO. They are of tables with transactions, since rows of other tables are logged
before, as a committed transaction of their own (`use_trans_cache` in the servers' sql/binlog.cc, sql/log.cc).

A transaction may end in a later block than that of its rows. So blocks are held back until the transaction
that is open after them has ended; if it is too large for that, its end is looked up in the log.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np

from binlog_kaitai.core.grammar import ROWS_TYPES, EventType
from binlog_kaitai.core.transactions import BETWEEN, GTID_TYPES
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.kernels.arrays import Ints
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.boundaries import Boundaries, roles_of, unpacked_beginnings
from binlog_kaitai.log.transaction_roles import SAVEPOINT, Outcome, Phase, Role

#: Maximum size of the blocks held back, in bytes.
MOST_HELD = 64 << 20

#: First letters of other statements than (XA) ROLLBACK, and than SAVEPOINT; a comment may precede these.
_IS_OTHER = np.array([chr(code).isalpha() and chr(code) not in "RrXx" for code in range(128)] + [False] * 128)
_IS_OTHER_THAN_SAVEPOINT = _IS_OTHER & ~np.isin(np.arange(256), [ord("S"), ord("s")])

#: Opens the log again, and returns its blocks from an offset between two transactions.
Reopen = Callable[[int], Iterable[Block]]


class _Range(NamedTuple):
    begin: int
    end: int


class RolledBack:
    """Sets `Block.rolled_back` for the blocks of a log. Events are numbered across blocks.

    `reopen`: for transactions of more than `MOST_HELD` bytes; None if the log can be read only once.
    `missed`: places of rollbacks of transactions whose rows were not held back.
    """

    def __init__(self, reopen: Reopen | None = None) -> None:
        self.missed: list[str] = []
        self._reopen = reopen
        self._boundaries = Boundaries()
        self._held: deque[Block] = deque()
        self._first = self._next = 0  # the first event held, and the first of the next block
        self._begin, self._begins_at = 0, 0  # the first event of the open transaction, and its position
        self._last_rows = -1  # the last rows event
        # The event that set each savepoint of the open transaction, in order, before `_followed`.
        self._savepoints: dict[bytes, int] = {}
        self._followed = 0
        self._ranges: list[_Range] = []  # of the transactions in the blocks held
        self._known = 0  # the first event after the ranges that were looked up

    def decided(self, blocks: Iterable[Block]) -> Iterator[Block]:
        """The blocks, once it is known which of their events were rolled back.

        Raises `BinlogError`: that of the given blocks, after those before it.
        """
        try:
            for block in filter(len, blocks):
                self._take(block)
                yield from self._release(self._next if self._is_decided() else self._begin)
        except (BinlogError, OSError):
            yield from self._release(self._next)
            raise
        yield from self._release(self._next)

    def _is_decided(self) -> bool:
        """Whether all blocks held can be read now, not only those before the open transaction."""
        if self._last_rows < self._begin or self._next <= self._known:
            return True
        if sum(int(block.sizes.sum()) for block in self._held) <= MOST_HELD:
            return False
        if self._reopen is not None:
            self._look_up(self._reopen)
        self._known = max(self._known, self._next)
        return True

    def _look_up(self, reopen: Reopen) -> None:
        """Find out how the open transaction ends."""
        scout = RolledBack()
        try:
            for block in filter(len, reopen(self._begins_at)):
                scout._take(block, may_roll_back=True)
                scout._held.clear()
                if scout._begin:
                    break
        except BinlogError:
            pass  # it is raised when this part of the log is read
        self._ranges += [_Range(self._begin + part.begin, self._begin + part.end) for part in scout._ranges]
        self._known = self._begin + (scout._begin or scout._next)

    def _release(self, limit: int) -> Iterator[Block]:
        """The blocks held whose events all come before the one with number `limit`."""
        while self._held and self._first + len(self._held[0]) <= limit:
            block, first = self._held.popleft(), self._first
            self._first += len(block)
            for begin, end in self._ranges:
                if begin < self._first and end > first:
                    if block.rolled_back is None:
                        block.rolled_back = np.zeros(len(block), dtype=np.bool_)
                    block.rolled_back[max(begin - first, 0) : max(end - first, 0)] = True
            yield block
        self._ranges = [part for part in self._ranges if part.end > self._first]

    def _take(self, block: Block, *, may_roll_back: bool | None = None) -> None:
        """Follow the transactions of the next block, or only its last one if nothing is rolled back in it.

        `may_roll_back` saves the search for statements that may be a rollback.
        """
        self._held.append(block)
        base = self._next
        self._next += len(block)
        if not base:
            self._begins_at = int(block.positions[0])
        for kind in ROWS_TYPES.intersection(block.counts):
            self._last_rows = max(self._last_rows, base + int(block.rows_of(kind)[-1]))
        if may_roll_back is None:
            may_roll_back = _may_roll_back(block)
        skipped = 0 if may_roll_back else self._number_to_skip(block)
        part = block.part(skipped, len(block)) if skipped else block
        if skipped:
            self._boundaries = Boundaries()
        roles = roles_of(part)
        begins = self._boundaries.phases(roles) & Phase.BEGINS != 0
        ends = roles.roles == Role.END
        begins[1:] |= ends[:-1]
        starts = np.flatnonzero(begins)
        rolls_back = ends & (roles.outcomes == Outcome.ROLLBACK)
        savepoints = {}
        if may_roll_back:
            self._recall_savepoints()
            savepoints, self._followed = _savepoints(block), self._next
        for row in sorted({*savepoints, *np.flatnonzero(rolls_back).tolist()}):
            self._enter(part, starts[: np.searchsorted(starts, row, "right")], base)
            self._follow(part, row, base + row, savepoints.get(row))
        self._enter(part, starts, base + skipped)
        if ends[-1] or roles.roles[-1] == Role.OUTSIDE:
            self._open(self._next, int(part.end_positions[-1]))

    def _recall_savepoints(self) -> None:
        """Find the savepoints of the open transaction in earlier blocks, which have no rollback to them.

        If such a block is not held, it has no rows, so that the transaction's beginning means the same.
        """
        first = self._first
        for block in islice(self._held, len(self._held) - 1):
            if first >= self._followed:
                for row, savepoint in sorted(_savepoints(block).items()):
                    if first + row >= self._begin:
                        self._follow(block, row, first + row, savepoint)
            first += len(block)

    def _enter(self, part: Block, starts: Ints, base: int) -> None:
        """Enter the last of the transactions that begin at the given events, if there is one."""
        if len(starts):
            row = int(starts[-1])
            self._open(base + row, int(part.positions[row]))

    def _open(self, number: int, position: int) -> None:
        if number != self._begin:
            self._begin, self._begins_at = number, position
            self._savepoints.clear()

    def _follow(self, block: Block, row: int, number: int, savepoint: tuple[bytes, bool] | None) -> None:
        """Process a savepoint, or a rollback to one or of the transaction."""
        begin = self._begin
        if savepoint is not None:
            name, is_back = savepoint
            if not is_back:
                self._savepoints.pop(name, None)
                self._savepoints[name] = number
                return
            if name in self._savepoints:
                begin = self._savepoints[name]
                while next(reversed(self._savepoints)) != name:
                    self._savepoints.popitem()
        if number < self._known:
            return
        if begin < self._known and self._last_rows >= begin:
            self.missed.append(f"{block.file}, position {int(block.positions[row])}")
        self._ranges.append(_Range(begin, number))

    def _number_to_skip(self, block: Block) -> int:
        """Number of the first event from which the transactions can be followed without those before."""
        kinds = GTID_TYPES | BETWEEN
        if not kinds.intersection(block.counts):
            if self._boundaries.has_gtid:
                return 0
            kinds = frozenset((EventType.xid_event,))
        return max((int(block.rows_of(kind)[-1]) for kind in kinds.intersection(block.counts)), default=0)


def _may_roll_back(block: Block) -> bool:
    """Whether a statement may be a rollback, by its first letter."""
    if EventType.query_compressed_event in block.counts:
        return True
    if not len(block.statements):
        return False
    body = block.statement_bodies
    starts, lengths = body.ranges("query")
    usable = body.matches & (lengths > 0)
    return not usable.all() or not _IS_OTHER[block.data[starts]].all()


def _savepoints(block: Block) -> dict[int, tuple[bytes, bool]]:
    """By event number, the names of savepoints, and whether the statement rolls back to it."""
    texts: list[tuple[int, bytes]] = []
    if EventType.query_compressed_event in block.counts:
        kind = EventType.query_compressed_event
        texts += zip(block.rows_of(kind).tolist(), unpacked_beginnings(block, block.body(kind)), strict=True)
    if len(rows := block.statements):
        body = block.statement_bodies
        starts, lengths = body.ranges("query")
        usable = np.flatnonzero(body.matches & (lengths > 0))
        usable = usable[~_IS_OTHER_THAN_SAVEPOINT[block.data[starts[usable]]]]
        for row, start, length in zip(
            *(values[usable].tolist() for values in (rows, starts, lengths)), strict=True
        ):
            texts.append((row, bytes(block.data[start : start + length])))
    return {row: _named(match) for row, text in texts if (match := re.match(SAVEPOINT, text)) is not None}


def _named(match: re.Match[bytes]) -> tuple[bytes, bool]:
    """Name of the savepoint, whose case does not matter, and whether it is rolled back to."""
    name = match["plain"]
    if match["quoted"] is not None:
        name = match["quoted"].replace(b"``", b"`")
    elif match["ansi"] is not None:
        name = match["ansi"].replace(b'""', b'"')
    return name.decode("utf-8", "surrogateescape").casefold().encode("utf-8", "surrogateescape"), (
        match["back"] is not None
    )
