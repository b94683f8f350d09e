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

START_EVENT_V3 = Layout(
    'start_event_v3',
    (
        Number('binlog_version', '<u2'),
        Run('server_version', lambda n, v: 50, encoding='UTF-8', ends_at_zero=True),
        Number('create_timestamp', '<u4'),
        Run('unknown_tail', None, condition=lambda n, v: n.negate((v.pos >= v.size))),
    ),
    True,
)

QUERY_EVENT = Layout(
    'query_event',
    (
        Value('event_body.usual_fixed_length', lambda n, v: n.where((v['type_code'] == 2), n.where((v['binlog_version'] < 4), 11, 13), n.where((v['type_code'] == 4), n.where((v['binlog_version'] < 3), 0, 8), n.where((v['type_code'] == 6), 18, n.where((v['type_code'] == 12), 18, n.where((v['type_code'] == 18), 26, n.where((v['type_code'] == 19), 8, n.where((v['type_code'] == 20), 8, n.where((v['type_code'] == 21), 8, n.where((v['type_code'] == 22), 8, n.where((v['type_code'] == 23), 8, n.where((v['type_code'] == 24), 8, n.where((v['type_code'] == 25), 8, n.where((v['type_code'] == 30), 10, n.where((v['type_code'] == 31), 10, n.where((v['type_code'] == 32), 10, n.where((v['type_code'] == 39), 10, n.where((v['type_code'] == 33), 42, n.where((v['type_code'] == 34), 42, n.where((v['type_code'] == 36), 18, n.where((v['type_code'] == 37), 52, n.where((v['type_code'] == 165), 13, n.where((v['type_code'] == 166), 8, n.where((v['type_code'] == 167), 8, n.where((v['type_code'] == 168), 8, n.where((v['type_code'] == 169), 10, n.where((v['type_code'] == 170), 10, n.where((v['type_code'] == 171), 10, 0)))))))))))))))))))))))))))),
        Value('event_body.fixed_length', lambda n, v: n.where((v['post_header_length'] > 0), v['post_header_length'], v['event_body.usual_fixed_length'])),
        Number('thread_id', '<u4'),
        Number('execution_time', '<u4'),
        Number('schema_name_length', 'u1'),
        Number('error_code', '<u2'),
        Number('status_vars_length', '<u2', condition=lambda n, v: (v['event_body.fixed_length'] >= 13)),
        Run('unknown_post_header', lambda n, v: (v['event_body.fixed_length'] - 13), condition=lambda n, v: (v['event_body.fixed_length'] > 13)),
        Run('status_vars', lambda n, v: v['status_vars_length'], condition=lambda n, v: (v['event_body.fixed_length'] >= 13)),
        Run('schema_name', lambda n, v: v['schema_name_length'], encoding='UTF-8'),
        Number('schema_name_terminator', 'u1'),
        Run('query', None),
        Text('query_text', 'query', 'UTF-8'),
    ),
    True,
)

STOP_EVENT = Layout(
    'stop_event',
    (
        Run('unknown_tail', None, condition=lambda n, v: n.negate((v.pos >= v.size))),
    ),
    True,
)

ROTATE_EVENT = Layout(
    'rotate_event',
    (
        Value('event_body.usual_fixed_length', lambda n, v: n.where((v['type_code'] == 2), n.where((v['binlog_version'] < 4), 11, 13), n.where((v['type_code'] == 4), n.where((v['binlog_version'] < 3), 0, 8), n.where((v['type_code'] == 6), 18, n.where((v['type_code'] == 12), 18, n.where((v['type_code'] == 18), 26, n.where((v['type_code'] == 19), 8, n.where((v['type_code'] == 20), 8, n.where((v['type_code'] == 21), 8, n.where((v['type_code'] == 22), 8, n.where((v['type_code'] == 23), 8, n.where((v['type_code'] == 24), 8, n.where((v['type_code'] == 25), 8, n.where((v['type_code'] == 30), 10, n.where((v['type_code'] == 31), 10, n.where((v['type_code'] == 32), 10, n.where((v['type_code'] == 39), 10, n.where((v['type_code'] == 33), 42, n.where((v['type_code'] == 34), 42, n.where((v['type_code'] == 36), 18, n.where((v['type_code'] == 37), 52, n.where((v['type_code'] == 165), 13, n.where((v['type_code'] == 166), 8, n.where((v['type_code'] == 167), 8, n.where((v['type_code'] == 168), 8, n.where((v['type_code'] == 169), 10, n.where((v['type_code'] == 170), 10, n.where((v['type_code'] == 171), 10, 0)))))))))))))))))))))))))))),
        Value('event_body.fixed_length', lambda n, v: n.where((v['post_header_length'] > 0), v['post_header_length'], v['event_body.usual_fixed_length'])),
        Number('position', '<u8', condition=lambda n, v: (v['event_body.fixed_length'] >= 8)),
        Run('unknown_post_header', lambda n, v: (v['event_body.fixed_length'] - 8), condition=lambda n, v: (v['event_body.fixed_length'] > 8)),
        Run('next_log', None, encoding='UTF-8'),
    ),
    True,
)

INTVAR_EVENT = Layout(
    'intvar_event',
    (
        Number('variable', 'u1', enum='intvar_event::variable'),
        Number('value', '<u8'),
        Run('unknown_tail', None, condition=lambda n, v: n.negate((v.pos >= v.size))),
    ),
    True,
)

LOAD_EVENT = Layout(
    'load_event',
    (
        Value('event_body.usual_fixed_length', lambda n, v: n.where((v['type_code'] == 2), n.where((v['binlog_version'] < 4), 11, 13), n.where((v['type_code'] == 4), n.where((v['binlog_version'] < 3), 0, 8), n.where((v['type_code'] == 6), 18, n.where((v['type_code'] == 12), 18, n.where((v['type_code'] == 18), 26, n.where((v['type_code'] == 19), 8, n.where((v['type_code'] == 20), 8, n.where((v['type_code'] == 21), 8, n.where((v['type_code'] == 22), 8, n.where((v['type_code'] == 23), 8, n.where((v['type_code'] == 24), 8, n.where((v['type_code'] == 25), 8, n.where((v['type_code'] == 30), 10, n.where((v['type_code'] == 31), 10, n.where((v['type_code'] == 32), 10, n.where((v['type_code'] == 39), 10, n.where((v['type_code'] == 33), 42, n.where((v['type_code'] == 34), 42, n.where((v['type_code'] == 36), 18, n.where((v['type_code'] == 37), 52, n.where((v['type_code'] == 165), 13, n.where((v['type_code'] == 166), 8, n.where((v['type_code'] == 167), 8, n.where((v['type_code'] == 168), 8, n.where((v['type_code'] == 169), 10, n.where((v['type_code'] == 170), 10, n.where((v['type_code'] == 171), 10, 0)))))))))))))))))))))))))))),
        Value('event_body.fixed_length', lambda n, v: n.where((v['post_header_length'] > 0), v['post_header_length'], v['event_body.usual_fixed_length'])),
        Number('thread_id', '<u4'),
        Number('execution_time', '<u4'),
        Number('skipped_lines', '<u4'),
        Number('table_name_length', 'u1'),
        Number('schema_name_length', 'u1'),
        Number('number_of_fields', '<u4'),
        Run('unknown_post_header', lambda n, v: (v['event_body.fixed_length'] - 18), condition=lambda n, v: (v['event_body.fixed_length'] > 18)),
        Run('target.short_separators.field_terminator', lambda n, v: 1, condition=lambda n, v: n.negate(False)),
        Run('target.short_separators.enclosure', lambda n, v: 1, condition=lambda n, v: n.negate(False)),
        Run('target.short_separators.line_terminator', lambda n, v: 1, condition=lambda n, v: n.negate(False)),
        Run('target.short_separators.line_start', lambda n, v: 1, condition=lambda n, v: n.negate(False)),
        Run('target.short_separators.escape', lambda n, v: 1, condition=lambda n, v: n.negate(False)),
        Number('target.short_separators.option_flags', 'u1', condition=lambda n, v: n.negate(False)),
        Number('target.short_separators.empty_flags', 'u1', condition=lambda n, v: n.negate(False)),
        Number('target.long_separators.field_terminator.length', 'u1', condition=lambda n, v: False),
        Run('target.long_separators.field_terminator.value', lambda n, v: v['target.long_separators.field_terminator.length'], condition=lambda n, v: False),
        Number('target.long_separators.enclosure.length', 'u1', condition=lambda n, v: False),
        Run('target.long_separators.enclosure.value', lambda n, v: v['target.long_separators.enclosure.length'], condition=lambda n, v: False),
        Number('target.long_separators.line_terminator.length', 'u1', condition=lambda n, v: False),
        Run('target.long_separators.line_terminator.value', lambda n, v: v['target.long_separators.line_terminator.length'], condition=lambda n, v: False),
        Number('target.long_separators.line_start.length', 'u1', condition=lambda n, v: False),
        Run('target.long_separators.line_start.value', lambda n, v: v['target.long_separators.line_start.length'], condition=lambda n, v: False),
        Number('target.long_separators.escape.length', 'u1', condition=lambda n, v: False),
        Run('target.long_separators.escape.value', lambda n, v: v['target.long_separators.escape.length'], condition=lambda n, v: False),
        Number('target.long_separators.option_flags', 'u1', condition=lambda n, v: False),
        Run('target.field_name_lengths', lambda n, v: (v['number_of_fields'] * 1), item='u1'),
    ),
    False,
)

SLAVE_EVENT = Layout(
    'slave_event',
    (
        Number('source_position', '<u8'),
        Number('source_port', '<u2'),
    ),
    False,
)

CREATE_FILE_EVENT = Layout(
    'create_file_event',
    (
        Number('thread_id', '<u4'),
        Number('execution_time', '<u4'),
        Number('skipped_lines', '<u4'),
        Number('table_name_length', 'u1'),
        Number('schema_name_length', 'u1'),
        Number('number_of_fields', '<u4'),
        Number('file_id', '<u4'),
        Run('target.short_separators.field_terminator', lambda n, v: 1, condition=lambda n, v: n.negate(True)),
        Run('target.short_separators.enclosure', lambda n, v: 1, condition=lambda n, v: n.negate(True)),
        Run('target.short_separators.line_terminator', lambda n, v: 1, condition=lambda n, v: n.negate(True)),
        Run('target.short_separators.line_start', lambda n, v: 1, condition=lambda n, v: n.negate(True)),
        Run('target.short_separators.escape', lambda n, v: 1, condition=lambda n, v: n.negate(True)),
        Number('target.short_separators.option_flags', 'u1', condition=lambda n, v: n.negate(True)),
        Number('target.short_separators.empty_flags', 'u1', condition=lambda n, v: n.negate(True)),
        Number('target.long_separators.field_terminator.length', 'u1', condition=lambda n, v: True),
        Run('target.long_separators.field_terminator.value', lambda n, v: v['target.long_separators.field_terminator.length'], condition=lambda n, v: True),
        Number('target.long_separators.enclosure.length', 'u1', condition=lambda n, v: True),
        Run('target.long_separators.enclosure.value', lambda n, v: v['target.long_separators.enclosure.length'], condition=lambda n, v: True),
        Number('target.long_separators.line_terminator.length', 'u1', condition=lambda n, v: True),
        Run('target.long_separators.line_terminator.value', lambda n, v: v['target.long_separators.line_terminator.length'], condition=lambda n, v: True),
        Number('target.long_separators.line_start.length', 'u1', condition=lambda n, v: True),
        Run('target.long_separators.line_start.value', lambda n, v: v['target.long_separators.line_start.length'], condition=lambda n, v: True),
        Number('target.long_separators.escape.length', 'u1', condition=lambda n, v: True),
        Run('target.long_separators.escape.value', lambda n, v: v['target.long_separators.escape.length'], condition=lambda n, v: True),
        Number('target.long_separators.option_flags', 'u1', condition=lambda n, v: True),
        Run('target.field_name_lengths', lambda n, v: (v['number_of_fields'] * 1), item='u1'),
    ),
    False,
)

APPEND_BLOCK_EVENT = Layout(
    'append_block_event',
    (
        Number('file_id', '<u4'),
        Run('block', None),
    ),
    True,
)

EXEC_LOAD_EVENT = Layout(
    'exec_load_event',
    (
        Number('file_id', '<u4'),
        Run('unknown_tail', None, condition=lambda n, v: n.negate((v.pos >= v.size))),
    ),
    True,
)

DELETE_FILE_EVENT = Layout(
    'delete_file_event',
    (
        Number('file_id', '<u4'),
        Run('unknown_tail', None, condition=lambda n, v: n.negate((v.pos >= v.size))),
    ),
    True,
)

LOAD_EVENT_2 = Layout(
    'load_event',
    (
        Value('event_body.usual_fixed_length', lambda n, v: n.where((v['type_code'] == 2), n.where((v['binlog_version'] < 4), 11, 13), n.where((v['type_code'] == 4), n.where((v['binlog_version'] < 3), 0, 8), n.where((v['type_code'] == 6), 18, n.where((v['type_code'] == 12), 18, n.where((v['type_code'] == 18), 26, n.where((v['type_code'] == 19), 8, n.where((v['type_code'] == 20), 8, n.where((v['type_code'] == 21), 8, n.where((v['type_code'] == 22), 8, n.where((v['type_code'] == 23), 8, n.where((v['type_code'] == 24), 8, n.where((v['type_code'] == 25), 8, n.where((v['type_code'] == 30), 10, n.where((v['type_code'] == 31), 10, n.where((v['type_code'] == 32), 10, n.where((v['type_code'] == 39), 10, n.where((v['type_code'] == 33), 42, n.where((v['type_code'] == 34), 42, n.where((v['type_code'] == 36), 18, n.where((v['type_code'] == 37), 52, n.where((v['type_code'] == 165), 13, n.where((v['type_code'] == 166), 8, n.where((v['type_code'] == 167), 8, n.where((v['type_code'] == 168), 8, n.where((v['type_code'] == 169), 10, n.where((v['type_code'] == 170), 10, n.where((v['type_code'] == 171), 10, 0)))))))))))))))))))))))))))),
        Value('event_body.fixed_length', lambda n, v: n.where((v['post_header_length'] > 0), v['post_header_length'], v['event_body.usual_fixed_length'])),
        Number('thread_id', '<u4'),
        Number('execution_time', '<u4'),
        Number('skipped_lines', '<u4'),
        Number('table_name_length', 'u1'),
        Number('schema_name_length', 'u1'),
        Number('number_of_fields', '<u4'),
        Run('unknown_post_header', lambda n, v: (v['event_body.fixed_length'] - 18), condition=lambda n, v: (v['event_body.fixed_length'] > 18)),
        Run('target.short_separators.field_terminator', lambda n, v: 1, condition=lambda n, v: n.negate(True)),
        Run('target.short_separators.enclosure', lambda n, v: 1, condition=lambda n, v: n.negate(True)),
        Run('target.short_separators.line_terminator', lambda n, v: 1, condition=lambda n, v: n.negate(True)),
        Run('target.short_separators.line_start', lambda n, v: 1, condition=lambda n, v: n.negate(True)),
        Run('target.short_separators.escape', lambda n, v: 1, condition=lambda n, v: n.negate(True)),
        Number('target.short_separators.option_flags', 'u1', condition=lambda n, v: n.negate(True)),
        Number('target.short_separators.empty_flags', 'u1', condition=lambda n, v: n.negate(True)),
        Number('target.long_separators.field_terminator.length', 'u1', condition=lambda n, v: True),
        Run('target.long_separators.field_terminator.value', lambda n, v: v['target.long_separators.field_terminator.length'], condition=lambda n, v: True),
        Number('target.long_separators.enclosure.length', 'u1', condition=lambda n, v: True),
        Run('target.long_separators.enclosure.value', lambda n, v: v['target.long_separators.enclosure.length'], condition=lambda n, v: True),
        Number('target.long_separators.line_terminator.length', 'u1', condition=lambda n, v: True),
        Run('target.long_separators.line_terminator.value', lambda n, v: v['target.long_separators.line_terminator.length'], condition=lambda n, v: True),
        Number('target.long_separators.line_start.length', 'u1', condition=lambda n, v: True),
        Run('target.long_separators.line_start.value', lambda n, v: v['target.long_separators.line_start.length'], condition=lambda n, v: True),
        Number('target.long_separators.escape.length', 'u1', condition=lambda n, v: True),
        Run('target.long_separators.escape.value', lambda n, v: v['target.long_separators.escape.length'], condition=lambda n, v: True),
        Number('target.long_separators.option_flags', 'u1', condition=lambda n, v: True),
        Run('target.field_name_lengths', lambda n, v: (v['number_of_fields'] * 1), item='u1'),
    ),
    False,
)

RAND_EVENT = Layout(
    'rand_event',
    (
        Number('seed1', '<u8'),
        Number('seed2', '<u8'),
        Run('unknown_tail', None, condition=lambda n, v: n.negate((v.pos >= v.size))),
    ),
    True,
)

USER_VAR_EVENT = Layout(
    'user_var_event',
    (
        Number('name_length', '<u4'),
        Run('name', lambda n, v: v['name_length'], encoding='UTF-8'),
        Number('is_null', 'u1'),
        Number('value_type', 'u1', condition=lambda n, v: (v['is_null'] == 0), enum='user_var_event::value_type'),
        Number('collation_id', '<u4', condition=lambda n, v: (v['is_null'] == 0)),
        Number('value_length', '<u4', condition=lambda n, v: (v['is_null'] == 0)),
        Run('value', lambda n, v: v['value_length'], condition=lambda n, v: (v['is_null'] == 0)),
        Run('attributes', None),
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

XID_EVENT = Layout(
    'xid_event',
    (
        Number('xid', '<u8'),
        Run('unknown_tail', None, condition=lambda n, v: n.negate((v.pos >= v.size))),
    ),
    True,
)

EXECUTE_LOAD_QUERY_EVENT = Layout(
    'execute_load_query_event',
    (
        Value('event_body.usual_fixed_length', lambda n, v: n.where((v['type_code'] == 2), n.where((v['binlog_version'] < 4), 11, 13), n.where((v['type_code'] == 4), n.where((v['binlog_version'] < 3), 0, 8), n.where((v['type_code'] == 6), 18, n.where((v['type_code'] == 12), 18, n.where((v['type_code'] == 18), 26, n.where((v['type_code'] == 19), 8, n.where((v['type_code'] == 20), 8, n.where((v['type_code'] == 21), 8, n.where((v['type_code'] == 22), 8, n.where((v['type_code'] == 23), 8, n.where((v['type_code'] == 24), 8, n.where((v['type_code'] == 25), 8, n.where((v['type_code'] == 30), 10, n.where((v['type_code'] == 31), 10, n.where((v['type_code'] == 32), 10, n.where((v['type_code'] == 39), 10, n.where((v['type_code'] == 33), 42, n.where((v['type_code'] == 34), 42, n.where((v['type_code'] == 36), 18, n.where((v['type_code'] == 37), 52, n.where((v['type_code'] == 165), 13, n.where((v['type_code'] == 166), 8, n.where((v['type_code'] == 167), 8, n.where((v['type_code'] == 168), 8, n.where((v['type_code'] == 169), 10, n.where((v['type_code'] == 170), 10, n.where((v['type_code'] == 171), 10, 0)))))))))))))))))))))))))))),
        Value('event_body.fixed_length', lambda n, v: n.where((v['post_header_length'] > 0), v['post_header_length'], v['event_body.usual_fixed_length'])),
        Number('thread_id', '<u4'),
        Number('execution_time', '<u4'),
        Number('schema_name_length', 'u1'),
        Number('error_code', '<u2'),
        Number('status_vars_length', '<u2'),
        Number('file_id', '<u4'),
        Number('file_name_start', '<u4'),
        Number('file_name_end', '<u4'),
        Number('duplicate_handling', 'u1', enum='execute_load_query_event::duplicate_handling'),
        Run('unknown_post_header', lambda n, v: (v['event_body.fixed_length'] - 26), condition=lambda n, v: (v['event_body.fixed_length'] > 26)),
        Run('status_vars', lambda n, v: v['status_vars_length']),
        Run('schema_name', lambda n, v: v['schema_name_length'], encoding='UTF-8'),
        Number('schema_name_terminator', 'u1'),
        Run('query', None),
        Text('query_text', 'query', 'UTF-8'),
    ),
    True,
)

TABLE_MAP_EVENT = Layout(
    'table_map_event',
    (
        Value('event_body.usual_fixed_length', lambda n, v: n.where((v['type_code'] == 2), n.where((v['binlog_version'] < 4), 11, 13), n.where((v['type_code'] == 4), n.where((v['binlog_version'] < 3), 0, 8), n.where((v['type_code'] == 6), 18, n.where((v['type_code'] == 12), 18, n.where((v['type_code'] == 18), 26, n.where((v['type_code'] == 19), 8, n.where((v['type_code'] == 20), 8, n.where((v['type_code'] == 21), 8, n.where((v['type_code'] == 22), 8, n.where((v['type_code'] == 23), 8, n.where((v['type_code'] == 24), 8, n.where((v['type_code'] == 25), 8, n.where((v['type_code'] == 30), 10, n.where((v['type_code'] == 31), 10, n.where((v['type_code'] == 32), 10, n.where((v['type_code'] == 39), 10, n.where((v['type_code'] == 33), 42, n.where((v['type_code'] == 34), 42, n.where((v['type_code'] == 36), 18, n.where((v['type_code'] == 37), 52, n.where((v['type_code'] == 165), 13, n.where((v['type_code'] == 166), 8, n.where((v['type_code'] == 167), 8, n.where((v['type_code'] == 168), 8, n.where((v['type_code'] == 169), 10, n.where((v['type_code'] == 170), 10, n.where((v['type_code'] == 171), 10, 0)))))))))))))))))))))))))))),
        Value('event_body.fixed_length', lambda n, v: n.where((v['post_header_length'] > 0), v['post_header_length'], v['event_body.usual_fixed_length'])),
        Number('table_id.low', '<u4'),
        Number('table_id.high', '<u2', condition=lambda n, v: (v['event_body.fixed_length'] != 6)),
        Value('table_id.value', lambda n, v: n.where((v['event_body.fixed_length'] == 6), v['table_id.low'], (v['table_id.low'] + (v['table_id.high'] * 4294967296))), is_unsigned=True),
        Number('flags', '<u2'),
        Run('unknown_post_header', lambda n, v: (v['event_body.fixed_length'] - 8), condition=lambda n, v: (v['event_body.fixed_length'] > 8)),
        Number('schema_name_length.first', 'u1', valid=lambda n, v: (v['schema_name_length.first'] <= 254)),
        Number('schema_name_length.value_2', '<u2', condition=lambda n, v: (v['schema_name_length.first'] == 252)),
        Number('schema_name_length.value_3', '<u3', condition=lambda n, v: (v['schema_name_length.first'] == 253)),
        Number('schema_name_length.value_8', '<u8', condition=lambda n, v: (v['schema_name_length.first'] == 254)),
        Value('schema_name_length.is_null', lambda n, v: (v['schema_name_length.first'] == 251)),
        Value('schema_name_length.value', lambda n, v: n.where((v['schema_name_length.first'] == 252), v['schema_name_length.value_2'], n.where((v['schema_name_length.first'] == 253), v['schema_name_length.value_3'], n.where((v['schema_name_length.first'] == 254), v['schema_name_length.value_8'], v['schema_name_length.first']))), is_unsigned=True),
        Run('schema_name', lambda n, v: v['schema_name_length.value'], encoding='UTF-8'),
        Number('schema_name_end', 'u1'),
        Number('table_name_length.first', 'u1', valid=lambda n, v: (v['table_name_length.first'] <= 254)),
        Number('table_name_length.value_2', '<u2', condition=lambda n, v: (v['table_name_length.first'] == 252)),
        Number('table_name_length.value_3', '<u3', condition=lambda n, v: (v['table_name_length.first'] == 253)),
        Number('table_name_length.value_8', '<u8', condition=lambda n, v: (v['table_name_length.first'] == 254)),
        Value('table_name_length.is_null', lambda n, v: (v['table_name_length.first'] == 251)),
        Value('table_name_length.value', lambda n, v: n.where((v['table_name_length.first'] == 252), v['table_name_length.value_2'], n.where((v['table_name_length.first'] == 253), v['table_name_length.value_3'], n.where((v['table_name_length.first'] == 254), v['table_name_length.value_8'], v['table_name_length.first']))), is_unsigned=True),
        Run('table_name', lambda n, v: v['table_name_length.value'], encoding='UTF-8'),
        Number('table_name_end', 'u1'),
        Number('number_of_columns.first', 'u1', valid=lambda n, v: (v['number_of_columns.first'] <= 254)),
        Number('number_of_columns.value_2', '<u2', condition=lambda n, v: (v['number_of_columns.first'] == 252)),
        Number('number_of_columns.value_3', '<u3', condition=lambda n, v: (v['number_of_columns.first'] == 253)),
        Number('number_of_columns.value_8', '<u8', condition=lambda n, v: (v['number_of_columns.first'] == 254)),
        Value('number_of_columns.is_null', lambda n, v: (v['number_of_columns.first'] == 251)),
        Value('number_of_columns.value', lambda n, v: n.where((v['number_of_columns.first'] == 252), v['number_of_columns.value_2'], n.where((v['number_of_columns.first'] == 253), v['number_of_columns.value_3'], n.where((v['number_of_columns.first'] == 254), v['number_of_columns.value_8'], v['number_of_columns.first']))), is_unsigned=True),
        Run('column_types', lambda n, v: (v['number_of_columns.value'] * 1), item='u1'),
        Value('is_bit_length_exact', lambda n, v: ((v['flags'] & 1) != 0)),
        Value('has_referencing_keys', lambda n, v: ((v['flags'] & 2) != 0)),
        Value('has_generated_invisible_primary_key', lambda n, v: ((v['flags'] & 4) != 0)),
        Value('has_triggers', lambda n, v: ((v['flags'] & 16384) != 0)),
    ),
    False,
)

PRE_GA_ROWS_EVENT = Layout(
    'pre_ga_rows_event',
    (
        Value('event_body.usual_fixed_length', lambda n, v: n.where((v['type_code'] == 2), n.where((v['binlog_version'] < 4), 11, 13), n.where((v['type_code'] == 4), n.where((v['binlog_version'] < 3), 0, 8), n.where((v['type_code'] == 6), 18, n.where((v['type_code'] == 12), 18, n.where((v['type_code'] == 18), 26, n.where((v['type_code'] == 19), 8, n.where((v['type_code'] == 20), 8, n.where((v['type_code'] == 21), 8, n.where((v['type_code'] == 22), 8, n.where((v['type_code'] == 23), 8, n.where((v['type_code'] == 24), 8, n.where((v['type_code'] == 25), 8, n.where((v['type_code'] == 30), 10, n.where((v['type_code'] == 31), 10, n.where((v['type_code'] == 32), 10, n.where((v['type_code'] == 39), 10, n.where((v['type_code'] == 33), 42, n.where((v['type_code'] == 34), 42, n.where((v['type_code'] == 36), 18, n.where((v['type_code'] == 37), 52, n.where((v['type_code'] == 165), 13, n.where((v['type_code'] == 166), 8, n.where((v['type_code'] == 167), 8, n.where((v['type_code'] == 168), 8, n.where((v['type_code'] == 169), 10, n.where((v['type_code'] == 170), 10, n.where((v['type_code'] == 171), 10, 0)))))))))))))))))))))))))))),
        Value('event_body.fixed_length', lambda n, v: n.where((v['post_header_length'] > 0), v['post_header_length'], v['event_body.usual_fixed_length'])),
        Number('table_id.low', '<u4'),
        Number('table_id.high', '<u2', condition=lambda n, v: (v['event_body.fixed_length'] != 6)),
        Value('table_id.value', lambda n, v: n.where((v['event_body.fixed_length'] == 6), v['table_id.low'], (v['table_id.low'] + (v['table_id.high'] * 4294967296))), is_unsigned=True),
        Number('flags', '<u2'),
        Run('unknown_post_header', lambda n, v: (v['event_body.fixed_length'] - 8), condition=lambda n, v: (v['event_body.fixed_length'] > 8)),
        Number('number_of_columns.first', 'u1', valid=lambda n, v: (v['number_of_columns.first'] <= 254)),
        Number('number_of_columns.value_2', '<u2', condition=lambda n, v: (v['number_of_columns.first'] == 252)),
        Number('number_of_columns.value_3', '<u3', condition=lambda n, v: (v['number_of_columns.first'] == 253)),
        Number('number_of_columns.value_8', '<u8', condition=lambda n, v: (v['number_of_columns.first'] == 254)),
        Value('number_of_columns.is_null', lambda n, v: (v['number_of_columns.first'] == 251)),
        Value('number_of_columns.value', lambda n, v: n.where((v['number_of_columns.first'] == 252), v['number_of_columns.value_2'], n.where((v['number_of_columns.first'] == 253), v['number_of_columns.value_3'], n.where((v['number_of_columns.first'] == 254), v['number_of_columns.value_8'], v['number_of_columns.first']))), is_unsigned=True),
        Run('columns.bitmap', lambda n, v: ((v['number_of_columns.value'] + 7) // 8)),
        Run('images', None),
        Value('is_statement_end', lambda n, v: ((v['flags'] & 1) != 0)),
        Value('has_no_foreign_key_checks', lambda n, v: ((v['flags'] & 2) != 0)),
        Value('has_relaxed_unique_checks', lambda n, v: ((v['flags'] & 4) != 0)),
        Value('is_write', lambda n, v: (v['type_code'] == 20)),
        Value('is_update', lambda n, v: (v['type_code'] == 21)),
    ),
    True,
)

ROWS_EVENT = Layout(
    'rows_event',
    (
        Value('event_body.usual_fixed_length', lambda n, v: n.where((v['type_code'] == 2), n.where((v['binlog_version'] < 4), 11, 13), n.where((v['type_code'] == 4), n.where((v['binlog_version'] < 3), 0, 8), n.where((v['type_code'] == 6), 18, n.where((v['type_code'] == 12), 18, n.where((v['type_code'] == 18), 26, n.where((v['type_code'] == 19), 8, n.where((v['type_code'] == 20), 8, n.where((v['type_code'] == 21), 8, n.where((v['type_code'] == 22), 8, n.where((v['type_code'] == 23), 8, n.where((v['type_code'] == 24), 8, n.where((v['type_code'] == 25), 8, n.where((v['type_code'] == 30), 10, n.where((v['type_code'] == 31), 10, n.where((v['type_code'] == 32), 10, n.where((v['type_code'] == 39), 10, n.where((v['type_code'] == 33), 42, n.where((v['type_code'] == 34), 42, n.where((v['type_code'] == 36), 18, n.where((v['type_code'] == 37), 52, n.where((v['type_code'] == 165), 13, n.where((v['type_code'] == 166), 8, n.where((v['type_code'] == 167), 8, n.where((v['type_code'] == 168), 8, n.where((v['type_code'] == 169), 10, n.where((v['type_code'] == 170), 10, n.where((v['type_code'] == 171), 10, 0)))))))))))))))))))))))))))),
        Value('event_body.fixed_length', lambda n, v: n.where((v['post_header_length'] > 0), v['post_header_length'], v['event_body.usual_fixed_length'])),
        Number('table_id.low', '<u4'),
        Number('table_id.high', '<u2', condition=lambda n, v: (v['event_body.fixed_length'] != 6)),
        Value('table_id.value', lambda n, v: n.where((v['event_body.fixed_length'] == 6), v['table_id.low'], (v['table_id.low'] + (v['table_id.high'] * 4294967296))), is_unsigned=True),
        Number('flags', '<u2'),
        Number('extra_data_length', '<u2', condition=lambda n, v: (v['event_body.fixed_length'] >= 10), valid=lambda n, v: (v['extra_data_length'] >= 2)),
        Run('unknown_post_header', lambda n, v: (v['event_body.fixed_length'] - 10), condition=lambda n, v: (v['event_body.fixed_length'] > 10)),
        Run('extra_data', lambda n, v: (v['extra_data_length'] - 2), condition=lambda n, v: (v['event_body.fixed_length'] >= 10)),
        Number('number_of_columns.first', 'u1', valid=lambda n, v: (v['number_of_columns.first'] <= 254)),
        Number('number_of_columns.value_2', '<u2', condition=lambda n, v: (v['number_of_columns.first'] == 252)),
        Number('number_of_columns.value_3', '<u3', condition=lambda n, v: (v['number_of_columns.first'] == 253)),
        Number('number_of_columns.value_8', '<u8', condition=lambda n, v: (v['number_of_columns.first'] == 254)),
        Value('number_of_columns.is_null', lambda n, v: (v['number_of_columns.first'] == 251)),
        Value('number_of_columns.value', lambda n, v: n.where((v['number_of_columns.first'] == 252), v['number_of_columns.value_2'], n.where((v['number_of_columns.first'] == 253), v['number_of_columns.value_3'], n.where((v['number_of_columns.first'] == 254), v['number_of_columns.value_8'], v['number_of_columns.first']))), is_unsigned=True),
        Run('columns.bitmap', lambda n, v: ((v['number_of_columns.value'] + 7) // 8)),
        Value('is_partial_update', lambda n, v: (v['type_code'] == 39)),
        Value('is_update', lambda n, v: n.either(n.either(v['is_partial_update'], (v['type_code'] == 31)), (v['type_code'] == 24))),
        Run('columns_after.bitmap', lambda n, v: ((v['number_of_columns.value'] + 7) // 8), condition=lambda n, v: v['is_update']),
        Run('images', None),
        Value('is_statement_end', lambda n, v: ((v['flags'] & 1) != 0)),
        Value('has_no_foreign_key_checks', lambda n, v: ((v['flags'] & 2) != 0)),
        Value('has_relaxed_unique_checks', lambda n, v: ((v['flags'] & 4) != 0)),
        Value('is_complete', lambda n, v: ((v['flags'] & 8) != 0)),
        Value('is_sql_foreign_key', lambda n, v: ((v['flags'] & 16) != 0)),
        Value('has_no_check_constraint_checks', lambda n, v: ((v['flags'] & 128) != 0)),
        Value('is_write', lambda n, v: n.either((v['type_code'] == 30), (v['type_code'] == 23))),
    ),
    True,
)

INCIDENT_EVENT = Layout(
    'incident_event',
    (
        Number('incident', '<u2', enum='incident_event::incident'),
        Number('message_length', 'u1'),
        Run('message', lambda n, v: v['message_length'], encoding='UTF-8'),
        Run('unknown_tail', None, condition=lambda n, v: n.negate((v.pos >= v.size))),
    ),
    True,
)

HEARTBEAT_EVENT = Layout(
    'heartbeat_event',
    (
    ),
    False,
)

IGNORABLE_EVENT = Layout(
    'ignorable_event',
    (
        Run('data', None),
    ),
    True,
)

ROWS_QUERY_EVENT = Layout(
    'rows_query_event',
    (
        Number('query_length', 'u1'),
        Run('query', None),
        Text('query_text', 'query', 'UTF-8'),
    ),
    True,
)

HEARTBEAT_EVENT_V2 = Layout(
    'heartbeat_event_v2',
    (
    ),
    False,
)

LARGE_TRANSACTION_HEADER_EVENT = Layout(
    'large_transaction_header_event',
    (
        Number('version', 'u1'),
        Number('terminating_event_offset', '<u8'),
        Number('terminating_event_type', 'u1', enum='binlog_enums::event_type'),
        Run('padding', None),
    ),
    True,
)

COMPRESSED_ROWS_EVENT = Layout(
    'compressed_rows_event',
    (
        Value('event_body.usual_fixed_length', lambda n, v: n.where((v['type_code'] == 2), n.where((v['binlog_version'] < 4), 11, 13), n.where((v['type_code'] == 4), n.where((v['binlog_version'] < 3), 0, 8), n.where((v['type_code'] == 6), 18, n.where((v['type_code'] == 12), 18, n.where((v['type_code'] == 18), 26, n.where((v['type_code'] == 19), 8, n.where((v['type_code'] == 20), 8, n.where((v['type_code'] == 21), 8, n.where((v['type_code'] == 22), 8, n.where((v['type_code'] == 23), 8, n.where((v['type_code'] == 24), 8, n.where((v['type_code'] == 25), 8, n.where((v['type_code'] == 30), 10, n.where((v['type_code'] == 31), 10, n.where((v['type_code'] == 32), 10, n.where((v['type_code'] == 39), 10, n.where((v['type_code'] == 33), 42, n.where((v['type_code'] == 34), 42, n.where((v['type_code'] == 36), 18, n.where((v['type_code'] == 37), 52, n.where((v['type_code'] == 165), 13, n.where((v['type_code'] == 166), 8, n.where((v['type_code'] == 167), 8, n.where((v['type_code'] == 168), 8, n.where((v['type_code'] == 169), 10, n.where((v['type_code'] == 170), 10, n.where((v['type_code'] == 171), 10, 0)))))))))))))))))))))))))))),
        Value('event_body.fixed_length', lambda n, v: n.where((v['post_header_length'] > 0), v['post_header_length'], v['event_body.usual_fixed_length'])),
        Number('table_id.low', '<u4'),
        Number('table_id.high', '<u2', condition=lambda n, v: (v['event_body.fixed_length'] != 6)),
        Value('table_id.value', lambda n, v: n.where((v['event_body.fixed_length'] == 6), v['table_id.low'], (v['table_id.low'] + (v['table_id.high'] * 4294967296))), is_unsigned=True),
        Number('flags', '<u2'),
        Number('extra_data_length', '<u2', condition=lambda n, v: (v['event_body.fixed_length'] >= 10), valid=lambda n, v: (v['extra_data_length'] >= 2)),
        Run('unknown_post_header', lambda n, v: (v['event_body.fixed_length'] - 10), condition=lambda n, v: (v['event_body.fixed_length'] > 10)),
        Run('extra_data', lambda n, v: (v['extra_data_length'] - 2), condition=lambda n, v: (v['event_body.fixed_length'] >= 10)),
        Number('number_of_columns.first', 'u1', valid=lambda n, v: (v['number_of_columns.first'] <= 254)),
        Number('number_of_columns.value_2', '<u2', condition=lambda n, v: (v['number_of_columns.first'] == 252)),
        Number('number_of_columns.value_3', '<u3', condition=lambda n, v: (v['number_of_columns.first'] == 253)),
        Number('number_of_columns.value_8', '<u8', condition=lambda n, v: (v['number_of_columns.first'] == 254)),
        Value('number_of_columns.is_null', lambda n, v: (v['number_of_columns.first'] == 251)),
        Value('number_of_columns.value', lambda n, v: n.where((v['number_of_columns.first'] == 252), v['number_of_columns.value_2'], n.where((v['number_of_columns.first'] == 253), v['number_of_columns.value_3'], n.where((v['number_of_columns.first'] == 254), v['number_of_columns.value_8'], v['number_of_columns.first']))), is_unsigned=True),
        Run('columns.bitmap', lambda n, v: ((v['number_of_columns.value'] + 7) // 8)),
        Value('is_update', lambda n, v: n.either((v['type_code'] == 167), (v['type_code'] == 170))),
        Run('columns_after.bitmap', lambda n, v: ((v['number_of_columns.value'] + 7) // 8), condition=lambda n, v: v['is_update']),
        Run('compressed_images', None),
        Value('is_statement_end', lambda n, v: ((v['flags'] & 1) != 0)),
        Value('has_no_foreign_key_checks', lambda n, v: ((v['flags'] & 2) != 0)),
        Value('has_relaxed_unique_checks', lambda n, v: ((v['flags'] & 4) != 0)),
        Value('is_complete', lambda n, v: ((v['flags'] & 8) != 0)),
        Value('has_no_check_constraint_checks', lambda n, v: ((v['flags'] & 128) != 0)),
        Value('is_write', lambda n, v: n.either((v['type_code'] == 166), (v['type_code'] == 169))),
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
    'start_event_v3': START_EVENT_V3,
    'query_event': QUERY_EVENT,
    'stop_event': STOP_EVENT,
    'rotate_event': ROTATE_EVENT,
    'intvar_event': INTVAR_EVENT,
    'load_event': LOAD_EVENT,
    'slave_event': SLAVE_EVENT,
    'create_file_event': CREATE_FILE_EVENT,
    'append_block_event': APPEND_BLOCK_EVENT,
    'exec_load_event': EXEC_LOAD_EVENT,
    'delete_file_event': DELETE_FILE_EVENT,
    'load_event_2': LOAD_EVENT_2,
    'rand_event': RAND_EVENT,
    'user_var_event': USER_VAR_EVENT,
    'format_description_event': FORMAT_DESCRIPTION_EVENT,
    'xid_event': XID_EVENT,
    'execute_load_query_event': EXECUTE_LOAD_QUERY_EVENT,
    'table_map_event': TABLE_MAP_EVENT,
    'pre_ga_rows_event': PRE_GA_ROWS_EVENT,
    'rows_event': ROWS_EVENT,
    'incident_event': INCIDENT_EVENT,
    'heartbeat_event': HEARTBEAT_EVENT,
    'ignorable_event': IGNORABLE_EVENT,
    'rows_query_event': ROWS_QUERY_EVENT,
    'heartbeat_event_v2': HEARTBEAT_EVENT_V2,
    'large_transaction_header_event': LARGE_TRANSACTION_HEADER_EVENT,
    'compressed_rows_event': COMPRESSED_ROWS_EVENT,
    'unknown_event': UNKNOWN_EVENT,
}

BODIES: dict[int, Layout] = {
    1: START_EVENT_V3,
    2: QUERY_EVENT,
    3: STOP_EVENT,
    4: ROTATE_EVENT,
    5: INTVAR_EVENT,
    6: LOAD_EVENT,
    7: SLAVE_EVENT,
    8: CREATE_FILE_EVENT,
    9: APPEND_BLOCK_EVENT,
    10: EXEC_LOAD_EVENT,
    11: DELETE_FILE_EVENT,
    12: LOAD_EVENT_2,
    13: RAND_EVENT,
    14: USER_VAR_EVENT,
    15: FORMAT_DESCRIPTION_EVENT,
    16: XID_EVENT,
    17: APPEND_BLOCK_EVENT,
    18: EXECUTE_LOAD_QUERY_EVENT,
    19: TABLE_MAP_EVENT,
    20: PRE_GA_ROWS_EVENT,
    21: PRE_GA_ROWS_EVENT,
    22: PRE_GA_ROWS_EVENT,
    23: ROWS_EVENT,
    24: ROWS_EVENT,
    25: ROWS_EVENT,
    26: INCIDENT_EVENT,
    27: HEARTBEAT_EVENT,
    28: IGNORABLE_EVENT,
    29: ROWS_QUERY_EVENT,
    30: ROWS_EVENT,
    31: ROWS_EVENT,
    32: ROWS_EVENT,
    39: ROWS_EVENT,
    41: HEARTBEAT_EVENT_V2,
    43: LARGE_TRANSACTION_HEADER_EVENT,
    166: COMPRESSED_ROWS_EVENT,
    167: COMPRESSED_ROWS_EVENT,
    168: COMPRESSED_ROWS_EVENT,
    169: COMPRESSED_ROWS_EVENT,
    170: COMPRESSED_ROWS_EVENT,
    171: COMPRESSED_ROWS_EVENT,
}

ENUMS: dict[str, dict[int, str]] = {
    'binlog_enums::event_type': {0: 'unknown_event', 1: 'start_event_v3', 2: 'query_event', 3: 'stop_event', 4: 'rotate_event', 5: 'intvar_event', 6: 'load_event', 7: 'slave_event', 8: 'create_file_event', 9: 'append_block_event', 10: 'exec_load_event', 11: 'delete_file_event', 12: 'new_load_event', 13: 'rand_event', 14: 'user_var_event', 15: 'format_description_event', 16: 'xid_event', 17: 'begin_load_query_event', 18: 'execute_load_query_event', 19: 'table_map_event', 20: 'pre_ga_write_rows_event', 21: 'pre_ga_update_rows_event', 22: 'pre_ga_delete_rows_event', 23: 'write_rows_event_v1', 24: 'update_rows_event_v1', 25: 'delete_rows_event_v1', 26: 'incident_event', 27: 'heartbeat_log_event', 28: 'ignorable_log_event', 29: 'rows_query_log_event', 30: 'write_rows_event', 31: 'update_rows_event', 32: 'delete_rows_event', 33: 'gtid_log_event', 34: 'anonymous_gtid_log_event', 35: 'previous_gtids_log_event', 36: 'transaction_context_event', 37: 'view_change_event', 38: 'xa_prepare_log_event', 39: 'partial_update_rows_event', 40: 'transaction_payload_event', 41: 'heartbeat_log_event_v2', 42: 'gtid_tagged_log_event', 43: 'large_transaction_header_event', 160: 'annotate_rows_event', 161: 'binlog_checkpoint_event', 162: 'mariadb_gtid_event', 163: 'mariadb_gtid_list_event', 164: 'start_encryption_event', 165: 'query_compressed_event', 166: 'write_rows_compressed_event_v1', 167: 'update_rows_compressed_event_v1', 168: 'delete_rows_compressed_event_v1', 169: 'write_rows_compressed_event', 170: 'update_rows_compressed_event', 171: 'delete_rows_compressed_event', 172: 'partial_row_data_event'},
    'execute_load_query_event::duplicate_handling': {0: 'error', 1: 'ignore', 2: 'replace'},
    'incident_event::incident': {0: 'none', 1: 'lost_events'},
    'intvar_event::variable': {0: 'invalid_int', 1: 'last_insert_id', 2: 'insert_id'},
    'user_var_event::value_type': {0: 'string', 1: 'real', 2: 'int', 3: 'row', 4: 'decimal'},
}
