"""Commits batches to the tables of a lake, each batch exactly once; see the head of this package."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from threading import Lock
from typing import TYPE_CHECKING, Union

from binlog_kaitai.arrow import pa
from binlog_kaitai.errors import SourceError, UsageError
from binlog_kaitai.following.effects import Effect, EffectKind
from binlog_kaitai.lake import LINEAGE, SOURCES, STATEMENTS
from binlog_kaitai.lake.delta import DeltaTable, DeltaTables
from binlog_kaitai.lake.described import NOTHING, Described
from binlog_kaitai.lake.files import DataFile, TableFiles, rewritten
from binlog_kaitai.lake.lineage import Entry, Key, Lineage, Moves, entries_as_batch, entries_of, in_order
from binlog_kaitai.lake.place import Plan, PlanTable, private_name
from binlog_kaitai.lake.rules import Rules, check_rules
from binlog_kaitai.lake.storage import Storage, table_name
from binlog_kaitai.lake.types import TAKEN, merge_columns, schema_in_lake, with_names, with_source_field
from binlog_kaitai.rows.change_schemas import untaken_name
from binlog_kaitai.sources.source import log_number
from binlog_kaitai.views.ddl_view import DDL_SCHEMA

if TYPE_CHECKING:
    from deltalake import DeltaTable as Handle

    from binlog_kaitai.lake.iceberg import IcebergTable, IcebergTables

#: A table of a lake, and the tables of one format.
Table = Union[DeltaTable, "IcebergTable"]
Format = Union[DeltaTables, "IcebergTables"]

#: Number of tables that are committed side by side.
_THREADS = 8


@dataclass
class Piece:
    """What a task has made of a part of a log.

    `log`: the path of the log.
    `start`, `end`: positions in it.
    `era`: the era of its changes.
    `effects`: effects of statements on whole tables, and facts about tables with changes, see `EffectKind`;
    keys and columns of kind `KEYED` have the names of columns in the view of changes.
    `damaged_ranges`: ranges that could not be read.
    `warnings`: what the user should know.
    """

    log: str
    start: int
    end: int
    era: int = 0
    files: list[DataFile] = field(default_factory=list)
    effects: Sequence[Effect] = ()
    damaged_ranges: int = 0
    warnings: list[str] = field(default_factory=list)

    def entries(self, kind: str) -> Iterator[Entry]:
        """What the lake must know to join changes to tables."""
        log, name_of = log_number(self.log), partial(untaken_name, reserved=TAKEN[kind])
        for effect in self.effects:
            if effect.kind is EffectKind.KEYED:
                columns = tuple((name_of(name), type_name) for name, type_name in effect.columns)
                effect = replace(effect, key=tuple(map(name_of, effect.key)), columns=columns)
            yield Entry.of(effect, self.era, log)

    @property
    def tables(self) -> set[Key]:
        """The tables with changes."""
        return {effect.table for effect in self.effects if effect.kind is EffectKind.KEYED}


class Shared:
    """What the lakes of a process share, in all threads.

    `handles`: opened Delta tables, see `DeltaTables`.
    """

    def __init__(self) -> None:
        self.handles: dict[str, Handle] = {}
        self._locks: dict[str, Lock] = {}

    def lock(self, url: str) -> Lock:
        """The lock of a table that other sources of a lake may change, too."""
        return self._locks.setdefault(url, Lock())


class Lake:
    """A lake.

    `url`: a path or URL; new, empty, or an existing lake.
    `kind`: the format of its tables.
    `source`: in a lake of several sources: the one to write or read, by its name.
    `storage_options`: see `Storage`.
    `plan`: the last batch, complete or not; None before :meth:`open`, and for a new lake before it has rules.
    `tables`, `private`: the tables of an existing or opened lake, and those that only the pipeline reads.
    `columns`: columns of the tables to which files with other columns were added, see `TableFiles`.
    Raises `UsageError`: a package is not installed.
    """

    def __init__(
        self,
        url: str,
        kind: str = "delta",
        source: str = "",
        shared: Shared | None = None,
        *,
        storage_options: Mapping[str, str] | None = None,
    ) -> None:
        self.storage = Storage(url, storage_options)
        self.source = source
        self.shared = shared or Shared()
        self.plan: Plan | None = None
        self.columns: dict[str, dict[str, pa.DataType]] = {}
        self._kind = kind
        self._has_seen = False
        self._place = PlanTable(self.storage, source)
        if kind == "iceberg":
            from binlog_kaitai.lake.iceberg import needed_pyiceberg

            needed_pyiceberg()
        self.tables: Format
        self.private: DeltaTables

    def check(self) -> Plan | None:
        """Look at the lake without changing it; returns its plan, or that of another of its sources.

        Raises `UsageError`: the folder has something else in it, or a lake of another format.
        """
        self.plan = self._place.load()
        known = self.plan or self._plan_of_another()
        if known is not None and known.format != self._kind:
            raise UsageError(f"{self.storage.name} is a lake in {known.format} format; keep that format")
        if self.plan is not None:
            self._use(self.plan)
        return known

    def _plan_of_another(self) -> Plan | None:
        """The plan of any other source of the lake."""
        others = self.storage.names(SOURCES) if self.source else []
        return next(filter(None, (PlanTable(self.storage, other).load() for other in others)), None)

    def open(self, rules: Rules, *, has_dates: bool = True) -> Plan:
        """Begin to write; returns the plan of the last batch.

        Raises `UsageError`: as :meth:`check`; or the lake has other rules, types or partitions.
        """
        known = self.check()
        if known is not None and known.has_dates != has_dates:
            how, remedy = ("with", "omit") if known.has_dates else ("without", "add")
            raise UsageError(f"{self.storage.name} was begun {how} partitions by date; {remedy} --no-dates")
        if known is not None and known.rules.bit1_as_boolean != rules.bit1_as_boolean:
            how, remedy = ("as", "add") if known.rules.bit1_as_boolean else ("not as", "omit")
            raise UsageError(f"{self.storage.name} has BIT(1) {how} boolean; {remedy} --bit1-as-boolean")
        if self.plan is None:
            self.plan = Plan.new(self._kind, rules, has_dates=has_dates)
            self._use(self.plan)
        elif self.plan.rules != rules:
            if self.plan.batch >= 0:
                check_rules(self.plan.rules, rules)
            self.plan = replace(self.plan, rules=rules)
        return self.plan

    def _use(self, plan: Plan) -> None:
        self.private = self.tables = DeltaTables(self.storage, plan.application, self.shared.handles)
        if self._kind == "iceberg":
            from binlog_kaitai.lake.iceberg import IcebergTables

            self.tables = IcebergTables(self.storage, plan.application, self.source)

    @property
    def is_complete(self) -> bool:
        """Whether the last batch is in all of its tables."""
        if self.plan is None or self.plan.batch < 0:
            return True
        statements = self.tables.open(STATEMENTS)
        return statements is not None and statements.batch >= self.plan.batch

    def begin(self, plan: Plan) -> None:
        """Commit the plan of the next batch.

        Raises `SourceError`: another process writes to the lake.
        """
        self._place.store(plan)
        self.plan = plan

    def commit(self, pieces: Sequence[Piece]) -> None:
        """Commit the files of the planned batch to the tables that lack it.

        Raises `SourceError`: a table cannot be committed.
        """
        assert self.plan is not None
        self._check_seen(pieces)
        batch, lineage = self.plan.batch, self.private.open(private_name(LINEAGE, self.source))
        has_entries = lineage is not None and lineage.batch >= batch
        entries = [] if has_entries else list(self._new_entries(pieces))
        moves, described = self._moves(pieces), self._described(pieces)
        by_table: defaultdict[str, list[DataFile]] = defaultdict(list)
        for piece in pieces:
            for file in piece.files:
                by_table[file.table].append(file)
        statements = by_table.pop(STATEMENTS, [])
        with ThreadPoolExecutor(_THREADS, thread_name_prefix="binlog-kaitai-commit") as threads:
            append = partial(self._append, batch=batch, moves=moves, described=described)
            list(threads.map(append, by_table, by_table.values()))
        if entries:
            self._append_lineage(lineage, entries, batch)
        self._append(STATEMENTS, statements, batch, moves, {})

    def _check_seen(self, pieces: Iterable[Piece]) -> None:
        """Raises `SourceError`: the first file of the run is where this process does not see it."""
        if self._has_seen or (file := next((file for piece in pieces for file in piece.files), None)) is None:
            return
        with self.storage.opened(f"{file.table}/{file.path}") as (system, path):
            (info,) = system.get_file_info([path])
        if not info.is_file or info.size != file.size:
            reason = (
                "a task wrote a file that the driver does not see: a lake must have one name on all machines"
            )
            raise SourceError(f"{reason}; use a shared file system or an object store", file=path)
        self._has_seen = True

    def _moves(self, pieces: Iterable[Piece]) -> dict[str, list[Moves]]:
        """What statements did to the columns of tables with changes, for a format that renames columns.

        Sources and tables that share a table rename columns at different times, so there a new name is a new
        column.
        """
        assert self.plan is not None
        if self._kind == "delta" or self.source:
            return {}
        by_folder: dict[str, list[Moves]] = {}
        is_shared = self.plan.rules.is_shared
        for table in {table for piece in pieces for table in piece.tables if not is_shared(table)}:
            begin = self.lineage.segments(table)[-1].after
            moves = [move for move in self.lineage.moves(table) if begin is None or move.place > begin]
            by_folder[f"changes/{table_name(self.plan.rules.name_of(table))}"] = moves
        return by_folder

    def _described(self, pieces: Iterable[Piece]) -> dict[str, Described]:
        """What the definitions of tables with changes say, by the folders of their tables."""
        assert self.plan is not None
        described = {table: self.described(table) for piece in pieces for table in piece.tables}
        name_of = self.plan.rules.name_of
        return {f"changes/{table_name(name_of(table))}": facts for table, facts in described.items()}

    def described(self, table: Key) -> Described:
        """What the last definition of a table says; nothing if others share its table in the lake."""
        assert self.plan is not None
        is_shared = self.source or self.plan.rules.is_shared(table)
        return Described.of(None if is_shared else self.lineage.defined.get(table))

    def _append(
        self,
        name: str,
        files: Sequence[DataFile],
        batch: int,
        moves: Mapping[str, Sequence[Moves]],
        described: Mapping[str, Described],
    ) -> None:
        with self.shared.lock(self.storage.delta_url(name)):
            table, said = self.tables.open(name), described.get(name, NOTHING)
            if table is None or table.batch < batch:
                table = self._append_to(table, name, files, batch, moves.get(name, ()), said)
            table.define(said)

    def _append_to(
        self,
        table: Table | None,
        name: str,
        files: Sequence[DataFile],
        batch: int,
        moves: Sequence[Moves],
        described: Described,
    ) -> Table:
        columns = {} if table is None else dict(table.columns)
        if name == STATEMENTS:
            merge_columns(columns, schema_in_lake(with_source_field(DDL_SCHEMA, self.source)))
        fitting = []
        for file in files:
            names = merge_columns(columns, file.columns, self._kind)
            if any(new != old for old, new in names.items()):
                file = rewritten(self.storage, file, partial(with_names, names=names))
                self.columns[name] = columns
            fitting.append(file)
        schema = described.with_metadata(pa.schema(list(columns.items())))
        if table is None:
            assert self.plan is not None
            return self.tables.create(name, schema, fitting, batch, moves, has_dates=self.plan.has_dates)
        table.append(schema, fitting, batch, moves)
        return table

    def _append_lineage(self, table: DeltaTable | None, entries: Sequence[Entry], batch: int) -> None:
        name = private_name(LINEAGE, self.source)
        files = TableFiles(self.storage, has_dates=False)
        files.write(name, entries_as_batch(entries))
        files.close()
        if table is None:
            self.private.create(name, files.files[0].columns, files.files, batch, has_dates=False)
        else:
            table.append(files.files[0].columns, files.files, batch)

    def _new_entries(self, pieces: Iterable[Piece]) -> Iterator[Entry]:
        """The entries of a batch that say something new; the lineage has them, too, from now on."""
        lineage = self.lineage
        for entry in in_order(entry for piece in pieces for entry in piece.entries(self._kind)):
            if not lineage.knows(entry):
                lineage.take(entry)
                yield entry

    @cached_property
    def lineage(self) -> Lineage:
        """What happened to whole tables up to the last batch; read once."""
        table = self.private.open(private_name(LINEAGE, self.source))
        return Lineage([] if table is None else entries_of(table.batches()), self._kind)
