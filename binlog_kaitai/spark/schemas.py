"""Arrow's columns and Spark's: the same columns, each made from the other."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import StructType

from binlog_kaitai.errors import UsageError


def spark_schema(columns: pa.Schema) -> StructType:
    """The Spark type of a view, from its Arrow columns."""
    return from_arrow_schema(columns)


def arrow_schema(columns: StructType) -> pa.Schema:
    """The Arrow columns that Spark takes for its type; it accepts no others, however alike."""
    return to_arrow_schema(columns, timezone="UTC")


def check_columns(wanted: StructType, available: StructType) -> None:
    """Refuse a schema that names columns which the view has not.

    Raises
    ------
    UsageError
        Naming the columns, and those that there are.
    """
    unknown = [name for name in wanted.fieldNames() if name not in available.fieldNames()]
    if unknown:
        there = ", ".join(available.fieldNames())
        raise UsageError(f"the schema asks for {', '.join(unknown)}; the columns are {there}")


def conform(batch: pa.RecordBatch, target: pa.Schema) -> pa.RecordBatch:
    """The batch with just the target's columns, in its order and its types."""
    if batch.schema.equals(target):
        return batch
    columns = [batch.column(field.name).cast(field.type) for field in target]
    return pa.RecordBatch.from_arrays(columns, schema=target)
