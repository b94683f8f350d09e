"""The roles of events in the transactions around them, and the state machine that divides a log by roles.

Rules
-----
1. In logs with GTID events, each GTID event begins a transaction; the next one, or an event of the log itself
   (`binlog_kaitai.core.transactions.BETWEEN`), ends it. So does any event after its commit, and a BEGIN or a
   statement after a statement without a BEGIN: it begins a transaction without a GTID. (The rows of a CREATE
   TABLE ... START TRANSACTION of MySQL 8 belong to it.)
2. In logs without, BEGIN opens a transaction, and an XID_EVENT, COMMIT or ROLLBACK closes it. Outside of
   these, each statement is a transaction, together with the events that lead up to it and a commit directly
   after it, if there is one (MySQL 5.0 writes no BEGIN for a statement that commits implicitly).
3. At the start of each file, no transaction is open.

`follow_events` is the only state machine for these rules. All users of boundaries (views,
splits, followers, repair) take the `Phase` that it assigns to each event. `follow_known` finds where it is
not needed to see which GTID is in force; `GtidTracker` is the part of it that the event reader needs.
"""

from __future__ import annotations

import re
import zlib
from enum import IntEnum
from typing import Final

import numpy as np

from binlog_kaitai.core.event_types import QUERY_TYPES
from binlog_kaitai.core.grammar import CHECKSUM_SIZE, EventType
from binlog_kaitai.core.transactions import BETWEEN, GTID_TYPES
from binlog_kaitai.ddl.lexer import COMMENT
from binlog_kaitai.kernels.arrays import Bools, Bytes, Codes, Ints, OutBools, OutCodes
from binlog_kaitai.kernels.byte_kernels import NONE
from binlog_kaitai.kernels.compile import kernel


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

#: Indexes into the state kept between blocks: the last transaction began with a GTID event; a BEGIN is open;
#: a transaction is open; it is a statement without a BEGIN, which only its own commit can follow, and with a
#: GTID also rows.
HAS_GTID, IS_BEGUN, IS_OPEN, IS_ALONE = 0, 1, 2, 3
STATE_SIZE = 4

_MARIADB_GTID, LAST_OF_BEGIN = int(EventType.gtid_event), ord("N")


@kernel
def follow_events(roles: Codes, begins: Bools, state: OutBools, phases: OutCodes) -> None:
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
        if (has_gtid and not is_open) or (is_alone and role in (BEGIN, STATEMENT)):
            has_gtid = is_open = False
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
                or (is_alone and role != END and not has_gtid)
                or (role == BEGIN and was_begun and not has_gtid)
            ):
                phase |= BEGINS
            is_open = role != END
            is_alone = (role == STATEMENT and not was_begun) or (is_alone and has_gtid and role == PART)
        phases[event] = phase
    state[HAS_GTID], state[IS_BEGUN], state[IS_OPEN], state[IS_ALONE] = has_gtid, is_begun, is_open, is_alone


@kernel
def follow_known(
    data: Bytes,
    starts: Ints,
    sizes: Ints,
    checksums: Bytes,
    types: Bytes,
    closes: Bools,
    fixed_roles: Codes,
    state: OutBools,
) -> int:
    """Follow transactions in a log with GTIDs as far as the text of no statement is needed for it.

    `starts` to `closes`: of each event, see `Block`; a query that closes tables is a BEGIN or COMMIT.
    `fixed_roles`: role of each type, int8; `STATEMENT` for queries.
    `state`: as in `follow_events`; updated if no text is needed.
    Returns the number of the event from which on roles are needed; the number of events if they are not;
    -1 - n if the state also depends on whether GTID event n stands for a BEGIN.
    """
    has_gtid, is_begun, is_open, is_alone = state[HAS_GTID], state[IS_BEGUN], state[IS_OPEN], state[IS_ALONE]
    start = 0
    has_unknown_statement = has_unknown_flags = False
    for event in range(min(starts.shape[0], sizes.shape[0], checksums.shape[0], types.shape[0])):
        kind = types[event]
        role = fixed_roles[kind]
        if role in (GTID, OUTSIDE):
            start = event
            has_gtid = role == GTID
            is_open = has_gtid
            is_begun = is_alone = has_unknown_statement = False
            has_unknown_flags = kind == _MARIADB_GTID
        elif has_gtid and (not is_open or has_unknown_statement):
            return start  # what follows a commit, which that statement may be, has no GTID
        elif has_gtid and role != PART:
            if role == STATEMENT and closes[event]:
                end = starts[event] + sizes[event] - (CHECKSUM_SIZE if checksums[event] != NONE else 0)
                if not 0 < end <= data.shape[0]:
                    return start
                role = BEGIN if data[end - 1] == LAST_OF_BEGIN else END
            if role != END and is_alone:
                return start
            has_unknown_statement, has_unknown_flags = role == STATEMENT, False
            is_begun, is_open, is_alone = role == BEGIN, role != END, False
    if has_unknown_statement:
        return start
    state[HAS_GTID], state[IS_BEGUN], state[IS_OPEN], state[IS_ALONE] = has_gtid, is_begun, is_open, is_alone
    return -1 - start if has_unknown_flags else types.shape[0]


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

BEGUN, COMMITTED = (Role.BEGIN, Outcome.OPEN), (Role.END, Outcome.COMMIT)
DDL, OTHER = (Role.STATEMENT, Outcome.DDL), (Role.STATEMENT, Outcome.IMPLICIT)
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
DDL_WORDS = frozenset(
    b"CREATE ALTER DROP RENAME TRUNCATE GRANT REVOKE ANALYZE OPTIMIZE REPAIR FLUSH INSTALL UNINSTALL".split()
)
_OF_XA = {
    b"START": BEGUN,
    b"BEGIN": BEGUN,
    b"PREPARE": _PREPARE,
    b"COMMIT": COMMITTED,
    b"ROLLBACK": _ROLLBACK,
}
#: Number of bytes of a compressed statement to decompress for its first words.
_ENOUGH = 256


def beginning_of(deflated: bytes) -> bytes:
    """The first bytes of a compressed statement; of a damaged one, nothing."""
    try:
        return zlib.decompressobj().decompress(deflated, _ENOUGH)
    except zlib.error:
        return b""


def first_words(query: bytes) -> tuple[bytes, bytes] | None:
    """The first two words of a statement in upper case, without comments; the second may be empty."""
    words = _WORDS.match(query)
    return None if words is None else (words[1].upper(), (words[2] or b"").upper())


def is_of_temporary_table(query: bytes) -> bool:
    """Whether a statement creates or drops a temporary table, which does not commit."""
    return re.match(_TEMPORARY, query) is not None


def meaning_of(query: bytes) -> Meaning:
    """The role and outcome of a statement."""
    words = first_words(query)
    if words is None:
        return OTHER
    first, second = words
    if first == b"XA":
        return _OF_XA.get(second, OTHER)
    if first == b"BEGIN" or (first, second) == (b"START", b"TRANSACTION"):
        return BEGUN
    if first == b"COMMIT":
        return COMMITTED
    if first == b"ROLLBACK":
        return OTHER if re.match(SAVEPOINT, query) else _ROLLBACK
    return DDL if first in DDL_WORDS else OTHER


FIXED: dict[int, Meaning] = {
    **dict.fromkeys(BETWEEN, (Role.OUTSIDE, Outcome.OPEN)),
    **dict.fromkeys(GTID_TYPES, (Role.GTID, Outcome.OPEN)),
    EventType.xid_event: COMMITTED,
    EventType.xa_prepare_log_event: _PREPARE,
    EventType.execute_load_query_event: OTHER,
    EventType.load_event: OTHER,
    EventType.new_load_event: OTHER,
    EventType.exec_load_event: OTHER,
    EventType.delete_file_event: OTHER,
    EventType.incident_event: OTHER,
}


#: The same as an array; queries are statements.
FIXED_ROLES = np.array(
    [Role.STATEMENT if kind in QUERY_TYPES else FIXED.get(kind, (Role.PART,))[0] for kind in range(256)],
    dtype=np.int8,
)


class GtidTracker:
    """Tracks the GTID in force, event by event, through one file."""

    def __init__(self) -> None:
        self.gtid: str | None = None
        self._is_open = self._is_begun = self._is_alone = False

    def begin(self, gtid: str | None, *, is_begun: bool) -> None:
        """A GTID event. `gtid`: None for an anonymous one; `is_begun`: it stands for a BEGIN, too."""
        self.gtid, self._is_open, self._is_begun, self._is_alone = gtid, True, is_begun, False

    def follow(self, role: Role) -> None:
        """Any other event."""
        is_next = not self._is_open or (self._is_alone and role in (Role.BEGIN, Role.STATEMENT))
        if role == Role.OUTSIDE or is_next:
            self.gtid = None
        self._is_open = role != Role.END
        self._is_alone |= role == Role.STATEMENT and not self._is_begun
        self._is_begun |= role == Role.BEGIN
