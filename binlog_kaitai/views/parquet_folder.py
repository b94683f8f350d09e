"""Writes a log as a folder of Parquet files: events, transactions, and the changes of each table."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np

from binlog_kaitai.arrow import pa, pc, pq
from binlog_kaitai.errors import writing_to
from binlog_kaitai.rows.change_schemas import exported_schema
from binlog_kaitai.rows.log_pages import RowsPage, RowsPages
from binlog_kaitai.rows.row_masks import NO_MASKS, Masks
from binlog_kaitai.rows.table_maps import Table
from binlog_kaitai.views.change_batches import table_batches_of

#: Number of rows in the sample, evenly spaced.
_SAMPLE = 1 << 12

#: Minimum number of rows per dictionary entry, and size in bytes at which Parquet abandons a dictionary.
_ROWS_OF_VALUE, _DICTIONARY_BYTES = 8, 1 << 20

#: Average length of texts, in bytes, above which minimum and maximum are of no use to readers.
_LONG = 64

#: Page size in bytes, and number of values encoded between two checks of the page size.
_PAGE, _LEAST_VALUES, _MOST_VALUES = 1 << 20, 64, 1 << 14

#: Pages are limited by bytes alone, because zstd compresses larger pages better.
_PAGE_ROWS = 1 << 20

#: Types whose values as text do not sort by meaning.
_UNORDERED = {"_gtid"}


def parquet_options(table: pa.Table) -> dict[str, Any]:
    """Options of `pyarrow.parquet.ParquetWriter` for a table that begins with these rows."""
    offsets = pa.array(np.arange(0, len(table), max(1, len(table) // _SAMPLE)))
    with_dictionary, with_statistics, widest = set(), set(), 1.0
    for name, column in zip(table.column_names, table.columns, strict=True):
        width = _width(column)
        widest = max(widest, width)
        # Values longer than a dictionary are not sampled.
        if width <= _DICTIONARY_BYTES and _pays(_distinct(column, offsets), width, len(table)):
            with_dictionary.add(name)
        if name not in _UNORDERED and (width <= _LONG or pa.types.is_dictionary(column.type)):
            with_statistics.add(name)
    return {
        "compression": "zstd",
        "use_dictionary": sorted(with_dictionary),
        "write_statistics": sorted(with_statistics),
        "data_page_size": _PAGE,
        "max_rows_per_page": _PAGE_ROWS,
        "write_batch_size": min(max(int(_PAGE / widest), _LEAST_VALUES), _MOST_VALUES),
        "dictionary_pagesize_limit": _DICTIONARY_BYTES,
    }


def with_one_dictionary(table: pa.Table, options: dict[str, Any]) -> pa.Table:
    """The table with a single dictionary across batches, for dictionary-encoded columns.

    If dictionaries differ between batches, Parquet writes the values of all but the first batch as plain.
    """
    for index, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type) and field.name in options["use_dictionary"]:
            table = table.set_column(index, field, table.column(index).unify_dictionaries())
    return table


def _pays(distinct: float, width: float, rows: int) -> bool:
    return _ROWS_OF_VALUE * distinct <= rows and distinct * width <= _DICTIONARY_BYTES


def _width(column: pa.ChunkedArray) -> float:
    """Average size of a value in bytes."""
    if pa.types.is_dictionary(column.type):
        values = [chunk.dictionary for chunk in column.chunks]
        size, count = sum(value.nbytes for value in values), sum(map(len, values))
    else:
        size, count = column.nbytes, len(column)
    return float(size / max(count, 1))


def _distinct(column: pa.ChunkedArray, offsets: pa.Array) -> float:
    """Approximate number of distinct values in the column."""
    if pa.types.is_dictionary(column.type):
        return sum(len(chunk.dictionary) for chunk in column.chunks)
    try:
        counts = pc.value_counts(column.take(offsets)).field("counts").to_numpy()
    except pa.ArrowNotImplementedError:  # lists
        return len(column)
    # Chao's estimate: the numbers of values seen once and twice indicate how many were not seen.
    once, twice = int((counts == 1).sum()), int((counts == 2).sum())
    return len(counts) + once * (once - 1) / (2 * (twice + 1))


#: Target rows and bytes of a row group; limit for the bytes of all tables waiting to be written.
_GROUP_ROWS, _GROUP_BYTES, _ALL_BYTES = 1 << 19, 32 << 20, 96 << 20

#: Maximum number of open tables; the least recently used one is closed, and continues in a new file.
_MAX_OPEN = 128

#: Characters that are invalid in names on some file systems or in URLs, and the separating dot; percent-
#: encoded.
_UNFIT = re.compile(r'[%./\\:*?#"<>|\x00-\x1f\ud800-\udfff]')

#: Maximum length of a file name in bytes, and length of the digest that replaces the excess.
_LONGEST, _DIGEST = 255, 8

Name = TypeVar("Name", bound=Hashable)


class PartWriter:
    """Consecutive Parquet files of a folder; a new one is started when the columns change.

    `stores_schema`: store the Arrow schema in the files, for types that only Arrow has.
    `encoders`: threads that encode row groups, one of this writer at a time; by default, the caller's thread
    does.
    `waiting`: size in bytes of the waiting batches.
    """

    def __init__(
        self,
        folder: Path,
        *,
        stores_schema: bool = True,
        encoders: Executor | None = None,
    ) -> None:
        self.waiting = 0
        self._folder = self._path = folder
        self._stores_schema = stores_schema
        self._encoders = encoders
        self._encoding: Future[None] | None = None
        self._batches: list[pa.RecordBatch] = []
        self._writer: pq.ParquetWriter | None = None
        self._schema: pa.Schema | None = None
        self._options: dict[str, Any] = {}

    def write(self, batch: pa.RecordBatch) -> None:
        """Add a batch, to be written with others."""
        if self._schema is not None and batch.schema != self._schema:
            self.close()
        self._schema = batch.schema
        self._batches.append(batch)
        self.waiting += batch.nbytes
        if self.waiting >= _GROUP_BYTES or sum(batch.num_rows for batch in self._batches) >= _GROUP_ROWS:
            self.flush()

    def flush(self) -> None:
        """Write the waiting batches as a row group."""
        if not self._batches:
            return
        batches, self._batches, self.waiting = self._batches, [], 0
        if self._encoders is None:
            self._write_group(batches)
        else:
            self._finish_group()
            self._encoding = self._encoders.submit(self._write_group, batches)

    def _finish_group(self) -> None:
        """Wait for the row group that is being written."""
        encoding, self._encoding = self._encoding, None
        if encoding is not None:
            encoding.result()

    def _write_group(self, batches: list[pa.RecordBatch]) -> None:
        table = pa.Table.from_batches(batches)
        if self._writer is None:
            self._options = parquet_options(table)
            with writing_to(str(self._folder)):
                self._writer = pq.ParquetWriter(
                    self.open_next(), table.schema, store_schema=self._stores_schema, **self._options
                )
        with writing_to(str(self._path)):
            self._writer.write_table(with_one_dictionary(table, self._options), row_group_size=_GROUP_ROWS)

    def close(self) -> None:
        """Write the waiting batches and close the file."""
        self.flush()
        self._finish_group()
        if self._writer is not None:
            writer, self._writer = self._writer, None
            with writing_to(str(self._path)):
                writer.close()
                self.closed(writer.writer.metadata)

    def open_next(self) -> Path | pa.NativeFile:
        """Where to write the next file: its path, or a stream."""
        self._folder.mkdir(parents=True, exist_ok=True)
        number = 1 + len(list(self._folder.glob("part-*.parquet")))
        self._path = self._folder / f"part-{number:05}.parquet"
        return self._path

    def closed(self, metadata: pq.FileMetaData) -> None:
        """Called with the Parquet footer of each file that is complete."""


class OpenFiles(Generic[Name]):
    """Files that are written side by side, in bounded memory.

    `begin`: returns the writer for a name.
    """

    def __init__(self, begin: Callable[[Name], PartWriter]) -> None:
        self._begin = begin
        self._writers: dict[Name, PartWriter] = {}

    def write(self, name: Name, batch: pa.RecordBatch) -> None:
        """Write rows to the file of a name."""
        writer = self._writers.pop(name, None) or self._begin(name)
        self._writers[name] = writer  # the last entry is the most recently used
        writer.write(batch)
        if sum(writer.waiting for writer in self._writers.values()) > _ALL_BYTES:
            self._flush()
        while len(self._writers) > _MAX_OPEN:
            self._writers.pop(next(iter(self._writers))).close()

    def _flush(self) -> None:
        for writer in self._writers.values():
            writer.flush()

    def close(self) -> None:
        """Write what is buffered, and close all files."""
        self._flush()  # of all, so that threads encode them side by side
        for writer in self._writers.values():
            writer.close()
        self._writers.clear()


@contextmanager
def _encoders(threads: int) -> Iterator[Executor | None]:
    """Threads that encode row groups; with a single thread, none in addition to the caller's."""
    if threads == 1:
        yield None
        return
    with ThreadPoolExecutor(threads, thread_name_prefix="binlog-kaitai-encode") as encoders:
        yield encoders


def write_view(
    batches: Iterable[pa.RecordBatch], folder: Path, counts: dict[str, int] | None = None, *, threads: int = 1
) -> None:
    """Write record batches of one schema into a folder.

    `counts` receives the number of rows by folder name, also if an error is raised. With more than one
    thread, row groups are encoded while the next batches are made.
    """
    counts = {} if counts is None else counts
    counts[folder.name] = 0
    _write(((folder.name, batch) for batch in batches), folder.parent, counts, threads)


def write_changes(
    pages: RowsPages,
    folder: Path,
    *,
    zero_dates: str = "null",
    bit1_as_boolean: bool = False,
    masks: Masks = NO_MASKS,
    counts: dict[str, int] | None = None,
) -> None:
    """Write the changes of each table into a folder of its own, ``schema.table``.

    Each file has the columns that the table had at the time; Parquet readers merge the files of a folder by
    column name.

    `masks`: columns to mask, or to leave out. Rules that are about none of the tables get a `FilterWarning`.
    `counts` receives the number of row images by table, also if an error is raised.
    """
    seen: set[str] = set()
    exported = partial(exported_schema, zero_dates=zero_dates, bit1_as_boolean=bit1_as_boolean)

    def schema_of(table: Table) -> pa.Schema:
        whole = exported(table)
        seen.add(table.schema.full_name)
        return masks.readable(table.schema, whole, zero_dates) if masks else whole

    def batches_of(page: RowsPage) -> Iterator[tuple[str, pa.RecordBatch]]:
        for table, batch in table_batches_of(page, schema_of, zero_dates):
            if masks:
                batch = masks.applied(table.schema, batch, masks.schema([table.schema], exported(table)))
            yield folder_name(table.key), batch

    _write(pages.each(batches_of), folder, {} if counts is None else counts, pages.threads)
    masks.warn_unseen(seen)


def _write(
    batches: Iterable[tuple[str, pa.RecordBatch]], folder: Path, counts: dict[str, int], threads: int
) -> None:
    """Write record batches into the folders of their names, and count their rows."""
    with _encoders(threads) as encoders:
        files = OpenFiles[str](lambda name: PartWriter(folder / name, encoders=encoders))
        try:
            for name, batch in batches:
                files.write(name, batch)
                counts[name] = counts.get(name, 0) + batch.num_rows
        finally:
            files.close()


def folder_name(key: tuple[str, str]) -> str:
    """Folder name of a table, unique for each schema and name.

    A name that is too long is truncated and ends with ``%~`` and a digest, which no other name has.
    """
    name = ".".join(_UNFIT.sub(_quoted, part) or "%" for part in key)
    data = name.encode()
    if len(data) <= _LONGEST:
        return name
    end = "%~" + blake2b(data, digest_size=_DIGEST).hexdigest()
    return data[: _LONGEST - len(end)].decode(errors="ignore") + end


def _quoted(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in match[0].encode("utf-8", "surrogateescape"))
