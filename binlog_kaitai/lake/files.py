"""Parquet files in the folders of a lake's tables, as tasks write them.

A file has a random name and is in no table until it is committed, so an attempt that fails leaves nothing
that a reader sees.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from binlog_kaitai.arrow import pa, pc, pq
from binlog_kaitai.kernels.groups import distinct_values
from binlog_kaitai.lake import DATE, SOURCE, TIMES
from binlog_kaitai.lake.storage import Storage
from binlog_kaitai.lake.types import merge_columns, schema_in_lake, typed, untaken, with_names, with_source
from binlog_kaitai.rows.change_schemas import SEQUENCE
from binlog_kaitai.sources.disk import sync
from binlog_kaitai.views.parquet_folder import OpenFiles, PartWriter

if TYPE_CHECKING:
    from pyarrow import NativeFile
    from pyarrow.parquet import FileMetaData

#: Hive's name of the partition for NULL, which all readers of its layout understand.
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"

_DAY = 86_400_000_000

#: Columns whose minimum and maximum are in the metadata of tables: no row lacks them, and no table gets them
#: later.
INDEXED = (SOURCE, SEQUENCE)

#: Rows read at a time to write a file again.
_ROWS_AT_ONCE = 1 << 16


@dataclass(frozen=True)
class DataFile:
    """A Parquet file in the folder of a table.

    `table`: the folder of its table in the lake.
    `path`: relative to that folder.
    `date`: its partition; None for rows without a time. Without partitions, "".
    `size`, `rows`: size in bytes, and number of rows.
    `columns`: its columns, as of `lake.types.schema_in_lake`.
    `limits`: minimum and maximum of its columns of `INDEXED`, or of others.
    `modified`: when it was written, in milliseconds since 1970.
    """

    table: str
    path: str
    date: str | None
    size: int
    rows: int
    columns: pa.Schema
    limits: Mapping[str, tuple[Any, Any]]
    modified: int = field(default_factory=lambda: time.time_ns() // 1_000_000)


class SmallFile(NamedTuple):
    """A file of a table that may be joined with others: its size in bytes, and what its format calls it."""

    size: int
    file: Any


class TableFiles:
    """Writes rows to new files of tables.

    `kind`: the format of the tables.
    `columns`: the columns that tables have so far, for those whose types differ from a server's: a column
    that has another type now goes on under another name.
    `has_dates`: divide files by date.
    `source`: in a lake of several sources: the name of the rows' source.
    `files`: the complete files; all of them after :meth:`close`.
    """

    def __init__(
        self,
        storage: Storage,
        kind: str = "delta",
        *,
        columns: Mapping[str, Mapping[str, pa.DataType]] | None = None,
        has_dates: bool = True,
        source: str = "",
    ) -> None:
        self.files: list[DataFile] = []
        self._storage = storage
        self._kind = kind
        self._columns = {name: dict(columns) for name, columns in (columns or {}).items()}
        self._has_dates = has_dates
        self._source = source
        self._open = OpenFiles[tuple[str, str]](lambda name: _Writer(storage, *name, self.files))

    def write(self, table: str, batch: pa.RecordBatch) -> None:
        """Write rows to files of their dates."""
        batch = with_source(untaken(typed(batch), self._kind), self._source)
        known = self._columns.setdefault(table, {})
        batch = with_names(batch, merge_columns(known, schema_in_lake(batch.schema), self._kind))
        parts = by_date(batch, TIMES[table.partition("/")[0]]) if self._has_dates else (("", batch),)
        for day, part in parts:
            self._open.write((table, day), part)

    def close(self) -> None:
        """Write what is buffered, and close all files."""
        self._open.close()


class _Writer(PartWriter):
    """The files of one table and date."""

    def __init__(
        self,
        storage: Storage,
        table: str,
        day: str,
        files: list[DataFile],
        limited: Collection[str] = INDEXED,
    ) -> None:
        super().__init__(Path(table), stores_schema=False)
        self._storage, self._table, self._day, self._files = storage, table, day, files
        self._limited = limited
        self._name = ""
        self._sink: NativeFile | None = None
        self._columns = pa.schema([])

    def write(self, batch: pa.RecordBatch) -> None:
        super().write(batch)
        self._columns = schema_in_lake(batch.schema)

    def open_next(self) -> NativeFile:
        self._name = f"part-{uuid.uuid4().hex}.parquet"
        if self._day:
            self._name = f"{DATE}={self._day}/{self._name}"
        with self._storage.opened(f"{self._table}/{self._name}") as (system, path):
            if self._storage.is_local:
                Path(path).parent.mkdir(parents=True, exist_ok=True)
            self._sink = system.open_output_stream(path)
        return self._sink

    def closed(self, metadata: FileMetaData) -> None:
        assert self._sink is not None
        size = self._sink.tell()
        self._sink.close()
        if self._storage.is_local:
            path = Path(self._storage.url, self._table, self._name)
            sync(path)
            sync(path.parent)
        day = None if self._day == NO_VALUE else self._day
        facts = size, metadata.num_rows, self._columns, _limits(metadata, self._limited)
        self._files.append(DataFile(self._table, self._name, day, *facts))


def moved_in(storage: Storage, table: str, path: Path, day: str | None, source: str = "") -> DataFile:
    """Copy a local file into the folder of a table, with the name of its source if the lake has several."""
    writer = _Writer(storage, table, NO_VALUE if day is None else day, [])
    if source:
        batches = (with_source(batch, source) for batch in pq.ParquetFile(path).iter_batches(_ROWS_AT_ONCE))
        return written(storage, table, writer._day, batches)[0]
    footer = pq.read_metadata(path)
    with path.open("rb") as file:
        sink = writer.open_next()
        while data := file.read(1 << 20):
            sink.write(data)
    writer._columns = schema_in_lake(pq.read_schema(path))
    writer.closed(footer)
    return writer._files[0]


def rewritten(
    storage: Storage, file: DataFile, change: Callable[[pa.RecordBatch], pa.RecordBatch]
) -> DataFile:
    """Write a file again with other columns."""
    with storage.opened(f"{file.table}/{file.path}") as (system, path):
        batches = pq.ParquetFile(path, filesystem=system).iter_batches(_ROWS_AT_ONCE)
        return written(
            storage, file.table, NO_VALUE if file.date is None else file.date, map(change, batches)
        )[0]


def written(
    storage: Storage,
    table: str,
    day: str,
    batches: Iterable[pa.RecordBatch],
    limited: Collection[str] = INDEXED,
) -> list[DataFile]:
    """Write rows of a partition; `limited`: the columns whose minimum and maximum are wanted."""
    files: list[DataFile] = []
    writer = _Writer(storage, table, day, files, limited)
    for batch in batches:
        writer.write(batch)
    writer.close()
    return files


def _limits(metadata: FileMetaData, names: Collection[str]) -> dict[str, tuple[Any, Any]]:
    """Minimum and maximum of some columns that a file has, from its Parquet footer."""
    paths = [metadata.schema.column(index).path for index in range(metadata.num_columns)]
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    limits = {}
    for name in set(names).intersection(paths):
        parts = [group.column(paths.index(name)).statistics for group in groups]
        if parts and all(part is not None and part.has_min_max for part in parts):
            limits[name] = min(part.min for part in parts), max(part.max for part in parts)
    return limits


def by_date(batch: pa.RecordBatch, time: str) -> Iterator[tuple[str, pa.RecordBatch]]:
    """The rows of each UTC date, in batch order; NULL has a partition of its own."""
    if not batch.num_rows:
        return
    numbers = pc.cast(batch.column(time), pa.int64())
    least, most = (bound.as_py() for bound in pc.min_max(numbers).values())
    if not numbers.null_count and least // _DAY == most // _DAY:
        yield _date(least // _DAY), batch
        return
    days = numbers.to_numpy(zero_copy_only=False)
    days = np.where(np.isnan(days), np.nan, days // _DAY) if days.dtype.kind == "f" else days // _DAY
    for day in distinct_values(days).tolist():
        is_of_day = np.isnan(days) if day != day else days == day
        yield _date(day), batch.filter(pa.array(is_of_day))


def _date(day: float) -> str:
    return NO_VALUE if day != day else str(np.datetime64(int(day), "D"))


def rows_by_table(files: Iterable[DataFile]) -> dict[str, int]:
    """The number of rows in files, by table."""
    counts: dict[str, int] = {}
    for file in files:
        counts[file.table] = counts.get(file.table, 0) + file.rows
    return dict(sorted(counts.items()))
