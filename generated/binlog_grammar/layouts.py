"""Record layouts of the event header and of every event type, generated from formats/.

A layout is a list of fields, to be taken in order with a running position. `Number` and `Run` read at that
position and move it; `Value` computes. Expressions are functions of `n` (operations that work on arrays
and plain numbers: both, either, negate, where) and `v` (`v[path]` a number read before, `v.length(path)`
the length of a run, `v.pos` and `v.size` the position in the body and the length of the body).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

Expression = Callable[[Any, Any], Any]


class Number(NamedTuple):
    """A number of fixed width. `dtype` is NumPy's, with widths 3 and 6 besides."""

    path: str
    dtype: str
    condition: Expression | None = None
    valid: Expression | None = None
    enum: str | None = None


class Run(NamedTuple):
    """A run of bytes. Without `size` it goes to the end of the body."""

    path: str
    size: Expression | None
    condition: Expression | None = None
    encoding: str | None = None
    ends_at_zero: bool = False
    item: str | None = None

    @property
    def dtype(self) -> None:
        """None: it is no number that lies in the bytes."""
        return None


class Value(NamedTuple):
    """A number or truth value that follows from fields before it."""

    path: str
    expression: Expression
    condition: Expression | None = None
    is_unsigned: bool = False

    @property
    def dtype(self) -> None:
        """None: it is no number that lies in the bytes."""
        return None


class Text(NamedTuple):
    """The bytes of the run `source`, as text."""

    path: str
    source: str
    encoding: str
    condition: Expression | None = None

    @property
    def dtype(self) -> None:
        """None: it is no number that lies in the bytes."""
        return None


class Layout(NamedTuple):
    """The fields of one type; `complete` when they reach the last byte."""

    id: str
    fields: tuple[Number | Run | Value | Text, ...]
    complete: bool


EVENT_HEADER = Layout(
    'event_header',
    (
        Number('timestamp', '<u4'),
        Number('type_code', 'u1', enum='binlog_enums::event_type'),
        Number('server_id', '<u4'),
        Number('event_size', '<u4'),
        Number('next_position', '<u4', condition=lambda n, v: (v['binlog_version'] > 1)),
        Number('flags', '<u2', condition=lambda n, v: (v['binlog_version'] > 1)),
        Run('extra_headers', lambda n, v: (v['header_length'] - 19), condition=lambda n, v: (v['header_length'] > 19)),
        Value('is_in_use', lambda n, v: n.both((v['binlog_version'] > 1), ((v['flags'] & 1) != 0))),
        Value('is_forced_rotate', lambda n, v: n.both((v['binlog_version'] > 1), ((v['flags'] & 2) != 0))),
        Value('is_thread_specific', lambda n, v: n.both((v['binlog_version'] > 1), ((v['flags'] & 4) != 0))),
        Value('is_use_suppressed', lambda n, v: n.both((v['binlog_version'] > 1), ((v['flags'] & 8) != 0))),
        Value('is_table_map_version_updated', lambda n, v: n.both((v['binlog_version'] > 1), ((v['flags'] & 16) != 0))),
        Value('is_artificial', lambda n, v: n.both((v['binlog_version'] > 1), ((v['flags'] & 32) != 0))),
        Value('is_relay_log', lambda n, v: n.both((v['binlog_version'] > 1), ((v['flags'] & 64) != 0))),
        Value('is_ignorable', lambda n, v: n.both((v['binlog_version'] > 1), ((v['flags'] & 128) != 0))),
        Value('is_no_filter', lambda n, v: n.both((v['binlog_version'] > 1), ((v['flags'] & 256) != 0))),
        Value('is_mts_isolate', lambda n, v: n.both((v['binlog_version'] > 1), ((v['flags'] & 512) != 0))),
        Value('is_skipped_for_replication', lambda n, v: n.both((v['binlog_version'] > 1), ((v['flags'] & 32768) != 0))),
    ),
    True,
)

FORMAT_DESCRIPTION_EVENT = Layout(
    'format_description_event',
    (
        Number('binlog_version', '<u2'),
        Run('server_version', lambda n, v: 50, encoding='UTF-8', ends_at_zero=True),
        Number('create_timestamp', '<u4'),
        Number('header_length', 'u1'),
    ),
    False,
)

TABLE_MAP_EVENT = Layout(
    'table_map_event',
    (
        Run('table_id', lambda n, v: 6),
        Run('rest', None),
    ),
    True,
)

ROWS_EVENT = Layout(
    'rows_event',
    (
        Run('table_id', lambda n, v: 6),
        Run('rest', None),
    ),
    True,
)

UNKNOWN_EVENT = Layout(
    'unknown_event',
    (
        Run('data', None),
    ),
    True,
)

UNKNOWN_BODY = UNKNOWN_EVENT

LAYOUTS: dict[str, Layout] = {
    'event_header': EVENT_HEADER,
    'format_description_event': FORMAT_DESCRIPTION_EVENT,
    'table_map_event': TABLE_MAP_EVENT,
    'rows_event': ROWS_EVENT,
    'unknown_event': UNKNOWN_EVENT,
}

BODIES: dict[int, Layout] = {
    15: FORMAT_DESCRIPTION_EVENT,
    19: TABLE_MAP_EVENT,
    30: ROWS_EVENT,
}

ENUMS: dict[str, dict[int, str]] = {
    'binlog_enums::event_type': {0: 'unknown_event', 1: 'start_event_v3', 2: 'query_event', 3: 'stop_event', 4: 'rotate_event', 5: 'intvar_event', 6: 'load_event', 7: 'slave_event', 8: 'create_file_event', 9: 'append_block_event', 10: 'exec_load_event', 11: 'delete_file_event', 12: 'new_load_event', 13: 'rand_event', 14: 'user_var_event', 15: 'format_description_event', 16: 'xid_event', 17: 'begin_load_query_event', 18: 'execute_load_query_event', 19: 'table_map_event', 20: 'pre_ga_write_rows_event', 21: 'pre_ga_update_rows_event', 22: 'pre_ga_delete_rows_event', 23: 'write_rows_event_v1', 24: 'update_rows_event_v1', 25: 'delete_rows_event_v1', 26: 'incident_event', 27: 'heartbeat_log_event', 28: 'ignorable_log_event', 29: 'rows_query_log_event', 30: 'write_rows_event', 31: 'update_rows_event', 32: 'delete_rows_event', 33: 'gtid_log_event', 34: 'anonymous_gtid_log_event', 35: 'previous_gtids_log_event', 36: 'transaction_context_event', 37: 'view_change_event', 38: 'xa_prepare_log_event', 39: 'partial_update_rows_event', 40: 'transaction_payload_event', 41: 'heartbeat_log_event_v2', 42: 'gtid_tagged_log_event', 160: 'annotate_rows_event', 161: 'binlog_checkpoint_event', 162: 'mariadb_gtid_event', 163: 'mariadb_gtid_list_event', 164: 'start_encryption_event', 165: 'query_compressed_event', 166: 'write_rows_compressed_event_v1', 167: 'update_rows_compressed_event_v1', 168: 'delete_rows_compressed_event_v1', 169: 'write_rows_compressed_event', 170: 'update_rows_compressed_event', 171: 'delete_rows_compressed_event', 172: 'partial_row_data_event'},
}
