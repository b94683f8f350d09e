"""Table lineage: which changes make up a table, across TRUNCATE, DROP and RENAME."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from binlog_kaitai.following.effects import Kind
from binlog_kaitai.lake.types import name_in_lake
from binlog_kaitai.views.parquet_folder import folder_name


class Place(NamedTuple):
    """The position of a statement in the lake: its batch, the piece of the batch, and the log position."""

    batch: int
    piece: int
    position: int


@dataclass(frozen=True)
class Segment:
    """The changes under one name between two statements; None for an open end."""

    table: str
    after: Place | None = None
    before: Place | None = None


class Rename(NamedTuple):
    """A statement that renames columns: new names by old ones, which are in lower case."""

    place: Place
    names: dict[str, str]


class Lineage:
    """The segments of each table, computed from the records of all batches.

    Attributes
    ----------
    keys : dict of str to list of str
        The primary key of each table; [] if it has none or it is unknown.
    unclear : dict of str to str
        Tables whose content cannot be derived from their changes, with reasons.
    newest : dict of str to int
        The last batch that affected a table.
    """

    def __init__(self) -> None:
        self.keys: dict[str, list[str]] = {}
        self.unclear: dict[str, str] = {}
        self.newest: dict[str, int] = {}
        #: XA transactions that were prepared but not committed: from one position to another.
        self.undone: list[tuple[Place, Place]] = []
        #: XA transactions that were committed: where they were prepared, and where they were committed.
        self.committed: list[tuple[Place, Place]] = []
        self._prepared: dict[str, tuple[Place, Place]] = {}
        self._segments: dict[str, list[Segment]] = {}
        self._renames: dict[str, list[Rename]] = {}
        self._with_rows: set[str] = set()

    @classmethod
    def of(cls, records: Iterable[dict[str, Any]], until: Place | None = None) -> Lineage:
        """Build the lineage from the records, or from their statements up to a position."""
        found = cls()
        for record in records:
            for number, piece in enumerate(record["pieces"]):
                found._take(record["batch"], number, piece, until, record.get("format", "parquet"))
        found.undone += found._prepared.values()
        return found

    def tables(self) -> list[str]:
        """All tables that had changes, as they are named now, and all unclear ones."""
        known = {*self._with_rows, *self._segments}
        return sorted({*self.unclear, *(name for name in known if self._has_rows(name))})

    def segments(self, table: str) -> list[Segment]:
        """The changes that make up the content of a table, oldest first."""
        return self._segments.get(table, [Segment(table)])

    def renames(self, table: str) -> list[Rename]:
        """The statements that renamed columns of a table, oldest first, under whichever name it had."""
        return self._renames.get(table, [])

    def is_continued(self, table: str, batch: int) -> bool:
        """Whether the contents of a table are those after a batch, changed by the changes of later batches.

        They are not if a later statement emptied or renamed the table, or committed earlier changes.
        """
        segments = self.segments(table)
        statements = [place for one in segments for place in (one.after, one.before) if place is not None]
        is_late = any(prepared.batch <= batch < done.batch for prepared, done in self.committed)
        return not is_late and all(place.batch <= batch for place in statements)

    def _has_rows(self, table: str) -> bool:
        return any(one.table in self._with_rows for one in self.segments(table))

    def _take(self, batch: int, number: int, piece: dict[str, Any], until: Place | None, kind: str) -> None:
        self.keys.update(piece["keys"])
        self._with_rows.update(piece["keys"])
        self.newest.update(dict.fromkeys(piece["keys"], batch))
        for table, reason in piece["incomplete"].items():
            self.unclear.setdefault(table, reason)
        for one in piece["table_effects"]:
            place = Place(batch, number, one["position"])
            if until is None or place <= until:
                self._apply(place, one, kind)

    def _apply(self, place: Place, one: dict[str, Any], kind: str) -> None:
        schema, table = one["schema_name"], one["table_name"]
        if one["kind"] in (Kind.PREPARED, Kind.COMMITTED, Kind.ROLLED_BACK):
            self._take_prepared(place, one)
            return
        name = folder_name((schema, table))
        if one["kind"] == Kind.EMPTIED:
            prefix = folder_name((schema, ""))
            names = [name] if table else [one for one in self.tables() if one.startswith(prefix)]
            for emptied in names:
                self._begin(emptied, place)
        elif one["kind"] == Kind.COLUMNS_RENAMED:
            pairs = ((name_in_lake(old, kind), name_in_lake(new, kind)) for old, new in one["columns"])
            self._rename_columns(place, name, {old.lower(): new for old, new in pairs})
        elif one["kind"] == Kind.RENAMED:
            new = folder_name((one["new_schema_name"], one["new_table_name"]))
            moved = self.segments(name)
            self._segments[new] = [*moved[:-1], replace(moved[-1], before=place), Segment(new, after=place)]
            renames = self.renames(name)
            self._begin(name, place)
            self._renames[new] = renames
            if name in self.unclear:
                self.unclear[new] = self.unclear.pop(name)
            self.keys.setdefault(new, self.keys.get(name, []))
            self.newest[new] = place.batch
        else:
            self.newest[name] = place.batch
            self.unclear[name] = one["reason"]

    def _rename_columns(self, place: Place, table: str, names: dict[str, str]) -> None:
        self._renames.setdefault(table, []).append(Rename(place, names))
        if table in self.keys:
            self.keys[table] = [names.get(key.lower(), key) for key in self.keys[table]]
        self.newest[table] = place.batch

    def _take_prepared(self, place: Place, one: dict[str, Any]) -> None:
        xid = one["table_name"]
        if one["kind"] == Kind.PREPARED:
            self._prepared[xid] = place._replace(position=one["start"]), place
        elif (found := self._prepared.pop(xid, None)) is not None:
            # The affected tables are unknown.
            self.newest.update(dict.fromkeys(self._with_rows, place.batch))
            if one["kind"] == Kind.ROLLED_BACK:
                self.undone.append(found)
            else:
                self.committed.append((found[1], place))

    def _begin(self, table: str, place: Place) -> None:
        self._segments[table] = [Segment(table, after=place)]
        self._renames.pop(table, None)
        self.newest[table] = place.batch
        self.unclear.pop(table, None)
