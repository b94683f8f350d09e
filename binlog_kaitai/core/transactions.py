"""Event types around transactions, and the text of GTIDs; the rules are in `log.transaction_roles`."""

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
