"""Where transactions begin and end, event by event."""

from __future__ import annotations

from typing import Any

from binlog_kaitai.columns.compile import kernel

#: What an event is to the transactions around it; see `boundaries.Role`.
PART, OUTSIDE, GTID, BEGIN, END, STATEMENT = range(6)

#: Numbers of the state that is kept from one block to the next: the open transaction began with a GTID
#: event; there was a BEGIN without an end; a transaction is open; it is a statement that nothing but a commit
#: of its own can follow.
HAS_GTID, IS_BEGUN, IS_OPEN, IS_ALONE = 0, 1, 2, 3
STATE_SIZE = 4


@kernel
def divide_events(roles: Any, state: Any, rows: Any, starts: Any) -> tuple[int, int, bool]:
    """Divide events into transactions, by the rule of `boundaries`.

    Parameters
    ----------
    roles
        What each event is, int8.
    state
        Bool array of `STATE_SIZE` values: as left by the events before, and left for those behind.
    rows, starts
        Get the events that belong to transactions, and where in these each transaction begins; as long as
        `roles`.

    Returns
    -------
    How many events belong to transactions, how many transactions there are, and whether the first one
    goes on from before.
    """
    has_gtid, is_begun, is_open, is_alone = state[0], state[1], state[2], state[3]
    members, parts = 0, 0
    continues = False
    for event in range(min(roles.shape[0], rows.shape[0], starts.shape[0])):
        role = roles[event]
        was_begun = is_begun
        if role in (GTID, OUTSIDE):
            has_gtid = role == GTID
            is_begun = False
        elif role in (BEGIN, END):
            is_begun = role == BEGIN
        if role == OUTSIDE:
            is_open = is_alone = False
            continue
        begins = role == GTID or not is_open or (is_alone and role != END)
        begins = begins or (role == BEGIN and was_begun and not has_gtid)
        if begins or event == 0:
            continues = continues or not begins
            starts[parts] = members
            parts += 1
        rows[members] = event
        members += 1
        is_alone = role == STATEMENT and not was_begun and not has_gtid
        is_open = has_gtid or role != END
    state[0], state[1], state[2], state[3] = has_gtid, is_begun, is_open, is_alone
    return members, parts, continues
