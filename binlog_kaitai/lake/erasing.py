"""Erases rows of a table from a lake, with the files of all versions; finds those gone with partitions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache

import numpy as np

from binlog_kaitai.arrow import pa, pc
from binlog_kaitai.ddl.logged_columns import logged_column
from binlog_kaitai.errors import SourceError, UsageError
from binlog_kaitai.kernels.arrays import Bools
from binlog_kaitai.lake import SOURCE, STATE
from binlog_kaitai.lake.delta import DeltaTable, delta_errors
from binlog_kaitai.lake.lineage import Entry
from binlog_kaitai.lake.storage import ConflictError, Storage
from binlog_kaitai.lake.types import stem_of
from binlog_kaitai.lake.upkeep import tables_of
from binlog_kaitai.rows.change_schemas import ABSENT_FIELD, SEQUENCE
from binlog_kaitai.values.comparisons import ColumnComparison, Comparison
from binlog_kaitai.values.conditions import WhereCondition, parse_where
from binlog_kaitai.values.table_definition import ColumnDefinition

_GONE = "rows are gone with their partitions, and "

#: How often rows are erased anew because a pipeline changed the table meanwhile.
_ATTEMPTS = 10

#: Rows that are erased at a time, by their places.
_ROWS_AT_ONCE = 5_000

#: Hours after which no batch needs a file that is in no version.
_WEEK = 168

#: Types of SQL by those of a lake: the type, and its argument. Columns of others compare with NULL only.
_TYPES = {
    "bool": ("bigint",),
    "int64": ("bigint",),
    "float": ("float",),
    "double": ("double",),
    "string": ("varchar",),
    "binary": ("varbinary",),
    "date32[day]": ("date",),
    "timestamp[us]": ("datetime", "6"),
    "timestamp[us, tz=UTC]": ("datetime", "6"),
}


@dataclass(frozen=True)
class Erased:
    """What was erased from one table, or would be.

    `table`: its folder in the lake.
    `rows`: number of rows.
    `files`: files that were removed, since no version has them any more.
    `lacking`: rows that stay because their images lack columns of the condition.
    `others`: columns that have further values of those of the condition, from before their type changed.
    """

    table: str
    rows: int
    files: int
    lacking: int
    others: tuple[str, ...]


def erase(
    url: str,
    table: str,
    where: WhereCondition,
    *,
    dry_run: bool = False,
    storage_options: Mapping[str, str] | None = None,
) -> Iterator[Erased]:
    """Erase the changes of a table that match a condition, and the rows of its state; a pipeline may go on.

    `url`: of a lake, or of a folder of lakes.
    `table`: ``schema.table``, as its folder is called in the lake.
    `dry_run`: only count the rows.
    Raises `UsageError`: there is no such table, none has a column of the condition, or whether a value
    matches is not known; nothing is erased then. `SourceError`: pipelines change the table all the time.
    """
    jobs = [
        _Erasing(name, storage, opened, where)
        for name, storage, opened in tables_of(url, storage_options)
        if name.split("/")[-2:] in (["changes", table], [STATE, table])
    ]
    if not jobs:
        raise UsageError(f"{url} has no table {table}")
    known = {name.lower(): name for job in jobs for name in job.table.columns}
    if missing := sorted(name for name in where.columns if name.lower() not in known):
        raise UsageError(f"{table} has no column {', '.join(missing)}; it has {', '.join(known.values())}")
    planned = [job.planned() for job in jobs]  # which may refuse the condition
    yield from planned if dry_run else (job.erase(plan) for job, plan in zip(jobs, planned, strict=True))


class _Erasing:
    """Erases rows of one table."""

    def __init__(self, name: str, storage: Storage, table: DeltaTable, where: WhereCondition) -> None:
        self.table, self._name, self._storage, self._where = table, name, storage, where
        spelled = {name.lower(): name for name in table.columns}
        self._own = {column: spelled[column.lower()] for column in where.columns if column.lower() in spelled}
        self._place = [column for column in (SOURCE, SEQUENCE, ABSENT_FIELD.name) if column in table.columns]
        self._compare = cache(self._comparison)

    def planned(self) -> Erased:
        """What there is to erase."""
        rows = lacking = 0
        own = {*self._own.values()}
        for batch, holds in self._marked([*own, *self._place]):
            rows += pc.sum(holds).as_py() or 0
            if ABSENT_FIELD.name in batch.schema.names:
                left = batch.filter(pc.is_null(holds)).column(ABSENT_FIELD.name).to_pylist()
                lacking += sum(not own.isdisjoint(names or ()) for names in left)
        others = (name for name in self.table.columns if name not in own and name.rstrip("_") in own)
        return Erased(self._name, rows, 0, lacking, tuple(others))

    def erase(self, plan: Erased) -> Erased:
        """Erase the rows, then the files of earlier versions."""
        rows, handle = self._erase_rows(), self.table.handle
        with delta_errors(self._storage, self._name):
            there = {*handle.vacuum(0, True, False, full=True)}
            # Not those that are in no version, since a batch may be about to add them.
            removed = {*handle.vacuum(0, False, False), *handle.vacuum(_WEEK, False, full=True)}
        return Erased(self._name, rows, len(removed & there), plan.lacking, plan.others)

    def _erase_rows(self) -> int:
        """Erase rows until none is left; returns their number."""
        rows = 0
        for _ in range(_ATTEMPTS):
            if not (count := self.planned().rows):
                return rows
            with suppress(ConflictError):
                if SEQUENCE in self.table.columns:
                    for condition, number in self._conditions():
                        self.table.delete(condition)
                        rows += number
                else:
                    marked = self._marked(list(self.table.columns))
                    self.table.rewrite(
                        batch.filter(pc.invert(pc.fill_null(holds, False))) for batch, holds in marked
                    )
                    rows += count
            self.table.handle.update_incremental()
        raise SourceError("a pipeline changes it all the time; run again", file=self._name)

    def _conditions(self) -> Iterator[tuple[str, int]]:
        """Conditions on the places of the rows that match, each with their number."""
        by_source: defaultdict[str, list[str]] = defaultdict(list)
        for batch, holds in self._marked([*self._own.values(), *self._place]):
            for row in batch.filter(holds).to_pylist():
                by_source[row.get(SOURCE, "")].append(row[SEQUENCE])
        for source, places in by_source.items():
            places.sort()  # so that few files have some of them
            for first in range(0, len(places), _ROWS_AT_ONCE):
                part = places[first : first + _ROWS_AT_ONCE]
                listed = ", ".join(f"'{place}'" for place in part)
                bounds = f"{SEQUENCE} BETWEEN '{part[0]}' AND '{part[-1]}' AND {SEQUENCE} IN ({listed})"
                yield (f"{SOURCE} = '{source}' AND {bounds}" if source else bounds), len(part)

    def _marked(self, columns: Sequence[str]) -> Iterator[tuple[pa.RecordBatch, pa.BooleanArray]]:
        """The rows with some columns, and which of them match."""
        for batch in self.table.batches(columns=list(dict.fromkeys(columns))):
            values = {name: _as_text(batch.column(own)) for name, own in self._own.items()}
            yield batch, self._where.matches(values, len(batch), self._compare)

    def _comparison(self, comparison: Comparison) -> ColumnComparison:
        name = self._own[comparison.name]
        return _compared(comparison, self.table.columns[name], f"{self._name}.{name}")


def _compared(comparison: Comparison, kind: pa.DataType, name: str) -> ColumnComparison:
    """A comparison of a column of a lake, with its type there."""
    base, *arguments = _TYPES.get(str(kind), ("geometry",))
    if pa.types.is_decimal(kind):
        base, arguments = "decimal", [str(kind.precision), str(kind.scale)]
    charset = "utf8mb4" if base == "varchar" else None
    known = ColumnDefinition(name, base, base, tuple(arguments), is_unsigned=False, charset=charset)
    column = logged_column(known)
    assert column is not None
    return ColumnComparison(column, comparison, name)


def _as_text(array: pa.Array) -> pa.Array:
    """Times as text, in UTC; booleans as numbers; other values as they are."""
    if pa.types.is_boolean(array.type):
        return array.cast(pa.int64())
    if pa.types.is_timestamp(array.type):
        return array.cast(pa.timestamp("us")).cast(pa.string())
    return array.cast(pa.string()) if pa.types.is_date(array.type) else array


def with_needed(schema: pa.Schema, removed: Iterable[Entry], columns: pa.Schema) -> pa.Schema:
    """A schema with those of some columns by which `are_removed` tells rows."""
    names = {stem_of(name) for entry in removed for name in entry.key}
    names |= {SEQUENCE, ABSENT_FIELD.name} if names else set()
    more = (column for column in columns if stem_of(column.name) in names and column.name not in schema.names)
    return pa.schema([*schema, *more])


def without_removed(rows: pa.RecordBatch, removed: Sequence[Entry]) -> pa.RecordBatch:
    """Rows without those that are gone; raises `UsageError` like `are_removed`."""
    return rows.filter(pa.array(~are_removed(rows, removed))) if removed else rows


def are_removed(rows: pa.RecordBatch, removed: Iterable[Entry]) -> Bools:
    """Which rows are gone, as a bool array: those with a sequence by statements after them.

    Raises `UsageError`: that is not known.
    """
    gone = np.zeros(len(rows), np.bool_)
    for entry in removed:
        older = np.ones(len(rows), np.bool_)
        if SEQUENCE in rows.schema.names:
            older = pc.less(rows.column(SEQUENCE), entry.place.as_sequence()).to_numpy(zero_copy_only=False)
        if older.any():
            gone[older] |= _are_removed(rows.filter(pa.array(older)), entry)
    return gone


def _are_removed(rows: pa.RecordBatch, entry: Entry) -> Bools:
    own, values, absent = dict[str, pa.Field](), dict[str, pa.Array](), set[str]()
    if ABSENT_FIELD.name in rows.schema.names:
        absent.update(pc.list_flatten(rows.column(ABSENT_FIELD.name)).to_pylist())
    for name in entry.key:
        fields = [field for field in rows.schema if stem_of(field.name) == stem_of(name)]
        if len(fields) != 1 or pa.types.is_string(fields[0].type) or fields[0].name in absent:
            raise UsageError(f"{_GONE}values of {name} are missing, or of other types")
        own[name], values[name] = fields[0], _as_text(rows.column(fields[0].name))
        if pa.types.is_temporal(fields[0].type) and values[name].null_count:
            raise UsageError(f"{_GONE}{name} may have invalid dates")

    compare = cache(lambda comparison: _compared(comparison, own[comparison.name].type, comparison.name))
    holds = parse_where(entry.values).matches(values, len(rows), compare)
    return np.asarray(pc.fill_null(holds, False))
