"""The contents of tables, kept beside their changes in tables of the folder `state`.

A state table has, in each of its commits, the number of a batch and the place in the logs up to which it has
all changes. A later batch merges what follows that place. Where a merge would not be exact, because a
statement emptied or renamed the table, renamed its columns or changed its primary key, or row images lack
columns, the contents are written anew from all changes that make up the table. Changes from before another
primary key are reduced by the key of their time; the rows they leave then count as inserted. After an ALTER
that converts values, the contents are written anew as soon as no row from before it is left; this is looked
at again only after as many changes as there were such rows. Columns that the server computes are not in the
contents if images leave them out (MariaDB).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial, wraps
from itertools import chain, groupby
from operator import attrgetter
from typing import Any, NamedTuple, ParamSpec, TypeVar

import numpy as np

from binlog_kaitai.arrow import pa, pc
from binlog_kaitai.errors import SourceError, UsageError
from binlog_kaitai.following.effects import EffectKind
from binlog_kaitai.lake import SOURCE, STATE
from binlog_kaitai.lake.batches import Format, Lake, Piece, Table
from binlog_kaitai.lake.changes import (
    META,
    Part,
    TableChanges,
    columns_of,
    continues,
    of_transaction,
    read_parts,
)
from binlog_kaitai.lake.described import NOTHING, Described
from binlog_kaitai.lake.erasing import are_removed, with_needed, without_removed
from binlog_kaitai.lake.lineage import Entry, Key, Lineage, Place
from binlog_kaitai.lake.place import Offset, Plan
from binlog_kaitai.lake.storage import ConflictError, table_name
from binlog_kaitai.lake.types import as_keys, conform, stem_of
from binlog_kaitai.rows.change_schemas import ABSENT_FIELD, CHANGE_TYPE, SEQUENCE
from binlog_kaitai.sources.source import log_number

#: Change types of images that add a row, rather than removing it.
AFTER = ("insert", "update_postimage", "snapshot")

#: Whether a key has a row; the number of equal rows. No column of a server has a name that ends with a space.
IS_THERE, COPIES = "_is_there ", "_copies "

#: How often a change is made because its table was compacted meanwhile, or changed by another source.
_ATTEMPTS = 10

#: Rows that are reduced to the last image of each key at a time.
_ROWS_AT_ONCE = 1 << 20

Given = ParamSpec("Given")
Result = TypeVar("Result")

#: A row by the names of its columns.
Row = dict[str, Any]

_LACKS = "row images do not have all columns (binlog_row_image), "
_NOT_KNOWN = (
    f"{_LACKS}and values of {{}} are not known: an INSERT left them out, and their default is not known, or "
    "their rows are older than the lake"
)
_WITHOUT = "without columns that the server computes, since its log leaves out their values: "
_SINCE = "; since "
#: Stands for a value that is not known.
_UNKNOWN = object()
_NOT_ADDED = (
    "it has no primary key, and changes remove rows that none has added: the lake begins later than the "
    "table, or an ALTER has changed values"
)
_NO_KEY = (
    "a row has no value in its key: it is an invalid date (use --zero-dates text), or the row is older than "
    "a column of the key, or than its type"
)
_EQUAL_KEYS = "rows from before an ALTER that changed the primary key are equal in the new one"

#: Reads rows with some columns, which may be those of `_PLACE`.
Contents = Callable[[pa.Schema], Iterator[pa.RecordBatch]]


def _made_anew(change: Callable[Given, Result]) -> Callable[Given, Result]:
    """Make a change of a table anew, from the table as it then is, while other processes change it first."""

    @wraps(change)
    def make(*given: Given.args, **named: Given.kwargs) -> Result:
        for _ in range(_ATTEMPTS - 1):
            with suppress(ConflictError):
                return change(*given, **named)
        return change(*given, **named)

    return make


@dataclass(frozen=True)
class Updated:
    """What became of a state table: it is up to date, or there is a reason why it has no state.

    `left`: number of rows from before a conversion, if these are the reason.
    `note`: which columns it does not have, and why.
    `since`: since when it has no state, as far as its description says, in ISO 8601.
    """

    name: str
    reason: str = ""
    left: int = 0
    note: str = ""
    since: str = ""


class _ConvertedError(UsageError):
    """Rows are left that have values from before a conversion."""

    def __init__(self, reason: str, left: int) -> None:
        super().__init__(reason)
        self.left = left


@dataclass(frozen=True)
class Update:
    """What a task does to a state table; a function that travels to the workers.

    `tables`: the tables of the lake.
    `name`: the folder of the table below `state`.
    `parts`: all changes that make up the table. Without a primary key, rows are identified by all their
    columns, and counted.
    `begin`: the place up to which the table has all changes, as the driver knows; None if it has none.
    `since`: merge only these changes if it still is at that place; None: write the contents anew.
    `converted`: as of `Lineage.converted`: the sequence that a conversion had, and the reason why the table
    has no state if rows from before it are left.
    `computed`: names of columns that the state does not have, in lower case.
    `batch`, `end`: the batch and the place up to which the table then has all changes.
    `source`: in a lake of several sources, the one whose rows these are.
    `drops_refused`: leave no rows in the table if it is refused.
    `described`: what the definition of the table says.
    """

    tables: Format
    name: str
    parts: tuple[Part, ...]
    begin: Place | None
    since: pc.Expression | None
    converted: tuple[str, str] | None
    computed: frozenset[str]
    batch: int
    end: Place
    source: str = ""
    drops_refused: bool = False
    described: Described = NOTHING

    @_made_anew
    def __call__(self) -> Updated:
        try:
            parts = tuple(_with_key(self.tables, part) for part in self.parts)
            without = replace(self, parts=parts)._run()
            note = _WITHOUT + ", ".join(without) if without else ""
            table = self.tables.open(f"{STATE}/{self.name}")
            _describe(table, note, self.source)
            if table is not None:
                table.define(self.described)
            return Updated(self.name, note=note)
        except UsageError as error:
            reason, left = str(error), getattr(error, "left", 0)
            facts = self.name, reason, self.batch, self.source
            since = _refuse(self.tables, *facts, drops=self.drops_refused)
            return Updated(self.name, reason, left, since=since)

    def _run(self) -> tuple[str, ...]:
        """Returns the columns of the table that its state does not have."""
        table = self.tables.open(f"{STATE}/{self.name}")
        columns = _StateColumns.of(self.parts, self.computed, META[self.tables.kind])
        kept = None if table is None else _place_of(table)
        if table is not None and kept == self.end and table.batch >= self.batch:
            return columns.without  # an earlier attempt of this task has done it
        if table is not None and kept is not None and (kept > self.end or table.batch > self.batch):
            reason = f"another pipeline has written batch {table.batch}, later than this one's {self.batch}"
            raise SourceError(f"{reason}; a lake has one pipeline", file=f"{STATE}/{self.name}")
        if not self.parts:  # statements have emptied or renamed it
            if table is not None:
                known = ((name, kind) for name, kind in table.columns.items() if name != SOURCE)
                self._replace(table, pa.schema(known), [])
            return ()
        unknown = columns.keys.difference(columns.whole.names)
        if unknown := unknown.union({*self.parts[-1].current_key}.difference(columns.own.names)):
            return self._without_key(sorted(unknown))
        is_at_begin = self.since is not None and kept == self.begin
        if not (table is not None and is_at_begin and self._merge_new(table, columns)):
            self._write_anew(table, columns)
        return columns.without

    def _merge_new(self, table: Table, columns: _StateColumns) -> bool:
        """Merge the changes since `begin`; false if they are not all that is needed."""
        whole = columns.whole
        if not _can_have(table, columns.own):
            return False
        rows = pa.Table.from_batches(read_parts(self.tables, self.parts, whole, self.since), whole)
        if _lacks_columns(rows, columns.without):
            return False
        removed = [gone for gone in self.parts[-1].removed if self.begin is None or gone.place >= self.begin]
        if rows.num_rows or removed:
            self._merge(table, columns.own, rows, removed)
        return True

    def _write_anew(self, table: Table | None, columns: _StateColumns) -> None:
        """Write the contents from all changes, which are reduced by the key of their time."""
        whole, own = columns.whole, columns.own
        every_change = partial(read_parts, self.tables, self.parts)
        by_key = [
            (key, partial(read_parts, self.tables, list(parts)))
            for key, parts in groupby(self.parts, attrgetter("current_key"))
        ]
        if ABSENT_FIELD.name in whole.names:
            read = [(key, pa.Table.from_batches(changes(whole), whole)) for key, changes in by_key]
            if any(_lacks_columns(rows, columns.without) for _, rows in read):
                self._check(every_change)  # any row may have values of an earlier image
                left: list[Row] = []
                for key, rows in read:
                    left = _completed(left, rows.sort_by(SEQUENCE).to_pylist(), key, columns.counted.names)
                if unknown := [name for name in own.names if any(row[name] is _UNKNOWN for row in left)]:
                    raise UsageError(_NOT_KNOWN.format(", ".join(unknown)))
                self._replace(table, own, pa.Table.from_pylist(left, own).to_batches())
                return
        contents: Contents = _nothing
        for key, changes in by_key:
            contents = _after(contents, changes, key, columns.counted)
        self._check(contents if self.parts[-1].current_key else every_change)
        self._replace(table, own, contents(own))

    def _without_key(self, unknown: Sequence[str]) -> tuple[str, ...]:
        """Empty the state of a table without changes: its key was renamed while it had no rows.

        Raises `UsageError`: there are changes.
        """
        if next(read_parts(self.tables, self.parts, pa.schema(_PLACE[:1])), None) is None:
            return replace(self, parts=())._run()
        raise UsageError(f"its key {', '.join(unknown)} is not among its columns")

    def _check(self, rows: Contents) -> None:
        """Raises `_ConvertedError`: some of the rows have values from before a conversion."""
        if self.converted is not None:
            place, reason = self.converted
            columns = (batch.column(0) for batch in rows(pa.schema(_PLACE[:1])))
            if left := sum(pc.sum(pc.less(column, place)).as_py() or 0 for column in columns):
                raise _ConvertedError(reason, left)

    def _merge(self, table: Table, own: pa.Schema, rows: pa.Table, removed: Sequence[Entry]) -> None:
        """Bring the table up to date by its new changes, and new statements that removed rows."""
        where = pc.field(SOURCE) == self.source if self.source else None
        if keys := self.parts[-1].current_key:
            gone: list[pa.RecordBatch] = []
            names = with_needed(pa.schema([own.field(name) for name in keys]), removed, own).names
            for batch in table.batches(where, names) if removed else ():
                batch = batch.filter(pa.array(are_removed(batch, removed)))
                # As if deleted before all other changes.
                batch = batch.append_column(SEQUENCE, pa.repeat(" ", len(batch)))
                batch = batch.append_column(CHANGE_TYPE, pa.repeat("delete", len(batch)))
                gone.append(conform(batch, rows.schema))
            last = _last_images([*gone, *rows.to_batches()], rows.schema, keys)
            images = last.select(own.names).append_column(IS_THERE, _adds(last))
            table.merge(own, keys, images, IS_THERE, self.batch, self.end._asdict(), self.source)
        else:
            with_type = own.append(pa.field(CHANGE_TYPE, pa.string()))
            rest = (without_removed(conform(batch, with_type), removed) for batch in table.batches(where))
            signed = [
                batch.set_column(len(own), CHANGE_TYPE, pa.repeat("insert", len(batch))) for batch in rest
            ]
            changed = rows.select([*own.names, CHANGE_TYPE]).to_batches()
            self._replace(table, own, _counted([*signed, *changed], own))

    def _replace(self, table: Any, own: pa.Schema, rows: Iterable[pa.RecordBatch]) -> None:
        reader = pa.RecordBatchReader.from_batches(self.described.with_metadata(own), rows)
        keys = self.parts[-1].current_key if self.parts else None
        name, place = f"{STATE}/{self.name}", self.end._asdict()
        self.tables.replace(name, table, reader, self.batch, place, keys, self.source)


class _StateColumns(NamedTuple):
    """The columns of an update.

    `whole`: those that are read; `own`: those of the state.
    `counted`: those of the state, and dropped ones that were part of an earlier key.
    `keys`: those of all keys.
    `without`: columns that the server computes, and the state does not have.
    """

    whole: pa.Schema
    own: pa.Schema
    counted: pa.Schema
    keys: set[str]
    without: tuple[str, ...]

    @classmethod
    def of(cls, parts: Sequence[Part], computed: frozenset[str], metadata: Iterable[str]) -> _StateColumns:
        every_column = columns_of(parts)
        without = tuple(name for name in every_column.names if stem_of(name) in computed)
        whole = pa.schema([column for column in every_column if column.name not in without])
        left_out = {*metadata}.union(*(part.gone for part in parts))
        own = pa.schema([column for column in whole if column.name not in left_out])
        keys = {key for part in parts for key in part.current_key}
        counted = pa.schema([column for column in whole if column.name in keys.union(own.names)])
        return cls(whole, own, counted, keys, without)


def _can_have(table: Table, columns: pa.Schema) -> bool:
    """Whether a table has these columns, as they are spelled, or can get those that it lacks."""
    spelled = {name.lower(): (name, kind) for name, kind in table.columns.items()}
    return all(spelled.get(new.name.lower(), (new.name, new.type)) == (new.name, new.type) for new in columns)


def _with_key(tables: Format, part: Part) -> Part:
    """A part with the columns that have the values of its key, which may go on with `_` appended.

    A column of dates stays: it may be null because they are invalid.
    """
    key = []
    for name in part.key:
        own = {
            part.names[column]: column
            for column in part.columns
            if continues(column.lower(), name.lower()) and part.names[column] not in part.gone
        }
        columns = pa.schema([(current, part.columns[column]) for current, column in own.items()])
        names = [name]
        if len(own) > 1 and not any(map(pa.types.is_temporal, columns.types)):
            for batch in read_parts(tables, [part], columns):
                if names := [own[name] for name in own if batch.column(name).null_count < len(batch)]:
                    break
        key.append(names[0] if len(names) == 1 else name)
    return replace(part, key=tuple(key))


_PLACE = (pa.field(SEQUENCE, pa.string()), pa.field(CHANGE_TYPE, pa.string()))


class State:
    """Plans the updates of state tables, in the driver.

    `drops_refused`: leave no rows in tables that are refused.
    `refused`: tables whose changes do not determine their contents now, with reasons.
    `since`: since when they do not, in ISO 8601.
    """

    def __init__(self, lake: Lake, *, drops_refused: bool = False) -> None:
        self._drops_refused = drops_refused
        self.refused: dict[str, str] = {}
        self.since: dict[str, str] = {}
        self._keys: dict[str, Key] = {}
        self._lake = lake
        self._tables = lake.tables
        #: Whether all tables were looked at, so that only those that a batch changed need be.
        self._is_current = False
        self._ends: dict[str, Place | None] = {}
        #: Of tables with a conversion, its place, and how many rows must change before there can be a state.
        self._left: dict[str, tuple[Place, int]] = {}

    def updates(self, plan: Plan, pieces: Iterable[Piece]) -> tuple[list[Update], list[Updated]]:
        """The updates after a batch, and the tables whose changes do not determine their contents.

        After the first batch of a run, all tables are looked at, then those that a batch changed.
        """
        changes = TableChanges(self._lake)
        names = {*self._lake.storage.names(STATE)}
        tables = changes.lineage.tables()
        for empty in changes.lineage.without_changes():
            with suppress(UsageError):  # in the lake, another table has its name
                if table_name(plan.rules.name_of(empty)) in names:
                    tables.append(empty)
        # Such as those that were dropped, or restored without rows.
        settled = [Updated(name) for name in self.refused if self._keys[name] not in tables]
        has_xa = any(place >= _place(plan.start) for *_, place in changes.lineage.committed)
        if self._is_current:
            affected = {table for piece in pieces for table in _affected(piece)}
            affected |= {(schema.lower(), name.lower()) for schema, name in affected}
            tables = [
                key for key in tables if has_xa or not affected.isdisjoint((key, (key[0], ""), ("", "")))
            ]
        self._is_current = True
        counts = Counter[str]()
        for file in (file for piece in pieces for file in piece.files):
            counts[file.table] += file.rows
        updates, refused = [], []
        for table in tables:
            name = table_name(plan.rules.name_of(table))
            self._keys[name] = table
            reason = changes.lineage.why_unclear(table) or self._waits(
                changes.lineage, table, name, None if has_xa else counts[f"changes/{name}"]
            )
            if reason:
                source = self._lake.source
                since = _refuse(self._tables, name, reason, plan.batch, source, drops=self._drops_refused)
                refused.append(Updated(name, reason, since=since))
            else:
                updates.append(self._update(changes, table, plan))
        return updates, [*refused, *settled]

    def _waits(self, lineage: Lineage, table: Key, name: str, count: int | None) -> str:
        """Why a table has no state after so many changes, None for any number; "" if it must be looked at."""
        if name not in self._left:
            return ""
        place, left = self._left.pop(name)
        now, reason = lineage.converted.get(table, (None, ""))
        if count is None or now != place or left <= count:
            return ""
        self._left[name] = place, left - count
        return reason

    def tables_refused(self) -> dict[Key, str]:
        """Why tables are refused, by their names on the server."""
        return {self._keys[name]: reason for name, reason in self.refused.items()}

    def done(self, updated: Updated) -> None:
        """Take note of the result of an update."""
        self.refused.pop(updated.name, None)
        if updated.reason:
            self._ends[updated.name] = None
            self.refused[updated.name] = updated.reason
            self.since.setdefault(updated.name, updated.since)
        else:
            self.since.pop(updated.name, None)
        if updated.left and updated.name in self._left:
            self._left[updated.name] = self._left[updated.name][0], updated.left

    def _update(self, changes: TableChanges, table: Key, plan: Plan) -> Update:
        lineage, name = changes.lineage, table_name(plan.rules.name_of(table))
        end, parts = _place(plan.end), tuple(changes.parts(table))
        begin = self._ends[name] if name in self._ends else self._end_of(name)
        bounds = [place for segment in lineage.segments(table) for place in (segment.after, segment.before)]
        bounds += [move.place for move in lineage.moves(table)]
        bounds += [keyed.place for keyed in lineage.keyed(table)[1:]]
        bounds += [column.place for column in lineage.redefined(table)]
        since = converted = None
        computed: frozenset[str] = frozenset()
        if table in lineage.computed:
            place, computed = lineage.computed[table]
            bounds.append(place)
        if table in lineage.converted:
            place, reason = lineage.converted[table]
            bounds.append(place)
            converted = place.as_sequence(), reason
            self._left[name] = place, 0
        if begin is not None and all(place is None or place < begin for place in bounds):
            since = (pc.field(SEQUENCE) >= begin.as_sequence()) & (pc.field(CHANGE_TYPE) != "snapshot")
            for first, last, committed in lineage.committed:
                if first < begin <= committed:
                    since |= of_transaction(first, last)
        self._ends[name] = end
        facts = parts, begin, since, converted, computed
        batch, drops = plan.batch, self._drops_refused
        described = self._lake.described(table)
        return Update(self._tables, name, *facts, batch, end, self._lake.source, drops, described)

    def _end_of(self, name: str) -> Place | None:
        table = self._tables.open(f"{STATE}/{name}")
        return None if table is None else _place_of(table)


def _describe(table: Table | None, text: str, source: str) -> None:
    """Say in the description of a state table, if there is one, what its readers have to know of a source."""
    said = [" ".join(text.splitlines())] if text else []
    lines = [] if table is None else table.description.splitlines()
    own = [line for line in lines if line.startswith((_WITHOUT, _outdated(source)))]
    if table is not None and own != said:
        table.describe("\n".join([*said, *(line for line in lines if line not in own)]))


def _outdated(source: str) -> str:
    """How a line of a description begins if the rows of a source are outdated, or those of the only one."""
    return f"outdated: {source}: " if source else "outdated: "


@_made_anew
def _refuse(tables: Format, name: str, reason: str, batch: int, source: str, *, drops: bool) -> str:
    """Mark a state table, if there is one, as outdated; `drops`: and remove the rows of the source.

    Returns since when it is, in ISO 8601.
    """
    table: Any = tables.open(f"{STATE}/{name}")
    lines = [] if table is None else table.description.splitlines()
    known = [line for line in lines if line.startswith(_outdated(source))]
    _, mark, since = "".join(known).rpartition(_SINCE)
    if not mark:
        since = datetime.now(UTC).isoformat(timespec="seconds")
    _describe(table, f"{_outdated(source)}{reason}{_SINCE}{since}", source)
    if drops and table is not None and _place_of(table) is not None:
        columns = pa.schema([item for item in table.columns.items() if item[0] != SOURCE])
        nothing = pa.RecordBatchReader.from_batches(columns, [])
        tables.replace(f"{STATE}/{name}", table, nothing, batch, _NOWHERE._asdict(), None, source)
    return since


def _affected(piece: Piece) -> Iterator[Key]:
    """Tables whose contents a piece may have changed; without a name, all of a schema, or of all schemas."""
    for effect in piece.effects:
        yield effect.table
        if effect.kind == EffectKind.RENAMED:
            yield effect.new_schema_name, effect.new_table_name


def _place(offset: Offset | None) -> Place:
    assert offset is not None
    return Place(offset.get("era", 0), log_number(offset["file"]), offset["position"])


def _place_of(table: Table) -> Place | None:
    """The place up to which a state table has all changes; None if it has none of this pipeline's."""
    place = None if table.batch < 0 else Place(*map(table.number, Place._fields))
    return None if place == _NOWHERE else place


#: The place of a table whose rows were removed.
_NOWHERE = Place(-1, 0, 0)


def _adds(rows: pa.Table) -> pa.ChunkedArray:
    return pc.is_in(rows[CHANGE_TYPE], pa.array(AFTER))


def _lacks_columns(rows: pa.Table, without: Sequence[str]) -> bool:
    """Whether an image lacks a column, apart from some."""
    if ABSENT_FIELD.name not in rows.column_names:
        return False
    lacking = pc.unique(pc.list_flatten(rows[ABSENT_FIELD.name])).to_pylist()
    return not {*lacking} <= {*without}


def _nothing(columns: pa.Schema) -> Iterator[pa.RecordBatch]:
    return iter(())


def _after(contents: Contents, changes: Contents, key: Sequence[str], fields: pa.Schema) -> Contents:
    """The rows that changes under one primary key leave of earlier contents; without a key, rows are counted.

    `fields`: the columns by which they are counted.
    Raises `UsageError`: a key is null, earlier rows have equal keys, or `_counted` raises it.
    """
    if not key:
        counted = fields.append(_PLACE[1])
        rows = _counted(chain(contents(counted), changes(counted)), fields)
        return _CountedRows(pa.Table.from_batches(rows, fields))
    own = pa.schema([*(fields.field(name) for name in key), *_PLACE])
    earlier = pa.Table.from_batches(contents(own), own)
    if earlier.num_rows > earlier.group_by(list(key)).aggregate([]).num_rows:
        raise UsageError(_EQUAL_KEYS)
    last = _last_images(chain(earlier.to_batches(), changes(own)), own, key)
    return _LastRows(contents, changes, last.filter(_adds(last))[SEQUENCE].combine_chunks())


@dataclass(frozen=True)
class _CountedRows:
    """`Contents` of a table without a key, as if inserted before all other changes."""

    rows: pa.Table

    def __call__(self, columns: pa.Schema) -> Iterator[pa.RecordBatch]:
        # No other sequence begins with a space.
        sequences = pa.array([f" {number}" for number in range(self.rows.num_rows)], pa.string())
        whole = self.rows.append_column(SEQUENCE, sequences)
        whole = whole.append_column(CHANGE_TYPE, pa.repeat("insert", self.rows.num_rows))
        return iter(whole.select(columns.names).to_batches())


@dataclass(frozen=True)
class _LastRows:
    """`Contents` of a table with a key: those of earlier contents and changes that have these sequences."""

    earlier: Contents
    changes: Contents
    sequences: pa.Array

    def __call__(self, columns: pa.Schema) -> Iterator[pa.RecordBatch]:
        wide = columns if SEQUENCE in columns.names else columns.append(_PLACE[0])
        # These open tables, which must not happen while deltalake iterates.
        batches = chain(self.earlier(wide), self.changes(wide))
        return (
            batch.filter(pc.is_in(batch.column(SEQUENCE), self.sequences)).select(columns.names)
            for batch in batches
        )


def _last_images(batches: Iterable[pa.RecordBatch], schema: pa.Schema, keys: Sequence[str]) -> pa.Table:
    """The last image of each key.

    Raises `UsageError`: a key is null.
    """
    waiting: list[pa.RecordBatch] = []
    last = schema.empty_table()
    for batch in batches:
        waiting.append(batch)
        if sum(batch.num_rows for batch in waiting) >= _ROWS_AT_ONCE:
            last, waiting = _reduced(pa.concat_tables([last, pa.Table.from_batches(waiting)]), keys), []
    return _reduced(pa.concat_tables([last, pa.Table.from_batches(waiting, schema)]), keys)


def _reduced(rows: pa.Table, keys: Sequence[str]) -> pa.Table:
    if any(rows[key].null_count for key in keys):
        raise UsageError(_NO_KEY)
    rows = rows.sort_by(SEQUENCE)
    numbers = as_keys(rows, keys).append_column(COPIES, pa.array(np.arange(rows.num_rows)))
    last = numbers.group_by(list(keys), use_threads=False).aggregate([(COPIES, "max")])
    return rows.take(last[f"{COPIES}_max"])


def _counted(batches: Iterable[pa.RecordBatch], own: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Rows that were added more often than removed, as often as that.

    Raises `UsageError`: one was removed more often than added, or values of a column cannot be compared.
    """
    if lists := [column.name for column in own if pa.types.is_list(column.type)]:
        raise UsageError(f"it has no primary key, and lists cannot be compared: {', '.join(lists)}")
    counts = own.append(pa.field(COPIES, pa.int64())).empty_table()
    for batch in batches:
        signs = np.where(
            pc.is_in(batch.column(CHANGE_TYPE), pa.array(AFTER)).to_numpy(zero_copy_only=False), 1, -1
        )
        signed = pa.Table.from_batches([batch.select(own.names)]).append_column(COPIES, pa.array(signs))
        groups = pa.concat_tables([counts, signed]).group_by(own.names, use_threads=False)
        counts = groups.aggregate([(COPIES, "sum")]).rename_columns([*own.names, COPIES])
        counts = counts.filter(pc.field(COPIES) != 0)
    copies = counts[COPIES].to_numpy()
    if (copies < 0).any():
        raise UsageError(_NOT_ADDED)
    rows = counts.select(own.names).take(np.repeat(np.arange(len(copies)), copies))
    return iter(rows.cast(own).to_batches())


def _completed(
    earlier: Iterable[Row], changes: Iterable[Row], keys: Sequence[str], own: Sequence[str]
) -> list[Row]:
    """The rows that changes leave whose images lack columns; an image gets them from the one before it.

    A column may go on with `_` appended, or without: if an image lacks such a column and has NULL as another
    one of them, that is the value, or there is no such column now. So it is not known.

    `earlier`: the rows before the changes.

    Raises `UsageError`: the images do not identify their row.
    """
    if not keys:
        raise UsageError(f"{_LACKS}and no primary key is known")
    rows: dict[tuple[object, ...], Row] = {}
    for row in earlier:
        key = tuple(row[name] for name in keys)
        if None in key or key in rows:
            raise UsageError(_NO_KEY if None in key else _EQUAL_KEYS)
        rows[key] = row
    removed: Row = {}
    stems = {name: stem_of(name) for name in own}
    for change in changes:
        lacks = {*own}.intersection(change[ABSENT_FIELD.name] or ())
        lacking = {stems[name] for name in lacks}
        unclear = {name for name in own if stems[name] in lacking and change[name] is None} - lacks
        row = {name: _UNKNOWN if name in lacks else change[name] for name in own}
        key, kind = tuple(row[name] for name in keys), change[CHANGE_TYPE]
        if lacks & set(keys) and kind != "update_postimage":
            raise UsageError(f"{_LACKS}not even those of the key")
        if kind in ("delete", "update_preimage"):
            # What this image lacks is in the row; what the row lacks is here.
            skipped = lacks.union(unclear)
            removed = rows.pop(key, {}) | {name: value for name, value in row.items() if name not in skipped}
            continue
        if kind == "update_postimage":
            row |= {name: _UNKNOWN for name in unclear if removed.get(name) is not None}
            row |= {name: removed.get(name, _UNKNOWN) for name in lacks}
            key = tuple(row[name] for name in keys)
        if None in key:
            raise UsageError(_NO_KEY)
        rows[key] = row
    return list(rows.values())
