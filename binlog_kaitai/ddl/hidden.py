"""Columns that servers add on their own: for expressions in keys, and for system versioning."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, count

from binlog_kaitai.ddl.elements import Key
from binlog_kaitai.values.definition import ColumnDefinition, HiddenColumn, TableDefinition


def hidden_columns_of(key: Key, place: int, present: Iterable[HiddenColumn]) -> list[HiddenColumn]:
    """The hidden columns of a new key, next to those that are present already."""
    names = {one.key_name.casefold() for one in present}
    numbered = (f"functional_index_{number}" for number in count(2))
    choices = chain(["functional_index"], numbered)
    index = key.name or next(name for name in choices if name not in names)
    return [HiddenColumn(index, part, place) for part in key.expressions]


def parted(
    columns: Sequence[ColumnDefinition], before: Mapping[str, HiddenColumn], added: Iterable[HiddenColumn]
) -> tuple[list[ColumnDefinition], tuple[HiddenColumn, ...]]:
    """Separate the hidden columns of an altered table from the others.

    Parameters
    ----------
    before
        The hidden columns among `columns`, by the name they have there; a dropped key has no name.
    added
        Those of new keys, which come after all others.
    """
    kept: list[ColumnDefinition] = []
    hidden: list[HiddenColumn] = []
    for column in columns:
        if (one := before.get(column.name)) is None:
            kept.append(column)
        elif one.key_name:
            hidden.append(one._replace(place=len(kept)))
    return kept, (*hidden, *(one._replace(place=len(kept)) for one in added))


def with_period(table: TableDefinition) -> TableDefinition:
    """The table with the two hidden columns that MariaDB adds for system versioning."""
    row_start, row_end = (
        ColumnDefinition(
            name,
            "timestamp(6)",
            "timestamp",
            ("6",),
            is_nullable=False,
            is_generated=True,
            is_visible=False,
            is_row_period=True,
        )
        for name in ("row_start", "row_end")
    )
    return replace(table, columns=(*table.columns, row_start, row_end), has_implicit_period=True)


def without_period(table: TableDefinition) -> TableDefinition:
    """The table without the hidden system versioning columns."""
    if not table.has_implicit_period:
        return table
    return replace(table, columns=table.columns[:-2], has_implicit_period=False)
