"""Transaction boundaries, for a block of events at a time.

Rules
-----
1. In logs with GTID events, each GTID event begins a transaction; the next one, or an event of the log itself
   (`binlog_kaitai.core.transactions.BETWEEN`), ends it.
2. In logs without, BEGIN opens a transaction, and an XID_EVENT, COMMIT or ROLLBACK closes it. Outside of
   these, each statement is a transaction, together with the events that lead up to it and a commit directly
   after it, if there is one (MySQL 5.0 writes no BEGIN for a statement that commits implicitly).
3. At the start of each file, no transaction is open.

`follow_events` is the only state machine for these rules. All users of boundaries (views,
splits, followers, repair) take the `Phase` that it assigns to each event.
"""

from __future__ import annotations

import re
import zlib
from enum import IntEnum
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from binlog_kaitai.core.event_types import QUERY_TYPES
from binlog_kaitai.core.grammar import ROWS_TYPES, EventType
from binlog_kaitai.core.transactions import BETWEEN, GTID_TYPES
from binlog_kaitai.ddl.lexer import COMMENT
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.kernels.arrays import Array, Bools, Codes, Ints
from binlog_kaitai.kernels.byte_kernels import copy_ranges
from binlog_kaitai.kernels.compile import kernel
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.gather import Gathered
from binlog_kaitai.log.groups import distinct


class Role(IntEnum):
    """The role of an event in the transactions around it."""

    PART = 0
    OUTSIDE = 1
    GTID = 2
    BEGIN = 3
    END = 4
    STATEMENT = 5


#: The same as numbers, which kernels can use.
PART, OUTSIDE, GTID, BEGIN, END, STATEMENT = map(int, Role)


class Phase:
    """The state machine's result for an event, as bit flags: plain ints, for arrays of bytes.

    The event belongs to a transaction; it begins a transaction; no transaction is known to be open after it;
    a GTID is in force.
    """

    IS_INSIDE: Final = 1
    BEGINS: Final = 2
    ENDS: Final = 4
    IN_GTID: Final = 8


IS_INSIDE, BEGINS, ENDS, IN_GTID = Phase.IS_INSIDE, Phase.BEGINS, Phase.ENDS, Phase.IN_GTID

#: Indexes into the state kept between blocks: the open transaction began with a GTID event; a BEGIN is open;
#: a transaction is open; it is a statement that only its own commit can follow.
HAS_GTID, IS_BEGUN, IS_OPEN, IS_ALONE = 0, 1, 2, 3
STATE_SIZE = 4


@kernel
def follow_events(roles: Array, begins: Bools, state: Bools, phases: Array) -> None:
    """Follow transactions through events, by the rules above.

    `roles`: role of each event, int8.
    `begins`: bool array: GTID events, including those that replace a BEGIN.
    `state`: bool array of `STATE_SIZE` values: the state after the previous events; updated.
    `phases`: output: result bits of each event, int8.
    """
    has_gtid, is_begun, is_open, is_alone = state[HAS_GTID], state[IS_BEGUN], state[IS_OPEN], state[IS_ALONE]
    for event in range(min(roles.shape[0], begins.shape[0], phases.shape[0])):
        role = roles[event]
        was_begun = is_begun
        if role in (GTID, OUTSIDE):
            has_gtid = role == GTID
            is_begun = has_gtid and begins[event]
        elif role in (BEGIN, END):
            is_begun = role == BEGIN
        phase = IN_GTID if has_gtid else 0
        if role in (OUTSIDE, END) or (role == STATEMENT and not was_begun):
            phase |= ENDS
        if role == OUTSIDE:
            is_open = is_alone = False
        else:
            phase |= IS_INSIDE
            if (
                role == GTID
                or not is_open
                or (is_alone and role != END)
                or (role == BEGIN and was_begun and not has_gtid)
            ):
                phase |= BEGINS
            is_alone = role == STATEMENT and not was_begun and not has_gtid
            is_open = has_gtid or role != END
        phases[event] = phase
    state[HAS_GTID], state[IS_BEGUN], state[IS_OPEN], state[IS_ALONE] = has_gtid, is_begun, is_open, is_alone


class Outcome(IntEnum):
    """How a transaction ended, or the kind of its only statement."""

    OPEN = 0
    COMMIT = 1
    ROLLBACK = 2
    XA_PREPARE = 3
    DDL = 4
    IMPLICIT = 5


#: Role of a statement, and the outcome it gives its transaction.
Meaning = tuple[Role, Outcome]

_BEGIN, _COMMIT = (Role.BEGIN, Outcome.OPEN), (Role.END, Outcome.COMMIT)
_DDL, _OTHER = (Role.STATEMENT, Outcome.DDL), (Role.STATEMENT, Outcome.IMPLICIT)
_ROLLBACK, _PREPARE = (Role.END, Outcome.ROLLBACK), (Role.END, Outcome.XA_PREPARE)

_COMMENT = COMMENT.encode()
_WORDS = re.compile(rb"(?:%s)*([A-Z]+)(?:\s+([A-Z]+))?" % _COMMENT, re.IGNORECASE | re.DOTALL)
_TEMPORARY = rb"(?is)(?:%s)*(?:CREATE|DROP)\b(?:%s)*(?:OR\b(?:%s)*REPLACE\b(?:%s)*)?TEMPORARY\b" % (
    (_COMMENT,) * 4
)
_BLANK = rb"(?:%s)+" % _COMMENT
#: SAVEPOINT, and ROLLBACK TO one (group `back`); the name is plain or quoted, doubly under ANSI_QUOTES.
#: Compiled when it is first used.
SAVEPOINT: Final = (
    rb"(?is)(?:%(comment)s)*(?:SAVEPOINT|(?P<back>ROLLBACK)(?:%(blank)sWORK)?%(blank)sTO(?:%(blank)sSAVEPOINT)?)"
    rb"(?:%(blank)s(?P<plain>[^\s;`\"]+)"
    rb"|(?:%(comment)s)*(?:`(?P<quoted>(?:[^`]|``)+)`|\"(?P<ansi>(?:[^\"]|\"\")+)\"))"
    % {b"comment": _COMMENT, b"blank": _BLANK}
)
_DDL_WORDS = frozenset(
    b"CREATE ALTER DROP RENAME TRUNCATE GRANT REVOKE ANALYZE OPTIMIZE REPAIR FLUSH INSTALL UNINSTALL".split()
)
_OF_XA = {
    b"START": _BEGIN,
    b"BEGIN": _BEGIN,
    b"PREPARE": _PREPARE,
    b"COMMIT": _COMMIT,
    b"ROLLBACK": _ROLLBACK,
}
#: First words that need a second one for a decision; shorter texts need no lookup.
_UNCLEAR = (b"COMMIT", b"ROLLBACK", b"XA", b"START", b"BEGIN")
_PREFIX = 8
#: Number of bytes of a compressed statement to decompress for its first words.
_ENOUGH = 256


def first_words(query: bytes) -> tuple[bytes, bytes] | None:
    """The first two words of a statement in upper case, without comments; the second may be empty."""
    found = _WORDS.match(query)
    return None if found is None else (found[1].upper(), (found[2] or b"").upper())


def is_of_temporary_table(query: bytes) -> bool:
    """Whether a statement creates or drops a temporary table, which does not commit."""
    return re.match(_TEMPORARY, query) is not None


def meaning_of(query: bytes) -> Meaning:
    """The role and outcome of a statement."""
    words = first_words(query)
    if words is None:
        return _OTHER
    first, second = words
    if first == b"XA":
        return _OF_XA.get(second, _OTHER)
    if first == b"BEGIN" or (first, second) == (b"START", b"TRANSACTION"):
        return _BEGIN
    if first == b"COMMIT":
        return _COMMIT
    if first == b"ROLLBACK":
        return _OTHER if re.match(SAVEPOINT, query) else _ROLLBACK
    return _DDL if first in _DDL_WORDS else _OTHER


@lru_cache(1 << 12)
def _meaning_of_prefix(prefix: bytes, is_all: bool) -> Meaning | None:
    """The role and outcome by a statement's first bytes; None if they are not sufficient."""
    found = re.match(rb"([A-Za-z]+)(\s?)", prefix)
    if found is None or (not is_all and not found[2]):
        # A long word is decided once it is longer than all known words.
        return None if is_all or found is None else _of_long_word(prefix)
    return meaning_of(prefix) if is_all or found[1].upper() not in _UNCLEAR else None


def _of_long_word(prefix: bytes) -> Meaning | None:
    upper = prefix.upper()
    if upper.startswith(_UNCLEAR) or any(word.startswith(upper) for word in _DDL_WORDS):
        return _DDL if any(word.startswith(upper) for word in _DDL_WORDS) else None
    return _OTHER


class Roles(NamedTuple):
    """Role and outcome of each event of a block (int8), and which are a BEGIN or its replacing GTID event."""

    roles: Codes
    outcomes: Codes
    begins: Bools

    def part(self, begin: int, end: int) -> Roles:
        """A range of the events."""
        return Roles._make(values[begin:end] for values in self)


_FIXED: dict[int, Meaning] = {
    **dict.fromkeys(BETWEEN, (Role.OUTSIDE, Outcome.OPEN)),
    **dict.fromkeys(GTID_TYPES, (Role.GTID, Outcome.OPEN)),
    EventType.xid_event: _COMMIT,
    EventType.xa_prepare_log_event: _PREPARE,
    EventType.execute_load_query_event: _OTHER,
    EventType.load_event: _OTHER,
    EventType.new_load_event: _OTHER,
    EventType.exec_load_event: _OTHER,
    EventType.delete_file_event: _OTHER,
    EventType.incident_event: _OTHER,
}


def roles_of(block: Block) -> Roles:
    """The roles of the events of a block."""
    roles = np.zeros(len(block), dtype=np.int8)
    outcomes = np.zeros(len(block), dtype=np.int8)
    for kind in block.kinds:
        rows = block.rows_of(kind)
        if kind in _FIXED:
            roles[rows], outcomes[rows] = _FIXED[kind]
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
    body = block.body(kind)
    if any(block.layout.post_header_length_of(gtid) for gtid in GTID_TYPES):
        return
    if "is_statement_end" in body:
        last = block.rows_of(kind)[body.numbers("is_statement_end").astype(np.bool_)]
        roles[last], outcomes[last] = _OTHER


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
    for index in np.flatnonzero(meanings[:, 0] < 0).tolist():
        start = int(starts[index])
        text = bytes(block.data[start : start + int(lengths[index])])
        meanings[index] = meaning_of(text) if body.matches[index] else _by_reader(block, kind, index)
    return meanings


def _by_reader(block: Block, kind: int, index: int) -> Meaning:
    """The same from the event reader, for an event that does not match its layout; none for damaged ones."""
    try:
        query: bytes = block.event(int(block.rows_of(kind)[index])).body.query
    except BinlogError:
        return Role.PART, Outcome.OPEN  # the event reader raises the error
    return meaning_of(query)


def unpacked_beginnings(block: Block, body: Gathered) -> list[bytes]:
    """First bytes of compressed statements; of a damaged one, the bytes that can be decompressed."""
    texts = []
    for start, length in zip(
        *(one.tolist() for one in body.ranges("compressed_query.deflated")), strict=True
    ):
        try:
            packed = bytes(block.data[start : start + length])
            texts.append(zlib.decompressobj().decompress(packed, _ENOUGH))
        except zlib.error:
            texts.append(b"")
    return texts


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
            return sum(block.counts.get(kind, 0) for kind in GTID_TYPES)
        segments = self.divide(roles_of(block))
        return len(segments.starts) - int(segments.continues)


class QuiescentPoints:
    """Finds the quiescent points of one file, block by block, as early as the log allows.

    In `boundaries`, a transaction with a GTID extends to the next GTID. A follower of a log in use cannot
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
