"""Writes a log as a folder of Parquet files: events, transactions, and the changes of each table."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any

from binlog_kaitai.arrow import pa, pq
from binlog_kaitai.errors import writing_to
from binlog_kaitai.rows.log_pages import RowsPage, RowsPages
from binlog_kaitai.rows.table_maps import Table
from binlog_kaitai.views.change_batches import table_batches_of
from binlog_kaitai.views.change_schemas import exported_schema
from binlog_kaitai.views.parquet_encoding import parquet_options, with_one_dictionary

#: Target rows and bytes of a row group; limit for the bytes of all tables waiting to be written.
_GROUP_ROWS, _GROUP_BYTES, _ALL_BYTES = 1 << 19, 32 << 20, 96 << 20

#: Maximum number of open tables; the least recently used one is closed, and continues in a new file.
_MAX_OPEN = 128

#: Characters that are invalid in names on some file systems or in URLs, and the separating dot; percent-
#: encoded.
_UNFIT = re.compile(r'[%./\\:*?#"<>|\x00-\x1f\ud800-\udfff]')

#: Maximum length of a file name in bytes, and length of the digest that replaces the excess.
_LONGEST, _DIGEST = 255, 8


class PartWriter:
    """Consecutive Parquet files of a folder; a new one is started when the columns change.

    Parameters
    ----------
    stores_schema
        Store the Arrow schema in the files, for types that only Arrow has.
    footer
        More entries for the footer of each file.
    encoders
        Threads that encode row groups, one of this writer at a time; by default, the caller's thread does.

    Attributes
    ----------
    rows : int
        Number of rows written or waiting to be written.
    waiting : int
        Size in bytes of the waiting batches.
    """

    def __init__(
        self,
        folder: Path,
        *,
        stores_schema: bool = True,
        footer: Mapping[bytes, Any] | None = None,
        encoders: Executor | None = None,
    ) -> None:
        self.rows = 0
        self.waiting = 0
        self._folder = self._path = folder
        self._stores_schema = stores_schema
        self._footer = footer
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
        self.rows += batch.num_rows
        self.waiting += batch.nbytes
        if self.waiting >= _GROUP_BYTES or sum(one.num_rows for one in self._batches) >= _GROUP_ROWS:
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
            self._path = self._next_path()
            with writing_to(str(self._path)):
                self._writer = pq.ParquetWriter(
                    self._path, table.schema, store_schema=self._stores_schema, **self._options
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
                if self._footer is not None:
                    writer.add_key_value_metadata(self._footer)
                writer.close()

    def _next_path(self) -> Path:
        with writing_to(str(self._folder)):
            self._folder.mkdir(parents=True, exist_ok=True)
        number = 1 + len(list(self._folder.glob("part-*.parquet")))
        return self._folder / f"part-{number:05}.parquet"


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
) -> int:
    """Write record batches of one schema into a folder; returns the number of rows.

    `counts` receives the number by folder name, also if an error is raised. With more than one thread, row
    groups are encoded while the next batches are made.
    """
    with _encoders(threads) as encoders:
        writer = PartWriter(folder, encoders=encoders)
        try:
            for batch in batches:
                writer.write(batch)
        finally:
            writer.close()
            if counts is not None:
                counts[folder.name] = writer.rows
    return writer.rows


def write_changes(
    pages: RowsPages, folder: Path, *, zero_dates: str = "null", counts: dict[str, int] | None = None
) -> dict[str, int]:
    """Write the changes of each table into a folder of its own, ``schema.table``.

    Each file has the columns that the table had at the time; Parquet readers merge the files of a folder by
    column name.

    Returns
    -------
    Number of row images by table; `counts` receives them, also if an error is raised.
    """
    writers: dict[str, PartWriter] = {}
    counts = {} if counts is None else counts
    with _encoders(pages.threads) as encoders:
        try:
            for found in pages.each(partial(_page_batches, zero_dates=zero_dates)):
                if found is None:
                    _bound(writers)
                    continue
                table, batch = found
                name = folder_name(table.key)
                writer = writers.pop(name, None) or PartWriter(folder / name, encoders=encoders)
                writers[name] = writer  # the last entry is the most recently used
                writer.write(batch)
                counts[name] = counts.get(name, 0) + batch.num_rows
        finally:
            for writer in writers.values():
                writer.flush()
            for writer in writers.values():
                writer.close()
    return counts


def _page_batches(page: RowsPage, zero_dates: str) -> Iterator[tuple[Table, pa.RecordBatch] | None]:
    """The batches of a page, table by table, and None at its end."""
    yield from table_batches_of(page, exported_schema, zero_dates)
    yield None


def _bound(writers: dict[str, PartWriter]) -> None:
    if sum(writer.waiting for writer in writers.values()) > _ALL_BYTES:
        for writer in writers.values():
            writer.flush()
    while len(writers) > _MAX_OPEN:
        writers.pop(next(iter(writers))).close()


def folder_name(key: tuple[str, str]) -> str:
    """Folder name of a table, unique for each schema and name.

    A name that is too long is truncated and ends with ``%~`` and a digest, which no other name has.
    """
    name = ".".join(_UNFIT.sub(_quoted, part) for part in key)
    data = name.encode()
    if len(data) <= _LONGEST:
        return name
    end = "%~" + blake2b(data, digest_size=_DIGEST).hexdigest()
    return data[: _LONGEST - len(end)].decode(errors="ignore") + end


def _quoted(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8", "surrogateescape"))
