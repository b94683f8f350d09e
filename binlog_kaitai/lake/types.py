"""Column types and names supported by the readers of a lake."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from binlog_kaitai.arrow import pa
from binlog_kaitai.lake import DATE
from binlog_kaitai.rows.arrow_types import cast
from binlog_kaitai.views.change_schemas import ABSENT_FIELD, own_name, untaken_name

#: Neither Spark nor Iceberg has a type for more digits.
_MAX_DIGITS = 38


def type_for_spark(kind: pa.DataType) -> pa.DataType:
    """The type for Spark; text if Spark has no equivalent."""
    return pa.string() if pa.types.is_decimal(kind) and kind.precision > _MAX_DIGITS else kind


def type_for_iceberg(kind: pa.DataType) -> pa.DataType:
    """The next wider type that Iceberg supports; a duration becomes a number in its own unit."""
    if pa.types.is_uint64(kind):
        return pa.decimal128(20, 0)
    if pa.types.is_integer(kind):
        return pa.int64() if kind.bit_width > 32 or pa.types.is_uint32(kind) else pa.int32()
    return pa.int64() if pa.types.is_duration(kind) else type_for_spark(kind)


@dataclass(frozen=True)
class Dialect:
    """Requirements of a lake's readers on its columns.

    Attributes
    ----------
    type_of : callable
        Returns the type in which to write a column of a given type.
    taken : frozenset of str
        Names that columns cannot have, in lower case.
    stores_schema : bool
        Whether files also store the Arrow schema.
    """

    type_of: Callable[[pa.DataType], pa.DataType]
    taken: frozenset[str]
    stores_schema: bool = True


#: The lake's date column, and Spark's metadata column for the file of a row.
SPARK = Dialect(type_for_spark, frozenset({DATE, "_metadata"}))

#: Dialects by kind of tables. Iceberg for Spark cannot read a table with a column of these names, and
#: PyIceberg warns about each Arrow type it lacks.
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


def name_in_lake(name: str, kind: str) -> str:
    """The name of a server's column in the tables of a kind of lake."""
    return untaken_name(own_name(name), DIALECTS[kind].taken)


def typed(batch: pa.RecordBatch, type_of: Callable[[pa.DataType], pa.DataType]) -> pa.RecordBatch:
    """The batch with its columns cast to the dialect's types."""
    for at, one in enumerate(batch.schema):
        if (kind := type_of(one.type)) != one.type:
            batch = batch.set_column(at, one.with_type(kind), cast(batch.column(at), kind))
    return batch


def with_names(batch: pa.RecordBatch, names: Mapping[str, str]) -> pa.RecordBatch:
    """The batch with other column names, including those in its list of absent columns."""
    if all(new == old for old, new in names.items()):
        return batch
    if (at := batch.schema.get_field_index(ABSENT_FIELD.name)) >= 0:
        absent = [lacks and [names[one] for one in lacks] for lacks in batch.column(at).to_pylist()]
        batch = batch.set_column(at, ABSENT_FIELD, pa.array(absent, ABSENT_FIELD.type))
    return batch.rename_columns([names[name] for name in batch.schema.names])
