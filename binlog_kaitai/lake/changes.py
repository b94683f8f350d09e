"""The changes that make up a table of a lake, across TRUNCATE, DROP, RENAME and renamed columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from binlog_kaitai.arrow import pa, pc
from binlog_kaitai.errors import UsageError
from binlog_kaitai.lake.batches import Lake
from binlog_kaitai.lake.lineage import Lineage, Place, Segment, naming
from binlog_kaitai.lake.rules import Rules
from binlog_kaitai.lake.storage import table_name
from binlog_kaitai.lake.types import with_names
from binlog_kaitai.views.change_schemas import ABSENT_FIELD, META_FIELDS, SEQUENCE


class TableChanges:
    """The tables of a lake, as their changes tell.

    Parameters
    ----------
    lake
        Checked or opened.

    Attributes
    ----------
    lineage : Lineage
        By the names on the server.
    """

    def __init__(self, lake: Lake) -> None:
        if lake.plan is None:
            raise UsageError(f"{lake.storage.name} is not a lake, or has no batch yet")
        self.lineage = Lineage(lake.lineage(), lake.plan.format)
        self._lake = lake
        self._rules: Rules = lake.plan.rules

    def changes(self, table: tuple[str, str]) -> pa.RecordBatchReader:
        """The changes that make up a table, in no particular order; sort by ``_sequence``.

        Columns have their current names, also in changes from before they were renamed; those that a change
        lacks are null.

        Parameters
        ----------
        table
            Its schema and name on the server.

        Raises
        ------
        UsageError
            It has no changes.
        """
        parts = [part for one in self.lineage.segments(table) for part in self._parts(one, table)]
        columns: dict[str, pa.DataType] = {}
        for _, _, names, known in parts:
            for name, kind in known.items():
                columns.setdefault(names[name], kind)
        if not columns:
            raise UsageError(f"{'.'.join(table)} has no changes")
        schema = pa.schema(list(columns.items()))
        return pa.RecordBatchReader.from_batches(schema, _renamed(self._lake, parts, schema))

    def _parts(self, segment: Segment, table: tuple[str, str]) -> Iterator[_Part]:
        """The changes of a segment, divided where columns were renamed."""
        name = f"changes/{table_name(self._rules.name_of(segment.table))}"
        opened = self._lake.tables.open(name)
        if opened is None:
            return
        known = opened.columns
        own = [one for one in known if one not in {field.name for field in (*META_FIELDS, ABSENT_FIELD)}]
        same = {one: one for one in known}
        renames = self.lineage.renames(table)
        begin: Place | None = segment.after
        for number in range(len(renames) + 1):
            end = renames[number].place if number < len(renames) else segment.before
            where = self._where(later(begin, segment.after), earlier(end, segment.before))
            yield name, where, same | naming(own, renames[number:]), known
            begin = renames[number].place if number < len(renames) else None

    def _where(self, after: Place | None, before: Place | None) -> pc.Expression:
        place = pc.field(SEQUENCE)
        where = pc.scalar(True)
        if after is not None:
            where &= place > after.as_sequence()
        if before is not None:
            where &= place < before.as_sequence()
        for first, last in self.lineage.undone:
            where &= ~((place >= first.as_sequence()) & (place <= last.as_sequence()))
        return where


#: The table, a condition, the current name of each of its columns, and their types.
_Part = tuple[str, pc.Expression, Mapping[str, str], Mapping[str, pa.DataType]]


def later(one: Place | None, other: Place | None) -> Place | None:
    """The later of two beginnings."""
    return max((place for place in (one, other) if place is not None), default=None)


def earlier(one: Place | None, other: Place | None) -> Place | None:
    """The earlier of two ends."""
    return min((place for place in (one, other) if place is not None), default=None)


def _renamed(lake: Lake, parts: Iterable[_Part], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    for table, where, names, _ in parts:
        opened = lake.tables.open(table)
        assert opened is not None
        for batch in opened.batches(where):
            if batch.num_rows:
                yield _fitted(with_names(batch, names), schema)


def _fitted(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """The batch with all columns of a schema."""

    def column(field: pa.Field) -> pa.Array:
        at = batch.schema.get_field_index(field.name)
        return pa.nulls(batch.num_rows, field.type) if at < 0 else batch.column(at).cast(field.type)

    columns: Sequence[pa.Array] = [column(field) for field in schema]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def changes(lake: str, table: str, *, kind: str = "delta") -> pa.RecordBatchReader:
    """The changes that make up a table of a lake; see :meth:`TableChanges.changes`.

    Parameters
    ----------
    lake
        Its path or URL.
    table
        ``schema.table``, by its name on the server.
    """
    opened = Lake(lake, kind)
    opened.check()
    schema, _, name = table.partition(".")
    return TableChanges(opened).changes((schema, name))
