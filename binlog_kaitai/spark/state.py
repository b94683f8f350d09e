"""The content of a table, from its changes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from binlog_kaitai.columns.views.change_schemas import SEQUENCE
from binlog_kaitai.errors import UsageError
from binlog_kaitai.spark.images import ABSENT, filled, is_after, quoted

#: What the changes view puts before the columns of the table.
META = (
    "_change_type",
    "_commit_timestamp",
    "_file",
    "_position",
    "_row",
    "_gtid",
    "_server_id",
    "_timestamp",
    SEQUENCE,
)

#: Whether a key has a row, and how many are equal. No column of a server has a name that ends with a space.
_IS_THERE, _COPIES = "_is_there ", "_copies "

#: What a query says that meets a change without its key.
NO_KEY = (
    "a change has no value in its key: row images lack columns (binlog_row_image is not FULL; there is the "
    "option absentColumns), or it is a date that no calendar has (the option zeroDates)"
)


def latest(
    changes: DataFrame,
    keys: Sequence[str] = (),
    *,
    as_of: datetime | str | None = None,
    order: Sequence[Column] | None = None,
) -> DataFrame:
    """The rows of a table as its changes leave them.

    Parameters
    ----------
    changes
        Changes of one table with typed columns, from its beginning or from when it was empty. Where images
        lack columns (``binlog_row_image`` is not FULL), with the option ``absentColumns``.
    keys
        Columns of the primary key. Without them rows are told apart by all that is in them: as many equal
        rows are left as were put in and not taken out.
    as_of
        Only changes up to a time of commit (one without a zone is local), or up to and with the transaction
        of a GTID, in the order of the log.
    order
        The order of the logs, instead of that of ``_sequence``; position and row come after it.

    Returns
    -------
    The columns of the table alone. A column that was added is null in rows that have not changed since.

    Raises
    ------
    UsageError
        A key is no column, or no change has the GTID; or the logs say that their changes do not tell what the
        table contains, as the state of a lake says it: rows were changed by statements logged as text, for
        one. The logs are read for that on the driver, of a DataFrame that has them as its source.
    """
    from binlog_kaitai.spark.history import current_changes

    own = [name for name in changes.columns if name not in (*META, ABSENT)]
    changes = current_changes(changes, is_all=as_of is None and order is None)
    by_log = [*_place(changes, order), is_after().cast("int")]
    if as_of is not None:
        changes = _until(changes, as_of, by_log)
    return fold(changes, own, keys, by_log)


def _place(changes: DataFrame, order: Sequence[Column] | None) -> list[Column]:
    """What both images of an update have in common, and no other change; in the order of the log."""
    if order is not None:
        return [*order, f.col("_position"), f.col("_row")]
    if SEQUENCE not in changes.columns:
        raise UsageError(f"the changes have no column {SEQUENCE}, by which they are ordered; select it, too")
    # The last character is the image's.
    return [f.col(SEQUENCE).substr(f.lit(1), f.length(SEQUENCE) - 1)]


def fold(changes: DataFrame, own: Sequence[str], keys: Sequence[str], by_log: Sequence[Column]) -> DataFrame:
    """What is left of the table's `own` columns; `by_log` puts all changes of a key into one order.

    Raises
    ------
    UsageError
        A key is no column; or images lack columns, and do not tell which row they are about.
    """
    if unknown := [key for key in keys if key not in own]:
        raise UsageError(f"column {', '.join(unknown)} not found; available: {', '.join(own)}")
    if ABSENT in changes.columns:
        changes = filled(changes, own, keys, by_log[:-1])
    return _by_keys(changes, own, keys, by_log) if keys else _by_content(changes, own)


def _by_keys(
    changes: DataFrame, own: Sequence[str], keys: Sequence[str], by_log: Sequence[Column]
) -> DataFrame:
    """The last image of each key, if it is one that came: an update of the key takes the old one away."""
    order = f.struct(*by_log)
    groups = changes.groupBy(*(_key(changes, name).alias(f"_key{at} ") for at, name in enumerate(keys)))
    if ABSENT not in changes.columns:
        image = f.struct(is_after().alias(_IS_THERE), *map(quoted, own))
        last = groups.agg(f.max_by(image, order).alias("last")).where(f.col(f"last.{_IS_THERE}"))
        return last.select("last.*").drop(_IS_THERE)
    reported = (f.when(is_after() & ~f.array_contains(ABSENT, name), order) for name in own)
    values = (f.max_by(quoted(name), when).alias(name) for name, when in zip(own, reported, strict=True))
    found = groups.agg(f.max_by(is_after(), order).alias(_IS_THERE), *values).where(f.col(_IS_THERE))
    return found.select(*map(quoted, own))


def _key(changes: DataFrame, name: str) -> Column:
    """A column of the key; ends the query where it is null."""
    if ABSENT in changes.columns:
        return quoted(name)
    return f.coalesce(quoted(name), f.raise_error(f.lit(NO_KEY)))


def _by_content(changes: DataFrame, own: Sequence[str]) -> DataFrame:
    copies = f.sum(f.when(is_after(), 1).otherwise(-1)).alias(_COPIES)
    found = changes.groupBy(*map(quoted, own)).agg(copies).where(f.col(_COPIES) > 0)
    each = f.explode(f.sequence(f.lit(1), f.col(_COPIES)))
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
