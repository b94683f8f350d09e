"""The state machine for transaction boundaries; docs/architecture.md shows its table."""

from __future__ import annotations

from binlog_kaitai.kernels.arrays import Array, Bools
from binlog_kaitai.kernels.compile import kernel

#: Roles of events, see `boundaries.Role`.
PART, OUTSIDE, GTID, BEGIN, END, STATEMENT = range(6)

#: Result bits of an event: it belongs to a transaction; it begins a transaction; no transaction is known to
#: be open after it; a GTID is in force.
IS_INSIDE, BEGINS, ENDS, IN_GTID = 1, 2, 4, 8

#: Indexes into the state kept between blocks: the open transaction began with a GTID event; a BEGIN is open;
#: a transaction is open; it is a statement that only its own commit can follow.
HAS_GTID, IS_BEGUN, IS_OPEN, IS_ALONE = 0, 1, 2, 3
STATE_SIZE = 4


@kernel
def follow_events(roles: Array, begins: Bools, state: Bools, phases: Array) -> None:
    """Follow transactions through events, by the rule of `boundaries`.

    Parameters
    ----------
    roles
        Role of each event, int8.
    begins
        Bool array: GTID events, including those that replace a BEGIN.
    state
        Bool array of `STATE_SIZE` values: the state after the previous events; updated.
    phases
        Output: result bits of each event, int8.
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
