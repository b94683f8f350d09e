"""The rows of a lake's files, with the batch and the piece that they come from.

The names of files that a batch wrote contain both. The footers of compacted files state both for ranges of
rows; Spark provides the file of a row and its number in it. To join rows with ranges by equal numbers, a
range has an entry for each block of rows that it overlaps: there are about two entries per range.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from pathlib import Path

import numpy as np
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.types import StructType

from binlog_kaitai.arrow import pa, pq
from binlog_kaitai.lake.lineage import Lineage, Place, Segment
from binlog_kaitai.lake.origins import is_compacted, opened_parquet, origins_of
from binlog_kaitai.spark.images import quoted
from binlog_kaitai.spark.schemas import spark_schema

#: The origin of a row; no column of a server has such a name.
BATCH, PIECE = "_batch ", "_piece "

#: Of a row, and of a range.
_OWN_FILE, _NUMBER = "_own_file ", "_number "
_FILE, _BLOCK, _FIRST, _END = "_in_file ", "_in_block ", "_first ", "_end "

#: The characters of a compacted file's name that identify it, as many hexadecimal digits as fit into a long.
_ID = r"-([0-9a-f]{15})[0-9a-f]{17}\.parquet$"
_ID_START, _ID_DIGITS = -len("0" * 32 + ".parquet"), 15

#: Size in bytes up to which the ranges are sent to each executor.
_MAX_BROADCAST = 128 << 20


def lake_rows(spark: SparkSession, paths: Sequence[str]) -> DataFrame:
    """The rows of files with the same columns, with their batch and piece."""
    compacted = [path for path in paths if is_compacted(Path(path).name)]
    written = [path for path in paths if not is_compacted(Path(path).name)]
    parts = []
    if written:
        pattern = r"part-(\d+)-(\d+)-"
        batch, piece = (f.regexp_extract("_metadata.file_name", pattern, at).cast("long") for at in (1, 2))
        parts.append(_read(spark, written).select("*", batch.alias(BATCH), piece.alias(PIECE)))
    if compacted:
        parts.append(_compacted_rows(spark, compacted))
    return reduce(DataFrame.union, parts)


def _compacted_rows(spark: SparkSession, paths: Sequence[str]) -> DataFrame:
    ranges, size = _ranges(paths)
    entries = spark.createDataFrame(ranges)
    if ranges.nbytes <= _MAX_BROADCAST:
        entries = f.broadcast(entries)
    rows = _read(spark, paths)
    own = [quoted(name) for name in rows.columns]
    number = f.col("_metadata.row_index")
    rows = rows.select("*", _file_id().alias(_OWN_FILE), number.alias(_NUMBER))
    block = quoted(_NUMBER) - quoted(_NUMBER) % size
    is_in_block = (quoted(_OWN_FILE) == quoted(_FILE)) & (block == quoted(_BLOCK))
    is_in_range = (quoted(_NUMBER) >= quoted(_FIRST)) & (quoted(_NUMBER) < quoted(_END))
    return rows.join(entries, is_in_block & is_in_range).select(*own, quoted(BATCH), quoted(PIECE))


def _file_id() -> Column:
    digits = f.regexp_extract("_metadata.file_name", _ID, 1)
    return f.conv(digits, 16, 10).cast("long")


def _ranges(paths: Sequence[str]) -> tuple[pa.Table, int]:
    """The ranges of row numbers by file and block, and the number of rows in a block."""
    files, firsts, ends, batches, pieces = [], [], [], [], []
    for path in map(Path, paths):
        with opened_parquet(path) as file:
            origins = origins_of(path, file.metadata)
        bounds = np.cumsum([0, *(one.rows for one in origins)])
        files.append(np.full(len(origins), int(path.name[_ID_START:][:_ID_DIGITS], 16)))
        firsts.append(bounds[:-1])
        ends.append(bounds[1:])
        batches.append(np.array([one.batch for one in origins]))
        pieces.append(np.array([one.piece for one in origins]))
    first, end = np.concatenate(firsts), np.concatenate(ends)
    size = max(1, int((end - first).sum()) // len(first))
    counts = (end - 1) // size - first // size + 1
    at = np.repeat(np.arange(len(first)), counts)
    in_range = np.arange(len(at)) - np.repeat(np.cumsum(counts) - counts, counts)
    columns = {
        _FILE: np.concatenate(files)[at],
        _BLOCK: (first[at] // size + in_range) * size,
        _FIRST: first[at],
        _END: end[at],
        BATCH: np.concatenate(batches)[at],
        PIECE: np.concatenate(pieces)[at],
    }
    return pa.table({name: column.astype(np.int64) for name, column in columns.items()}), size


def _read(spark: SparkSession, paths: Sequence[str]) -> DataFrame:
    return spark.read.schema(_columns_of(paths[0])).parquet(*paths)


def _columns_of(path: str) -> StructType:
    """The columns of a file, for which Spark would start a job; durations are numbers in Spark."""
    fields = pq.read_schema(path)
    kinds = ((one.name, pa.int64() if pa.types.is_duration(one.type) else one.type) for one in fields)
    return spark_schema(pa.schema(list(kinds)))


def by_schema(paths: Iterable[Path]) -> list[list[str]]:
    """Parquet files grouped by their columns, since Spark can only read files of equal columns together."""
    groups: dict[bytes, list[str]] = {}
    for path in sorted(paths):
        schema = pq.read_schema(path).remove_metadata()
        groups.setdefault(schema.serialize().to_pybytes(), []).append(str(path))
    return list(groups.values())


def is_of_segment(place: Column, segment: Segment, lineage: Lineage) -> Column:
    """Whether a change is one of a segment and was not rolled back; `place` has the fields of `Place`."""
    found = f.lit(True)
    if segment.after is not None:
        found &= place > place_literal(segment.after)
    if segment.before is not None:
        found &= place < place_literal(segment.before)
    for first, last in lineage.undone:
        found &= ~place.between(place_literal(first), place_literal(last))
    return found


def place_literal(place: Place) -> Column:
    """A place as a constant, to compare with those of changes."""
    return f.struct(*(f.lit(number).cast("long") for number in place))
