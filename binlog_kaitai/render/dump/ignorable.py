"""Events that `mariadb-binlog` skips, mostly because their headers mark them as ignorable, and its names for
them.
"""

from __future__ import annotations

from binlog_kaitai.core.grammar import EventType, masks
from binlog_kaitai.render.dump.printer import Version

_NAMES: dict[int, bytes] = {
    EventType.start_event_v3: b"Start_v3",
    EventType.query_event: b"Query",
    EventType.stop_event: b"Stop",
    EventType.rotate_event: b"Rotate",
    EventType.intvar_event: b"Intvar",
    EventType.load_event: b"Load",
    EventType.create_file_event: b"Create_file",
    EventType.append_block_event: b"Append_block",
    EventType.exec_load_event: b"Exec_load",
    EventType.delete_file_event: b"Delete_file",
    EventType.new_load_event: b"New_load",
    EventType.rand_event: b"RAND",
    EventType.user_var_event: b"User var",
    EventType.xid_event: b"Xid",
    EventType.begin_load_query_event: b"Begin_load_query",
    EventType.execute_load_query_event: b"Execute_load_query",
    EventType.table_map_event: b"Table_map",
    EventType.pre_ga_write_rows_event: b"Write_rows_event_old",
    EventType.pre_ga_update_rows_event: b"Update_rows_event_old",
    EventType.pre_ga_delete_rows_event: b"Delete_rows_event_old",
    EventType.write_rows_event_v1: b"Write_rows_v1",
    EventType.update_rows_event_v1: b"Update_rows_v1",
    EventType.delete_rows_event_v1: b"Delete_rows_v1",
    EventType.incident_event: b"Incident",
    EventType.heartbeat_log_event: b"Heartbeat",
    EventType.ignorable_log_event: b"Ignorable log event",
    EventType.rows_query_log_event: b"MySQL Rows_query",
    EventType.write_rows_event: b"Write_rows",
    EventType.update_rows_event: b"Update_rows",
    EventType.delete_rows_event: b"Delete_rows",
    EventType.gtid_log_event: b"MySQL Gtid",
    EventType.anonymous_gtid_log_event: b"MySQL Anonymous_Gtid",
    EventType.previous_gtids_log_event: b"MySQL Previous_gtids",
    EventType.transaction_context_event: b"Transaction_context",
    EventType.view_change_event: b"View_change",
    EventType.xa_prepare_log_event: b"XA_prepare",
    EventType.partial_update_rows_event: b"MySQL Update_rows_partial",
    EventType.transaction_payload_event: b"MySQL Transaction_payload",
    EventType.heartbeat_log_event_v2: b"MySQL Heartbeat",
    EventType.annotate_rows_event: b"Annotate_rows",
    EventType.binlog_checkpoint_event: b"Binlog_checkpoint",
    EventType.gtid_event: b"Gtid",
    EventType.gtid_list_event: b"Gtid_list",
    EventType.start_encryption_event: b"Start_encryption",
    EventType.query_compressed_event: b"Query_compressed",
    EventType.write_rows_compressed_event_v1: b"Write_rows_compressed_v1",
    EventType.update_rows_compressed_event_v1: b"Update_rows_compressed_v1",
    EventType.delete_rows_compressed_event_v1: b"Delete_rows_compressed_v1",
    EventType.write_rows_compressed_event: b"Write_rows_compressed",
    EventType.update_rows_compressed_event: b"Update_rows_compressed",
    EventType.delete_rows_compressed_event: b"Delete_rows_compressed",
}
#: MySQL types that the clients before 10.6 do not know.
_LATER = frozenset(
    (
        EventType.partial_update_rows_event,
        EventType.transaction_payload_event,
        EventType.heartbeat_log_event_v2,
    )
)


#: MySQL types that the client skips even if their headers do not mark them.
_SKIPPED = frozenset(
    (
        EventType.gtid_log_event,
        EventType.anonymous_gtid_log_event,
        EventType.previous_gtids_log_event,
        EventType.transaction_context_event,
        EventType.view_change_event,
    )
)


def is_skipped(kind: int, flags: int, version: Version) -> bool:
    """Whether a client version skips an event, by its type and header flags."""
    if kind == EventType.heartbeat_log_event_v2 and version >= (10, 6):
        return True
    is_ignorable = bool(flags & masks.EventHeader.IS_IGNORABLE)
    return kind in _SKIPPED or (is_ignorable and kind != EventType.format_description_event)


def ignorable_name(kind: int, version: Version) -> bytes:
    """The name of a type in a client version."""
    if kind in _LATER and version < (10, 6):
        return b"Unknown"
    return _NAMES.get(kind, b"Unknown")
