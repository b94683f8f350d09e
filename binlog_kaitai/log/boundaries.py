"""Transaction boundaries, for a block of events at a time, by the rules of `transaction_roles`."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from binlog_kaitai.core.event_types import QUERY_TYPES
from binlog_kaitai.core.grammar import ROWS_TYPES, EventType
from binlog_kaitai.core.transactions import BETWEEN, GTID_TYPES
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.kernels.arrays import Array, Bools, Codes, Ints
from binlog_kaitai.kernels.byte_kernels import copy_ranges
from binlog_kaitai.kernels.groups import distinct
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.gather import Gathered
from binlog_kaitai.log.transaction_roles import (
    BEGUN,
    COMMITTED,
    DDL,
    DDL_WORDS,
    FIXED,
    FIXED_ROLES,
    HAS_GTID,
    IS_BEGUN,
    IS_OPEN,
    LAST_OF_BEGIN,
    OTHER,
    STATE_SIZE,
    Meaning,
    Outcome,
    Phase,
    Role,
    beginning_of,
    follow_events,
    follow_known,
    meaning_of,
)


class Roles(NamedTuple):
    """Role and outcome of each event of a block (int8), and which are a BEGIN or its replacing GTID event."""

    roles: Codes
    outcomes: Codes
    begins: Bools

    def part(self, begin: int, end: int) -> Roles:
        """A range of the events."""
        return Roles._make(values[begin:end] for values in self)


#: First words that need a second one for a decision; shorter texts need no lookup.
_UNCLEAR = (b"COMMIT", b"ROLLBACK", b"XA", b"START", b"BEGIN")
_PREFIX = 8


@lru_cache(1 << 12)
def _meaning_of_prefix(prefix: bytes, is_all: bool) -> Meaning | None:
    """The role and outcome by a statement's first bytes; None if they are not sufficient."""
    match = re.match(rb"([A-Za-z]+)(\s?)", prefix)
    if match is None or (not is_all and not match[2]):
        # A long word is decided once it is longer than all known words.
        return None if is_all or match is None else _of_long_word(prefix)
    return meaning_of(prefix) if is_all or match[1].upper() not in _UNCLEAR else None


def _of_long_word(prefix: bytes) -> Meaning | None:
    upper = prefix.upper()
    if upper.startswith(_UNCLEAR) or any(word.startswith(upper) for word in DDL_WORDS):
        return DDL if any(word.startswith(upper) for word in DDL_WORDS) else None
    return OTHER


def roles_of(block: Block) -> Roles:
    """The roles of the events of a block."""
    roles = np.zeros(len(block), dtype=np.int8)
    outcomes = np.zeros(len(block), dtype=np.int8)
    for kind in block.kinds:
        rows = block.rows_of(kind)
        if kind in FIXED:
            roles[rows], outcomes[rows] = FIXED[kind]
        elif kind in ROWS_TYPES:
            _rows(block, kind, roles, outcomes)
        elif kind in QUERY_TYPES:
            meanings = np.array(_queries(block, kind), dtype=np.int8).reshape(-1, 2)
            roles[rows], outcomes[rows] = meanings[:, 0], meanings[:, 1]
        if kind == EventType.xa_prepare_log_event:
            one_phase = block.body(kind).numbers("is_one_phase").astype(np.bool_)
            outcomes[rows[one_phase]] = Outcome.COMMIT
    begins = roles == Role.BEGIN
    if EventType.gtid_event in block.counts:
        # MariaDB writes no BEGIN for transactions of several statements.
        alone = block.body(EventType.gtid_event).numbers("is_standalone").astype(np.bool_)
        begins[block.rows_of(EventType.gtid_event)] = ~alone
    return Roles(roles, outcomes, begins)


def sure_beginning(roles: Codes, *, has_gtids: bool = False) -> int:
    """Number of the first event after a gap that cannot belong to a lost transaction; event count if none.

    `has_gtids`: each transaction begins with a GTID event, so BEGIN and END prove nothing.
    """
    is_sure = (roles == Role.OUTSIDE) | (roles == Role.GTID)
    if has_gtids:
        return first_true(is_sure)
    return min(first_true(is_sure | (roles == Role.BEGIN)), first_true(roles == Role.END) + 1, len(roles))


def first_true(is_it: Bools) -> int:
    """Index of the first true item; the number of items if none is."""
    return int(np.argmax(is_it)) if is_it.any() else len(is_it)


def _rows(block: Block, kind: int, roles: Array, outcomes: Array) -> None:
    """The last rows event of a statement ends it where there is no BEGIN (5.1).

    Servers with GTIDs write BEGIN or a GTID before all rows; if there is none, it was lost.
    """
    if any(block.layout.post_header_length_of(gtid) for gtid in GTID_TYPES):
        return
    if "is_statement_end" in (body := block.body(kind)):
        last = block.rows_of(kind)[body.numbers("is_statement_end").astype(np.bool_)]
        roles[last], outcomes[last] = OTHER


def _queries(block: Block, kind: int) -> Codes | list[Meaning]:
    """Role and outcome of each statement."""
    body = block.body(kind)
    if kind == EventType.query_compressed_event:
        return [meaning_of(text) for text in unpacked_beginnings(block, body)]
    starts, lengths = body.ranges("query")
    prefixes = np.zeros(len(starts) * _PREFIX, dtype=np.uint8)
    offsets = np.arange(len(starts), dtype=np.int64) * _PREFIX
    short = np.minimum(lengths, _PREFIX)
    copy_ranges.run(block.data, starts, short, offsets, prefixes)
    keys = prefixes.view(">u8").astype(np.uint64) + (lengths > _PREFIX)
    first, which = distinct(keys)
    table = np.full((len(first), 2), -1, dtype=np.int8)
    for number, index in enumerate(first.tolist()):
        prefix = prefixes[index * _PREFIX : index * _PREFIX + int(short[index])].tobytes()
        meaning = _meaning_of_prefix(prefix, bool(lengths[index] <= _PREFIX))
        if meaning is not None:
            table[number] = meaning
    meanings = table[which]
    meanings[~body.matches] = -1
    closes = block.closes.take(block.rows_of(kind))  # a BEGIN or COMMIT, also for the event reader
    last = block.data[block.all_body_ends(kind)[closes] - 1]
    meanings[closes] = np.where((last == LAST_OF_BEGIN)[:, np.newaxis], BEGUN, COMMITTED)
    for index in np.flatnonzero(meanings[:, 0] < 0).tolist():
        start = int(starts[index])
        text = bytes(block.data[start : start + int(lengths[index])])
        meanings[index] = meaning_of(text) if body.matches[index] else _by_reader(block, kind, index)
    return meanings


def _by_reader(block: Block, kind: int, index: int) -> Meaning:
    """Meaning of an event that does not match its layout, by the event reader; none for damaged ones."""
    try:
        query: bytes = block.event(int(block.rows_of(kind)[index])).body.query
    except BinlogError:
        return Role.PART, Outcome.OPEN  # the event reader raises the error
    return meaning_of(query)


def unpacked_beginnings(block: Block, body: Gathered) -> list[bytes]:
    """First bytes of compressed statements; of a damaged one, nothing."""
    ranges = (values.tolist() for values in body.ranges("compressed_query.deflated"))
    return [
        beginning_of(bytes(block.data[start : start + length])) for start, length in zip(*ranges, strict=True)
    ]


def _stands_for_begin(block: Block, row: int) -> bool:
    """Whether a GTID event of MariaDB stands for a BEGIN; the event reader reports a damaged one."""
    try:
        return not block.event(row).body.is_standalone
    except BinlogError:
        return True


class Segments(NamedTuple):
    """The transactions of a block.

    `rows`: numbers of the events that belong to transactions.
    `starts`: index in `rows` of the first event of each transaction.
    `continues`: the first transaction continues from the previous block.
    `is_open`: the last transaction may continue in the next block.
    `phases`: the state machine's result for each event of the block.
    """

    rows: NDArray[np.int64]
    starts: NDArray[np.int64]
    continues: bool
    is_open: bool
    phases: Codes | None = None


class Boundaries:
    """Divides the blocks of a file into transactions."""

    def __init__(self) -> None:
        self._state = np.zeros(STATE_SIZE, dtype=np.bool_)

    @property
    def has_gtid(self) -> bool:
        """Whether a GTID is in force after the last block."""
        return bool(self._state[HAS_GTID])

    def phases(self, roles: Roles) -> NDArray[np.int8]:
        """The state machine's result for each event of the next block (`Phase`, int8)."""
        phases = np.empty(len(roles.roles), dtype=np.int8)
        follow_events.run(roles.roles, roles.begins, self._state, phases)
        return phases

    def without_gtid(self, block: Block) -> Ints:
        """Numbers of the events of the next block that begin a transaction without GTID event; none in logs
        without GTIDs, unless `roles_of` was needed.
        """
        frames = block.starts, block.sizes, block.checksums, block.types, block.closes
        start = follow_known.run(block.data, *frames, FIXED_ROLES, self._state)
        if start < 0:
            self._state[IS_BEGUN] = _stands_for_begin(block, -1 - start)
        if not 0 <= start < len(block):
            return np.zeros(0, dtype=np.int64)
        phases = self.phases(roles_of(block.part(start, len(block))))
        return np.flatnonzero((phases & Phase.BEGINS != 0) & (phases & Phase.IN_GTID == 0)) + start

    def divide(self, roles: Roles, *, is_before_gtid: bool = False) -> Segments:
        """The transactions of the next block; `is_before_gtid`: a GTID event follows the block."""
        phases = self.phases(roles)
        if is_before_gtid:
            self._state[IS_OPEN] = False
        rows = np.flatnonzero(phases & Phase.IS_INSIDE)
        starts = np.flatnonzero(phases[rows] & Phase.BEGINS)
        continues = len(rows) > 0 and not (len(starts) and starts[0] == 0)
        if continues:
            starts = np.concatenate(([0], starts))
        return Segments(rows, starts, continues, bool(self._state[IS_OPEN]), phases)

    def count(self, block: Block) -> int:
        """Number of transactions of `divide` that begin in the next block; cheaper in logs with GTIDs."""
        if self.has_gtid and BETWEEN.isdisjoint(block.kinds):
            own = sum(block.counts.get(kind, 0) for kind in GTID_TYPES)
            return own + len(self.without_gtid(block))
        segments = self.divide(roles_of(block))
        return len(segments.starts) - int(segments.continues)


class QuiescentPoints:
    """Finds the quiescent points of one file, block by block, as early as the log allows.

    In `boundaries`, a transaction with a GTID extends to the next GTID. A follower of an active log cannot
    wait for that: here a transaction ends with the event that commits it.
    """

    def __init__(self) -> None:
        self._boundaries = Boundaries()
        self._is_over = True  # the last event ended a transaction, or belongs to none

    def of(self, block: Block) -> Ints:
        """Indexes of the events before which no transaction is open, ascending; ``len(block)`` stands for the
        end.
        """
        block_roles = roles_of(block)
        roles = block_roles.roles
        # A payload is a complete transaction, from BEGIN to its commit.
        roles[block.rows_of(EventType.transaction_payload_event)] = Role.END
        is_over = self._boundaries.phases(block_roles) & Phase.ENDS != 0
        quiescent = np.concatenate(([self._is_over], is_over))
        quiescent[:-1] |= (roles == Role.GTID) | (roles == Role.OUTSIDE)
        self._is_over = bool(is_over[-1])
        return np.flatnonzero(quiescent)
