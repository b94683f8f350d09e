"""The record layouts of the event header and of every event type, generated from formats/.

A layout is a list of fields, processed in order with a running offset. `Number` and `Run` read at that offset
and advance it; `Value` computes; `Inner` and its variants are inside a structure that a walk decodes.
Expressions are functions of `n` (operations that work on arrays and plain numbers: both, either, negate,
where) and `v` (`v[path]` is a number read before, `v.length(path)` the length of a run, `v.pos` and `v.size`
the offset in the body and the length of the body).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

Expression = Callable[[Any, Any], Any]


class Number(NamedTuple):
    """A number of fixed width. `dtype` is NumPy's, extended by widths 3 and 6."""

    path: str
    dtype: str
    condition: Expression | None = None
    valid: Expression | None = None
    enum: str | None = None


class Run(NamedTuple):
    """A range of bytes. Without `size`, it extends to the end of the body.

    `is_structure`: the bytes have fields of their own, which the layout does not decode; `walk` names the
    function of the module `walks` that does.
    """

    path: str
    size: Expression | None
    condition: Expression | None = None
    encoding: str | None = None
    ends_at_zero: bool = False
    item: str | None = None
    is_structure: bool = False
    walk: str | None = None


class Value(NamedTuple):
    """A number or truth value derived from preceding fields."""

    path: str
    expression: Expression
    condition: Expression | None = None
    is_unsigned: bool = False


class Text(NamedTuple):
    """The bytes of the run `source`, as text."""

    path: str
    source: str
    encoding: str
    condition: Expression | None = None


class Inner(NamedTuple):
    """A number that the walk over the run `source` records in a slot; 0 if it is absent."""

    path: str
    source: str
    slot: int
    condition: Expression | None = None


class InnerRun(NamedTuple):
    """A byte range inside the run `source`; its walk records offset and length in two slots from `slot`."""

    path: str
    source: str
    slot: int
    encoding: str | None = None
    condition: Expression | None = None


class InnerList(NamedTuple):
    """A list of numbers inside the run `source`; its walk records them in slots from `slot` on."""

    path: str
    source: str
    slot: int
    items: int
    condition: Expression | None = None


class Layout(NamedTuple):
    """The fields of a type; `complete` if they include the last byte."""

    id: str
    fields: tuple[Number | Run | Value | Text | Inner | InnerRun | InnerList, ...]
    complete: bool


def walk_over(name: str) -> tuple[Callable[..., None], int]:
    """A function of the module `walks`, and the number of its slots."""
    from binlog_grammar import walks

    function: Callable[..., None] = getattr(walks, name)
    return function, walks.SLOTS[name]


EVENT_HEADER = Layout(
    'event_header',
    (
        Number('timestamp', '<u4'),
        Number('type_code', 'u1', enum='binlog_enums::event_type'),
        Number('server_id', '<u4'),
        Number('len_event', '<u4'),
        Number('next_position', '<u4', condition=lambda n, v: (v['binlog_version'] > 1)),
        Number('flags', '<u2', condition=lambda n, v: (v['binlog_version'] > 1)),
        Run('extra_headers', lambda n, v: (v['len_header'] - 19), condition=lambda n, v: (v['len_header'] > 19)),
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
        Value('is_own_accepted', lambda n, v: n.both((v['binlog_version'] > 1), ((v['flags'] & 16384) != 0))),
        Value('is_skipped_for_replication', lambda n, v: n.both((v['binlog_version'] > 1), ((v['flags'] & 32768) != 0))),
    ),
    True,
)

EVENT_BODY = Layout(
    'event_body',
    (
        Value('event_body.len_usual_fixed', lambda n, v: n.where((v['type_code'] == 2), n.where((v['binlog_version'] < 4), 11, 13), n.where((v['type_code'] == 4), n.where((v['binlog_version'] < 3), 0, 8), n.where((v['type_code'] == 6), 18, n.where((v['type_code'] == 12), 18, n.where((v['type_code'] == 18), 26, n.where((v['type_code'] == 19), 8, n.where((v['type_code'] == 20), 8, n.where((v['type_code'] == 21), 8, n.where((v['type_code'] == 22), 8, n.where((v['type_code'] == 23), 8, n.where((v['type_code'] == 24), 8, n.where((v['type_code'] == 25), 8, n.where((v['type_code'] == 30), 10, n.where((v['type_code'] == 31), 10, n.where((v['type_code'] == 32), 10, n.where((v['type_code'] == 39), 10, n.where((v['type_code'] == 33), 42, n.where((v['type_code'] == 34), 42, n.where((v['type_code'] == 36), 18, n.where((v['type_code'] == 37), 52, n.where((v['type_code'] == 161), 4, n.where((v['type_code'] == 162), 19, n.where((v['type_code'] == 163), 4, n.where((v['type_code'] == 172), 9, n.where((v['type_code'] == 165), 13, n.where((v['type_code'] == 166), 8, n.where((v['type_code'] == 167), 8, n.where((v['type_code'] == 168), 8, n.where((v['type_code'] == 169), 10, n.where((v['type_code'] == 170), 10, n.where((v['type_code'] == 171), 10, 0)))))))))))))))))))))))))))))))),
        Value('event_body.len_fixed', lambda n, v: n.where((v['len_post_header'] > 0), v['len_post_header'], v['event_body.len_usual_fixed'])),
    ),
    False,
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
        Number('thread_id', '<u4'),
        Number('execution_time', '<u4'),
        Number('len_schema_name', 'u1'),
        Number('error_code', '<u2'),
        Number('len_status_vars', '<u2', condition=lambda n, v: (v['event_body.len_fixed'] >= 13)),
        Run('unknown_post_header', lambda n, v: (v['event_body.len_fixed'] - 13), condition=lambda n, v: (v['event_body.len_fixed'] > 13)),
        Run('status_vars', lambda n, v: v['len_status_vars'], condition=lambda n, v: (v['event_body.len_fixed'] >= 13), is_structure=True, walk='query_status_vars'),
        Run('schema_name', lambda n, v: v['len_schema_name'], encoding='UTF-8'),
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
        Number('position', '<u8', condition=lambda n, v: (v['event_body.len_fixed'] >= 8)),
        Run('unknown_post_header', lambda n, v: (v['event_body.len_fixed'] - 8), condition=lambda n, v: (v['event_body.len_fixed'] > 8)),
        Run('next_log', None, encoding='UTF-8'),
    ),
    True,
)

INTVAR_EVENT = Layout(
    'intvar_event',
    (
        Number('variable', 'u1', valid=lambda n, v: n.either((v['variable'] == 1), (v['variable'] == 2)), enum='intvar_event::variable_kind'),
        Number('value', '<u8'),
        Run('unknown_tail', None, condition=lambda n, v: n.negate((v.pos >= v.size))),
    ),
    True,
)

LOAD_EVENT = Layout(
    'load_event',
    (
        Number('thread_id', '<u4'),
        Number('execution_time', '<u4'),
        Number('skipped_lines', '<u4'),
        Number('len_table_name', 'u1'),
        Number('len_schema_name', 'u1'),
        Number('num_fields', '<u4', valid=lambda n, v: (v['num_fields'] <= 4096)),
        Run('unknown_post_header', lambda n, v: (v['event_body.len_fixed'] - 18), condition=lambda n, v: (v['event_body.len_fixed'] > 18)),
        Run('target.short_separators.field_terminator', lambda n, v: 1),
        Run('target.short_separators.enclosure', lambda n, v: 1),
        Run('target.short_separators.line_terminator', lambda n, v: 1),
        Run('target.short_separators.line_start', lambda n, v: 1),
        Run('target.short_separators.escape', lambda n, v: 1),
        Number('target.short_separators.option_flags', 'u1'),
        Number('target.short_separators.empty_flags', 'u1'),
        Value('target.short_separators.is_field_terminator_empty', lambda n, v: ((v['target.short_separators.empty_flags'] & 1) != 0)),
        Value('target.short_separators.is_enclosure_empty', lambda n, v: ((v['target.short_separators.empty_flags'] & 2) != 0)),
        Value('target.short_separators.is_line_terminator_empty', lambda n, v: ((v['target.short_separators.empty_flags'] & 4) != 0)),
        Value('target.short_separators.is_line_start_empty', lambda n, v: ((v['target.short_separators.empty_flags'] & 8) != 0)),
        Value('target.short_separators.is_escape_empty', lambda n, v: ((v['target.short_separators.empty_flags'] & 16) != 0)),
        Run('target.len_field_names', lambda n, v: v['num_fields'], item='u1'),
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
        Number('len_table_name', 'u1'),
        Number('len_schema_name', 'u1'),
        Number('num_fields', '<u4', valid=lambda n, v: (v['num_fields'] <= 4096)),
        Number('file_id', '<u4'),
        Number('target.long_separators.field_terminator.len_value', 'u1'),
        Run('target.long_separators.field_terminator.value', lambda n, v: v['target.long_separators.field_terminator.len_value']),
        Number('target.long_separators.enclosure.len_value', 'u1'),
        Run('target.long_separators.enclosure.value', lambda n, v: v['target.long_separators.enclosure.len_value']),
        Number('target.long_separators.line_terminator.len_value', 'u1'),
        Run('target.long_separators.line_terminator.value', lambda n, v: v['target.long_separators.line_terminator.len_value']),
        Number('target.long_separators.line_start.len_value', 'u1'),
        Run('target.long_separators.line_start.value', lambda n, v: v['target.long_separators.line_start.len_value']),
        Number('target.long_separators.escape.len_value', 'u1'),
        Run('target.long_separators.escape.value', lambda n, v: v['target.long_separators.escape.len_value']),
        Number('target.long_separators.option_flags', 'u1'),
        Run('target.len_field_names', lambda n, v: v['num_fields'], item='u1'),
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
        Number('thread_id', '<u4'),
        Number('execution_time', '<u4'),
        Number('skipped_lines', '<u4'),
        Number('len_table_name', 'u1'),
        Number('len_schema_name', 'u1'),
        Number('num_fields', '<u4', valid=lambda n, v: (v['num_fields'] <= 4096)),
        Run('unknown_post_header', lambda n, v: (v['event_body.len_fixed'] - 18), condition=lambda n, v: (v['event_body.len_fixed'] > 18)),
        Number('target.long_separators.field_terminator.len_value', 'u1'),
        Run('target.long_separators.field_terminator.value', lambda n, v: v['target.long_separators.field_terminator.len_value']),
        Number('target.long_separators.enclosure.len_value', 'u1'),
        Run('target.long_separators.enclosure.value', lambda n, v: v['target.long_separators.enclosure.len_value']),
        Number('target.long_separators.line_terminator.len_value', 'u1'),
        Run('target.long_separators.line_terminator.value', lambda n, v: v['target.long_separators.line_terminator.len_value']),
        Number('target.long_separators.line_start.len_value', 'u1'),
        Run('target.long_separators.line_start.value', lambda n, v: v['target.long_separators.line_start.len_value']),
        Number('target.long_separators.escape.len_value', 'u1'),
        Run('target.long_separators.escape.value', lambda n, v: v['target.long_separators.escape.len_value']),
        Number('target.long_separators.option_flags', 'u1'),
        Run('target.len_field_names', lambda n, v: v['num_fields'], item='u1'),
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
        Number('len_name', '<u4'),
        Run('name', lambda n, v: v['len_name'], encoding='UTF-8'),
        Number('is_null', 'u1'),
        Number('value_type', 'u1', condition=lambda n, v: (v['is_null'] == 0), valid=lambda n, v: n.either((v['value_type'] == 0), n.either((v['value_type'] == 1), n.either((v['value_type'] == 2), (v['value_type'] == 4)))), enum='user_var_event::result_type'),
        Number('collation_id', '<u4', condition=lambda n, v: (v['is_null'] == 0)),
        Number('len_value', '<u4', condition=lambda n, v: (v['is_null'] == 0)),
        Run('value', lambda n, v: v['len_value'], condition=lambda n, v: (v['is_null'] == 0), is_structure=True),
        Value('has_attributes', lambda n, v: n.both((v['is_null'] == 0), (v.size > ((((4 + v['len_name']) + 1) + 9) + v['len_value'])))),
        Number('first_attribute.kind', 'u1', condition=lambda n, v: v['has_attributes'], enum='user_var_event::attribute_kind'),
        Number('first_attribute.data_type_name.len_name', 'u1', condition=lambda n, v: n.both(v['has_attributes'], (v['first_attribute.kind'] == 2))),
        Run('first_attribute.data_type_name.name', lambda n, v: v['first_attribute.data_type_name.len_name'], condition=lambda n, v: n.both(v['has_attributes'], (v['first_attribute.kind'] == 2)), encoding='UTF-8'),
        Run('first_attribute.unknown', None, condition=lambda n, v: n.both(v['has_attributes'], n.both(n.both((v['first_attribute.kind'] != 0), (v['first_attribute.kind'] != 1)), (v['first_attribute.kind'] != 2)))),
        Number('second_attribute.kind', 'u1', condition=lambda n, v: n.negate((v.pos >= v.size)), enum='user_var_event::attribute_kind'),
        Number('second_attribute.data_type_name.len_name', 'u1', condition=lambda n, v: n.both(n.negate((v.pos >= v.size)), (v['second_attribute.kind'] == 2))),
        Run('second_attribute.data_type_name.name', lambda n, v: v['second_attribute.data_type_name.len_name'], condition=lambda n, v: n.both(n.negate((v.pos >= v.size)), (v['second_attribute.kind'] == 2)), encoding='UTF-8'),
        Run('second_attribute.unknown', None, condition=lambda n, v: n.both(n.negate((v.pos >= v.size)), n.both(n.both((v['second_attribute.kind'] != 0), (v['second_attribute.kind'] != 1)), (v['second_attribute.kind'] != 2)))),
        Run('unknown_tail', None, condition=lambda n, v: n.negate((v.pos >= v.size))),
        Value('is_unsigned', lambda n, v: n.both(v['has_attributes'], (v['first_attribute.kind'] == 1))),
    ),
    True,
)

FORMAT_DESCRIPTION_EVENT = Layout(
    'format_description_event',
    (
        Number('binlog_version', '<u2'),
        Run('server_version', lambda n, v: 50, encoding='UTF-8', ends_at_zero=True),
        Number('create_timestamp', '<u4'),
        Number('len_header', 'u1'),
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
        Number('thread_id', '<u4'),
        Number('execution_time', '<u4'),
        Number('len_schema_name', 'u1'),
        Number('error_code', '<u2'),
        Number('len_status_vars', '<u2'),
        Number('file_id', '<u4'),
        Number('ofs_file_name', '<u4'),
        Number('ofs_file_name_end', '<u4'),
        Number('duplicate_handling', 'u1', enum='execute_load_query_event::duplicate_action'),
        Run('unknown_post_header', lambda n, v: (v['event_body.len_fixed'] - 26), condition=lambda n, v: (v['event_body.len_fixed'] > 26)),
        Run('status_vars', lambda n, v: v['len_status_vars'], is_structure=True, walk='query_status_vars'),
        Run('schema_name', lambda n, v: v['len_schema_name'], encoding='UTF-8'),
        Number('schema_name_terminator', 'u1'),
        Run('query', None),
        Text('query_text', 'query', 'UTF-8'),
    ),
    True,
)

TABLE_MAP_EVENT = Layout(
    'table_map_event',
    (
        Number('table_id.low', '<u4'),
        Number('table_id.high', '<u2', condition=lambda n, v: (v['event_body.len_fixed'] != 6)),
        Value('table_id.value', lambda n, v: n.where((v['event_body.len_fixed'] == 6), v['table_id.low'], (v['table_id.low'] + (v['table_id.high'] * 4294967296))), is_unsigned=True),
        Value('table_id.is_dummy', lambda n, v: (v['table_id.value'] == 16777215), is_unsigned=True),
        Number('flags', '<u2'),
        Run('unknown_post_header', lambda n, v: (v['event_body.len_fixed'] - 8), condition=lambda n, v: (v['event_body.len_fixed'] > 8)),
        Number('len_schema_name.first', 'u1', valid=lambda n, v: (v['len_schema_name.first'] <= 254)),
        Number('len_schema_name.value_2', '<u2', condition=lambda n, v: (v['len_schema_name.first'] == 252)),
        Number('len_schema_name.value_3', '<u3', condition=lambda n, v: (v['len_schema_name.first'] == 253)),
        Number('len_schema_name.value_8', '<u8', condition=lambda n, v: (v['len_schema_name.first'] == 254)),
        Value('len_schema_name.is_null', lambda n, v: (v['len_schema_name.first'] == 251)),
        Value('len_schema_name.value', lambda n, v: n.where((v['len_schema_name.first'] == 252), v['len_schema_name.value_2'], n.where((v['len_schema_name.first'] == 253), v['len_schema_name.value_3'], n.where((v['len_schema_name.first'] == 254), v['len_schema_name.value_8'], v['len_schema_name.first']))), is_unsigned=True),
        Run('schema_name', lambda n, v: v['len_schema_name.value'], encoding='UTF-8'),
        Number('schema_name_end', 'u1'),
        Number('len_table_name.first', 'u1', valid=lambda n, v: (v['len_table_name.first'] <= 254)),
        Number('len_table_name.value_2', '<u2', condition=lambda n, v: (v['len_table_name.first'] == 252)),
        Number('len_table_name.value_3', '<u3', condition=lambda n, v: (v['len_table_name.first'] == 253)),
        Number('len_table_name.value_8', '<u8', condition=lambda n, v: (v['len_table_name.first'] == 254)),
        Value('len_table_name.is_null', lambda n, v: (v['len_table_name.first'] == 251)),
        Value('len_table_name.value', lambda n, v: n.where((v['len_table_name.first'] == 252), v['len_table_name.value_2'], n.where((v['len_table_name.first'] == 253), v['len_table_name.value_3'], n.where((v['len_table_name.first'] == 254), v['len_table_name.value_8'], v['len_table_name.first']))), is_unsigned=True),
        Run('table_name', lambda n, v: v['len_table_name.value'], encoding='UTF-8'),
        Number('table_name_end', 'u1'),
        Number('num_columns.first', 'u1', valid=lambda n, v: (v['num_columns.first'] <= 254)),
        Number('num_columns.value_2', '<u2', condition=lambda n, v: (v['num_columns.first'] == 252)),
        Number('num_columns.value_3', '<u3', condition=lambda n, v: (v['num_columns.first'] == 253)),
        Number('num_columns.value_8', '<u8', condition=lambda n, v: (v['num_columns.first'] == 254)),
        Value('num_columns.is_null', lambda n, v: (v['num_columns.first'] == 251)),
        Value('num_columns.value', lambda n, v: n.where((v['num_columns.first'] == 252), v['num_columns.value_2'], n.where((v['num_columns.first'] == 253), v['num_columns.value_3'], n.where((v['num_columns.first'] == 254), v['num_columns.value_8'], v['num_columns.first']))), is_unsigned=True),
        Run('refusal', lambda n, v: 0),
        Run('column_types', lambda n, v: v['num_columns.value'], item='u1'),
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
        Number('table_id.low', '<u4'),
        Number('table_id.high', '<u2', condition=lambda n, v: (v['event_body.len_fixed'] != 6)),
        Value('table_id.value', lambda n, v: n.where((v['event_body.len_fixed'] == 6), v['table_id.low'], (v['table_id.low'] + (v['table_id.high'] * 4294967296))), is_unsigned=True),
        Value('table_id.is_dummy', lambda n, v: (v['table_id.value'] == 16777215), is_unsigned=True),
        Number('flags', '<u2'),
        Run('unknown_post_header', lambda n, v: (v['event_body.len_fixed'] - 8), condition=lambda n, v: (v['event_body.len_fixed'] > 8)),
        Number('num_columns.first', 'u1', valid=lambda n, v: (v['num_columns.first'] <= 254)),
        Number('num_columns.value_2', '<u2', condition=lambda n, v: (v['num_columns.first'] == 252)),
        Number('num_columns.value_3', '<u3', condition=lambda n, v: (v['num_columns.first'] == 253)),
        Number('num_columns.value_8', '<u8', condition=lambda n, v: (v['num_columns.first'] == 254)),
        Value('num_columns.is_null', lambda n, v: (v['num_columns.first'] == 251)),
        Value('num_columns.value', lambda n, v: n.where((v['num_columns.first'] == 252), v['num_columns.value_2'], n.where((v['num_columns.first'] == 253), v['num_columns.value_3'], n.where((v['num_columns.first'] == 254), v['num_columns.value_8'], v['num_columns.first']))), is_unsigned=True),
        Run('columns.bitmap', lambda n, v: ((v['num_columns.value'] + 7) >> 3)),
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
        Number('table_id.low', '<u4'),
        Number('table_id.high', '<u2', condition=lambda n, v: (v['event_body.len_fixed'] != 6)),
        Value('table_id.value', lambda n, v: n.where((v['event_body.len_fixed'] == 6), v['table_id.low'], (v['table_id.low'] + (v['table_id.high'] * 4294967296))), is_unsigned=True),
        Value('table_id.is_dummy', lambda n, v: (v['table_id.value'] == 16777215), is_unsigned=True),
        Number('flags', '<u2'),
        Number('len_extra_data', '<u2', condition=lambda n, v: (v['event_body.len_fixed'] >= 10), valid=lambda n, v: (v['len_extra_data'] >= 2)),
        Run('unknown_post_header', lambda n, v: (v['event_body.len_fixed'] - 10), condition=lambda n, v: (v['event_body.len_fixed'] > 10)),
        Run('extra_data', lambda n, v: (v['len_extra_data'] - 2), condition=lambda n, v: (v['event_body.len_fixed'] >= 10), is_structure=True),
        Number('num_columns.first', 'u1', valid=lambda n, v: (v['num_columns.first'] <= 254)),
        Number('num_columns.value_2', '<u2', condition=lambda n, v: (v['num_columns.first'] == 252)),
        Number('num_columns.value_3', '<u3', condition=lambda n, v: (v['num_columns.first'] == 253)),
        Number('num_columns.value_8', '<u8', condition=lambda n, v: (v['num_columns.first'] == 254)),
        Value('num_columns.is_null', lambda n, v: (v['num_columns.first'] == 251)),
        Value('num_columns.value', lambda n, v: n.where((v['num_columns.first'] == 252), v['num_columns.value_2'], n.where((v['num_columns.first'] == 253), v['num_columns.value_3'], n.where((v['num_columns.first'] == 254), v['num_columns.value_8'], v['num_columns.first']))), is_unsigned=True),
        Run('columns.bitmap', lambda n, v: ((v['num_columns.value'] + 7) >> 3)),
        Value('is_partial_update', lambda n, v: (v['type_code'] == 39)),
        Value('is_update', lambda n, v: n.either(n.either(v['is_partial_update'], (v['type_code'] == 31)), (v['type_code'] == 24))),
        Run('columns_after.bitmap', lambda n, v: ((v['num_columns.value'] + 7) >> 3), condition=lambda n, v: v['is_update']),
        Run('images', None),
        Value('is_statement_end', lambda n, v: ((v['flags'] & 1) != 0)),
        Value('has_no_foreign_key_checks', lambda n, v: ((v['flags'] & 2) != 0)),
        Value('has_relaxed_unique_checks', lambda n, v: ((v['flags'] & 4) != 0)),
        Value('is_complete', lambda n, v: ((v['flags'] & 8) != 0)),
        Value('is_sql_foreign_key', lambda n, v: ((v['flags'] & 16) != 0)),
        Value('has_no_check_constraint_checks', lambda n, v: ((v['flags'] & 128) != 0)),
        Value('is_write', lambda n, v: n.either((v['type_code'] == 30), (v['type_code'] == 23))),
        Value('is_dummy', lambda n, v: n.both(v['table_id.is_dummy'], (v.length('images') == 0)), is_unsigned=True),
    ),
    True,
)

INCIDENT_EVENT = Layout(
    'incident_event',
    (
        Number('incident', '<u2', enum='incident_event::incident_kind'),
        Number('len_message', 'u1'),
        Run('message', lambda n, v: v['len_message'], encoding='UTF-8'),
        Number('cache_checksum', '<u4', condition=lambda n, v: ((v.size - v.pos) == 4)),
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
        Run('unknown_data', None),
    ),
    True,
)

ROWS_QUERY_EVENT = Layout(
    'rows_query_event',
    (
        Number('len_query', 'u1'),
        Run('query', None),
        Text('query_text', 'query', 'UTF-8'),
    ),
    True,
)

GTID_EVENT = Layout(
    'gtid_event',
    (
        Number('flags', 'u1'),
        Run('uuid', lambda n, v: 16),
        Number('gno', '<i8'),
        Number('logical_clock_type', 'u1', condition=lambda n, v: (v['event_body.len_fixed'] > 25), enum='gtid_event::logical_clock'),
        Value('has_logical_clock', lambda n, v: n.both((v['event_body.len_fixed'] >= 42), (v['logical_clock_type'] == 2))),
        Number('last_committed', '<i8', condition=lambda n, v: v['has_logical_clock']),
        Number('sequence_number', '<i8', condition=lambda n, v: v['has_logical_clock']),
        Value('len_known_post_header', lambda n, v: n.where((v['event_body.len_fixed'] <= 25), 25, n.where(v['has_logical_clock'], 42, 26))),
        Run('unknown_post_header', lambda n, v: (v['event_body.len_fixed'] - v['len_known_post_header']), condition=lambda n, v: (v['event_body.len_fixed'] > v['len_known_post_header'])),
        Value('has_commit_timestamps', lambda n, v: n.both(v['has_logical_clock'], (v.size > v['event_body.len_fixed']))),
        Number('immediate_commit_timestamp_low', '<u4', condition=lambda n, v: v['has_commit_timestamps']),
        Number('immediate_commit_timestamp_middle', '<u2', condition=lambda n, v: v['has_commit_timestamps']),
        Number('immediate_commit_timestamp_high', 'u1', condition=lambda n, v: v['has_commit_timestamps']),
        Value('has_original_commit_timestamp', lambda n, v: n.both(v['has_commit_timestamps'], ((v['immediate_commit_timestamp_high'] & 128) != 0))),
        Number('original_commit_timestamp_low', '<u4', condition=lambda n, v: v['has_original_commit_timestamp']),
        Number('original_commit_timestamp_middle', '<u2', condition=lambda n, v: v['has_original_commit_timestamp']),
        Number('original_commit_timestamp_high', 'u1', condition=lambda n, v: v['has_original_commit_timestamp']),
        Value('ofs_len_transaction', lambda n, v: (v['event_body.len_fixed'] + n.where(v['has_original_commit_timestamp'], 14, 7))),
        Value('has_len_transaction', lambda n, v: n.both(v['has_commit_timestamps'], (v.size > v['ofs_len_transaction']))),
        Number('packed_len_transaction.first', 'u1', condition=lambda n, v: v['has_len_transaction'], valid=lambda n, v: (v['packed_len_transaction.first'] <= 254)),
        Number('packed_len_transaction.value_2', '<u2', condition=lambda n, v: n.both(v['has_len_transaction'], (v['packed_len_transaction.first'] == 252))),
        Number('packed_len_transaction.value_3', '<u3', condition=lambda n, v: n.both(v['has_len_transaction'], (v['packed_len_transaction.first'] == 253))),
        Number('packed_len_transaction.value_8', '<u8', condition=lambda n, v: n.both(v['has_len_transaction'], (v['packed_len_transaction.first'] == 254))),
        Value('packed_len_transaction.is_null', lambda n, v: (v['packed_len_transaction.first'] == 251), condition=lambda n, v: v['has_len_transaction']),
        Value('packed_len_transaction.value', lambda n, v: n.where((v['packed_len_transaction.first'] == 252), v['packed_len_transaction.value_2'], n.where((v['packed_len_transaction.first'] == 253), v['packed_len_transaction.value_3'], n.where((v['packed_len_transaction.first'] == 254), v['packed_len_transaction.value_8'], v['packed_len_transaction.first']))), condition=lambda n, v: v['has_len_transaction'], is_unsigned=True),
        Value('len_len_transaction', lambda n, v: n.where((v['packed_len_transaction.first'] <= 251), 1, n.where((v['packed_len_transaction.first'] == 252), 3, n.where((v['packed_len_transaction.first'] == 253), 4, 9))), condition=lambda n, v: v['has_len_transaction']),
        Value('has_server_versions', lambda n, v: n.both(v['has_len_transaction'], (v.size > (v['ofs_len_transaction'] + v['len_len_transaction'])))),
        Number('immediate_server_version_low', '<u3', condition=lambda n, v: v['has_server_versions']),
        Number('immediate_server_version_high', 'u1', condition=lambda n, v: v['has_server_versions']),
        Value('has_original_server_version', lambda n, v: n.both(v['has_server_versions'], ((v['immediate_server_version_high'] & 128) != 0))),
        Number('original_server_version_if_other', '<u4', condition=lambda n, v: v['has_original_server_version']),
        Number('commit_group_ticket', '<u8', condition=lambda n, v: n.both(v['has_server_versions'], n.negate((v.pos >= v.size)))),
        Run('unknown_tail', None, condition=lambda n, v: n.negate((v.pos >= v.size))),
        Value('may_have_statements', lambda n, v: ((v['flags'] & 1) != 0)),
        Value('immediate_commit_timestamp', lambda n, v: ((v['immediate_commit_timestamp_low'] + (v['immediate_commit_timestamp_middle'] * 4294967296)) + ((v['immediate_commit_timestamp_high'] & 127) * 281474976710656)), condition=lambda n, v: v['has_commit_timestamps'], is_unsigned=True),
        Value('original_commit_timestamp', lambda n, v: n.where(n.negate(v['has_original_commit_timestamp']), v['immediate_commit_timestamp'], ((v['original_commit_timestamp_low'] + (v['original_commit_timestamp_middle'] * 4294967296)) + (v['original_commit_timestamp_high'] * 281474976710656))), condition=lambda n, v: v['has_commit_timestamps'], is_unsigned=True),
        Value('len_transaction', lambda n, v: v['packed_len_transaction.value'], condition=lambda n, v: v['has_len_transaction'], is_unsigned=True),
        Value('immediate_server_version', lambda n, v: (v['immediate_server_version_low'] + ((v['immediate_server_version_high'] & 127) * 16777216)), condition=lambda n, v: v['has_server_versions']),
        Value('original_server_version', lambda n, v: n.where(v['has_original_server_version'], v['original_server_version_if_other'], v['immediate_server_version']), condition=lambda n, v: v['has_server_versions']),
    ),
    True,
)

PREVIOUS_GTIDS_EVENT = Layout(
    'previous_gtids_event',
    (
        Number('gtids.first', 'u1'),
        Number('gtids.num_low', '<u4'),
        Number('gtids.num_high', '<u2'),
        Number('gtids.format', 'u1', valid=lambda n, v: n.either((v['gtids.format'] == 0), (v['gtids.format'] == 1)), enum='gtid_set::set_format'),
    ),
    False,
)

TRANSACTION_CONTEXT_EVENT = Layout(
    'transaction_context_event',
    (
        Number('len_server_uuid', 'u1'),
        Number('thread_id', '<u4'),
        Number('gtid_specified', 'u1'),
        Number('len_snapshot_version', '<u4'),
        Number('num_write_set', '<u4'),
        Number('num_read_set', '<u4'),
        Run('unknown_post_header', lambda n, v: (v['event_body.len_fixed'] - 18), condition=lambda n, v: (v['event_body.len_fixed'] > 18)),
        Run('server_uuid', lambda n, v: v['len_server_uuid'], encoding='UTF-8'),
        Run('snapshot_version', lambda n, v: v['len_snapshot_version'], is_structure=True),
    ),
    False,
)

VIEW_CHANGE_EVENT = Layout(
    'view_change_event',
    (
        Run('view_id', lambda n, v: 40, encoding='UTF-8', ends_at_zero=True),
        Number('sequence_number', '<u8'),
        Number('num_certification_info', '<u4'),
        Run('unknown_post_header', lambda n, v: (v['event_body.len_fixed'] - 52), condition=lambda n, v: (v['event_body.len_fixed'] > 52)),
    ),
    False,
)

XA_PREPARE_EVENT = Layout(
    'xa_prepare_event',
    (
        Number('one_phase', 'u1'),
        Number('format_id', '<u4'),
        Number('len_gtrid', '<u4'),
        Number('len_bqual', '<u4'),
        Run('gtrid', lambda n, v: v['len_gtrid']),
        Run('bqual', lambda n, v: v['len_bqual']),
        Run('unknown_tail', None, condition=lambda n, v: n.negate((v.pos >= v.size))),
        Value('is_one_phase', lambda n, v: (v['one_phase'] != 0)),
    ),
    True,
)

TRANSACTION_PAYLOAD_EVENT = Layout(
    'transaction_payload_event',
    (
    ),
    False,
)

HEARTBEAT_EVENT_V2 = Layout(
    'heartbeat_event_v2',
    (
    ),
    False,
)

GTID_TAGGED_EVENT = Layout(
    'gtid_tagged_event',
    (
        Number('serialization_version.first', 'u1'),
        Value('serialization_version.num_more', lambda n, v: n.where(((v['serialization_version.first'] & 1) == 0), 0, n.where(((v['serialization_version.first'] & 3) == 1), 1, n.where(((v['serialization_version.first'] & 7) == 3), 2, n.where(((v['serialization_version.first'] & 15) == 7), 3, n.where(((v['serialization_version.first'] & 31) == 15), 4, n.where(((v['serialization_version.first'] & 63) == 31), 5, n.where(((v['serialization_version.first'] & 127) == 63), 6, n.where((v['serialization_version.first'] == 127), 7, 8))))))))),
        Number('serialization_version.next_1', 'u1', condition=lambda n, v: (v['serialization_version.num_more'] == 1)),
        Number('serialization_version.next_2', '<u2', condition=lambda n, v: (v['serialization_version.num_more'] == 2)),
        Number('serialization_version.next_3', '<u3', condition=lambda n, v: (v['serialization_version.num_more'] == 3)),
        Number('serialization_version.next_4', '<u4', condition=lambda n, v: (v['serialization_version.num_more'] >= 4)),
        Number('serialization_version.last_1', 'u1', condition=lambda n, v: (v['serialization_version.num_more'] == 5)),
        Number('serialization_version.last_2', '<u2', condition=lambda n, v: (v['serialization_version.num_more'] == 6)),
        Number('serialization_version.last_3', '<u3', condition=lambda n, v: (v['serialization_version.num_more'] == 7)),
        Number('serialization_version.last_4', '<u4', condition=lambda n, v: (v['serialization_version.num_more'] == 8)),
        Value('serialization_version.num_bytes', lambda n, v: (v['serialization_version.num_more'] + 1)),
        Value('serialization_version.more_low', lambda n, v: n.where((v['serialization_version.num_more'] == 0), 0, n.where((v['serialization_version.num_more'] == 1), v['serialization_version.next_1'], n.where((v['serialization_version.num_more'] == 2), v['serialization_version.next_2'], n.where((v['serialization_version.num_more'] == 3), v['serialization_version.next_3'], v['serialization_version.next_4']))))),
        Value('serialization_version.more_high', lambda n, v: n.where((v['serialization_version.num_more'] == 5), v['serialization_version.last_1'], n.where((v['serialization_version.num_more'] == 6), v['serialization_version.last_2'], n.where((v['serialization_version.num_more'] == 7), v['serialization_version.last_3'], n.where((v['serialization_version.num_more'] == 8), v['serialization_version.last_4'], 0))))),
        Value('serialization_version.more', lambda n, v: (v['serialization_version.more_low'] + (v['serialization_version.more_high'] * 4294967296)), is_unsigned=True),
        Value('serialization_version.value', lambda n, v: n.where((v['serialization_version.num_more'] == 8), v['serialization_version.more'], ((v['serialization_version.first'] >> v['serialization_version.num_bytes']) + (v['serialization_version.more'] * (1 << (7 - v['serialization_version.num_more'])))))),
        Value('serialization_version.is_negative', lambda n, v: ((n.where((v['serialization_version.num_more'] < 7), (v['serialization_version.first'] >> v['serialization_version.num_bytes']), (v['serialization_version.next_4'] & 1)) & 1) == 1)),
        Value('serialization_version.magnitude', lambda n, v: n.where((v['serialization_version.num_more'] < 7), (((v['serialization_version.first'] >> v['serialization_version.num_bytes']) >> 1) + (v['serialization_version.more'] * (1 << (6 - v['serialization_version.num_more'])))), ((v['serialization_version.more_low'] >> 1) + (v['serialization_version.more_high'] * 2147483648)))),
        Value('serialization_version.signed_value', lambda n, v: n.where(v['serialization_version.is_negative'], (-1 - v['serialization_version.magnitude']), v['serialization_version.magnitude'])),
        Number('len_message.first', 'u1'),
        Value('len_message.num_more', lambda n, v: n.where(((v['len_message.first'] & 1) == 0), 0, n.where(((v['len_message.first'] & 3) == 1), 1, n.where(((v['len_message.first'] & 7) == 3), 2, n.where(((v['len_message.first'] & 15) == 7), 3, n.where(((v['len_message.first'] & 31) == 15), 4, n.where(((v['len_message.first'] & 63) == 31), 5, n.where(((v['len_message.first'] & 127) == 63), 6, n.where((v['len_message.first'] == 127), 7, 8))))))))),
        Number('len_message.next_1', 'u1', condition=lambda n, v: (v['len_message.num_more'] == 1)),
        Number('len_message.next_2', '<u2', condition=lambda n, v: (v['len_message.num_more'] == 2)),
        Number('len_message.next_3', '<u3', condition=lambda n, v: (v['len_message.num_more'] == 3)),
        Number('len_message.next_4', '<u4', condition=lambda n, v: (v['len_message.num_more'] >= 4)),
        Number('len_message.last_1', 'u1', condition=lambda n, v: (v['len_message.num_more'] == 5)),
        Number('len_message.last_2', '<u2', condition=lambda n, v: (v['len_message.num_more'] == 6)),
        Number('len_message.last_3', '<u3', condition=lambda n, v: (v['len_message.num_more'] == 7)),
        Number('len_message.last_4', '<u4', condition=lambda n, v: (v['len_message.num_more'] == 8)),
        Value('len_message.num_bytes', lambda n, v: (v['len_message.num_more'] + 1)),
        Value('len_message.more_low', lambda n, v: n.where((v['len_message.num_more'] == 0), 0, n.where((v['len_message.num_more'] == 1), v['len_message.next_1'], n.where((v['len_message.num_more'] == 2), v['len_message.next_2'], n.where((v['len_message.num_more'] == 3), v['len_message.next_3'], v['len_message.next_4']))))),
        Value('len_message.more_high', lambda n, v: n.where((v['len_message.num_more'] == 5), v['len_message.last_1'], n.where((v['len_message.num_more'] == 6), v['len_message.last_2'], n.where((v['len_message.num_more'] == 7), v['len_message.last_3'], n.where((v['len_message.num_more'] == 8), v['len_message.last_4'], 0))))),
        Value('len_message.more', lambda n, v: (v['len_message.more_low'] + (v['len_message.more_high'] * 4294967296)), is_unsigned=True),
        Value('len_message.value', lambda n, v: n.where((v['len_message.num_more'] == 8), v['len_message.more'], ((v['len_message.first'] >> v['len_message.num_bytes']) + (v['len_message.more'] * (1 << (7 - v['len_message.num_more'])))))),
        Value('len_message.is_negative', lambda n, v: ((n.where((v['len_message.num_more'] < 7), (v['len_message.first'] >> v['len_message.num_bytes']), (v['len_message.next_4'] & 1)) & 1) == 1)),
        Value('len_message.magnitude', lambda n, v: n.where((v['len_message.num_more'] < 7), (((v['len_message.first'] >> v['len_message.num_bytes']) >> 1) + (v['len_message.more'] * (1 << (6 - v['len_message.num_more'])))), ((v['len_message.more_low'] >> 1) + (v['len_message.more_high'] * 2147483648)))),
        Value('len_message.signed_value', lambda n, v: n.where(v['len_message.is_negative'], (-1 - v['len_message.magnitude']), v['len_message.magnitude'])),
        Number('last_non_ignorable_field_id.first', 'u1'),
        Value('last_non_ignorable_field_id.num_more', lambda n, v: n.where(((v['last_non_ignorable_field_id.first'] & 1) == 0), 0, n.where(((v['last_non_ignorable_field_id.first'] & 3) == 1), 1, n.where(((v['last_non_ignorable_field_id.first'] & 7) == 3), 2, n.where(((v['last_non_ignorable_field_id.first'] & 15) == 7), 3, n.where(((v['last_non_ignorable_field_id.first'] & 31) == 15), 4, n.where(((v['last_non_ignorable_field_id.first'] & 63) == 31), 5, n.where(((v['last_non_ignorable_field_id.first'] & 127) == 63), 6, n.where((v['last_non_ignorable_field_id.first'] == 127), 7, 8))))))))),
        Number('last_non_ignorable_field_id.next_1', 'u1', condition=lambda n, v: (v['last_non_ignorable_field_id.num_more'] == 1)),
        Number('last_non_ignorable_field_id.next_2', '<u2', condition=lambda n, v: (v['last_non_ignorable_field_id.num_more'] == 2)),
        Number('last_non_ignorable_field_id.next_3', '<u3', condition=lambda n, v: (v['last_non_ignorable_field_id.num_more'] == 3)),
        Number('last_non_ignorable_field_id.next_4', '<u4', condition=lambda n, v: (v['last_non_ignorable_field_id.num_more'] >= 4)),
        Number('last_non_ignorable_field_id.last_1', 'u1', condition=lambda n, v: (v['last_non_ignorable_field_id.num_more'] == 5)),
        Number('last_non_ignorable_field_id.last_2', '<u2', condition=lambda n, v: (v['last_non_ignorable_field_id.num_more'] == 6)),
        Number('last_non_ignorable_field_id.last_3', '<u3', condition=lambda n, v: (v['last_non_ignorable_field_id.num_more'] == 7)),
        Number('last_non_ignorable_field_id.last_4', '<u4', condition=lambda n, v: (v['last_non_ignorable_field_id.num_more'] == 8)),
        Value('last_non_ignorable_field_id.num_bytes', lambda n, v: (v['last_non_ignorable_field_id.num_more'] + 1)),
        Value('last_non_ignorable_field_id.more_low', lambda n, v: n.where((v['last_non_ignorable_field_id.num_more'] == 0), 0, n.where((v['last_non_ignorable_field_id.num_more'] == 1), v['last_non_ignorable_field_id.next_1'], n.where((v['last_non_ignorable_field_id.num_more'] == 2), v['last_non_ignorable_field_id.next_2'], n.where((v['last_non_ignorable_field_id.num_more'] == 3), v['last_non_ignorable_field_id.next_3'], v['last_non_ignorable_field_id.next_4']))))),
        Value('last_non_ignorable_field_id.more_high', lambda n, v: n.where((v['last_non_ignorable_field_id.num_more'] == 5), v['last_non_ignorable_field_id.last_1'], n.where((v['last_non_ignorable_field_id.num_more'] == 6), v['last_non_ignorable_field_id.last_2'], n.where((v['last_non_ignorable_field_id.num_more'] == 7), v['last_non_ignorable_field_id.last_3'], n.where((v['last_non_ignorable_field_id.num_more'] == 8), v['last_non_ignorable_field_id.last_4'], 0))))),
        Value('last_non_ignorable_field_id.more', lambda n, v: (v['last_non_ignorable_field_id.more_low'] + (v['last_non_ignorable_field_id.more_high'] * 4294967296)), is_unsigned=True),
        Value('last_non_ignorable_field_id.value', lambda n, v: n.where((v['last_non_ignorable_field_id.num_more'] == 8), v['last_non_ignorable_field_id.more'], ((v['last_non_ignorable_field_id.first'] >> v['last_non_ignorable_field_id.num_bytes']) + (v['last_non_ignorable_field_id.more'] * (1 << (7 - v['last_non_ignorable_field_id.num_more'])))))),
        Value('last_non_ignorable_field_id.is_negative', lambda n, v: ((n.where((v['last_non_ignorable_field_id.num_more'] < 7), (v['last_non_ignorable_field_id.first'] >> v['last_non_ignorable_field_id.num_bytes']), (v['last_non_ignorable_field_id.next_4'] & 1)) & 1) == 1)),
        Value('last_non_ignorable_field_id.magnitude', lambda n, v: n.where((v['last_non_ignorable_field_id.num_more'] < 7), (((v['last_non_ignorable_field_id.first'] >> v['last_non_ignorable_field_id.num_bytes']) >> 1) + (v['last_non_ignorable_field_id.more'] * (1 << (6 - v['last_non_ignorable_field_id.num_more'])))), ((v['last_non_ignorable_field_id.more_low'] >> 1) + (v['last_non_ignorable_field_id.more_high'] * 2147483648)))),
        Value('last_non_ignorable_field_id.signed_value', lambda n, v: n.where(v['last_non_ignorable_field_id.is_negative'], (-1 - v['last_non_ignorable_field_id.magnitude']), v['last_non_ignorable_field_id.magnitude'])),
        Run('fields', lambda n, v: (((v['len_message.value'] - v['serialization_version.num_bytes']) - v['len_message.num_bytes']) - v['last_non_ignorable_field_id.num_bytes']), is_structure=True, walk='gtid_tagged_event_field_list'),
        InnerList('fields.uuid.bytes.value', 'fields', 0, 16),
        InnerRun('fields.tag.text', 'fields', 16, encoding='UTF-8'),
        Run('unknown_tail', None, condition=lambda n, v: n.negate((v.pos >= v.size))),
        Inner('fields.flags.number.value', 'fields', 18),
        Value('flags', lambda n, v: v['fields.flags.number.value']),
        Value('may_have_statements', lambda n, v: ((v['flags'] & 1) != 0)),
        Text('tag', 'fields.tag.text', 'UTF-8'),
        Inner('fields.gno.number.signed_value', 'fields', 19),
        Value('gno', lambda n, v: v['fields.gno.number.signed_value']),
        Inner('fields.last_committed.number.signed_value', 'fields', 20),
        Value('last_committed', lambda n, v: v['fields.last_committed.number.signed_value']),
        Inner('fields.sequence_number.number.signed_value', 'fields', 21),
        Value('sequence_number', lambda n, v: v['fields.sequence_number.number.signed_value']),
        Inner('fields.immediate_commit_timestamp.number.value', 'fields', 22),
        Value('immediate_commit_timestamp', lambda n, v: v['fields.immediate_commit_timestamp.number.value']),
        Inner('fields.has_original_commit_timestamp', 'fields', 23),
        Inner('fields.original_commit_timestamp.number.value', 'fields', 24),
        Value('original_commit_timestamp', lambda n, v: n.where(v['fields.has_original_commit_timestamp'], v['fields.original_commit_timestamp.number.value'], v['immediate_commit_timestamp']), is_unsigned=True),
        Inner('fields.len_transaction.number.value', 'fields', 25),
        Value('len_transaction', lambda n, v: v['fields.len_transaction.number.value']),
        Inner('fields.immediate_server_version.number.value', 'fields', 26),
        Value('immediate_server_version', lambda n, v: v['fields.immediate_server_version.number.value']),
        Inner('fields.has_original_server_version', 'fields', 27),
        Inner('fields.original_server_version.number.value', 'fields', 28),
        Value('original_server_version', lambda n, v: n.where(v['fields.has_original_server_version'], v['fields.original_server_version.number.value'], v['immediate_server_version']), is_unsigned=True),
        Inner('fields.has_commit_group_ticket', 'fields', 29),
        Inner('fields.commit_group_ticket.number.value', 'fields', 30),
        Value('commit_group_ticket', lambda n, v: v['fields.commit_group_ticket.number.value'], condition=lambda n, v: v['fields.has_commit_group_ticket']),
    ),
    True,
)

LARGE_TRANSACTION_HEADER_EVENT = Layout(
    'large_transaction_header_event',
    (
        Number('version', 'u1'),
        Number('ofs_terminating_event', '<u8'),
        Number('terminating_event_type', 'u1', enum='binlog_enums::event_type'),
        Run('padding', None),
    ),
    True,
)

ANNOTATE_ROWS_EVENT = Layout(
    'annotate_rows_event',
    (
        Run('query', None),
        Text('query_text', 'query', 'UTF-8'),
    ),
    True,
)

BINLOG_CHECKPOINT_EVENT = Layout(
    'binlog_checkpoint_event',
    (
        Number('len_file_name', '<u4'),
        Run('unknown_post_header', lambda n, v: (v['event_body.len_fixed'] - 4), condition=lambda n, v: (v['event_body.len_fixed'] > 4)),
        Run('file_name', lambda n, v: v['len_file_name'], encoding='UTF-8'),
        Run('unknown_tail', None, condition=lambda n, v: n.negate((v.pos >= v.size))),
    ),
    True,
)

MARIADB_GTID_EVENT = Layout(
    'mariadb_gtid_event',
    (
        Number('sequence_number', '<u8'),
        Number('domain_id', '<u4'),
        Number('flags', 'u1'),
        Value('has_commit_id', lambda n, v: ((v['flags'] & 2) != 0)),
        Number('commit_id', '<u8', condition=lambda n, v: v['has_commit_id']),
        Value('is_prepared_xa', lambda n, v: ((v['flags'] & 64) != 0)),
        Value('is_completed_xa', lambda n, v: ((v['flags'] & 128) != 0)),
        Number('xid.format_id', '<u4', condition=lambda n, v: n.either(v['is_prepared_xa'], v['is_completed_xa'])),
        Number('xid.len_gtrid', 'u1', condition=lambda n, v: n.either(v['is_prepared_xa'], v['is_completed_xa'])),
        Number('xid.len_bqual', 'u1', condition=lambda n, v: n.either(v['is_prepared_xa'], v['is_completed_xa'])),
        Run('xid.gtrid', lambda n, v: v['xid.len_gtrid'], condition=lambda n, v: n.either(v['is_prepared_xa'], v['is_completed_xa'])),
        Run('xid.bqual', lambda n, v: v['xid.len_bqual'], condition=lambda n, v: n.either(v['is_prepared_xa'], v['is_completed_xa'])),
        Value('has_extra_flags', lambda n, v: (v.size > ((13 + n.where(v['has_commit_id'], 8, 0)) + n.where(n.either(v['is_prepared_xa'], v['is_completed_xa']), ((6 + v['xid.len_gtrid']) + v['xid.len_bqual']), 0)))),
        Number('extra_flags', 'u1', condition=lambda n, v: v['has_extra_flags']),
        Value('has_extra_engines', lambda n, v: n.both(v['has_extra_flags'], ((v['extra_flags'] & 1) != 0))),
        Number('num_extra_engines', 'u1', condition=lambda n, v: v['has_extra_engines']),
        Value('is_commit_alter', lambda n, v: n.both(v['has_extra_flags'], ((v['extra_flags'] & 4) != 0))),
        Value('is_rollback_alter', lambda n, v: n.both(v['has_extra_flags'], ((v['extra_flags'] & 8) != 0))),
        Number('start_alter_sequence_number', '<u8', condition=lambda n, v: n.either(v['is_commit_alter'], v['is_rollback_alter'])),
        Value('has_thread_id', lambda n, v: n.both(v['has_extra_flags'], ((v['extra_flags'] & 16) != 0))),
        Number('thread_id', '<u4', condition=lambda n, v: v['has_thread_id']),
        Run('padding', lambda n, v: (v['event_body.len_fixed'] - v.pos), condition=lambda n, v: (v.pos < v['event_body.len_fixed'])),
        Run('unknown_tail', None, condition=lambda n, v: n.negate((v.pos >= v.size))),
        Value('is_standalone', lambda n, v: ((v['flags'] & 1) != 0)),
        Value('is_transactional', lambda n, v: ((v['flags'] & 4) != 0)),
        Value('is_parallel_allowed', lambda n, v: ((v['flags'] & 8) != 0)),
        Value('has_waited', lambda n, v: ((v['flags'] & 16) != 0)),
        Value('is_ddl', lambda n, v: ((v['flags'] & 32) != 0)),
        Value('is_start_alter', lambda n, v: n.both(v['has_extra_flags'], ((v['extra_flags'] & 2) != 0))),
    ),
    True,
)

MARIADB_GTID_LIST_EVENT = Layout(
    'mariadb_gtid_list_event',
    (
        Number('count_and_flags', '<u4'),
        Run('unknown_post_header', lambda n, v: (v['event_body.len_fixed'] - 4), condition=lambda n, v: (v['event_body.len_fixed'] > 4)),
        Value('num_gtids', lambda n, v: (v['count_and_flags'] & 268435455)),
        Value('is_until_reached', lambda n, v: ((v['count_and_flags'] & 268435456) != 0)),
        Value('is_ignored_gtids', lambda n, v: ((v['count_and_flags'] & 536870912) != 0)),
    ),
    False,
)

START_ENCRYPTION_EVENT = Layout(
    'start_encryption_event',
    (
        Number('scheme', 'u1'),
        Number('key_version', '<u4'),
        Run('nonce', lambda n, v: 12),
        Run('unknown_tail', None, condition=lambda n, v: n.negate((v.pos >= v.size))),
    ),
    True,
)

QUERY_COMPRESSED_EVENT = Layout(
    'query_compressed_event',
    (
        Number('thread_id', '<u4'),
        Number('execution_time', '<u4'),
        Number('len_schema_name', 'u1'),
        Number('error_code', '<u2'),
        Number('len_status_vars', '<u2'),
        Run('unknown_post_header', lambda n, v: (v['event_body.len_fixed'] - 13), condition=lambda n, v: (v['event_body.len_fixed'] > 13)),
        Run('status_vars', lambda n, v: v['len_status_vars'], is_structure=True, walk='query_status_vars'),
        Run('schema_name', lambda n, v: v['len_schema_name'], encoding='UTF-8'),
        Number('schema_name_terminator', 'u1'),
        Number('compressed_query.method', 'u1', valid=lambda n, v: n.both((v['compressed_query.method'] >= 129), (v['compressed_query.method'] <= 132))),
        Value('compressed_query.len_length', lambda n, v: (v['compressed_query.method'] & 7)),
        Number('compressed_query.len_1', 'u1', condition=lambda n, v: (v['compressed_query.len_length'] == 1)),
        Number('compressed_query.len_2', '>u2', condition=lambda n, v: (v['compressed_query.len_length'] == 2)),
        Number('compressed_query.len_3', '>u3', condition=lambda n, v: (v['compressed_query.len_length'] == 3)),
        Number('compressed_query.len_4', '>u4', condition=lambda n, v: (v['compressed_query.len_length'] == 4)),
        Run('compressed_query.deflated', None, is_structure=True),
        Value('compressed_query.algorithm', lambda n, v: ((v['compressed_query.method'] >> 4) & 7)),
        Value('compressed_query.len_uncompressed', lambda n, v: n.where((v['compressed_query.len_length'] == 1), v['compressed_query.len_1'], n.where((v['compressed_query.len_length'] == 2), v['compressed_query.len_2'], n.where((v['compressed_query.len_length'] == 3), v['compressed_query.len_3'], v['compressed_query.len_4'])))),
    ),
    True,
)

COMPRESSED_ROWS_EVENT = Layout(
    'compressed_rows_event',
    (
        Number('table_id.low', '<u4'),
        Number('table_id.high', '<u2', condition=lambda n, v: (v['event_body.len_fixed'] != 6)),
        Value('table_id.value', lambda n, v: n.where((v['event_body.len_fixed'] == 6), v['table_id.low'], (v['table_id.low'] + (v['table_id.high'] * 4294967296))), is_unsigned=True),
        Value('table_id.is_dummy', lambda n, v: (v['table_id.value'] == 16777215), is_unsigned=True),
        Number('flags', '<u2'),
        Number('len_extra_data', '<u2', condition=lambda n, v: (v['event_body.len_fixed'] >= 10), valid=lambda n, v: (v['len_extra_data'] >= 2)),
        Run('unknown_post_header', lambda n, v: (v['event_body.len_fixed'] - 10), condition=lambda n, v: (v['event_body.len_fixed'] > 10)),
        Run('extra_data', lambda n, v: (v['len_extra_data'] - 2), condition=lambda n, v: (v['event_body.len_fixed'] >= 10), is_structure=True),
        Number('num_columns.first', 'u1', valid=lambda n, v: (v['num_columns.first'] <= 254)),
        Number('num_columns.value_2', '<u2', condition=lambda n, v: (v['num_columns.first'] == 252)),
        Number('num_columns.value_3', '<u3', condition=lambda n, v: (v['num_columns.first'] == 253)),
        Number('num_columns.value_8', '<u8', condition=lambda n, v: (v['num_columns.first'] == 254)),
        Value('num_columns.is_null', lambda n, v: (v['num_columns.first'] == 251)),
        Value('num_columns.value', lambda n, v: n.where((v['num_columns.first'] == 252), v['num_columns.value_2'], n.where((v['num_columns.first'] == 253), v['num_columns.value_3'], n.where((v['num_columns.first'] == 254), v['num_columns.value_8'], v['num_columns.first']))), is_unsigned=True),
        Run('columns.bitmap', lambda n, v: ((v['num_columns.value'] + 7) >> 3)),
        Value('is_update', lambda n, v: n.either((v['type_code'] == 167), (v['type_code'] == 170))),
        Run('columns_after.bitmap', lambda n, v: ((v['num_columns.value'] + 7) >> 3), condition=lambda n, v: v['is_update']),
        Run('compressed_images', None, is_structure=True),
        Value('is_statement_end', lambda n, v: ((v['flags'] & 1) != 0)),
        Value('has_no_foreign_key_checks', lambda n, v: ((v['flags'] & 2) != 0)),
        Value('has_relaxed_unique_checks', lambda n, v: ((v['flags'] & 4) != 0)),
        Value('is_complete', lambda n, v: ((v['flags'] & 8) != 0)),
        Value('has_no_check_constraint_checks', lambda n, v: ((v['flags'] & 128) != 0)),
        Value('is_write', lambda n, v: n.either((v['type_code'] == 166), (v['type_code'] == 169))),
    ),
    True,
)

PARTIAL_ROW_DATA_EVENT = Layout(
    'partial_row_data_event',
    (
        Number('number_1', '<u4'),
        Number('number_2', '<u4'),
        Number('flags', 'u1'),
        Run('unknown_post_header', lambda n, v: (v['event_body.len_fixed'] - 9), condition=lambda n, v: (v['event_body.len_fixed'] > 9)),
        Value('has_len_original', lambda n, v: ((v['flags'] & 1) != 0)),
        Number('len_original', '<u8', condition=lambda n, v: v['has_len_original']),
        Run('data', None),
        Value('fragment_number', lambda n, v: n.where((v['number_1'] < v['number_2']), v['number_1'], v['number_2'])),
        Value('num_fragments', lambda n, v: n.where((v['number_1'] < v['number_2']), v['number_2'], v['number_1'])),
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
    33: GTID_EVENT,
    34: GTID_EVENT,
    35: PREVIOUS_GTIDS_EVENT,
    36: TRANSACTION_CONTEXT_EVENT,
    37: VIEW_CHANGE_EVENT,
    38: XA_PREPARE_EVENT,
    39: ROWS_EVENT,
    40: TRANSACTION_PAYLOAD_EVENT,
    41: HEARTBEAT_EVENT_V2,
    42: GTID_TAGGED_EVENT,
    43: LARGE_TRANSACTION_HEADER_EVENT,
    160: ANNOTATE_ROWS_EVENT,
    161: BINLOG_CHECKPOINT_EVENT,
    162: MARIADB_GTID_EVENT,
    163: MARIADB_GTID_LIST_EVENT,
    164: START_ENCRYPTION_EVENT,
    165: QUERY_COMPRESSED_EVENT,
    166: COMPRESSED_ROWS_EVENT,
    167: COMPRESSED_ROWS_EVENT,
    168: COMPRESSED_ROWS_EVENT,
    169: COMPRESSED_ROWS_EVENT,
    170: COMPRESSED_ROWS_EVENT,
    171: COMPRESSED_ROWS_EVENT,
    172: PARTIAL_ROW_DATA_EVENT,
}

ENUMS: dict[str, dict[int, str]] = {
    'binlog_enums::event_type': {0: 'unknown_event', 1: 'start_event_v3', 2: 'query_event', 3: 'stop_event', 4: 'rotate_event', 5: 'intvar_event', 6: 'load_event', 7: 'slave_event', 8: 'create_file_event', 9: 'append_block_event', 10: 'exec_load_event', 11: 'delete_file_event', 12: 'new_load_event', 13: 'rand_event', 14: 'user_var_event', 15: 'format_description_event', 16: 'xid_event', 17: 'begin_load_query_event', 18: 'execute_load_query_event', 19: 'table_map_event', 20: 'pre_ga_write_rows_event', 21: 'pre_ga_update_rows_event', 22: 'pre_ga_delete_rows_event', 23: 'write_rows_event_v1', 24: 'update_rows_event_v1', 25: 'delete_rows_event_v1', 26: 'incident_event', 27: 'heartbeat_log_event', 28: 'ignorable_log_event', 29: 'rows_query_log_event', 30: 'write_rows_event', 31: 'update_rows_event', 32: 'delete_rows_event', 33: 'gtid_log_event', 34: 'anonymous_gtid_log_event', 35: 'previous_gtids_log_event', 36: 'transaction_context_event', 37: 'view_change_event', 38: 'xa_prepare_log_event', 39: 'partial_update_rows_event', 40: 'transaction_payload_event', 41: 'heartbeat_log_event_v2', 42: 'gtid_tagged_log_event', 43: 'large_transaction_header_event', 160: 'annotate_rows_event', 161: 'binlog_checkpoint_event', 162: 'gtid_event', 163: 'gtid_list_event', 164: 'start_encryption_event', 165: 'query_compressed_event', 166: 'write_rows_compressed_event_v1', 167: 'update_rows_compressed_event_v1', 168: 'delete_rows_compressed_event_v1', 169: 'write_rows_compressed_event', 170: 'update_rows_compressed_event', 171: 'delete_rows_compressed_event', 172: 'partial_row_data_event'},
    'execute_load_query_event::duplicate_action': {0: 'error', 1: 'ignore', 2: 'replace'},
    'gtid_event::logical_clock': {1: 'commit_timestamp', 2: 'logical_timestamps'},
    'gtid_set::set_format': {0: 'untagged', 1: 'tagged'},
    'incident_event::incident_kind': {0: 'none', 1: 'lost_events'},
    'intvar_event::variable_kind': {0: 'invalid_int', 1: 'last_insert_id', 2: 'insert_id'},
    'user_var_event::attribute_kind': {0: 'signed', 1: 'unsigned', 2: 'data_type_name'},
    'user_var_event::result_type': {0: 'string', 1: 'real', 2: 'int', 3: 'row', 4: 'decimal'},
}
