"""The changes that make up a table of a lake, across TRUNCATE, DROP, RENAME and renamed columns."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from binlog_kaitai.arrow import pa, pc
from binlog_kaitai.errors import UsageError
from binlog_kaitai.lake import ORIGIN, SOURCE
from binlog_kaitai.lake.batches import Format, Lake
from binlog_kaitai.lake.erasing import with_needed, without_removed
from binlog_kaitai.lake.lineage import Entry, Keyed, Moves, Naming, Place, Redefined, Segment, naming
from binlog_kaitai.lake.rules import Rules
from binlog_kaitai.lake.storage import table_name
from binlog_kaitai.lake.types import TAKEN, conform, joint_type, merge_columns, with_names
from binlog_kaitai.rows.arrow_types import cast
from binlog_kaitai.rows.change_schemas import ABSENT_FIELD, CHANGE_TYPE, META_FIELDS, SEQUENCE, untaken_name
from binlog_kaitai.rows.sequences import beginning

#: The columns before those of the table, and after them, by format.
META = {
    kind: frozenset((SOURCE, *(untaken_name(column.name, taken) for column in (*META_FIELDS, ABSENT_FIELD))))
    for kind, taken in TAKEN.items()
}


class TableChanges:
    """The tables of a lake, as read from their changes.

    `lake`: Checked or opened.
    `lineage`: by the names on the server.
    """

    def __init__(self, lake: Lake) -> None:
        if lake.plan is None:
            raise UsageError(f"{lake.storage.name} is not a lake, or has no batch yet")
        self.lineage = lake.lineage
        self._lake = lake
        self._rules: Rules = lake.plan.rules
        self._kind = lake.plan.format

    def changes(self, table: tuple[str, str]) -> pa.RecordBatchReader:
        """The changes that make up a table, in no particular order; sort by ``_sequence``.

        Columns have their current names and types, also in changes from before an ALTER, if its effect on
        older rows is known: a new column then has the value that it got in them. What a change lacks is null.

        `table`: its schema and name on the server.
        Raises `UsageError`: it has no changes; or, later, which rows are gone with partitions is not known.
        """
        parts = self.parts(table)
        schema = columns_of(parts)
        if not schema.names:
            raise UsageError(f"{'.'.join(table)} has no changes")
        return pa.RecordBatchReader.from_batches(schema, read_parts(self._lake.tables, parts, schema))

    def parts(self, table: tuple[str, str]) -> list[Part]:
        """The changes that make up a table, divided where it or its columns were renamed or dropped."""
        parts = [part for segment in self.lineage.segments(table) for part in self._parts(segment, table)]
        return _joined(parts, self._kind)

    def _parts(self, segment: Segment, table: tuple[str, str]) -> Iterator[tuple[Part, Naming]]:
        name = f"changes/{table_name(self._rules.name_of(segment.table))}"
        opened = self._lake.tables.open(name)
        if opened is None:
            return
        columns = opened.columns
        others = META[self._kind].union(ORIGIN if self._rules.is_shared(segment.table) else ())
        own = [column for column in columns if column not in others]
        moves, keys = self.lineage.moves(table), self.lineage.keyed(table)
        redefined = self.lineage.redefined(table)
        statements: list[Moves | Keyed | Redefined] = [*moves, *keys[1:], *redefined]
        changed = sorted({statement.place for statement in statements})
        for begin, end in pairwise([None, *changed, None]):
            # The later of two beginnings, and the earlier of two ends.
            after = max(filter(None, (begin, segment.after)), default=None)
            before = min(filter(None, (end, segment.before)), default=None)
            if after is not None and before is not None and after >= before:
                continue
            named = naming(own, moves, sum(begin is not None and move.place <= begin for move in moves))
            there = {name: kind for name, kind in columns.items() if name not in named.absent}
            names = {column: column for column in columns} | named.names
            current = [keyed for keyed in keys[1:] if begin is not None and keyed.place <= begin]
            key = (*keys[:1], *current)[-1].columns if keys else ()
            values = _redefine(redefined, begin, names, there, named.gone)
            first_row = segment.first_row if after == segment.after else 0
            where = self._where(segment.table, after, before, first_row)
            removed = tuple(
                entry for entry in self.lineage.removed.get(table, ()) if after is None or entry.place > after
            )
            yield Part(name, where, names, there, key, values=values, removed=removed), named

    def _where(
        self, table: tuple[str, str], after: Place | None, before: Place | None, first_row: int
    ) -> pc.Expression:
        place = pc.field(SEQUENCE)
        where = pc.field(SOURCE) == self._lake.source if self._lake.source else pc.scalar(True)
        for name, text in zip(ORIGIN, table, strict=True) if self._rules.is_shared(table) else ():
            where &= pc.field(name) == text
        if after is not None:
            where &= place > beginning((*after, first_row))
        if before is not None:
            where &= place < before.as_sequence()
        for first, last in self.lineage.undone:
            where &= ~of_transaction(first, last)
        return where


def of_transaction(first: Place, last: Place) -> pc.Expression:
    """Rows of a transaction, without those of a snapshot, which may have the position where it begins."""
    place = pc.field(SEQUENCE)
    is_between = (place >= first.as_sequence()) & (place <= last.as_sequence())
    return is_between & (pc.field(CHANGE_TYPE) != "snapshot")


@dataclass(frozen=True)
class Part:
    """Some of the changes that make up a table.

    `folder`: the table of changes that has them.
    `where`: which of its rows they are.
    `names`: the current names of its columns.
    `columns`: its columns.
    `key`: those of the primary key, by the names that they had then on the server.
    `gone`: current names of those that were dropped since.
    `values`: values that columns have instead of NULL, by current names.
    `removed`: later statements that removed rows with their partitions.
    """

    folder: str
    where: pc.Expression
    names: Mapping[str, str]
    columns: Mapping[str, pa.DataType]
    key: tuple[str, ...] = ()
    gone: frozenset[str] = frozenset()
    values: Mapping[str, pa.Scalar] = field(default_factory=dict)
    removed: tuple[Entry, ...] = ()

    @property
    def current_key(self) -> tuple[str, ...]:
        """The columns of the primary key by their current names, in the order of these."""
        spelled = {name.lower(): name for name in self.columns}
        names = (spelled.get(name.lower(), name) for name in self.key)
        return tuple(sorted(self.names.get(name, name) for name in names))


def _redefine(
    redefined: Sequence[Redefined],
    begin: Place | None,
    names: dict[str, str],
    columns: dict[str, pa.DataType],
    gone: set[str],
) -> dict[str, pa.Scalar]:
    """Give columns one name and type that continue each other because an ALTER changed a type.

    `begin`: the changes are those from there on.
    `names`, `columns`: current names and types of a table's columns; changed.
    `gone`: columns that were dropped since; those of other types are added, as after a conversion.
    Returns the values that columns have there instead of NULL, by current names.
    """
    values: dict[str, pa.Scalar] = {}
    by_name: defaultdict[str, list[Redefined]] = defaultdict(list)
    for known in redefined:
        by_name[known.column.name.lower()].append(known)
    for key, statements in by_name.items():
        types = {kind for statement in statements for kind in statement.types}
        kind, name = joint_type(types), statements[-1].column.name
        own = [column for column in columns if column not in gone and continues(names[column].lower(), key)]
        for column in sorted(own, key=lambda own_name: len(names[own_name])):
            if columns[column] in types:
                types.remove(columns[column])
                names[column], columns[column] = name, kind
            else:
                gone.add(column)
        later = (known.column.value for known in statements if begin is None or known.place > begin)
        if (value := next((value for value in later if value.is_valid), None)) is not None:
            values[name] = cast(pa.array([value.as_py()], value.type), kind)[0]
    return values


def continues(name: str, key: str) -> bool:
    """Whether a column continues another one under its name with `_` appended, or is the same."""
    return name.startswith(key) and not name[len(key) :].strip("_")


def _joined(parts: Sequence[tuple[Part, Naming]], kind: str) -> list[Part]:
    """Parts with one name per column; another type, or a dropped column, has a name of its own."""
    columns: dict[str, pa.DataType] = {}
    joined = []
    for part, named in reversed(parts):  # the newest names stay, whatever is added to older tables
        own = {part.names[name]: kind for name, kind in part.columns.items() if name not in named.gone}
        merged = merge_columns(columns, pa.schema(list(own.items())), kind)
        there = part.columns.keys() - named.gone
        joined.append({name: merged[part.names[name]] for name in there})
    dropped: dict[str, pa.DataType] = {}
    taken = {name.lower() for name in (*columns, *(name for part, _ in parts for name in part.values))}
    renamed = []
    for (part, named), names in zip(parts, reversed(joined), strict=True):
        gone = {}
        for old in sorted(named.gone & part.columns.keys()):
            name, own_type = part.names[old], part.columns[old]
            while name.lower() in taken or dropped.get(name, own_type) != own_type:
                name += "_"
            dropped[name], gone[old] = own_type, name
        new_names = {**part.names, **names, **gone}
        types = {old: columns.get(new_names[old], own_type) for old, own_type in part.columns.items()}
        renamed.append(replace(part, names=new_names, columns=types, gone=frozenset(gone.values())))
    return renamed


def columns_of(parts: Iterable[Part]) -> pa.Schema:
    """The columns of all parts, by their current names."""
    columns: dict[str, pa.DataType] = {}
    for part in parts:
        for name, kind in part.columns.items():
            columns.setdefault(part.names[name], kind)
        for name, value in part.values.items():
            columns.setdefault(name, value.type)
    return pa.schema(list(columns.items()))


def read_parts(
    tables: Format, parts: Sequence[Part], schema: pa.Schema, where: pc.Expression | None = None
) -> Iterator[pa.RecordBatch]:
    """The rows of parts, in no particular order; tables are opened at once, and read later.

    `schema`: which columns to read, by their current names; those that a part lacks are null.
    `where`: a further condition on the metadata columns.
    """
    every_column = columns_of(parts) if any(part.removed for part in parts) else schema
    wide = [with_needed(schema, part.removed, every_column) for part in parts]
    readers = [(*pair, _batches(tables, *pair, where)) for pair in zip(parts, wide, strict=True)]

    def read() -> Iterator[pa.RecordBatch]:
        for part, own, batches in readers:
            for batch in filter(len, batches):
                rows = without_removed(conform(with_names(batch, part.names), own, part.values), part.removed)
                yield rows.select(schema.names) if part.removed else rows

    return read()


def _batches(
    tables: Format, part: Part, schema: pa.Schema, where: pc.Expression | None
) -> Iterator[pa.RecordBatch]:
    opened = tables.open(part.folder)
    assert opened is not None
    own = [name for name in part.columns if part.names[name] in schema.names]
    return opened.batches(part.where if where is None else part.where & where, own)


def changes(
    lake: str,
    table: str,
    *,
    kind: str = "delta",
    source: str = "",
    storage_options: Mapping[str, str] | None = None,
) -> pa.RecordBatchReader:
    """The changes that make up a table of a lake; see :meth:`TableChanges.changes`.

    Parameters
    ----------
    lake
        Its path or URL.
    table
        ``schema.table``, by its name on the server.
    source
        In a lake of several sources: the name of one.
    storage_options
        Credentials for the lake's store, such as `read_options` of `lake.storage` reads from a file.
    """
    opened = Lake(lake, kind, source, storage_options=storage_options)
    opened.check()
    schema, _, name = table.partition(".")
    return TableChanges(opened).changes((schema, name))
