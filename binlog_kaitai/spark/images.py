"""Completes row images that lack columns, as ``binlog_row_image`` MINIMAL and NOBLOB write them.

An image of an UPDATE lacks columns that did not change, or that are not needed to find the row. A column
missing from the after image is in the before image, or in an earlier change of the row. A column missing from
an INSERT has its default, which is not logged: it is null.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as f

from binlog_kaitai.errors import UsageError
from binlog_kaitai.lake.state_tables import AFTER
from binlog_kaitai.views.change_schemas import ABSENT_FIELD

#: The names of the columns that are missing from an image.
ABSENT = ABSENT_FIELD.name

#: The before image of an update. No column of a server has a name that ends with a space.
_BEFORE = "_before "


def is_after() -> Column:
    """Whether a change adds a row, rather than removing it."""
    return f.col("_change_type").isin(*AFTER)


def quoted(name: str) -> Column:
    """A column by its plain name, whatever characters it has."""
    return f.col("`" + name.replace("`", "``") + "`")


def filled(changes: DataFrame, own: Sequence[str], keys: Sequence[str], place: Sequence[Column]) -> DataFrame:
    """The changes, with columns missing from an after image copied from the before image.

    `own`: the table's columns.
    `place`: columns that identify a change: equal in both images of an update, and in no other change.
    Returns the same columns; for after images, `ABSENT` lists the columns that only earlier changes contain.
    Raises `UsageError`: the images do not identify their row.
    """
    nothing = f.array().cast("array<string>")
    lacks = f.coalesce(ABSENT, nothing)
    values = [quoted(name).alias(f"c{at}") for at, name in enumerate(own)]
    both = Window.partitionBy(*place).orderBy(is_after())
    other = f.lag(f.struct(lacks.alias("lacks"), *values)).over(both)
    before = f.when(f.col("_change_type") == "update_postimage", other)
    found = changes.withColumn(_BEFORE, before).withColumn(ABSENT, lacks)
    is_update = f.col(_BEFORE).isNotNull()

    def value(at: int, name: str) -> Column:
        is_absent = is_update & f.array_contains(ABSENT, name)
        return f.when(is_absent, f.col(f"{_BEFORE}.c{at}")).otherwise(quoted(name)).alias(name)

    left = f.when(is_update, f.array_intersect(ABSENT, f"{_BEFORE}.lacks"))
    left = left.when(f.col("_change_type") != "insert", f.col(ABSENT)).otherwise(nothing).alias(ABSENT)
    others = [quoted(name) for name in changes.columns if name not in (*own, ABSENT)]
    moved = [~f.col(f"{_BEFORE}.c{own.index(key)}").eqNullSafe(quoted(key)) for key in keys]
    found = found.select(*others, *(value(at, name) for at, name in enumerate(own)), left, _BEFORE)
    _check(found, keys, moved)
    return found.drop(_BEFORE)


def _check(found: DataFrame, keys: Sequence[str], moved: Sequence[Column]) -> None:
    lacks = f.size(ABSENT) > 0
    wrong = {"and no primary key is known": lacks}
    if keys:
        is_moved = f.col(_BEFORE).isNotNull() & reduce(Column.__or__, moved)
        names = f.array(*map(f.lit, keys))
        wrong = {
            "not even those of the key": f.arrays_overlap(ABSENT, names),
            "and an update changed the key of a row": lacks & is_moved,
        }
    for reason, condition in wrong.items():
        if not found.where(condition).isEmpty():
            raise UsageError(f"row images do not have all columns (binlog_row_image), {reason}")
