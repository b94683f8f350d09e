"""Conversion between Arrow schemas and Spark schemas."""

from __future__ import annotations

from inspect import signature
from typing import Any

from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import StringType, StructField, StructType

from binlog_kaitai.arrow import pa
from binlog_kaitai.errors import UsageError
from binlog_kaitai.lake.types import stored_type

_WIDER = {
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.decimal128(20, 0),
}

#: The time zone of Spark's timestamps in Arrow; Spark 4.1 supports no other.
_ZONE: dict[str, Any] = {"timezone": "UTC"} if "timezone" in signature(to_arrow_schema).parameters else {}

#: The maximum precision of Spark's decimals.
_MAX_PRECISION = 38


def plain_type(kind: pa.DataType) -> pa.DataType:
    """The Arrow type that Spark supports and that can hold all values of another type."""
    if pa.types.is_dictionary(kind):
        return plain_type(kind.value_type)
    if pa.types.is_duration(kind):
        return pa.duration("us")
    if pa.types.is_decimal(kind) and kind.precision > _MAX_PRECISION:
        return pa.string()
    return _WIDER.get(kind) or stored_type(kind, plain_type)


def spark_schema(columns: pa.Schema) -> StructType:
    """The Spark schema of a view, from its Arrow columns."""
    return from_arrow_schema(pa.schema([field.with_type(plain_type(field.type)) for field in columns]))


def with_corrupt_column(schema: StructType, name: str) -> StructType:
    """The columns of a schema, all nullable, and one that describes damage.

    Raises `UsageError`: the view already has a column of that name.
    """
    if name.lower() in (field.name.lower() for field in schema.fields):
        reason = f"there already is a column {name}; set the option columnNameOfCorruptRecord to another name"
        raise UsageError(reason)
    fields = [StructField(field.name, field.dataType) for field in schema.fields]
    return StructType([*fields, StructField(name, StringType())])


def arrow_schema(columns: StructType) -> pa.Schema:
    """The Arrow schema that Spark requires for its own; it accepts no other, however similar."""
    return to_arrow_schema(columns, **_ZONE)


def check_columns(wanted: StructType, available: StructType) -> None:
    """Reject a schema with columns that the view does not have.

    Raises `UsageError`: lists these columns and the available ones.
    """
    unknown = [name for name in wanted.fieldNames() if name not in available.fieldNames()]
    if unknown:
        there = ", ".join(available.fieldNames())
        raise UsageError(f"the schema has unknown columns {', '.join(unknown)}; available: {there}")
