"""Column types and names supported by the readers of a lake.

A table keeps the type of a column forever, so types are wide enough for the common ALTERs: every integer is
one of 64 bits, a DECIMAL has 18 or 38 digits. A column whose type changes beyond that continues under a name
with ``_`` appended, unless Iceberg can widen it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from binlog_kaitai.arrow import pa, pc
from binlog_kaitai.lake import DATE, SOURCE
from binlog_kaitai.rows.arrow_types import cast
from binlog_kaitai.rows.change_schemas import ABSENT_FIELD, own_name, untaken_name

#: Numbers of digits of decimals: those that fit into 64 bits, and the maximum of all readers.
_FEW_DIGITS, _MAX_DIGITS = 18, 38

#: Names that columns of a lake cannot have, by format: its own, Spark's column for the file of a row, and
#: Iceberg's metadata columns.
_TAKEN = frozenset({DATE, SOURCE, "_metadata"})
TAKEN = {
    "delta": _TAKEN,
    "iceberg": _TAKEN
    | {"_file", "_pos", "_deleted", "_spec_id", "_partition", "_row_id", "_last_updated_sequence_number"},
}


Rows = TypeVar("Rows", pa.RecordBatch, pa.Table)


def type_in_lake(kind: pa.DataType) -> pa.DataType:
    """The type in which a lake has a column.

    A duration becomes a number of microseconds; a decimal with more digits than readers support becomes text.
    """
    if pa.types.is_dictionary(kind):
        return type_in_lake(kind.value_type)
    if pa.types.is_uint64(kind):
        return pa.decimal128(20, 0)
    if pa.types.is_integer(kind) or pa.types.is_duration(kind):
        return pa.int64()
    if pa.types.is_decimal(kind):
        if kind.precision > _MAX_DIGITS:
            return pa.string()
        return pa.decimal128(_FEW_DIGITS if kind.precision <= _FEW_DIGITS else _MAX_DIGITS, kind.scale)
    return stored_type(kind, type_in_lake)


def stored_type(
    kind: pa.DataType, type_of: Callable[[pa.DataType], pa.DataType] | None = None
) -> pa.DataType:
    """The type of a column of an existing table, whatever its library calls it."""
    inner = type_of or stored_type
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return pa.list_(inner(kind.value_type))
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(field.name, inner(field.type)) for field in kind])
    plain = {pa.large_string(): pa.string(), pa.large_binary(): pa.binary(), pa.null(): pa.string()}
    return plain.get(kind, kind)


def name_in_lake(name: str, kind: str) -> str:
    """The name of a server's column in a lake with tables of a format."""
    return untaken_name(own_name(name), TAKEN[kind])


def untaken(batch: pa.RecordBatch, kind: str) -> pa.RecordBatch:
    """The batch with column names that a lake of a format can have."""
    return with_names(batch, {name: untaken_name(name, TAKEN[kind]) for name in batch.schema.names})


def schema_in_lake(schema: pa.Schema) -> pa.Schema:
    """The columns of a table that has rows with these columns: each may be null in later rows."""
    return pa.schema([pa.field(field.name, type_in_lake(field.type)) for field in schema])


def typed(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The batch with the types of a lake; columns encoded by dictionary stay so, as Parquet does not mind."""
    for index, field in enumerate(batch.schema):
        kind = type_in_lake(field.type)
        if pa.types.is_dictionary(field.type) and field.type.value_type == kind:
            continue
        if kind != field.type:
            batch = batch.set_column(index, pa.field(field.name, kind), cast(batch.column(index), kind))
    return batch


def with_source_field(schema: pa.Schema, source: str) -> pa.Schema:
    """The columns of a table in a lake of several sources; as they are if there is no name of one."""
    return schema.insert(0, pa.field(SOURCE, pa.string())) if source else schema


def with_source(batch: Rows, source: str) -> Rows:
    """The rows with the name of its source, in a lake of several; as it is if there is no name."""
    if not source:
        return batch
    return batch.add_column(0, pa.field(SOURCE, pa.string()), pa.repeat(source, batch.num_rows))


def as_keys(rows: pa.Table, keys: Sequence[str]) -> pa.Table:
    """The columns of a key, in which -0.0 is 0.0, as it is for servers."""
    return pa.table(
        {key: pc.add(rows[key], 0.0) if pa.types.is_floating(rows[key].type) else rows[key] for key in keys}
    )


def stem_of(name: str) -> str:
    """The name of a column, ignoring case, without `_` that is appended where its type changed."""
    return name.lower().rstrip("_")


def view_names(batch: pa.RecordBatch, kind: str) -> pa.RecordBatch:
    """The opposite of :func:`untaken`."""
    taken = TAKEN[kind]
    names = ((name, stem_of(name) in taken) for name in batch.schema.names)
    return with_names(batch, {name: name[:-1] if is_longer else name for name, is_longer in names})


def wider(first: pa.DataType, second: pa.DataType, kind: str) -> pa.DataType | None:
    """The type that a column of a format gets for values of two types; None if it cannot have both."""
    if kind == "iceberg" and pa.types.is_floating(first) and pa.types.is_floating(second):
        return max(first, second, key=lambda kind: kind.bit_width)
    if kind == "iceberg" and pa.types.is_decimal(first) and pa.types.is_decimal(second):
        return max(first, second, key=lambda kind: kind.precision) if first.scale == second.scale else None
    return first if first == second else None


def joint_type(types: Iterable[pa.DataType]) -> pa.DataType | None:
    """The type that has all values of columns of some types, which a lake has; None if there is none."""
    kinds = {*types}
    if len(kinds) == 1:
        return kinds.pop()
    if kinds == {pa.date32(), pa.timestamp("us")}:
        return pa.timestamp("us")
    if kinds == {pa.float32(), pa.float64()}:
        return pa.float64()
    numbers = [kind for kind in kinds if pa.types.is_int64(kind) or pa.types.is_decimal(kind)]
    if kinds - {*numbers}:
        return pa.string() if kinds - {*numbers} == {pa.string()} else None
    decimals = [number for number in numbers if pa.types.is_decimal(number)]
    scale = max(decimal.scale for decimal in decimals)
    digits = scale + max(19 if kind not in decimals else kind.precision - kind.scale for kind in numbers)
    if digits > _MAX_DIGITS:
        return None
    exact = pa.decimal128(digits, scale)
    return exact if exact in kinds else type_in_lake(exact)


def merge_columns(columns: dict[str, pa.DataType], schema: pa.Schema, kind: str = "delta") -> dict[str, str]:
    """Merge the columns of a file into those of its table.

    `columns`: the table's columns by name; new ones are added, and types become wider.
    `schema`: the file's columns, as of :func:`schema_in_lake`.
    `kind`: the format of the table.
    Returns the table's name for each column of the file. Names that differ only by case are one; a column of
    another type than the table's continues under a name with ``_`` appended.
    """
    spelled = {name.lower(): name for name in columns}
    own = {name.lower() for name in schema.names}
    names: dict[str, str] = {}
    for field in schema:
        for name in _candidates(field.name, own):
            known = spelled.get(name.lower(), name)
            common = wider(columns.get(known, field.type), field.type, kind)
            if common is not None and known not in names.values():
                columns[known] = common
                names[field.name] = spelled[name.lower()] = known
                break
    return names


def _candidates(name: str, taken: Collection[str]) -> Iterator[str]:
    yield name
    while True:
        name += "_"
        if name.lower() not in taken:
            yield name


def with_names(batch: pa.RecordBatch, names: Mapping[str, str]) -> pa.RecordBatch:
    """The batch with other column names, including those in its list of absent columns."""
    if all(new == old for old, new in names.items()):
        return batch
    if (index := batch.schema.get_field_index(ABSENT_FIELD.name)) >= 0:
        absent = [lacks and [names[name] for name in lacks] for lacks in batch.column(index).to_pylist()]
        batch = batch.set_column(index, ABSENT_FIELD, pa.array(absent, ABSENT_FIELD.type))
    return batch.rename_columns([names[name] for name in batch.schema.names])


def conform(
    batch: pa.RecordBatch, target: pa.Schema, values: Mapping[str, pa.Scalar] | None = None
) -> pa.RecordBatch:
    """The batch with the target's columns in the target's order and types; missing columns are null.

    Of columns with one name, the value that is not null is taken.

    `values`: those that take the place of null, by names of columns.
    """
    if batch.schema.equals(target) and not values:
        return batch
    columns = [_column(batch, field) for field in target]
    for index, name in enumerate(target.names):
        if values and name in values:
            columns[index] = pc.fill_null(columns[index], values[name])
    if not columns:
        return pa.RecordBatch.from_struct_array(
            pa.StructArray.from_buffers(pa.struct([]), len(batch), [None])
        )
    return pa.RecordBatch.from_arrays(columns, schema=target)


def _column(batch: pa.RecordBatch, field: pa.Field) -> pa.Array:
    columns = [batch.column(index) for index in batch.schema.get_all_field_indices(field.name)]
    for index, column in enumerate(columns):
        if pa.types.is_dictionary(column.type) and column.type.value_type == field.type:
            columns[index] = column.dictionary_decode()
        elif column.type != field.type:
            columns[index] = cast(column, field.type)
    if not columns:
        return pa.nulls(len(batch), field.type)
    return columns[0] if len(columns) == 1 else pc.coalesce(*columns)
