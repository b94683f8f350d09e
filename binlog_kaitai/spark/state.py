"""The contents of a table, from its changes.

Spark keeps the options of a source in the plan of a DataFrame. They name the logs, which the driver reads
once more for statements such as TRUNCATE, and for changes that do not determine the contents of a table.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from functools import reduce
from itertools import pairwise
from operator import attrgetter
from typing import Any

import numpy as np
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as f

from binlog_kaitai.core.filters import Filters
from binlog_kaitai.ddl import Definitions
from binlog_kaitai.errors import DamagedError, UsageError
from binlog_kaitai.following.effects import Effect, EffectKind, Statements, take_statement, unclear
from binlog_kaitai.following.known_values import unpacked
from binlog_kaitai.lake.cascades import Cascades
from binlog_kaitai.lake.lineage import Entry, Key, Lineage, Place, Segment
from binlog_kaitai.lake.rules import NO_RULES
from binlog_kaitai.lake.state_tables import AFTER, COPIES, IS_THERE
from binlog_kaitai.lake.write import (
    Written,
    effects_of,
    facts_of,
    lacking_columns,
    programs_of,
    statements_in_payloads,
)
from binlog_kaitai.log.boundaries import QuiescentPoints
from binlog_kaitai.rows.change_schemas import ABSENT_FIELD, META_FIELDS, SEQUENCE
from binlog_kaitai.rows.event_metadata import STATEMENT
from binlog_kaitai.rows.log_pages import RowsPage, RowsPages
from binlog_kaitai.rows.table_maps import Table
from binlog_kaitai.sources.packed import SUFFIXES
from binlog_kaitai.sources.source import log_number
from binlog_kaitai.spark.batch import between
from binlog_kaitai.spark.reader_options import TABLE, ReadOptions
from binlog_kaitai.values.sql_text import identifier
from binlog_kaitai.views.splits import list_files

#: The columns of the changes view before those of the table.
META = tuple(field.name for field in META_FIELDS)

#: Error message for a change without its key.
NO_KEY = (
    "a change has no value in its key: row images lack columns (binlog_row_image is not FULL; use the "
    "option absentColumns), or it is an invalid date (use the option zeroDates)"
)

_NEEDS_ABSENT = "row images lack columns (binlog_row_image is not FULL); use the option absentColumns"

#: The names of the columns that are missing from an image.
ABSENT = ABSENT_FIELD.name

#: The before image of an update. No column of a server has a name that ends with a space.
_BEFORE = "_before "


#: The number of a log, as in `log_number`.
_NUMBER = rf"(\d+)(?:\.ibb)?(?:{'|'.join(map(re.escape, SUFFIXES))})?(?:\?.*)?$"

#: Spark's name for a Python source in a plan.
_RELATION = "DataSourceV2Relation"

_INSTEAD = "the changes in a lake of binlog-kaitai pipeline follow such statements"


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
    The columns of the table only, without generated ones that MariaDB leaves out of images. An added column
    is null in rows that have not changed since.

    Raises
    ------
    UsageError
        A key is not a column, or no change has the GTID; or the changes do not determine the contents of the
        table, as for the state of a lake, for example because statements logged as text changed rows. To find
        out, the driver reads the logs, if they are the DataFrame's source.
    """
    changes, computed = current_changes(changes, keys, is_all=as_of is None and order is None)
    own = [name for name in changes.columns if name not in (*META, ABSENT) and name.lower() not in computed]
    by_log = [*_place(changes, order), _is_after().cast("int")]
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
        changes = _filled(changes, own, keys, by_log[:-1])
    return _by_keys(changes, own, keys, by_log) if keys else _by_content(changes, own)


def _by_keys(
    changes: DataFrame, own: Sequence[str], keys: Sequence[str], by_log: Sequence[Column]
) -> DataFrame:
    """The last image of each key, unless it removes the row: an update of the key removes the old one."""
    order = f.struct(*by_log)
    groups = changes.groupBy(*(_key(changes, name).alias(f"_key{index} ") for index, name in enumerate(keys)))
    if ABSENT not in changes.columns:
        image = f.struct(_is_after().alias(IS_THERE), *map(_quoted, own))
        last = groups.agg(f.max_by(image, order).alias("last")).where(f.col(f"last.{IS_THERE}"))
        return last.select("last.*").drop(IS_THERE)
    reported = (f.when(_is_after() & ~f.array_contains(ABSENT, name), order) for name in own)
    values = (f.max_by(_quoted(name), when).alias(name) for name, when in zip(own, reported, strict=True))
    rows = groups.agg(f.max_by(_is_after(), order).alias(IS_THERE), *values).where(f.col(IS_THERE))
    return rows.select(*map(_quoted, own))


def _key(changes: DataFrame, name: str) -> Column:
    """A column of the key; ends the query if it is null."""
    if ABSENT in changes.columns:
        return _quoted(name)
    return f.coalesce(_quoted(name), f.raise_error(f.lit(NO_KEY)))


def _by_content(changes: DataFrame, own: Sequence[str]) -> DataFrame:
    copies = f.sum(f.when(_is_after(), 1).otherwise(-1)).alias(COPIES)
    rows = changes.groupBy(*map(_quoted, own)).agg(copies).where(f.col(COPIES) > 0)
    each = f.explode(f.sequence(f.lit(1), f.col(COPIES)))
    return rows.select(*map(_quoted, own), each).select(*map(_quoted, own))


def _until(changes: DataFrame, as_of: datetime | str, by_log: Sequence[Column]) -> DataFrame:
    if isinstance(as_of, datetime):
        return changes.where(f.col("_commit_timestamp") <= f.lit(as_of.astimezone()))
    place = f.struct(*(column.alias(f"at{number}") for number, column in enumerate(by_log)))
    last = changes.where(f.col("_gtid") == as_of).agg(f.max(place).alias("last"))
    row = last.first()
    if row is None or row["last"] is None:
        raise UsageError(f"no change has the GTID {as_of}")
    fields = last.select("last.*").schema
    values = (f.lit(row["last"][field.name]).cast(field.dataType).alias(field.name) for field in fields)
    return changes.where(place <= f.struct(*values))


def _is_after() -> Column:
    """Whether a change adds a row, rather than removing it."""
    return f.col("_change_type").isin(*AFTER)


def _quoted(name: str) -> Column:
    """A column by its plain name, whatever characters it has."""
    return f.col(identifier(name))


def _filled(
    changes: DataFrame, own: Sequence[str], keys: Sequence[str], place: Sequence[Column]
) -> DataFrame:
    """The changes, with columns missing from an after image copied from the before image.

    Images lack columns as ``binlog_row_image`` MINIMAL and NOBLOB write them: those that did not change, or
    that are not needed to find the row. A column missing from the after image is in the before image, or in
    an earlier change of the row. What an INSERT leaves out is not known, unless it is a default that the
    definition shows, which `absentColumns` does not list.

    `own`: the table's columns.
    `place`: columns that identify a change: equal in both images of an update, and in no other change.
    Returns the same columns; for after images, `ABSENT` lists the columns that only earlier changes contain.
    Raises `UsageError`: the images do not identify their row.
    """
    nothing = f.array().cast("array<string>")
    lacks = f.coalesce(ABSENT, nothing)
    values = [_quoted(name).alias(f"c{index}") for index, name in enumerate(own)]
    both = Window.partitionBy(*place).orderBy(_is_after())
    other = f.lag(f.struct(lacks.alias("lacks"), *values)).over(both)
    before = f.when(f.col("_change_type") == "update_postimage", other)
    rows = changes.withColumn(_BEFORE, before).withColumn(ABSENT, lacks)
    is_update = f.col(_BEFORE).isNotNull()

    def value(index: int, name: str) -> Column:
        is_absent = is_update & f.array_contains(ABSENT, name)
        return f.when(is_absent, f.col(f"{_BEFORE}.c{index}")).otherwise(_quoted(name)).alias(name)

    needed = f.array_intersect(ABSENT, f.array(*map(f.lit, own)))
    left = f.when(is_update, f.array_intersect(needed, f"{_BEFORE}.lacks")).otherwise(needed).alias(ABSENT)
    others = [_quoted(name) for name in changes.columns if name not in (*own, ABSENT)]
    moved = [~f.col(f"{_BEFORE}.c{own.index(key)}").eqNullSafe(_quoted(key)) for key in keys]
    rows = rows.select(*others, *(value(index, name) for index, name in enumerate(own)), left, _BEFORE)
    _check(rows, keys, moved)
    return rows.drop(_BEFORE)


def _check(rows: DataFrame, keys: Sequence[str], moved: Sequence[Column]) -> None:
    lacks, is_insert = f.size(ABSENT) > 0, f.col("_change_type") == "insert"
    unknown = {"and the default of a column that an INSERT left out is not known": lacks & is_insert}
    wrong = unknown | {"and no primary key is known": lacks}
    if keys:
        is_moved = f.col(_BEFORE).isNotNull() & reduce(Column.__or__, moved)
        names = f.array(*map(f.lit, keys))
        wrong = unknown | {
            "not even those of the key": f.arrays_overlap(ABSENT, names),
            "and an update changed the key of a row": lacks & is_moved,
        }
    for reason, condition in wrong.items():
        if not rows.where(condition).isEmpty():
            raise UsageError(f"row images do not have all columns (binlog_row_image), {reason}")


# -- effects of statements in the logs of a DataFrame on its table


def current_changes(
    changes: DataFrame, keys: Sequence[str], *, is_all: bool
) -> tuple[DataFrame, frozenset[str]]:
    """The changes that determine the current contents of their table, and columns that they do not determine.

    A DataFrame that no longer has the logs as its source, such as one of Parquet files, is returned
    unchanged.

    `keys`: the columns by which rows will be identified.
    `is_all`: use all changes, in the order of the logs' numbers, rather than those up to a point in time.
    Raises `UsageError`: the changes do not determine what the table contains; gives the reason.
    """
    read, computed = [source for source in _sources_of(changes) if source.view == TABLE], frozenset[str]()
    for options in read:
        schema, _, table = (options.table or "").partition(".")
        lineage, name = lineage_of(options), (schema, table)
        if reason := lineage.why_unclear(name):
            raise UsageError(f"{options.table}: {reason}")
        if keys and (former := _replaced_key(lineage, name, keys)):
            reason = (
                f"its primary key was {', '.join(former)} once, so {', '.join(keys)} need not identify rows"
            )
            raise UsageError(f"{options.table}: {reason}; the state in a lake follows the keys")
        if name in lineage.computed:
            computed |= lineage.computed[name][1]
        segments = lineage.segments(name)
        if segments == [Segment(name)] and not lineage.undone and name not in lineage.converted:
            continue
        if len(segments) > 1:
            raise UsageError(f"{options.table}: other tables were renamed to it and from it; {_INSTEAD}")
        log = f.coalesce(f.regexp_extract("_file", _NUMBER, 1).try_cast("long"), f.lit(0))
        place = f.struct(f.lit(0).cast("long").alias("era"), log.alias("log"), "_position")
        wanted = _is_of_segment(place, segments[0], lineage)
        if name in lineage.converted:
            converted, reason = lineage.converted[name]
            if not changes.where(wanted & (place < _literal(converted))).isEmpty():
                raise UsageError(f"{options.table}: {reason}")
        if is_all and len(read) == 1:
            changes = changes.where(wanted)
        elif not changes.where(~wanted).isEmpty():
            reason = "a statement emptied the table, or prepared changes were rolled back, which as_of, order"
            raise UsageError(f"{options.table}: {reason} and unions do not take into account; {_INSTEAD}")
    return changes, computed


def _replaced_key(lineage: Lineage, table: Key, keys: Sequence[str]) -> tuple[str, ...]:
    """A former primary key with other columns than the given ones, if it was replaced; else ()."""
    renamed = {move.place for move in lineage.moves(table)}
    for former, later in pairwise(keyed for keyed in lineage.keyed(table) if keyed.columns):
        is_replaced = {*former.columns} != {*later.columns} and later.place not in renamed
        if is_replaced and not {*former.columns} <= {*keys}:
            return former.columns
    return ()


def lineage_of(options: ReadOptions) -> Lineage:
    """The lineage of a table from its logs, like that of a lake."""
    logs = between(list_files(options.paths), options.starting, options.ending)
    chosen = Filters.of(table=options.table)
    pages = RowsPages(
        logs, chosen, ddl=options.ddl, every_block=True, origins=[STATEMENT], verify_checksums=False
    )
    by_log: dict[str, Written] = {}
    definitions = Definitions()
    if options.ddl is not None:
        definitions.load(options.ddl)
    watch, cascades = _Watch(definitions), Cascades(definitions.copy(), [])
    try:
        for page in pages:
            file = page.block.file
            if file not in by_log:
                watch, by_log[file] = _Watch(definitions), Written()
            effects = by_log[file].effects
            for effect in NO_RULES.effects_in_lake(watch.effects(page), options.zero_dates):
                if effect.kind == EffectKind.REDEFINED:
                    if all(not column.value.is_valid for column in unpacked(effect.values)):
                        continue  # Spark converts columns of other types
                    effect = replace(effect, kind=EffectKind.CONVERTED)
                effects.append(effect)
            effects += (*statements_in_payloads(page), *cascades.of(page))
            _, first = np.unique(page.images.table_of[page.chosen], return_index=True)
            for event in page.chosen[first].tolist():
                if isinstance(table := page.images.table(event), Table):
                    by_log[file].note(facts_of(table, page.position(event)))
            for last, own_table, program in programs_of(page):
                effects += effects_of(page, last, own_table, program)
                lacking = (own_table.schema.columns[index] for index in lacking_columns(own_table, program))
                if not options.lists_absent and any(not column.is_generated for column in lacking):
                    effects.append(unclear(page.position(last), *own_table.key, _NEEDS_ABSENT))
    except DamagedError:
        pass  # the reader of the rows raises the error
    return Lineage(
        Entry.of(effect, 0, log_number(file))
        for file, written in by_log.items()
        for effect in sorted((*written.facts, *written.effects), key=attrgetter("position"))
    )


def _is_of_segment(place: Column, segment: Segment, lineage: Lineage) -> Column:
    """Whether a change is one of a segment and was not rolled back; `place` has the fields of `Place`."""
    where = f.lit(True)
    if segment.after is not None:
        where &= place > _literal(segment.after)
    if segment.before is not None:
        where &= place < _literal(segment.before)
    for first, last in lineage.undone:
        where &= ~place.between(_literal(first), _literal(last))
    return where


def _literal(place: Place) -> Column:
    return f.struct(*(f.lit(number).cast("long") for number in place))


class _Watch:
    """Finds the effects of one log's statements on whole tables; `definitions`: of the tables before it."""

    def __init__(self, definitions: Definitions) -> None:
        self._statements, self._quiescent, self._definitions = Statements(), QuiescentPoints(), definitions
        self._offsets = np.zeros(1, dtype=np.int64)

    def effects(self, page: RowsPage) -> Iterator[Effect]:
        block = page.block
        offsets = np.append(block.positions, block.end_positions[-1])[self._quiescent.of(block)]
        self._offsets = np.append(self._offsets[-1], offsets)
        for position, body in self._statements.of(block, self._offsets):
            for effect in take_statement(position, body, self._definitions):
                if effect.kind == EffectKind.REMOVED:  # by values, which a DataFrame may have transformed
                    effect = unclear(position, *effect.table, f"{effect.reason}; {_INSTEAD}")
                yield effect


def _sources_of(frame: DataFrame) -> Iterator[ReadOptions]:
    """The options of each binlog source in a plan."""
    plan: Any = getattr(frame, "_jdf", None)
    if plan is None:
        return  # a client of Spark Connect has no plan
    leaves = plan.queryExecution().analyzed().collectLeaves()
    for leaf in (leaves.apply(number) for number in range(leaves.size())):
        if leaf.getClass().getSimpleName() == _RELATION and leaf.table().name() == "binlog":
            yield ReadOptions.parse(dict(leaf.options().asCaseSensitiveMap()))
