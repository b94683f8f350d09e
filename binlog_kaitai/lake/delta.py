"""Delta tables, by deltalake."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from binlog_kaitai.arrow import pa, pc
from binlog_kaitai.errors import SourceError, UsageError
from binlog_kaitai.lake import DATE, SOURCE
from binlog_kaitai.lake.files import DataFile
from binlog_kaitai.lake.lineage import Moves
from binlog_kaitai.lake.storage import Storage
from binlog_kaitai.lake.types import stored_type, with_source, with_source_field
from binlog_kaitai.sources.disk import sync

if TYPE_CHECKING:
    from deltalake import DeltaTable as Handle
    from deltalake.transaction import AddAction, CommitProperties
    from pyarrow.dataset import Dataset

_NEEDED = 'Delta tables need deltalake: pip install "binlog-kaitai[spark]"'

#: A table gets many commits, which every reader reads from the last checkpoint on.
_SETTINGS = {"delta.checkpointInterval": "10"}


class ConflictError(SourceError):
    """Another process changed the table first; what was to be committed must be made anew."""


class DeltaTables:
    """The Delta tables of a lake.

    `application`: numbers the batches.
    `handles`: handles of tables by URL, which several threads may share.
    Raises `UsageError`: deltalake is not installed.
    """

    def __init__(self, storage: Storage, application: str, handles: dict[str, Handle] | None = None) -> None:
        needed_deltalake()
        self._storage = storage
        self._application = application
        self._handles = {} if handles is None else handles

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
        rows: pa.RecordBatchReader,
        batch: int,
        numbers: Mapping[str, int],
        source: str = "",
    ) -> None:
        """Replace the rows and columns of a table, and its `numbers`.

        A table that does not exist is created only if there are rows. In a lake of several sources, the rows
        of one are replaced, and columns are added.

        Raises `ConflictError`: the table was changed meanwhile.
        """
        from deltalake import write_deltalake

        batches: Iterator[pa.RecordBatch] = (with_source(one, source) for one in rows if one.num_rows)
        table = self.open(name)
        if table is None:
            if (first := next(batches, None)) is None:
                return
            batches = chain((first,), batches)
        if self._storage.is_local:
            Path(self._storage.url, name).mkdir(parents=True, exist_ok=True)
        with _committing(self._storage, name, None if table is None else table.handle):
            write_deltalake(
                self._storage.delta_url(name) if table is None else table.handle,
                pa.RecordBatchReader.from_batches(with_source_field(rows.schema, source), batches),
                mode="overwrite",
                schema_mode="merge" if source else "overwrite",
                predicate=_is_of(source) if source and table is not None else None,
                configuration=None if table is not None else _SETTINGS,
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
                configuration=_SETTINGS,
                storage_options=self._storage.delta_options(),
                commit_properties=_numbered(self._application, batch),
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
        return {one.name: stored_type(one.type) for one in fields if one.name != DATE}

    @property
    def batch(self) -> int:
        """The last batch that it has; -1 if it has none of this pipeline."""
        found: int | None = self.handle.transaction_version(self._application)
        return -1 if found is None else found

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
                commit_properties=_numbered(self._application, batch),
            )
            self.handle.update_incremental()

    def describe(self, text: str, beginning: str) -> None:
        """Set the table's description; without a text, only remove one with this beginning."""
        known = self.handle.metadata().description or ""
        if known != text and (text or known.startswith(beginning)):
            with _committing(self._storage, self._name, self.handle):
                self.handle.alter.set_table_description(text)
                self.handle.update_incremental()

    def number(self, name: str) -> int:
        """One of the numbers that were committed with the last batch."""
        found: int | None = self.handle.transaction_version(f"{self._application}/{name}")
        assert found is not None
        return found

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
        conditions = [f"target.{_sql(key)} = source.{_sql(key)}" for key in keys]
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
                commit_properties=_numbered(self._application, batch, numbers),
            )
            values = {_sql(name): f"source.{_sql(name)}" for name in columns.names}
            merge = merge.when_matched_delete(f"NOT source.{_sql(is_there)}").when_matched_update(values)
            merge.when_not_matched_insert(values, f"source.{_sql(is_there)}").execute()

    def _add_columns(self, columns: pa.Schema) -> None:
        from deltalake.schema import Schema

        known = self.columns
        if new := [one for one in columns if one.name not in known]:
            self.handle.alter.add_columns(list(Schema.from_arrow(pa.schema(new)).fields))
            self.handle.update_incremental()

    def batches(
        self, where: pc.Expression | None = None, columns: Sequence[str] | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Its rows that meet a condition, in no particular order, with all or some of these columns."""
        from pyarrow import dataset as ds

        schema = pa.schema(self.handle.schema().to_arrow())
        schema = pa.schema([pa.field(one.name, stored_type(one.type)) for one in schema])
        own = [one for one in schema.names if one != DATE] if columns is None else list(columns)
        paths = [unquote(path) for path in pa.table(self.handle.get_add_actions())["path"].to_pylist()]
        with self._storage.opened(self._name) as (system, folder):
            part = ds.partitioning(pa.schema([pa.field(DATE, pa.date32())]), flavor="hive")
            files = [f"{folder}/{path}" for path in paths]
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
        raise UsageError(_NEEDED) from error


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
        files = [folder / unquote(one["add"]["path"]) for one in actions if "add" in one]
        for path in (*files, *{file.parent for file in files}, commit, commit.parent):
            if path.exists():  # a compaction may have replaced it, and a vacuum removed it
                sync(path)


def _read(
    storage: Storage, name: str, dataset: Dataset | None, columns: Sequence[str], where: pc.Expression | None
) -> Iterator[pa.RecordBatch]:
    """The rows of a dataset; calls nothing of deltalake, which may be the caller."""
    with storage.opened(name):
        yield from () if dataset is None else dataset.to_batches(columns=columns, filter=where)


def _action(file: DataFile) -> AddAction:
    from deltalake.transaction import AddAction

    dates = {} if file.date == "" else {DATE: file.date}
    return AddAction(quote(file.path, safe="/="), file.size, dates, file.modified, True, file.statistics)


def _numbered(application: str, batch: int, numbers: Mapping[str, int] | None = None) -> CommitProperties:
    """What a commit carries. With `numbers`, its rows depend on the table's, so no other may come between.

    With its retries, deltalake would overwrite a table that was compacted meanwhile, and keep the compacted
    rows as well.
    """
    from deltalake.transaction import CommitProperties, Transaction

    others = [Transaction(f"{application}/{name}", one) for name, one in (numbers or {}).items()]
    retries = None if numbers is None else 0
    return CommitProperties(
        max_commit_retries=retries, app_transactions=[Transaction(application, batch), *others]
    )


def _sql(name: str) -> str:
    """A column in an expression."""
    return "`" + name.replace("`", "``") + "`"


def _is_of(source: str) -> str:
    """A condition for the rows of a source."""
    return f"{_sql(SOURCE)} = '{source}'"


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
