"""Values that columns have after an ALTER TABLE in the rows that there are, as part of an effect: as text."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from binlog_kaitai.arrow import pa
from binlog_kaitai.ddl.conversions import KnownColumn
from binlog_kaitai.rows.arrow_types import arrow_type
from binlog_kaitai.rows.builders import plain_value
from binlog_kaitai.rows.change_schemas import own_name


class KnownValues(NamedTuple):
    """The values of a column in the rows from before a statement.

    `name`: in the view of changes.
    `former`: the column's type before; None for a new column.
    `value`: the one of a new column, or that NULL becomes, as a scalar of the column's type; may be NULL.
    """

    name: str
    former: pa.DataType | None
    value: pa.Scalar


def of_column(column: KnownColumn) -> KnownValues:
    """With the types of the view."""
    former, kind = (None if col is None else _plain_type(arrow_type(col)) for col in (column.old, column.new))
    value = plain_value(column.value, column.new, kind)
    return KnownValues(own_name(column.new.name), former, pa.scalar(value, kind))


def _plain_type(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def packed(columns: Sequence[KnownValues]) -> str:
    """As text: a batch of a row in Arrow's format. The former type of `c` is that of `c `, which no column is
    called.
    """
    values = {column.name: pa.array([column.value.as_py()], column.value.type) for column in columns}
    former = {f"{known.name} ": pa.nulls(1, known.former) for known in columns if known.former is not None}
    batch = pa.record_batch(values | former)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as stream:
        stream.write_batch(batch)
    return base64.b64encode(sink.getvalue()).decode()


def unpacked(text: str) -> Iterable[KnownValues]:
    """The opposite of :func:`packed`."""
    with pa.ipc.open_stream(base64.b64decode(text)) as stream:
        batch = stream.read_next_batch()
    types = {field.name: field.type for field in batch.schema}
    for name in types:
        if not name.endswith(" "):
            yield KnownValues(name, types.get(f"{name} "), batch.column(name)[0])
