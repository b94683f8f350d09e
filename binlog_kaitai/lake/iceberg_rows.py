"""Rows of Iceberg tables, read and replaced file by file.

A merge reads the keys of data files whose limits of the key have one of the changed rows, and replaces the
files that have one, each by one file, so that its limits stay narrow. New rows get files of their own.
"""

from __future__ import annotations

import operator
import uuid
from collections.abc import Iterable, Iterator, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from binlog_kaitai.arrow import pa, pc
from binlog_kaitai.lake import SOURCE
from binlog_kaitai.lake.files import INDEXED
from binlog_kaitai.lake.types import as_keys, conform

if TYPE_CHECKING:
    from pyiceberg.manifest import DataFile
    from pyiceberg.schema import Schema
    from pyiceberg.table import DataScan, FileScanTask, Transaction

#: Files to replace, and the rows in their place, which get one file.
Part = tuple[Sequence["FileScanTask"], pa.Table]

#: Bytes of the rows of a new file in memory; PyIceberg divides rows of more than 512 MiB.
_FILE_BYTES = 128 << 20

#: Files of fewer bytes are joined by a merge once there are more of them than this.
_SMALL, _MAX_SMALL = 4 << 20, 8

#: Columns for the numbers of rows; no column of a server has a name that ends with a space.
_ROW, _IMAGE = "_row ", "_image "


def read(scan: DataScan, tasks: Iterable[FileScanTask], columns: pa.Schema) -> Iterator[pa.RecordBatch]:
    """The rows of some data files of a table, without those that other programs have deleted."""
    from pyiceberg.io.pyarrow import ArrowScan

    known = {field.name for field in scan.table_metadata.schema().fields}
    own = scan.select(*(name for name in columns.names if name in known))
    rows = ArrowScan(own.table_metadata, own.io, own.projection(), own.row_filter)
    for task in tasks:  # PyIceberg reads all that it is given ahead
        for batch in rows.to_record_batches([task]):
            yield conform(batch, columns)


def files_with(where: pc.Expression, scan: DataScan, columns: pa.Schema) -> list[FileScanTask]:
    """The data files that may have rows that meet a condition, by their limits of `INDEXED`.

    `columns`: the columns that the condition may be about.
    """
    from pyarrow import dataset as ds
    from pyarrow import fs

    local, parquet, by_path, fragments = fs.LocalFileSystem(), ds.ParquetFileFormat(), {}, []
    limited = pa.schema([column for column in columns if column.name in INDEXED])
    for task in scan.plan_files():
        by_path[task.file.file_path] = task
        within = _within(task.file, scan.table_metadata.schema(), limited)
        fragments.append(parquet.make_fragment(task.file.file_path, local, within))
    files = ds.FileSystemDataset(fragments, columns, parquet, local)  # of which nothing is read
    return [by_path[file.path] for file in files.get_fragments(where)]


def _within(file: DataFile, fields: Schema, columns: pa.Schema) -> pc.Expression:
    """A condition that all rows of a file meet that have no null in some columns: by the limits of these."""
    from pyiceberg.conversions import from_bytes

    known = pc.scalar(True)
    for column in columns:
        field, value = fields.find_field(column.name), pc.field(column.name)
        for limits, compare in ((file.lower_bounds, operator.ge), (file.upper_bounds, operator.le)):
            if (packed := (limits or {}).get(field.field_id)) is not None:
                known &= compare(value, pa.scalar(from_bytes(field.field_type, packed), column.type))
    return known


def merged(scan: DataScan, keys: Sequence[str], rows: pa.Table, is_there: pa.ChunkedArray) -> Iterator[Part]:
    """What a merge replaces.

    `rows`: a row for each key, with all columns of the table.
    `is_there`: whether the table has it then.
    """
    by_key, fields = rows.select(keys), scan.table_metadata.schema()
    there = is_there.to_numpy()
    is_new = there.copy()
    tasks = list(scan.plan_files())
    small = {task.file.file_path for task in tasks if task.file.file_size_in_bytes < _SMALL}
    joined = small if len(small) > _MAX_SMALL else set()
    replaced: list[FileScanTask] = []
    rest: list[pa.Table] = []
    for task in tasks:
        is_joined = task.file.file_path in joined
        if not is_joined and not by_key.filter(_within(task.file, fields, by_key.schema)).num_rows:
            continue
        file_keys = pa.Table.from_batches(read(scan, [task], by_key.schema), by_key.schema)
        places, images = _matches(file_keys, by_key)
        if not (len(places) or is_joined):
            continue
        is_new[images] = False
        stays = np.ones(len(file_keys), dtype=bool)
        stays[places] = False
        whole = pa.Table.from_batches(read(scan, [task], rows.schema), rows.schema)
        left = pa.concat_tables([whole.filter(stays), rows.take(images[there[images]])])
        if is_joined:
            replaced.append(task)
            rest.append(left)
        else:
            yield [task], left
    yield replaced, rows.slice(0, 0)
    rest.append(rows.filter(is_new))
    yield from added(pa.concat_tables(rest).to_batches(max_chunksize=1 << 16))


def _matches(rows: pa.Table, keys: pa.Table) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of rows with one of some keys, and the numbers of these."""
    numbered = as_keys(rows, keys.column_names).append_column(_ROW, pa.array(np.arange(len(rows))))
    wanted = as_keys(keys, keys.column_names).append_column(_IMAGE, pa.array(np.arange(len(keys))))
    joined = numbered.join(wanted, keys.column_names, join_type="inner")
    return joined[_ROW].to_numpy(), joined[_IMAGE].to_numpy()


def of_others(scan: DataScan, source: str, columns: pa.Schema) -> Iterator[Part]:
    """The files with rows of a source, and others' rows in them; `columns`: all columns of the table."""
    is_own = pc.field(SOURCE) == source
    for task in files_with(is_own, scan, columns):
        yield [task], pa.Table.from_batches(read(scan, [task], columns), columns).filter(~is_own)


def added(batches: Iterable[pa.RecordBatch]) -> Iterator[Part]:
    """Rows that get files of their own."""
    from pyiceberg.io.pyarrow import bin_pack_record_batches

    for part in bin_pack_record_batches(batches, _FILE_BYTES):
        yield [], pa.Table.from_batches(part)


def overwrite(transaction: Transaction, parts: Iterable[Part], properties: dict[str, str]) -> None:
    """Replace files in a transaction, by one snapshot with these properties; then the table has them, too."""
    from pyiceberg.io.pyarrow import _dataframe_to_data_files

    io, metadata = transaction._table.io, transaction.table_metadata
    with transaction.update_snapshot(snapshot_properties=properties).overwrite() as snapshot:
        for replaced, rows in parts:
            for task in replaced:
                snapshot.delete_data_file(task.file)
            if rows.num_rows:
                for file in _dataframe_to_data_files(metadata, rows.to_reader(), io):
                    snapshot.append_data_file(file)
    transaction.set_properties(properties)


def replace_files(
    transaction: Transaction,
    scan: DataScan,
    tasks: Sequence[FileScanTask],
    partition: Any,
    columns: pa.Schema,
) -> int:
    """Replace files of a partition, in a snapshot that readers of new rows pass over; returns the number.

    `columns`: all columns of the table.
    """
    from pyiceberg.io.pyarrow import pyarrow_to_schema, write_file
    from pyiceberg.table import WriteTask
    from pyiceberg.table.snapshots import Operation, Summary

    metadata, files = transaction.table_metadata, 0
    schema, spec = metadata.schema(), metadata.spec()
    fields = pyarrow_to_schema(columns, schema.name_mapping, format_version=metadata.format_version)
    # PyIceberg cannot compute the day of a time without its Rust library; the files say which it is.
    day = SimpleNamespace(partition=partition, to_path=lambda: spec.partition_to_path(partition, schema))
    key = None if spec.is_unpartitioned() else day

    def summary(properties: dict[str, str]) -> Summary:
        return Summary(Operation.REPLACE, **overwritten(properties).additional_properties)

    with transaction.update_snapshot().overwrite() as snapshot:
        # PyIceberg has no snapshots of this kind.
        overwritten, snapshot._summary = snapshot._summary, summary
        for _, rows in added(read(scan, tasks, columns)):
            task = WriteTask(uuid.uuid4(), 0, fields, rows.to_batches(), partition_key=key)
            for file in write_file(transaction._table.io, metadata, iter([task])):
                snapshot.append_data_file(file)
                files += 1
        for replaced in tasks:
            snapshot.delete_data_file(replaced.file)
    return files
