"""A condition on the rows of a view, and the columns needed to evaluate it."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from binlog_kaitai.arrow import pa, pc
from binlog_kaitai.errors import UsageError

#: A column for row numbers; a table cannot have a column of this name.
_NUMBERS = "\0row"


class Where(NamedTuple):
    """A condition on rows.

    `needed`: the columns that it refers to.
    """

    expression: pc.Expression
    needed: pa.Schema

    @classmethod
    def of(cls, expression: pc.Expression, schema: pa.Schema) -> Where:
        """Validate a condition on the columns of a view.

        Raises `UsageError`: it is not an Arrow expression over these columns.
        """
        reason = _refused(expression, schema)
        if reason is not None and not _refused(exact := _with_decimals(expression), schema):
            expression, reason = exact, None
        if reason is not None:
            names = ", ".join(schema.names)
            raise UsageError(f"where is not a valid condition on columns {names}: {reason.splitlines()[0]}")
        # Arrow does not list the columns of an expression, but rejects an expression if one is missing.
        fields = [
            field
            for field in schema
            if _refused(expression, pa.schema([other for other in schema if other.name != field.name]))
        ]
        return cls(expression, pa.schema(fields))

    def rows(self, batch: pa.RecordBatch) -> NDArray[np.int64]:
        """Numbers of the rows that match, ascending; the batch has the columns `needed`.

        Raises `UsageError`: a value cannot be compared exactly, such as a large BIGINT with 1.5.
        """
        numbered = pa.Table.from_arrays(
            [*batch.columns, pa.array(np.arange(batch.num_rows))], names=[*batch.schema.names, _NUMBERS]
        )
        try:
            numbers: NDArray[np.int64] = numbered.filter(self.expression).column(_NUMBERS).to_numpy()
        except pa.ArrowInvalid as error:
            reason = str(error).splitlines()[0]
            raise UsageError(f"where cannot be compared exactly with these values: {reason}") from None
        return numbers


def _refused(expression: pc.Expression, schema: pa.Schema) -> str | None:
    """Why an expression cannot be evaluated over a schema; None if it can."""
    try:
        schema.empty_table().filter(expression)
    except (pa.ArrowException, TypeError) as error:
        return str(error) or type(error).__name__
    return None


def _with_decimals(expression: pc.Expression) -> pc.Expression:
    """The condition with its integers as decimals, as Arrow compares no DECIMAL column with an integer."""
    if not isinstance(expression, pc.Expression):
        return expression
    # An expression is pickled as a record batch, which has a column for each literal.
    load, (buffer,) = expression.__reduce__()
    literals = pa.ipc.open_file(buffer).get_batch(0)
    for number, literal in enumerate(literals.columns):
        if pa.types.is_integer(literal.type) and literal.null_count == 0:
            exact = pa.array([Decimal(value) for value in literal.to_pylist()])
            literals = literals.set_column(number, literals.schema.field(number).with_type(exact.type), exact)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, literals.schema) as file:
        file.write_batch(literals)
    return load(sink.getvalue())


def chosen_columns(schema: pa.Schema, names: Sequence[str] | None) -> pa.Schema:
    """The columns with the given names, in that order; all for None.

    Raises `UsageError`: a column does not exist.
    """
    if names is None:
        return schema
    for name in names:
        if name not in schema.names:
            raise UsageError(f"column {name!r} not found; available: {', '.join(schema.names)}")
    return pa.schema([schema.field(name) for name in names])
