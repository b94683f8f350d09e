"""The changes of a table as Parquet files, written by Arrow inside the tasks.

Rows do not pass through Spark: a task writes the files of one split into a staging folder and reports their
names. The driver then moves the files of successful tasks into one folder and renames it, so readers see all
files or none, and no files of failed attempts.
"""

from __future__ import annotations

import json
import os
import shutil
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from binlog_kaitai.arrow import pa, pq
from binlog_kaitai.errors import SourceError, UsageError
from binlog_kaitai.lake import DATE, TIMES
from binlog_kaitai.lake.files import NO_VALUE, by_date
from binlog_kaitai.pipeline.spark_session import register_source
from binlog_kaitai.rows.arrow_types import cast
from binlog_kaitai.sources.keys import use
from binlog_kaitai.sources.remote import is_url, public
from binlog_kaitai.spark.batch import BinlogReader
from binlog_kaitai.spark.frames import paths_of, texts_of
from binlog_kaitai.spark.infer import table_columns
from binlog_kaitai.spark.reader_options import TABLE, ReadOptions
from binlog_kaitai.views.parquet_folder import OpenFiles, PartWriter
from binlog_kaitai.views.row_conditions import chosen_columns

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_FORMAT = "binlog_parquet"

#: The maximum number of digits of decimals that readers of Parquet support.
_MAX_DIGITS = 38


def write_parquet(
    spark: SparkSession,
    source: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    path: str | os.PathLike[str],
    *,
    table: str,
    columns: Sequence[str] | None = None,
    partition_by: str | Sequence[str] = (),
    **options: str | int | bool,
) -> int:
    """Write the changes of a table as Parquet files, without passing rows through Spark.

    Parameters
    ----------
    spark
        The session, on whose executors the logs are read.
    source
        A path, URL, glob, directory or index file, or several.
    path
        A new or empty folder, in a file system that driver and executors see under this name.
    table
        ``schema.table``.
    columns
        Names of the columns to write, in the desired order; all by default.
    partition_by
        Columns of the table whose values become folders (``status=open/``), or ``log_date``: the day of the
        commit, in UTC.
    options
        Of ``spark.read.format("binlog")``, such as ``splitSize="64m"``.

    Returns
    -------
    The number of rows.

    Raises
    ------
    UsageError
        The folder is not empty, a column does not exist, or an option is invalid.
    """
    raw = {**texts_of(options), "table": table, "paths": json.dumps(paths_of(source))}
    names = [partition_by] if isinstance(partition_by, str) else list(partition_by)
    _check(ReadOptions.parse(raw), path)
    if hidden := [name for name in names if name.startswith(("_", "."))]:
        raise UsageError(f"partition_by {hidden[0]}: readers skip folders whose names begin so; use log_date")
    target = Path(path).absolute()
    staging = target.parent / f".{target.name}.{uuid.uuid4().hex}"
    job = {"options": raw, "columns": columns, "by": names, "staging": str(staging)}
    register_source(spark, _ParquetDataSource)
    try:
        rows = spark.read.format(_FORMAT).option("job", json.dumps(job)).load().collect()
        return _commit([json.loads(row["piece"]) for row in rows], staging, target)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _check(options: ReadOptions, path: str | os.PathLike[str]) -> None:
    if options.view != TABLE:
        raise UsageError("write_parquet writes the changes of one table; leave out the option view")
    if options.mode == "PERMISSIVE" or options.where is not None:
        raise UsageError("write_parquet has no mode PERMISSIVE and no where")
    if is_url(os.fspath(path)):
        reason = "is a URL; write_parquet needs a folder that can be renamed at once"
        raise UsageError(f"{public(os.fspath(path))} {reason}")
    if os.path.exists(path) and (not os.path.isdir(path) or os.listdir(path)):
        raise UsageError(f"{path} is not a new or empty folder")


def _commit(pieces: list[dict[str, Any]], staging: Path, target: Path) -> int:
    """Move the files of all tasks into the target atomically."""
    whole, rows = staging / "whole", 0
    whole.mkdir(parents=True, exist_ok=True)
    for piece in sorted(pieces, key=lambda piece: int(piece["number"])):
        counts: dict[str, int] = {}
        for file, count in sorted(piece["files"].items()):
            folder = os.path.dirname(file)
            counts[folder] = counts.get(folder, 0) + 1
            (whole / folder).mkdir(parents=True, exist_ok=True)
            name = f"part-{piece['number']:05}-{counts[folder]:04}.parquet"
            (Path(piece["folder"]) / file).rename(whole / folder / name)
            rows += count
    try:
        whole.rename(target)
    except OSError as error:
        raise SourceError(f"cannot be written: {error.strerror}", file=str(target)) from error
    return rows


class _ParquetDataSource(DataSource):
    """A row for each split, once its files are written."""

    @classmethod
    def name(cls) -> str:
        return _FORMAT

    def schema(self) -> str:
        return "piece string"

    def reader(self, schema: StructType) -> DataSourceReader:
        return _ParquetReader(json.loads(self.options["job"]))


class _ParquetReader(DataSourceReader):
    def __init__(self, job: Mapping[str, Any]) -> None:
        self._options = options = ReadOptions.parse(job["options"])
        self._staging, self._by = job["staging"], tuple(job["by"])
        use(options.keys)
        self._whole = table_columns(options)
        for name in self._by:
            if name != DATE:
                chosen_columns(self._whole, [name])
        self._chosen = chosen_columns(self._whole, job["columns"]).names
        if not [name for name in self._chosen if name not in self._by]:
            raise UsageError("no column is left to write: all are in partition_by")
        self._reader = BinlogReader(options, StructType())

    def partitions(self) -> Sequence[InputPartition]:
        return [InputPartition(numbered) for numbered in enumerate(self._reader.partitions())]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        if partition.value is None:  # there is nothing to read
            return
        number, split = partition.value
        folder = Path(self._staging) / uuid.uuid4().hex
        names = [
            *dict.fromkeys((*self._chosen, *(name for name in (*self._by, TIMES["changes"]) if name != DATE)))
        ]
        wanted = pa.schema([self._whole.field(name) for name in names])
        files = OpenFiles[str](lambda key: PartWriter(folder / key))
        try:
            for batch in self._reader.batches(split, wanted):
                for key, part in self._divided(batch, self._by):
                    own = [name for name in self._chosen if name not in self._by]
                    files.write(key, _readable(part.select(own)))
        finally:
            files.close()
        paths = sorted(folder.rglob("*.parquet"))
        rows = {path.relative_to(folder).as_posix(): pq.read_metadata(path).num_rows for path in paths}
        piece = {"number": number, "folder": str(folder), "files": rows}
        yield pa.RecordBatch.from_pydict({"piece": [json.dumps(piece)]})

    def _divided(self, batch: pa.RecordBatch, names: Sequence[str]) -> Iterator[tuple[str, pa.RecordBatch]]:
        """The rows of each folder, with its name."""
        if not names:
            yield "", batch
            return
        for value, part in _parts(batch, names[0]):
            folder = f"{quote(names[0], safe='')}={value}"
            for rest, rows in self._divided(part, names[1:]):
                yield os.path.join(folder, rest), rows


def _readable(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The batch with decimals as text that have more digits than readers of Parquet support."""
    for index, field in enumerate(batch.schema):
        if pa.types.is_decimal(field.type) and field.type.precision > _MAX_DIGITS:
            text = cast(batch.column(index), pa.string())
            batch = batch.set_column(index, field.with_type(pa.string()), text)
    return batch


def _parts(batch: pa.RecordBatch, name: str) -> Iterator[tuple[str, pa.RecordBatch]]:
    """The rows of each value of a column, in batch order, with the value as in folder names."""
    if name == DATE:
        yield from by_date(batch, TIMES["changes"])
        return
    column = batch.column(name)
    codes = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    numbers = codes.indices.fill_null(-1).to_numpy()
    texts = codes.dictionary.cast(pa.string()).to_pylist()
    for number in np.unique(numbers).tolist():
        text = None if number < 0 else texts[number]
        part = (
            batch if len(texts) == 1 and codes.null_count == 0 else batch.filter(pa.array(numbers == number))
        )
        yield NO_VALUE if text is None else quote(text, safe=" ") or NO_VALUE, part
