"""The types and names of columns as the readers of a lake know them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pyarrow as pa

from binlog_kaitai.columns.rows.arrow_types import cast
from binlog_kaitai.columns.views.change_schemas import ABSENT_FIELD
from binlog_kaitai.lake import DATE

#: More digits have no type in Spark, nor in Iceberg.
_MAX_DIGITS = 38


def type_for_spark(kind: pa.DataType) -> pa.DataType:
    """Text where Spark has no such type."""
    return pa.string() if pa.types.is_decimal(kind) and kind.precision > _MAX_DIGITS else kind


def type_for_iceberg(kind: pa.DataType) -> pa.DataType:
    """The next wider type that Iceberg has; a duration is a number of its own unit."""
    if pa.types.is_uint64(kind):
        return pa.decimal128(20, 0)
    if pa.types.is_integer(kind):
        return pa.int64() if kind.bit_width > 32 or pa.types.is_uint32(kind) else pa.int32()
    return pa.int64() if pa.types.is_duration(kind) else type_for_spark(kind)


@dataclass(frozen=True)
class Dialect:
    """What readers of a lake want of its columns.

    Attributes
    ----------
    type_of : callable
        Gives the type that a column of another is written in.
    taken : frozenset of str
        Names that columns of a table cannot have, in small letters.
    stores_schema : bool
        Files also tell the types that only Arrow knows.
    """

    type_of: Callable[[pa.DataType], pa.DataType]
    taken: frozenset[str]
    stores_schema: bool = True


#: What a lake calls its dates, and Spark the file of a row.
SPARK = Dialect(type_for_spark, frozenset({DATE, "_metadata"}))

#: By what the tables of a lake are. Iceberg for Spark reads no table that has a column of those names, and
#: PyIceberg tells of each Arrow type that it does not have.
DIALECTS = {
    "parquet": SPARK,
    "delta": SPARK,
    "iceberg": Dialect(
        type_for_iceberg,
        SPARK.taken
        | {"_file", "_pos", "_deleted", "_spec_id", "_partition", "_row_id", "_last_updated_sequence_number"},
        stores_schema=False,
    ),
}


def typed(batch: pa.RecordBatch, type_of: Callable[[pa.DataType], pa.DataType]) -> pa.RecordBatch:
    """The batch with its columns in the types that theirs become."""
    for at, one in enumerate(batch.schema):
        if (kind := type_of(one.type)) != one.type:
            batch = batch.set_column(at, one.with_type(kind), cast(batch.column(at), kind))
    return batch


def with_names(batch: pa.RecordBatch, names: Mapping[str, str]) -> pa.RecordBatch:
    """The batch with other names for its columns, also where it tells which ones are absent."""
    if all(new == old for old, new in names.items()):
        return batch
    if (at := batch.schema.get_field_index(ABSENT_FIELD.name)) >= 0:
        absent = [lacks and [names[one] for one in lacks] for lacks in batch.column(at).to_pylist()]
        batch = batch.set_column(at, ABSENT_FIELD, pa.array(absent, ABSENT_FIELD.type))
    return batch.rename_columns([names[name] for name in batch.schema.names])
