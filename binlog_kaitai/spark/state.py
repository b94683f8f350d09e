"""The contents of a table, from its changes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from binlog_kaitai.errors import UsageError
from binlog_kaitai.lake.state_tables import COPIES, IS_THERE
from binlog_kaitai.spark.images import ABSENT, filled, is_after, quoted
from binlog_kaitai.views.change_schemas import META_FIELDS, SEQUENCE

#: The columns of the changes view before those of the table.
META = tuple(field.name for field in META_FIELDS)

#: Error message for a change without its key.
NO_KEY = (
    "a change has no value in its key: row images lack columns (binlog_row_image is not FULL; use the "
    "option absentColumns), or it is an invalid date (use the option zeroDates)"
)


def latest(
    changes: DataFrame,
    keys: Sequence[str] = (),
    *,
    as_of: datetime | str | None = None,
    order: Sequence[Column] | None = None,
) -> DataFrame:
    """The rows of a table after its changes.

    Parameters
    ----------
    changes
        Changes of one table with typed columns, starting when it was created or empty. If images lack columns
        (``binlog_row_image`` is not FULL), read with the option ``absentColumns``.
    keys
        Columns of the primary key. Without them, rows are identified by all their columns, and equal rows are
        counted: those inserted minus those removed remain.
    as_of
        Only changes up to a commit time (local if it has no zone), or up to and including the transaction
        with a GTID, in log order.
    order
        The order of the logs, instead of that of ``_sequence``; followed by position and row.

    Returns
    -------
    The columns of the table only. An added column is null in rows that have not changed since.

    Raises
    ------
    UsageError
        A key is not a column, or no change has the GTID; or the changes do not determine the contents of the
        table, as for the state of a lake, for example because statements logged as text changed rows. To find
        out, the driver reads the logs, if they are the DataFrame's source.
    """
    from binlog_kaitai.spark.history import current_changes

    own = [name for name in changes.columns if name not in (*META, ABSENT)]
    changes = current_changes(changes, is_all=as_of is None and order is None)
    by_log = [*_place(changes, order), is_after().cast("int")]
    if as_of is not None:
        changes = _until(changes, as_of, by_log)
    return fold(changes, own, keys, by_log)


def _place(changes: DataFrame, order: Sequence[Column] | None) -> list[Column]:
    """Columns equal in both images of an update, and in no other change; they sort in log order."""
    if order is not None:
        return [*order, f.col("_position"), f.col("_row")]
    if SEQUENCE not in changes.columns:
        raise UsageError(f"the changes have no column {SEQUENCE}, by which they are ordered; select it, too")
    # The last character is the image's.
    return [f.col(SEQUENCE).substr(f.lit(1), f.length(SEQUENCE) - 1)]


def fold(changes: DataFrame, own: Sequence[str], keys: Sequence[str], by_log: Sequence[Column]) -> DataFrame:
    """The remaining rows, with the table's `own` columns; `by_log` totally orders the changes of a key.

    Raises `UsageError`: a key is not a column, or images lack columns and do not identify their row.
    """
    if unknown := [key for key in keys if key not in own]:
        raise UsageError(f"column {', '.join(unknown)} not found; available: {', '.join(own)}")
    if ABSENT in changes.columns:
        changes = filled(changes, own, keys, by_log[:-1])
    return _by_keys(changes, own, keys, by_log) if keys else _by_content(changes, own)


def _by_keys(
    changes: DataFrame, own: Sequence[str], keys: Sequence[str], by_log: Sequence[Column]
) -> DataFrame:
    """The last image of each key, unless it removes the row: an update of the key removes the old one."""
    order = f.struct(*by_log)
    groups = changes.groupBy(*(_key(changes, name).alias(f"_key{at} ") for at, name in enumerate(keys)))
    if ABSENT not in changes.columns:
        image = f.struct(is_after().alias(IS_THERE), *map(quoted, own))
        last = groups.agg(f.max_by(image, order).alias("last")).where(f.col(f"last.{IS_THERE}"))
        return last.select("last.*").drop(IS_THERE)
    reported = (f.when(is_after() & ~f.array_contains(ABSENT, name), order) for name in own)
    values = (f.max_by(quoted(name), when).alias(name) for name, when in zip(own, reported, strict=True))
    found = groups.agg(f.max_by(is_after(), order).alias(IS_THERE), *values).where(f.col(IS_THERE))
    return found.select(*map(quoted, own))


def _key(changes: DataFrame, name: str) -> Column:
    """A column of the key; ends the query if it is null."""
    if ABSENT in changes.columns:
        return quoted(name)
    return f.coalesce(quoted(name), f.raise_error(f.lit(NO_KEY)))


def _by_content(changes: DataFrame, own: Sequence[str]) -> DataFrame:
    copies = f.sum(f.when(is_after(), 1).otherwise(-1)).alias(COPIES)
    found = changes.groupBy(*map(quoted, own)).agg(copies).where(f.col(COPIES) > 0)
    each = f.explode(f.sequence(f.lit(1), f.col(COPIES)))
    return found.select(*map(quoted, own), each).select(*map(quoted, own))


def _until(changes: DataFrame, as_of: datetime | str, by_log: Sequence[Column]) -> DataFrame:
    if isinstance(as_of, datetime):
        return changes.where(f.col("_commit_timestamp") <= f.lit(as_of.astimezone()))
    place = f.struct(*(column.alias(f"at{number}") for number, column in enumerate(by_log)))
    last = changes.where(f.col("_gtid") == as_of).agg(f.max(place).alias("last"))
    found = last.first()
    if found is None or found["last"] is None:
        raise UsageError(f"no change has the GTID {as_of}")
    kinds = last.select("last.*").schema
    values = (f.lit(found["last"][one.name]).cast(one.dataType).alias(one.name) for one in kinds)
    return changes.where(place <= f.struct(*values))
