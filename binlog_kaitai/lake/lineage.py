"""Table lineage: which changes make up a table, across TRUNCATE, DROP and RENAME."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, NamedTuple

from binlog_kaitai.arrow import pa
from binlog_kaitai.following.effects import Effect, EffectKind
from binlog_kaitai.following.known_values import KnownValues, unpacked
from binlog_kaitai.lake.types import joint_type, name_in_lake
from binlog_kaitai.rows.sequences import beginning

_PAIRS_TYPE = "tuple[tuple[str, str], ...]"
_PAIRS = pa.list_(pa.struct([pa.field("old", pa.string()), pa.field("new", pa.string())]))

#: Kinds of entries that come before others at a place.
_FIRST = {EffectKind.UNNAMED: -2, EffectKind.KEYED: -1}

#: Kinds of entries whose names are not those of a statement that changes what a table contains.
_WITHOUT_SPELLING = (
    EffectKind.CREATED,
    EffectKind.KEYED,
    EffectKind.UNNAMED,
    EffectKind.COMPUTED,
    EffectKind.RESTORED,
    EffectKind.PREPARED,
    EffectKind.COMMITTED,
    EffectKind.ROLLED_BACK,
)

#: A table by its schema and name on the server.
Key = tuple[str, str]


class Place(NamedTuple):
    """A position in the order of all changes: its era, the number of its log, and its offset there."""

    era: int
    log: int
    position: int

    def as_sequence(self) -> str:
        """The text that `_sequence` of all changes at this place begins with."""
        return beginning(self)


@dataclass(frozen=True)
class Entry(Effect):
    """An effect in one of the logs of a lake.

    `era`, `log`: the era, and the number of the log.
    """

    era: int = 0
    log: int = 0

    @classmethod
    def of(cls, effect: Effect, era: int, log: int) -> Entry:
        """The entry for the effect of a statement in a log."""
        return cls(**asdict(effect), era=era, log=log)

    @property
    def place(self) -> Place:
        """Where it happened: after the rows of a snapshot that has the position of a statement."""
        is_statement = self.kind not in _WITHOUT_SPELLING
        return Place(self.era, self.log, self.position + is_statement)


#: The columns of the table `_lineage`.
LINEAGE_SCHEMA = pa.schema(
    [
        pa.field(
            field.name,
            {"int": pa.int64(), "tuple[str, ...]": pa.list_(pa.string()), _PAIRS_TYPE: _PAIRS}.get(
                str(field.type), pa.string()
            ),
        )
        for field in fields(Entry)
    ]
)


def entries_as_batch(entries: Iterable[Entry]) -> pa.RecordBatch:
    """Entries as rows of the table `_lineage`."""
    rows = [
        asdict(row) | {"columns": [{"old": old, "new": new} for old, new in row.columns]} for row in entries
    ]
    return pa.RecordBatch.from_pylist(rows, LINEAGE_SCHEMA)


def entries_of(batches: Iterable[pa.RecordBatch]) -> list[Entry]:
    """The entries in the table `_lineage`, in the order of the logs."""
    return in_order(entry for batch in batches for entry in _entries(batch))


def in_order(entries: Iterable[Entry]) -> list[Entry]:
    """Entries in the order of the logs."""
    return sorted(entries, key=lambda entry: (entry.place, _FIRST.get(entry.kind, 0), entry.start))


def _entries(batch: pa.RecordBatch) -> Iterator[Entry]:
    for row in batch.to_pylist():
        pairs = tuple((pair["old"], pair["new"]) for pair in row["columns"])
        values = row.get("values") or ""  # which earlier lakes do not have
        yield Entry(**row | {"columns": pairs, "key": tuple(row["key"]), "values": values})


@dataclass(frozen=True)
class Segment:
    """The changes under one name between two statements; None for an open end.

    `first_row`: the number of the first row at the place `after`, where earlier snapshots may have rows.
    """

    table: Key
    after: Place | None = None
    before: Place | None = None
    first_row: int = 0


class Moves(NamedTuple):
    """A statement that renames, drops or adds columns.

    `names`: new names by old ones, which are in lower case; "" for those that are dropped.
    `added`: names of new columns that others had before, in lower case.
    """

    place: Place
    names: dict[str, str]
    added: frozenset[str] = frozenset()

    @property
    def given(self) -> set[str]:
        """The names that columns get, in lower case."""
        return {new.lower() for new in self.names.values() if new} | self.added


class Redefined(NamedTuple):
    """A statement that gives a column, by its current name, other values or another type in older rows."""

    place: Place
    column: KnownValues

    @property
    def types(self) -> list[pa.DataType]:
        """Before the statement, unless the column is new, and after it."""
        return [kind for kind in (self.column.former, self.column.value.type) if kind is not None]


class Keyed(NamedTuple):
    """The primary key that a table has from a place on."""

    place: Place
    columns: tuple[str, ...]


class Lineage:
    """The segments of each table.

    `entries`: in the order of the logs.
    `kind`: the format of the tables, see `lake.types.name_in_lake`.
    `unclear`: tables whose content cannot be derived from their changes, with reasons; see `why_unclear`.
    `recorded`: tables that had changes, by their names then.
    `converted`: tables whose rows from before a statement may have other values since, or may be gone: its
    place, and what it did.
    `computed`: columns whose values are not in all changes, in lower case, and where the last one was found.
    `committed`: Those that were committed: from one place to another, and where they were committed.
    `removed`: statements that removed rows of the tables with partitions, oldest first.
    `defined`: what is known of the columns of the last changes under each name, of kind `KEYED`; None if a
    statement has given the table others since.
    """

    def __init__(self, entries: Iterable[Entry], kind: str = "delta") -> None:
        self.unclear: dict[Key, str] = {}
        self._all_unclear: list[tuple[str, Place, str]] = []
        self._spellings: dict[Key, tuple[str, Place]] = {}
        #: Why the columns of tables have no names; None if that is to be seen with the first change.
        self._unnamed: dict[Key, str | None] = {}
        #: Whether names are case-sensitive, as tables with capitals in their names show.
        self._has_case = False
        self.recorded: set[Key] = set()
        self.converted: dict[Key, tuple[Place, str]] = {}
        self.computed: dict[Key, tuple[Place, frozenset[str]]] = {}
        self.committed: list[tuple[Place, Place, Place]] = []
        self.defined: dict[Key, Entry | None] = {}
        self._kind = kind
        self._prepared: dict[str, tuple[Place, Place]] = {}
        self._rolled_back: list[tuple[Place, Place]] = []
        self._segments: dict[Key, list[Segment]] = {}
        self._moves: dict[Key, list[Moves]] = {}
        self._former: dict[Key, set[str]] = {}
        self._redefined: dict[Key, list[Redefined]] = {}
        self.removed: dict[Key, list[Entry]] = {}
        self._keys: dict[Key, list[Keyed]] = {}
        #: What is known of the rows that a table has, under whichever name.
        self._of_rows: tuple[dict[Key, Any], ...] = (
            *(self.unclear, self.converted, self.computed),
            *(self._moves, self._former, self._redefined, self.removed),
        )
        for entry in entries:
            self.take(entry)

    @property
    def undone(self) -> list[tuple[Place, Place]]:
        """XA transactions that were prepared but not committed so far: from one place to another."""
        return [*self._rolled_back, *self._prepared.values()]

    def tables(self) -> list[Key]:
        """All tables that had changes, as they are named now, and those that are known to be unclear."""
        known = {*self.recorded, *self._segments}
        return sorted({*self.unclear, *(name for name in known if self._has_rows(name))})

    def without_changes(self) -> list[Key]:
        """The other tables that statements name: they never had rows, or have them under another name now."""
        return sorted({*self._segments}.difference(self.tables()))

    def segments(self, table: Key) -> list[Segment]:
        """The changes that make up the content of a table, oldest first."""
        return self._segments.get(table, [Segment(table)])

    def moves(self, table: Key) -> list[Moves]:
        """What statements did to the columns of a table, oldest first, under whichever name it had."""
        return self._moves.get(table, [])

    def redefined(self, table: Key) -> list[Redefined]:
        """Columns whose values in older rows are known, oldest first."""
        return self._redefined.get(table, [])

    @property
    def keys(self) -> dict[Key, list[str]]:
        """The primary key of each table; [] if it has none or it is unknown."""
        return {table: [*keys[-1].columns] for table, keys in self._keys.items()}

    def keyed(self, table: Key) -> list[Keyed]:
        """The primary keys of a table since its first change, oldest first, with the names of that time."""
        return self._keys.get(table, [])

    def why_unclear(self, table: Key) -> str:
        """Why the content of a table cannot be derived from its changes; "" if it can."""
        if table in self.unclear:
            return self.unclear[table]
        begin = self.segments(table)[0].after
        for schema, place, reason in self._all_unclear:
            if schema in ("", table[0]) and (begin is None or begin < place):
                return reason
        if not self._has_case:
            for key in (table, (table[0], "")):
                if key in self._spellings and (begin is None or begin < self._spellings[key][1]):
                    name = self._spellings[key][0]
                    return f"a statement calls it {name}; whether that is the same table is not in the log"
        return ""

    def knows(self, entry: Entry) -> bool:
        """Whether an entry says nothing new: a key, names, or a new table while all are clear."""
        if entry.kind == EffectKind.CREATED:
            return not self._all_unclear
        if entry.kind == EffectKind.UNNAMED:
            return self._unnamed.get(entry.table, "") == entry.reason
        if entry.kind == EffectKind.UNCLEAR and entry.table_name:
            return self.unclear.get(entry.table) == entry.reason
        if entry.kind == EffectKind.COMPUTED:
            return entry.table in self.computed and self._names(entry) <= self.computed[entry.table][1]
        if entry.kind != EffectKind.KEYED or not self._has_key(entry):
            return False
        last = self.defined.get(entry.table)
        return not entry.columns or (last and (last.columns, last.values)) == (entry.columns, entry.values)

    def _has_key(self, entry: Entry) -> bool:
        keys = self.keyed(entry.table)
        return entry.table in self.recorded and bool(keys) and keys[-1].columns == entry.key

    def _names(self, entry: Entry) -> set[str]:
        return {name_in_lake(name, self._kind).lower() for name, _ in entry.columns}

    def _has_rows(self, table: Key) -> bool:
        return any(segment.table in self.recorded for segment in self.segments(table))

    def take(self, entry: Entry) -> None:
        """Take note of the next entry."""
        place, table = entry.place, entry.table
        self._spell(entry)
        match entry.kind:
            case EffectKind.KEYED:
                self._define(entry)
            case EffectKind.UNNAMED:
                before = self._unnamed.get(table, "" if table in self.recorded else None)
                if before is not None and bool(before) != bool(entry.reason):
                    self.unclear[table] = (
                        f"only some of its changes have column names: {before or entry.reason}"
                    )
                self._unnamed[table] = entry.reason
            case EffectKind.COMPUTED:
                _, known = self.computed.get(table, (place, frozenset[str]()))
                self.computed[table] = place, known | self._names(entry)
            case EffectKind.PREPARED:
                self._prepared[entry.table_name] = place._replace(position=entry.start), place
            case EffectKind.COMMITTED | EffectKind.ROLLED_BACK:
                self._end(entry)
            case EffectKind.CREATED | EffectKind.EMPTIED | EffectKind.RESTORED:
                self._empty(entry)
            case EffectKind.COLUMNS_MOVED:
                self._move_columns(place, table, entry.columns)
            case EffectKind.CONVERTED | EffectKind.MORE_DIGITS:
                self.converted[table] = place, entry.reason
            case EffectKind.REDEFINED:
                self._redefine(entry)
            case EffectKind.REMOVED if table not in self.converted:
                self.removed.setdefault(table, []).append(entry)
            case EffectKind.RENAMED:
                self._rename(place, table, (entry.new_schema_name, entry.new_table_name))
            case _ if entry.table_name:
                self.unclear[table] = entry.reason
            case _:
                reason = f"{entry.reason} (log {place.log}, position {entry.position})"
                self._all_unclear.append((entry.schema_name, place, reason))

    def _define(self, entry: Entry) -> None:
        if not self._has_key(entry):
            self._keys.setdefault(entry.table, []).append(Keyed(entry.place, entry.key))
        if entry.columns:
            self.defined[entry.table] = entry
        self.recorded.add(entry.table)
        self._has_case |= entry.table != (entry.schema_name.lower(), entry.table_name.lower())

    def _end(self, entry: Entry) -> None:
        prepared = self._prepared.pop(entry.table_name, None)
        if prepared and entry.kind == EffectKind.COMMITTED:
            self.committed.append((*prepared, entry.place))
        elif prepared:
            self._rolled_back.append(prepared)

    def _empty(self, entry: Entry) -> None:
        place, table = entry.place, entry.table
        if not entry.table_name:
            for key in self.tables():
                if key[0] == table[0]:
                    self._begin(key, place)
        elif entry.kind != EffectKind.CREATED or self._all_unclear:
            self._begin(table, place, entry.start)

    def _spell(self, entry: Entry) -> None:
        """Take note of names that have capitals in a statement: some servers do not distinguish them."""
        if entry.kind not in _WITHOUT_SPELLING:
            for schema, name in (entry.table, (entry.new_schema_name, entry.new_table_name)):
                if (key := (schema.lower(), name.lower())) != (schema, name):
                    self._spellings[key] = f"{schema}.{name}" if name else schema, entry.place

    def _redefine(self, entry: Entry) -> None:
        known = self._redefined.setdefault(entry.table, [])
        for column in unpacked(entry.values):
            self._forget_removed(entry.table, [column.name.lower()])
            new = Redefined(entry.place, column._replace(name=name_in_lake(column.name, self._kind)))
            same = [other for other in known if other.column.name.lower() == new.column.name.lower()]
            if joint_type(kind for other in (*same, new) for kind in other.types) is None:
                self.converted[entry.table] = entry.place, entry.reason
            else:
                known.append(new)

    def _forget_removed(self, table: Key, names: Collection[str]) -> None:
        """Columns, in lower case, have other values or names than they had when rows were removed by them."""
        removed = self.removed.get(table, [])
        if any(name.lower() in names for entry in removed for name in entry.key):
            reason = "an ALTER TABLE changed a column by whose values rows were removed with partitions"
            self.converted.setdefault(table, (self.removed.pop(table)[-1].place, reason))

    def _rename(self, place: Place, table: Key, new: Key) -> None:
        moved, keys = self.segments(table), self.keyed(table)
        self._segments[new] = [*moved[:-1], replace(moved[-1], before=place), Segment(new, after=place)]
        self._unnamed[new] = self._unnamed.get(table, "" if table in self.recorded else None)
        for facts in self._of_rows:
            if table in facts:
                facts[new] = facts.pop(table)
            elif facts is not self.unclear:
                facts.pop(new, None)
        self._keys.pop(new, None)
        if keys:
            self._keys[new] = [*keys]
        self._begin(table, place)

    def _move_columns(self, place: Place, table: Key, columns: Iterable[tuple[str, str]]) -> None:
        pairs = [tuple(name and name_in_lake(name, self._kind) for name in pair) for pair in columns]
        names = {old.lower(): new for old, new in pairs if old}
        self.defined[table] = None
        former = self._former.setdefault(table, set())
        former.update(names)
        added = frozenset(former & {new.lower() for old, new in pairs if not old})
        former.difference_update(new.lower() for _, new in pairs)
        if names or added:
            self._moves.setdefault(table, []).append(Moves(place, names, added))
        if table in self.computed:
            known = (names.get(name, name).lower() for name in self.computed[table][1])
            self.computed[table] = place, frozenset(filter(None, known))
        given, redefined = [new.lower() for _, new in pairs if new], list[Redefined]()
        for place_then, column in self.redefined(table):
            own, new = column.name.lower(), names.get(column.name.lower(), column.name)
            if column.former is not None and any(name != own == name.rstrip("_") for name in given):
                reason = f"a column got a name under which {column.name} may go on, which had another type"
                self.converted[table] = place, reason
            elif new:
                redefined.append(Redefined(place_then, column._replace(name=new)))
        self._redefined[table] = redefined
        self._forget_removed(table, names)
        if keys := self.keyed(table):
            key = tuple(names.get(column.lower()) or column for column in keys[-1].columns)
            if key != keys[-1].columns:
                keys.append(Keyed(place, key))

    def _begin(self, table: Key, place: Place, first_row: int = 0) -> None:
        self._segments[table] = [Segment(table, after=place, first_row=first_row)]
        for facts in self._of_rows:
            facts.pop(table, None)
        if self._unnamed.get(table):
            self._unnamed[table] = None
        if table in self._keys:
            del self._keys[table][:-1]


class Naming(NamedTuple):
    """Columns of a lake's table between two statements that move columns.

    `names`: their current names.
    `gone`: those that were dropped later.
    `absent`: those that the server's table did not have then.
    """

    names: dict[str, str]
    gone: set[str]
    absent: set[str]


def naming(own: Iterable[str], moves: Sequence[Moves], number: int = 0) -> Naming:
    """What became of the columns after so many of the statements.

    A column whose type has changed goes on in the lake under its name with `_` appended, so that what happens
    to the one happens to the other.
    """
    names = {name: name for name in own}
    known = {name.lower() for name in names}

    def bases(name: str) -> Iterator[str]:
        """The name, and those of columns that it continues."""
        yield name.lower()
        while name.endswith("_") and (name := name[:-1]).lower() in known:
            yield name.lower()

    former: set[str] = set()
    for move in moves[:number]:
        former = (former | move.names.keys()) - move.given
    absent = {name for name in names if former.intersection(bases(name))}
    gone: set[str] = set()
    for move in moves[number:]:
        own_names = {name: now for name, now in names.items() if name not in gone | absent}
        known = {now.lower() for now in own_names.values()}
        for name, now in own_names.items():
            base = next((name for name in bases(now) if name in move.names), None)
            if base is None:
                if move.given.intersection(bases(now)):  # another column gets the name
                    absent.add(name)
            elif new := move.names[base]:
                names[name] = new + now[len(base) :]
            else:
                gone.add(name)
    return Naming(names, gone, absent)
