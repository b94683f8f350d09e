"""Assigns events to transactions by GTID.

The rule, in one place for both readers
---------------------------------------
1. A GTID event opens a transaction: every event from it on belongs to it, the GTID event included.
2. The next GTID event closes it. A server that writes GTID events at all writes one before *each*
   transaction (an anonymous one where the transaction has no GTID), so nothing falls between two of them.
3. Events that belong to the log and not to a transaction (:data:`BETWEEN`) have no GTID and close
   what is open.
4. Each file starts with nothing open: servers end a file between transactions only.

That needs no look at statements (BEGIN, COMMIT, implicit commits), on which servers differ. Following
transactions to their commit, as the server's `Transaction_boundary_parser` does, gives the same GTIDs.
"""

from __future__ import annotations

from binlog_kaitai.core.grammar import EventType

#: Events that concern the log itself and belong to no transaction.
BETWEEN = frozenset(
    (
        EventType.start_event_v3,
        EventType.stop_event,
        EventType.rotate_event,
        EventType.slave_event,
        EventType.format_description_event,
        EventType.heartbeat_log_event,
        EventType.heartbeat_log_event_v2,
        EventType.previous_gtids_log_event,
        EventType.binlog_checkpoint_event,
        EventType.gtid_list_event,
        EventType.start_encryption_event,
    )
)

#: Events that open a transaction.
GTID_TYPES = frozenset(
    (
        EventType.gtid_log_event,
        EventType.anonymous_gtid_log_event,
        EventType.gtid_tagged_log_event,
        EventType.gtid_event,
    )
)


class GtidTracker:
    """Tracks the GTID in force, event by event, through one file."""

    def __init__(self) -> None:
        self.gtid: str | None = None

    def step(self, event_type: int, own_gtid: str | None = None) -> str | None:
        """GTID of the transaction that the event belongs to, or None.

        `event_type`: the effective type of the event (`Format.effective_type`).
        `own_gtid`: for an event of :data:`GTID_TYPES`, its GTID; None for an anonymous one.
        """
        if event_type in GTID_TYPES:
            self.gtid = own_gtid
        elif event_type in BETWEEN:
            self.gtid = None
        return self.gtid


def mysql_gtid(uuid: bytes, sequence: int, tag: str = "") -> str:
    """MySQL's text of a GTID: `uuid:number`, or `uuid:tag:number` (since 8.3)."""
    return f"{mysql_source(uuid, tag)}:{sequence}"


def mysql_source(uuid: bytes, tag: str = "") -> str:
    """The part before the number of a MySQL GTID: `uuid` or `uuid:tag`."""
    digits = uuid.hex()
    text = "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
    return f"{text}:{tag}" if tag else text


def mariadb_gtid(domain_id: int, server_id: int, sequence: int) -> str:
    """MariaDB's text of a GTID: `domain-server-sequence`."""
    return f"{domain_id}-{server_id}-{sequence}"
