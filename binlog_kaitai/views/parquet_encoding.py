"""Chooses Parquet encodings for the columns of a table by sampling its first rows.

Only features that every Parquet reader supports are used: version 1 data pages, plain and dictionary
encoding. Columns that would outgrow their dictionary get none: building a dictionary is the largest part of
the writer's work, and an abandoned one stays in the file.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from binlog_kaitai.arrow import pa, pc

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
    for at, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type) and field.name in options["use_dictionary"]:
            table = table.set_column(at, field, table.column(at).unify_dictionaries())
    return table


def _pays(distinct: float, width: float, rows: int) -> bool:
    return _ROWS_OF_VALUE * distinct <= rows and distinct * width <= _DICTIONARY_BYTES


def _width(column: pa.ChunkedArray) -> float:
    """Average size of a value in bytes."""
    if pa.types.is_dictionary(column.type):
        values = [chunk.dictionary for chunk in column.chunks]
        size, count = sum(one.nbytes for one in values), sum(map(len, values))
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
