"""The table of event types, and the fields that listings show for each.

Type numbers and names come from the grammar (`binlog_enums.ksy`); this module adds the main fields of each
body. An entry is the path of a field in the grammar. ``name=path`` shows it under another name, ``len(path)``
is the length of a byte string, and ``@name`` is a function of :mod:`binlog_kaitai.core.info` for values that
need more than a path.
"""

from __future__ import annotations

from typing import NamedTuple

from binlog_kaitai.core.grammar import EventType


class InfoField(NamedTuple):
    """One field of a listing: its name, and the path or function that yields its value."""

    name: str
    path: str
    is_length: bool = False
    is_function: bool = False


def _field(entry: str) -> InfoField:
    name, _, path = entry.rpartition("=")
    if path.startswith("@"):
        return InfoField(name or path[1:], path[1:], is_function=True)
    if path.startswith("len("):
        return InfoField(name, path[4:-1], is_length=True)
    return InfoField(name or path.rpartition(".")[2], path)


_STATEMENT = ("thread_id", "execution_time", "error_code", "schema_name", "query_text")
_LOAD = ("thread_id", "execution_time", "target.schema_name", "target.table_name", "file_name")
_ROWS = ("table_id=table_id.value", "table_map.schema_name", "table_map.table_name", "flags")
_GTID = (
    "last_committed",
    "sequence_number",
    "immediate_commit_timestamp",
    "original_commit_timestamp",
    "transaction_length=len_transaction",
    "immediate_server_version",
    "original_server_version",
    "may_have_statements",
)

_MAIN_FIELDS: dict[str, tuple[str, ...]] = {
    "start_event_v3": ("binlog_version", "server_version", "create_timestamp"),
    "query_event": _STATEMENT,
    "stop_event": (),
    "rotate_event": ("position", "next_log"),
    "intvar_event": ("variable", "value"),
    "load_event": _LOAD,
    "slave_event": ("source_host", "source_port", "source_log", "source_position"),
    "create_file_event": (*_LOAD, "file_id", "block_length=len(block)"),
    "append_block_event": ("file_id", "block_length=len(block)"),
    "exec_load_event": ("file_id",),
    "delete_file_event": ("file_id",),
    "new_load_event": _LOAD,
    "rand_event": ("seed1", "seed2"),
    "user_var_event": ("name", "is_null", "value=@user_variable"),
    "format_description_event": (
        "binlog_version",
        "server_version",
        "create_timestamp",
        "header_length=len_header",
        "checksum_algorithm",
    ),
    "xid_event": ("xid",),
    "begin_load_query_event": ("file_id", "block_length=len(block)"),
    "execute_load_query_event": (*_STATEMENT, "file_id", "duplicate_handling"),
    "table_map_event": (
        "table_id=table_id.value",
        "schema_name",
        "table_name",
        "columns=num_columns.value",
    ),
    "incident_event": ("incident", "message"),
    "heartbeat_log_event": ("log", "position"),
    "ignorable_log_event": ("length=len(unknown_data)",),
    "rows_query_log_event": ("query_text",),
    "gtid_log_event": _GTID,
    "anonymous_gtid_log_event": _GTID,
    "gtid_tagged_log_event": _GTID,
    "previous_gtids_log_event": ("gtids=@gtid_set",),
    "transaction_context_event": ("server_uuid", "thread_id", "gtid_specified"),
    "view_change_event": ("view_id", "sequence_number"),
    "xa_prepare_log_event": ("is_one_phase", "format_id", "gtrid", "bqual"),
    "transaction_payload_event": (
        "compression_type",
        "uncompressed_size=len_uncompressed",
        "payload_length=len(payload)",
    ),
    "heartbeat_log_event_v2": ("log=@heartbeat_log", "position=@heartbeat_position"),
    "large_transaction_header_event": (
        "terminating_event_offset=ofs_terminating_event",
        "terminating_event_type",
    ),
    "annotate_rows_event": ("query_text",),
    "binlog_checkpoint_event": ("file_name",),
    "gtid_event": ("domain_id", "sequence_number", "flags", "commit_id", "is_standalone", "is_ddl"),
    "gtid_list_event": ("gtids=@gtid_list",),
    "start_encryption_event": ("scheme", "key_version"),
    "query_compressed_event": _STATEMENT,
    "partial_row_data_event": ("fragment_number", "number_of_fragments=num_fragments"),
}

for _kind in EventType:
    if "rows_" in _kind.name and _kind.name not in _MAIN_FIELDS:
        _MAIN_FIELDS[_kind.name] = _ROWS

#: The main fields of each type in the grammar, by type number.
INFO_FIELDS: dict[int, tuple[InfoField, ...]] = {
    kind.value: tuple(_field(entry) for entry in _MAIN_FIELDS.get(kind.name, ())) for kind in EventType
}

#: Statements, plain and compressed.
QUERY_TYPES = (EventType.query_event, EventType.query_compressed_event)

#: The server's names of all event types.
TYPE_NAMES = tuple(kind.name.upper() for kind in EventType)

#: The names of the types of row changes, by kind of change.
CHANGE_TYPES = {
    change: tuple(name for name in TYPE_NAMES if f"{word}_ROWS_" in name)
    for change, word in (("insert", "WRITE"), ("update", "UPDATE"), ("delete", "DELETE"))
}


def type_name(code: int) -> str:
    """The server's name of an event type; ``"UNKNOWN_EVENT"`` for a number that is not in the grammar."""
    return _NAMES.get(code, _UNKNOWN)


_NAMES = {kind.value: kind.name.upper() for kind in EventType}
_UNKNOWN = EventType.unknown_event.name.upper()
