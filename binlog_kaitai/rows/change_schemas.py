"""Schemas of the changes view: the metadata columns, and the columns of a table's definitions."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import partial

from binlog_kaitai.arrow import pa
from binlog_kaitai.errors import UsageError
from binlog_kaitai.rows.arrow_types import arrow_type
from binlog_kaitai.rows.table_maps import Table
from binlog_kaitai.text.line_arrays import plain
from binlog_kaitai.values.schema import Column, NameSource, Schema

TIME = pa.timestamp("us", tz="UTC")
_NAME = pa.dictionary(pa.int32(), pa.string())

#: The columns with the kind of a change, and its order among all changes.
CHANGE_TYPE, SEQUENCE = "_change_type", "_sequence"

#: The columns before those of the table. `_row` numbers the rows at a position, from 0: within the event, or
#: within all events of a transaction payload. Both images of an update have the same number.
#: `_sequence` differs for them: by it, images are in the order of the log, see `rows.sequences`.
META_FIELDS = (
    pa.field(CHANGE_TYPE, _NAME, nullable=False),
    pa.field("_commit_timestamp", TIME, nullable=False),
    pa.field("_file", _NAME, nullable=False),
    pa.field("_position", pa.int64(), nullable=False),
    pa.field("_row", pa.int64(), nullable=False),
    pa.field("_gtid", _NAME),
    pa.field("_server_id", pa.int64(), nullable=False),
    pa.field("_timestamp", TIME, nullable=False),
    pa.field(SEQUENCE, pa.string(), nullable=False),
)

#: Optional last column: the names of the columns that an image does not contain; null if it contains all.
#: Their values are null, like those that are NULL.
ABSENT_FIELD = pa.field("_absent", pa.list_(pa.string()))

#: The view of all tables: one row per change, with the images as JSON objects.
CHANGES_SCHEMA = pa.schema(
    [
        *META_FIELDS[1:],
        pa.field("schema", _NAME, nullable=False),
        pa.field("table", _NAME, nullable=False),
        pa.field("change", _NAME, nullable=False),
        pa.field("before", pa.string()),
        pa.field("after", pa.string()),
    ]
)

#: Reserved names, which no column of a table gets here.
_TAKEN = frozenset(field.name for field in (*META_FIELDS, ABSENT_FIELD))


def own_columns(table: Schema, schema: pa.Schema | None = None) -> dict[str, Column]:
    """The columns of a table by their names in the view; the spelling of a schema takes precedence.

    Invalid characters are escaped. Names differ from the metadata columns and from each other, ignoring
    case, because Spark and other readers of Parquet ignore case.
    """
    spelled = {name.lower(): name for name in schema.names} if schema else {}
    own: dict[str, Column] = {}
    for column in table.columns:
        name = own_name(column.name)
        while name.lower() in own:
            name += "_"
        own[name.lower()] = column
        spelled.setdefault(name.lower(), name)
    return {spelled[key]: column for key, column in own.items()}


def own_name(name: str) -> str:
    """The name of a table's column in the view."""
    return untaken_name(plain(name), _TAKEN)


def check_schema(table: Schema, schema: pa.Schema) -> None:
    """Reject a schema that shares no column with the table, since all values would be null.

    Raises `UsageError`: lists the columns of the table, or explains that they have no names.
    """
    wanted = [field.name for field in schema if field.name.rstrip("_").lower() not in _TAKEN]
    own = own_columns(table, schema)
    if not wanted or not own or not own.keys().isdisjoint(wanted):
        return
    message = f"{table.full_name}: unknown columns {', '.join(wanted)}; "
    if table.names_from is NameSource.NONE:
        message += "the log does not name the columns (binlog_row_metadata), nor does a statement before it: "
        raise UsageError(f"{message}pass its CREATE TABLE as ddl, or select c1, c2, ...")
    raise UsageError(f"{message}the table has {', '.join(own)}; select at least one of them")


def untaken_name(name: str, reserved: Collection[str]) -> str:
    """The name with another `_` appended if it is reserved, ignoring case and trailing underscores.

    Distinct names remain distinct, and the result does not depend on the table's other columns.
    """
    return name + "_" if name.rstrip("_").lower() in reserved else name


def table_schema(table: Table, zero_dates: str = "null", *, bit1_as_boolean: bool = False) -> pa.Schema:
    """The columns of the view for one definition of a table."""
    type_of = partial(arrow_type, zero_dates=zero_dates, bit1_as_boolean=bit1_as_boolean)
    own = [pa.field(name, type_of(column)) for name, column in own_columns(table.schema).items()]
    return pa.schema([*META_FIELDS, *own])


def exported_schema(table: Table, zero_dates: str = "null", *, bit1_as_boolean: bool = False) -> pa.Schema:
    """The columns of an export, which omits `_sequence`: it costs as much as several other columns."""
    whole = table_schema(table, zero_dates, bit1_as_boolean=bit1_as_boolean)
    return pa.schema([field for field in whole if field.name != SEQUENCE])


def merged_schema(tables: Iterable[Table], zero_dates: str, *, bit1_as_boolean: bool = False) -> pa.Schema:
    """The columns of several definitions of a table by name, in the order of their first definition.

    Servers ignore the case of column names, so a column renamed to another case is the same column. A
    column whose type changes gets the common type, or string if there is none.
    """
    merged: dict[str, pa.Field] = {}
    for table in tables:
        whole = table_schema(table, zero_dates, bit1_as_boolean=bit1_as_boolean)
        for field in list(whole)[len(META_FIELDS) :]:
            known = merged.setdefault(field.name.lower(), field)
            if known.type != field.type:
                merged[field.name.lower()] = known.with_type(_common_type(known.type, field.type))
    return pa.schema([*META_FIELDS, *merged.values()])


def _common_type(first: pa.DataType, second: pa.DataType) -> pa.DataType:
    """The narrowest type that can hold the values of both; string if there is no other."""
    try:
        fields = (pa.schema([pa.field("", kind)]) for kind in (first, second))
        return pa.unify_schemas(list(fields), promote_options="permissive").field(0).type
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.string()
