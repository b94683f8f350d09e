"""Effects of statements in the logs of a DataFrame on its table.

Spark keeps the options of a source in the plan of a DataFrame. They name the logs, which the driver reads
once more for statements such as TRUNCATE, and for changes that do not determine the contents of a table.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from operator import attrgetter
from typing import Any

import numpy as np
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from binlog_kaitai.core.filters import Filters
from binlog_kaitai.ddl import Definitions
from binlog_kaitai.errors import DamagedError, UsageError
from binlog_kaitai.following.effects import Effect, EffectKind, Statements, take_statement
from binlog_kaitai.lake.lineage import Entry, Key, Lineage, Place, Segment
from binlog_kaitai.lake.write import programs_of, why_unnamed, why_untold
from binlog_kaitai.log.boundaries import QuiescentPoints
from binlog_kaitai.rows.log_pages import RowsPage, RowsPages
from binlog_kaitai.rows.table_maps import Table
from binlog_kaitai.sources.packed import SUFFIXES
from binlog_kaitai.sources.source import log_number
from binlog_kaitai.spark.batch import between
from binlog_kaitai.spark.reader_options import TABLE, ReadOptions
from binlog_kaitai.views.change_schemas import own_columns
from binlog_kaitai.views.splits import list_files

#: The number of a log, as in `log_number`.
_NUMBER = rf"(\d+)(?:\.ibb)?(?:{'|'.join(map(re.escape, SUFFIXES))})?(?:\?.*)?$"

#: Spark's name for a Python source in a plan.
_RELATION = "DataSourceV2Relation"

_INSTEAD = "the changes in a lake of binlog-kaitai pipeline follow such statements"


def current_changes(changes: DataFrame, keys: Sequence[str], *, is_all: bool) -> DataFrame:
    """The changes that determine the current contents of their table.

    A DataFrame that no longer has the logs as its source, such as one of Parquet files, is returned
    unchanged.

    `keys`: the columns by which rows will be identified.
    `is_all`: use all changes, in the order of the logs' numbers, rather than those up to a point in time.
    Raises `UsageError`: the changes do not determine what the table contains; gives the reason.
    """
    read = [one for one in _sources_of(changes) if one.view == TABLE]
    for options in read:
        lineage, name = lineage_of(options), _key(options)
        if reason := lineage.why_unclear(name):
            raise UsageError(f"{options.table}: {reason}")
        if keys and (former := _replaced_key(lineage, name, keys)):
            reason = (
                f"its primary key was {', '.join(former)} once, so {', '.join(keys)} need not identify rows"
            )
            raise UsageError(f"{options.table}: {reason}; the state in a lake follows the keys")
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
    return changes


def _replaced_key(lineage: Lineage, table: Key, keys: Sequence[str]) -> tuple[str, ...]:
    """A former primary key with other columns than the given ones, if it was replaced; else ()."""
    renamed = {one.place for one in lineage.moves(table)}
    for former, later in pairwise(one for one in lineage.keyed(table) if one.columns):
        is_replaced = {*former.columns} != {*later.columns} and later.place not in renamed
        if is_replaced and not {*former.columns} <= {*keys}:
            return former.columns
    return ()


def lineage_of(options: ReadOptions) -> Lineage:
    """The lineage of a table from its logs, like that of a lake."""
    logs = between(list_files(options.paths), options.starting, options.ending)
    chosen = Filters.of(table=options.table)
    pages = RowsPages(logs, chosen, ddl=options.ddl, every_block=True, verify_checksums=False)
    by_log: dict[str, dict[tuple[object, ...], Entry]] = {}
    effects: dict[str, list[Entry]] = {}
    definitions = Definitions()
    if options.ddl is not None:
        definitions.load(options.ddl)
    watch = _Watch(definitions)
    try:
        for page in pages:
            file = page.block.file
            log = log_number(file)
            if file not in by_log:
                watch = _Watch(definitions)
                by_log[file], effects[file] = {}, []
            for effect in watch.effects(page):
                # Times have the same value with more digits, unless they are read as text.
                if options.zero_dates == "text" or effect.kind != EffectKind.MORE_DIGITS:
                    effects[file].append(Entry.of(effect, 0, log))
            _, first = np.unique(page.images.table_of[page.chosen], return_index=True)
            for event in page.chosen[first].tolist():
                if isinstance(table := page.images.table(event), Table):
                    columns = own_columns(table.schema).items()
                    key = tuple(name for name, column in columns if column.is_primary_key)
                    position = int(page.block.positions[page.images.rows[event]])
                    why = why_unnamed(table)
                    unnamed = Entry(position, EffectKind.UNNAMED, *table.key, log=log, reason=why)
                    by_log[file].setdefault((table.key, why), unnamed)
                    keyed = Entry(position, EffectKind.KEYED, *table.key, log=log, key=key)
                    by_log[file].setdefault((table.key, key), keyed)
            for table, program in programs_of(page):
                if (reason := why_untold(table, program)) is not None:
                    unclear = Entry(0, EffectKind.UNCLEAR, *table.key, reason=reason, log=log)
                    by_log[file][table.key] = unclear
    except DamagedError:
        pass  # the reader of the rows raises the error
    logs_entries = ((*by_log[file].values(), *effects[file]) for file in by_log)
    return Lineage(one for entries in logs_entries for one in sorted(entries, key=attrgetter("position")))


def _is_of_segment(place: Column, segment: Segment, lineage: Lineage) -> Column:
    """Whether a change is one of a segment and was not rolled back; `place` has the fields of `Place`."""
    found = f.lit(True)
    if segment.after is not None:
        found &= place > _literal(segment.after)
    if segment.before is not None:
        found &= place < _literal(segment.before)
    for first, last in lineage.undone:
        found &= ~place.between(_literal(first), _literal(last))
    return found


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
            yield from take_statement(position, body, self._definitions)


def _key(options: ReadOptions) -> Key:
    schema, _, table = (options.table or "").partition(".")
    return schema, table


def _sources_of(frame: DataFrame) -> Iterator[ReadOptions]:
    """The options of each binlog source in a plan."""
    plan: Any = getattr(frame, "_jdf", None)
    if plan is None:
        return  # a client of Spark Connect has no plan
    leaves = plan.queryExecution().analyzed().collectLeaves()
    for leaf in (leaves.apply(number) for number in range(leaves.size())):
        if leaf.getClass().getSimpleName() == _RELATION and leaf.table().name() == "binlog":
            yield ReadOptions.parse(dict(leaf.options().asCaseSensitiveMap()))
