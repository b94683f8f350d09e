"""Delta tables, by deltalake."""

from __future__ import annotations

import json
import re
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from binlog_kaitai.arrow import pa, pc
from binlog_kaitai.core.extras import pip_install
from binlog_kaitai.errors import SourceError, UsageError
from binlog_kaitai.lake import DATE, SOURCE
from binlog_kaitai.lake.described import Described
from binlog_kaitai.lake.files import INDEXED, NO_VALUE, DataFile, SmallFile, written
from binlog_kaitai.lake.lineage import Moves
from binlog_kaitai.lake.storage import ConflictError, Storage
from binlog_kaitai.lake.types import stored_type, with_source, with_source_field
from binlog_kaitai.rows.change_schemas import SEQUENCE
from binlog_kaitai.sources.disk import sync
from binlog_kaitai.values.sql_text import identifier

if TYPE_CHECKING:
    from deltalake import DeltaTable as Handle
    from deltalake import WriterProperties
    from deltalake.transaction import AddAction, CommitProperties
    from pyarrow.dataset import Dataset, Fragment

#: A table gets many commits, which every reader reads from the last checkpoint on. Its metadata has minimum
#: and maximum of few columns: deltalake writes inexact ones of decimals and times, and if a file has them of
#: some columns only, readers by PyArrow find nothing there by another.
_INTERVAL = {"delta.checkpointInterval": "10"}
_NO_LIMITS = {"delta.dataSkippingNumIndexedCols": "0"}
_LIMITS_OF = "delta.dataSkippingStatsColumns"

#: The name of a file that this package has written.
_OWN_FILE = re.compile(r"/part-[0-9a-f]{32}\.parquet$")

#: How often joined files are committed, beside other processes that add files.
_ATTEMPTS = 100

#: No column, as a value of that property.
_NO_COLUMN = "`_none `"


class DeltaTables:
    """The Delta tables of a lake.

    `application`: numbers the batches.
    `handles`: handles of tables by URL, which several threads may share.
    Raises `UsageError`: deltalake is not installed.
    """

    kind = "delta"

    def __init__(self, storage: Storage, application: str, handles: dict[str, Handle] | None = None) -> None:
        needed_deltalake()
        self._storage = storage
        self._application = application
        self._handles = {} if handles is None else handles

    def __reduce__(self) -> tuple[Any, ...]:
        """For tasks in other processes, without handles."""
        return DeltaTables, (self._storage, self._application)

    def open(self, name: str) -> DeltaTable | None:
        """A table as it is now; a table that this process has opened before only reads new commits."""
        from deltalake import DeltaTable as Handle
        from deltalake.exceptions import TableNotFoundError

        url, options = self._storage.delta_url(name), self._storage.delta_options()
        if (handle := self._handles.get(url)) is not None:
            with delta_errors(self._storage, name):
                handle.update_incremental()
        else:
            with delta_errors(self._storage, name):
                try:
                    handle = self._handles[url] = Handle(url, storage_options=options)
                except TableNotFoundError:
                    return None
        return DeltaTable(self._storage, name, handle, self._application)

    def replace(
        self,
        name: str,
        table: DeltaTable | None,
        rows: pa.RecordBatchReader,
        batch: int,
        numbers: Mapping[str, int],
        keys: Sequence[str] | None = None,
        source: str = "",
    ) -> None:
        """Replace the rows and columns of a table, and its `numbers`.

        A table that does not exist is created only if there are rows. In a lake of several sources, the rows
        of one are replaced, and columns are added.

        `table`: the table as it was when the rows were derived from it; None if it did not exist.
        `keys`: the primary key, whose minimum and maximum tell merges which files to read; None as before.

        Raises `ConflictError`: the table was changed meanwhile.
        """
        from deltalake import write_deltalake

        batches: Iterator[pa.RecordBatch] = (with_source(part, source) for part in rows if part.num_rows)
        schema = with_source_field(rows.schema, source)
        limited = None if keys is None else _limits_of(schema, keys)
        if table is None:
            if (first := next(batches, None)) is None:
                return
            batches = chain((first,), batches)
            if self.open(name) is not None:
                raise ConflictError(
                    "another process has created the table", file=f"{self._storage.name}/{name}"
                )
        else:
            table.settle(limited)
        if self._storage.is_local:
            Path(self._storage.url, name).mkdir(parents=True, exist_ok=True)
        with _committing(self._storage, name, None if table is None else table.handle):
            write_deltalake(
                self._storage.delta_url(name) if table is None else table.handle,
                pa.RecordBatchReader.from_batches(schema, batches),
                mode="overwrite",
                schema_mode="merge" if source else "overwrite",
                predicate=_is_of(source) if source and table is not None else None,
                configuration=None if table is not None else {**_INTERVAL, **_NO_LIMITS, **(limited or {})},
                storage_options=self._storage.delta_options(),
                commit_properties=_numbered(self._application, batch, numbers),
            )

    def create(
        self,
        name: str,
        columns: pa.Schema,
        files: Sequence[DataFile],
        batch: int,
        moves: Sequence[Moves] = (),
        *,
        has_dates: bool,
    ) -> DeltaTable:
        """A new table, partitioned by date or not; renamed columns are new ones."""
        from deltalake.schema import Schema
        from deltalake.transaction import create_table_with_add_actions

        schema = columns.append(pa.field(DATE, pa.date32())) if has_dates else columns
        if self._storage.is_local:
            Path(self._storage.url, name).mkdir(parents=True, exist_ok=True)
        with _committing(self._storage, name, None):
            create_table_with_add_actions(
                self._storage.delta_url(name),
                Schema.from_arrow(schema),
                list(map(_action, files)),
                partition_by=[DATE] if has_dates else None,
                configuration={**_INTERVAL, **_NO_LIMITS, **_limits_of(columns)},
                storage_options=self._storage.delta_options(),
                commit_properties=_numbered(self._application, batch, files=files),
            )
        table = self.open(name)
        assert table is not None
        return table


class DeltaTable:
    """A Delta table.

    Each commit carries the name of the pipeline (`application`) and the number of a batch, so a table knows
    the last batch that it has. It takes the files of a batch in one commit, together with this number.
    Iceberg tables do the same.
    """

    def __init__(self, storage: Storage, name: str, handle: Handle, application: str) -> None:
        self._storage = storage
        self._name = name
        self.handle = handle
        self._application = application

    @property
    def columns(self) -> dict[str, pa.DataType]:
        """Its columns, without the partition column."""
        fields = pa.schema(self.handle.schema().to_arrow())
        return {field.name: stored_type(field.type) for field in fields if field.name != DATE}

    @property
    def batch(self) -> int:
        """The last batch that it has; -1 if it has none of this pipeline."""
        batch: int | None = self.handle.transaction_version(self._application)
        return -1 if batch is None else batch

    def append(
        self, columns: pa.Schema, files: Sequence[DataFile], batch: int, moves: Sequence[Moves] = ()
    ) -> None:
        """Add the columns that it lacks, then commit the files with the number of their batch.

        `moves`: what statements did to the columns, up to the end of the batch. Here, renamed columns are new
        ones; Iceberg renames them.
        Raises `SourceError`: another process has committed this batch meanwhile, or the store fails.
        """
        with _committing(self._storage, self._name, self.handle):
            self._add_columns(columns)
            self.handle.create_write_transaction(
                list(map(_action, files)),
                "append",
                self.handle.schema(),
                partition_by=self.handle.metadata().partition_columns,
                commit_properties=_numbered(self._application, batch, files=files),
            )
            self.handle.update_incremental()

    @property
    def description(self) -> str:
        """The table's description; "" if it has none."""
        return self.handle.metadata().description or ""

    def describe(self, text: str) -> None:
        """Set the table's description."""
        with _committing(self._storage, self._name, self.handle):
            self.handle.alter.set_table_description(text)
            self.handle.update_incremental()

    def define(self, described: Described) -> None:
        """Set the metadata of columns to what the table's definition says."""
        if new := described.new_metadata(pa.schema(self.handle.schema().to_arrow())):
            with _committing(self._storage, self._name, self.handle):
                for name, metadata in new.items():
                    self.handle.alter.set_column_metadata(name, metadata)
                self.handle.update_incremental()

    def number(self, name: str) -> int:
        """One of the numbers that were committed with the last batch."""
        number: int | None = self.handle.transaction_version(f"{self._application}/{name}")
        assert number is not None
        return number

    def merge(
        self,
        columns: pa.Schema,
        keys: Sequence[str],
        rows: pa.Table,
        is_there: str,
        batch: int,
        numbers: Mapping[str, int],
        source: str = "",
    ) -> None:
        """Update, insert and delete the rows of some keys, and set `numbers`.

        `columns`: all columns of the table; missing ones are added.
        `rows`: a row for each key, with a column `is_there` that says whether the table has it then.
        `source`: in a lake of several sources, the one whose rows these are.
        Raises `ConflictError`: the table was changed meanwhile.
        """
        columns, rows = with_source_field(columns, source), with_source(rows, source)
        conditions = [f"target.{identifier(key)} = source.{identifier(key)}" for key in keys]
        if source:
            conditions.insert(0, f"target.{_is_of(source)}")
        with _committing(self._storage, self._name, self.handle):
            self._add_columns(columns)
            merge = self.handle.merge(
                rows,
                " AND ".join(conditions),
                source_alias="source",
                target_alias="target",
                streamed_exec=False,
                writer_properties=_without_limits(columns),
                commit_properties=_numbered(self._application, batch, numbers),
            )
            values = {identifier(name): f"source.{identifier(name)}" for name in columns.names}
            stays = f"source.{identifier(is_there)}"
            merge = merge.when_matched_delete(f"NOT {stays}").when_matched_update(values)
            merge.when_not_matched_insert(values, stays).execute()

    def delete(self, condition: str) -> None:
        """Delete rows; raises `ConflictError`."""
        columns = pa.schema(list(self.columns.items()))
        with _committing(self._storage, self._name, self.handle):
            self.handle.delete(condition, writer_properties=_without_limits(columns))

    def small_files(self, size: int) -> dict[date | None, list[SmallFile]]:
        """Files of fewer bytes, by their date, in the order of their rows, where there are several."""
        small = defaultdict[Any, list[SmallFile]](list)
        if "deletionVectors" in (self.handle.protocol().reader_features or ()):
            return small  # files may have rows that the table does not have
        files = pa.table(self.handle.get_add_actions(flatten=True)).to_pylist()
        least = f"min.{SEQUENCE}"
        for file in sorted(files, key=lambda file: (file.get(least) or "", file["modification_time"])):
            if file["size_bytes"] < size:
                small[file.get(f"partition.{DATE}")].append(SmallFile(file["size_bytes"], file["path"]))
        return {day: files for day, files in small.items() if len(files) > 1}

    def compact(self, files: Sequence[SmallFile], day: date | None) -> int:
        """Replace files of a date by new ones with the same rows, in this order; returns their number.

        Raises `ConflictError`: another process has replaced one of them.
        """
        from deltalake.exceptions import CommitFailedError
        from deltalake.transaction import CommitProperties, RemoveAction

        if not self._name.rpartition("/")[2].startswith("_"):  # those only the pipeline reads
            self.settle()
        metadata, old = self.handle.metadata(), {file.file for file in files}
        dates = {DATE: None if day is None else str(day)} if metadata.partition_columns else {}
        limited = [name.strip("`") for name in metadata.configuration.get(_LIMITS_OF, "").split(",")]
        folder = (dates[DATE] or NO_VALUE) if dates else ""
        rows = self.batches(paths=[file.file for file in files])
        new = written(self._storage, self._name, folder, rows, limited)
        now = time.time_ns() // 1_000_000
        actions: list[Any] = [RemoveAction(file.file, False, now, file.size, dates) for file in files]
        actions += [_action(file, limited, is_new=False) for file in new]
        # With its retries, deltalake would commit the rows again that another process has joined.
        properties = CommitProperties(max_commit_retries=0)
        with _committing(self._storage, self._name, self.handle):
            for attempts_left in reversed(range(_ATTEMPTS)):
                try:
                    self.handle.create_write_transaction(
                        actions,
                        "append",
                        self.handle.schema(),
                        partition_by=metadata.partition_columns,
                        commit_properties=properties,
                    )
                    break
                except CommitFailedError:
                    self.handle.update_incremental()
                    there = pa.table(self.handle.get_add_actions())["path"].to_pylist()
                    if not (attempts_left and old.issubset(there)):
                        raise
            self.handle.update_incremental()
        return len(new)

    def vacuum(self, hours: int | None = None, *, dry_run: bool = False) -> int:
        """Remove files that no version of the last hours has; None: as the table says, or else a week.

        Returns their number.
        """
        with delta_errors(self._storage, self._name):
            return len(self.handle.vacuum(hours, dry_run, full=True))

    def rewrite(self, rows: Iterable[pa.RecordBatch]) -> None:
        """Replace the rows by some of them; raises `ConflictError`: the table was changed meanwhile."""
        from deltalake import CommitProperties, write_deltalake

        reader = pa.RecordBatchReader.from_batches(pa.schema(list(self.columns.items())), rows)
        with _committing(self._storage, self._name, self.handle):
            properties = CommitProperties(max_commit_retries=0)
            write_deltalake(self.handle, reader, mode="overwrite", commit_properties=properties)

    def settle(self, limited: Mapping[str, str] | None = None) -> None:
        """Have readers ignore limits in the metadata: those of an earlier version, and of other columns.

        `limited`: the property for the columns that a new table would have limits of. A table never gets
        limits of more columns later, because its older files have none.
        """
        known = self.handle.metadata().configuration
        settings = dict(_NO_LIMITS)
        if limited is not None and _LIMITS_OF in known and known[_LIMITS_OF] != limited.get(_LIMITS_OF):
            settings[_LIMITS_OF] = _NO_COLUMN
        if any(known.get(name) != value for name, value in settings.items()):
            with delta_errors(self._storage, self._name):
                self.handle.alter.set_table_properties(settings, raise_if_not_exists=False)
                self.handle.update_incremental()

    def _add_columns(self, columns: pa.Schema) -> None:
        from deltalake.schema import Schema

        self.settle()
        known = self.columns
        if new := [column for column in columns if column.name not in known]:
            self.handle.alter.add_columns(list(Schema.from_arrow(pa.schema(new)).fields))
            self.handle.update_incremental()

    def batches(
        self,
        where: pc.Expression | None = None,
        columns: Sequence[str] | None = None,
        paths: Sequence[str] | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """Its rows that meet a condition, in no particular order, with all or some of these columns.

        `paths`: only rows of these files, in this order.
        """
        from pyarrow import dataset as ds

        schema = pa.schema(self.handle.schema().to_arrow())
        schema = pa.schema([pa.field(column.name, stored_type(column.type)) for column in schema])
        own = [name for name in schema.names if name != DATE] if columns is None else list(columns)
        if paths is None:
            paths = pa.table(self.handle.get_add_actions())["path"].to_pylist()
        with self._storage.opened(self._name) as (system, folder):
            part = ds.partitioning(pa.schema([pa.field(DATE, pa.date32())]), flavor="hive")
            files = [f"{folder}/{unquote(path)}" for path in paths]
            options: dict[str, Any] = {"partitioning": part, "partition_base_dir": folder}
            dataset = (
                ds.dataset(files, schema, filesystem=system, format="parquet", **options) if files else None
            )
        return _read(self._storage, self._name, dataset, own, where)


def needed_deltalake() -> None:
    """Import deltalake.

    Raises `UsageError`: it is not installed.
    """
    try:
        import deltalake  # noqa: F401
    except ImportError as error:
        raise UsageError(f"Delta tables need deltalake: {pip_install('lake')}") from error


@contextmanager
def durable(storage: Storage, name: str, handle: Handle | None) -> Iterator[None]:
    """Have the commits in the body, and the files that they add, survive a power failure on a local disk.

    `handle`: the table before, which the body updates; None for a new one.
    """
    before = -1 if handle is None else handle.version()
    yield
    if not storage.is_local:
        return
    folder = Path(storage.url, name)
    for version in range(before + 1, 1 if handle is None else handle.version() + 1):
        commit = folder / "_delta_log" / f"{version:020}.json"
        actions = map(json.loads, commit.read_text(encoding="utf-8").splitlines())
        files = [folder / unquote(action["add"]["path"]) for action in actions if "add" in action]
        for path in (*files, *{file.parent for file in files}, commit, commit.parent):
            if path.exists():  # a compaction may have replaced it, and a vacuum removed it
                sync(path)


def _read(
    storage: Storage, name: str, dataset: Dataset | None, columns: Sequence[str], where: pc.Expression | None
) -> Iterator[pa.RecordBatch]:
    """The rows of a dataset; calls nothing of deltalake, which may be the caller."""
    from pyarrow import dataset as ds

    with storage.opened(name):
        if dataset is None:
            return
        own: list[Fragment] = []
        others: list[Fragment] = []
        for fragment in dataset.get_fragments():
            is_other = where is not None and _has_other_types(fragment, dataset)
            (others if is_other else own).append(fragment)
        make = partial(ds.FileSystemDataset, schema=dataset.schema, format=dataset.format)
        yield from make(own).to_batches(columns=columns, filter=where)
        for batch in make(others).to_batches():
            yield from pa.Table.from_batches([batch]).filter(where).select(columns).to_batches()


def _has_other_types(fragment: Fragment, dataset: Dataset) -> bool:
    """Whether PyArrow cannot compare the limits of columns in a file, since they have other types there."""
    if _OWN_FILE.search(fragment.path):
        return False
    known = fragment.physical_schema
    return any(col.name in known.names and known.field(col.name).type != col.type for col in dataset.schema)


def _action(file: DataFile, limited: Iterable[str] = INDEXED, *, is_new: bool = True) -> AddAction:
    from deltalake.transaction import AddAction

    dates = {} if file.date == "" else {DATE: file.date}
    statistics: dict[str, Any] = {"numRecords": file.rows}
    if file.limits and {*file.limits} == {*limited}.intersection(file.columns.names):
        statistics["minValues"] = {name: least for name, (least, _) in file.limits.items()}
        statistics["maxValues"] = {name: most for name, (_, most) in file.limits.items()}
        statistics["nullCount"] = dict.fromkeys(file.limits, 0)
    path, packed = quote(file.path, safe="/="), json.dumps(statistics, default=str)
    return AddAction(path, file.size, dates, file.modified, is_new, packed)


def _without_limits(columns: pa.Schema) -> WriterProperties:
    """How a merge writes files: texts of its type, a view, have limits that PyArrow cannot compare."""
    from deltalake import ColumnProperties, WriterProperties

    names = [col.name for col in columns if pa.types.is_string(col.type) or pa.types.is_binary(col.type)]
    plain = ColumnProperties(statistics_enabled="NONE")
    return WriterProperties(compression="SNAPPY", column_properties=dict.fromkeys(names, plain))


def _limits_of(columns: pa.Schema, keys: Sequence[str] = ()) -> dict[str, str]:
    """The property that names columns with limits: those of `INDEXED`, and keys of which they are exact."""
    types = [columns.field(key).type for key in keys]
    has_exact = all(pa.types.is_int64(kind) or pa.types.is_date(kind) for kind in types)
    names = [*INDEXED, *(keys if has_exact and all(map(str.isidentifier, keys)) else ())]
    limited = [identifier(name) for name in names if name in columns.names]
    return {_LIMITS_OF: ",".join(limited)} if limited else {}


def _numbered(
    application: str, batch: int, numbers: Mapping[str, int] | None = None, files: Sequence[DataFile] = ()
) -> CommitProperties:
    """What a commit carries. With `numbers`, its rows depend on the table's, so no other may come between.

    The table's history shows `userMetadata`; deltalake counts no rows of `files`, which it has not written.
    With its retries, deltalake would overwrite a table that was compacted meanwhile, and keep the compacted
    rows as well.
    """
    from deltalake.transaction import CommitProperties, Transaction

    others = [Transaction(f"{application}/{name}", number) for name, number in (numbers or {}).items()]
    history: dict[str, int] = {"batch": batch, **(numbers or {})}
    if files:
        history |= {"files": len(files), "rows": sum(file.rows for file in files)}
    return CommitProperties(
        custom_metadata={"userMetadata": json.dumps(history)},
        max_commit_retries=None if numbers is None else 0,
        app_transactions=[Transaction(application, batch), *others],
    )


def _is_of(source: str) -> str:
    """A condition for the rows of a source."""
    return f"{identifier(SOURCE)} = '{source}'"


@contextmanager
def _committing(storage: Storage, name: str, handle: Handle | None) -> Iterator[None]:
    with delta_errors(storage, name), durable(storage, name, handle):
        yield


@contextmanager
def delta_errors(storage: Storage, name: str) -> Iterator[None]:
    """Raise deltalake's errors as those of this package."""
    from deltalake.exceptions import CommitFailedError, DeltaError

    try:
        yield
    except (DeltaError, OSError) as error:
        kind = ConflictError if isinstance(error, CommitFailedError) else SourceError
        raise kind(f"Delta: {storage.text_of(error)}", file=f"{storage.name}/{name}") from error
