"""The state machine of transactions, event by event. docs/architecture.md draws it."""

from __future__ import annotations

from binlog_kaitai.columns.kernel.arrays import Array, Bools
from binlog_kaitai.columns.kernel.compile import kernel

#: What an event is to the transactions around it; see `boundaries.Role`.
PART, OUTSIDE, GTID, BEGIN, END, STATEMENT = range(6)

#: Bits of what the machine says of an event: it belongs to a transaction; a transaction begins with it;
#: nothing is open after it, as far as it tells; a GTID is in force.
IS_INSIDE, BEGINS, ENDS, IN_GTID = 1, 2, 4, 8

#: Numbers of the state that is kept from one block to the next: the open transaction began with a GTID
#: event; there was a BEGIN without an end; a transaction is open; it is a statement that nothing but a commit
#: of its own can follow.
HAS_GTID, IS_BEGUN, IS_OPEN, IS_ALONE = 0, 1, 2, 3
STATE_SIZE = 4


@kernel
def follow_events(roles: Array, begins: Bools, state: Bools, phases: Array) -> None:
    """Follow transactions through events, by the rule of `boundaries`.

    Parameters
    ----------
    roles
        What each event is, int8.
    begins
        Bool array: of GTID events, those that stand for a BEGIN as well.
    state
        Bool array of `STATE_SIZE` values: as left by the events before, and left for those after.
    phases
        Gets what the machine says of each event, int8.
    """
    has_gtid, is_begun, is_open, is_alone = state[0], state[1], state[2], state[3]
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
    state[0], state[1], state[2], state[3] = has_gtid, is_begun, is_open, is_alone
