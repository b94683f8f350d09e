"""How the columns of a table are written as Parquet, by a look at its first rows.

Only what every reader of Parquet knows is used: pages of the first version, values plain or by a dictionary.
A dictionary is tried for no column that would outgrow it: trying is the largest part of a writer's work, and
the file is larger for it, since the dictionary that was begun stays in it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from binlog_kaitai.arrow import pa, pc

#: Rows that are looked at, evenly spread.
_SAMPLE = 1 << 12

#: A dictionary has at most one value for so many rows, and so many bytes, behind which Parquet gives it up.
_ROWS_OF_VALUE, _DICTIONARY_BYTES = 8, 1 << 20

#: Of texts that are longer on the average, in bytes, the least and the greatest are of no use to readers.
_LONG = 64

#: Bytes of a page; values that are encoded between two looks at the size of a page.
_PAGE, _LEAST_VALUES, _MOST_VALUES = 1 << 20, 64, 1 << 14

#: Pages are counted by bytes alone: zstd finds more in larger ones.
_PAGE_ROWS = 1 << 20

#: Their texts do not stand in the order of what they mean.
_UNORDERED = {"_gtid"}


def parquet_options(table: pa.Table) -> dict[str, Any]:
    """What `pyarrow.parquet.ParquetWriter` is to be told for a table that begins with these rows."""
    offsets = pa.array(np.arange(0, len(table), max(1, len(table) // _SAMPLE)))
    with_dictionary, with_statistics, widest = set(), set(), 1.0
    for name, column in zip(table.column_names, table.columns, strict=True):
        width = _width(column)
        widest = max(widest, width)
        # Values that are longer than a dictionary are not looked at.
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
    """The table, with one dictionary for all batches in columns that are written with one.

    Where dictionaries differ, Parquet writes the values of all batches but the first plainly.
    """
    for at, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type) and field.name in options["use_dictionary"]:
            table = table.set_column(at, field, table.column(at).unify_dictionaries())
    return table


def _pays(distinct: float, width: float, rows: int) -> bool:
    return _ROWS_OF_VALUE * distinct <= rows and distinct * width <= _DICTIONARY_BYTES


def _width(column: pa.ChunkedArray) -> float:
    """Bytes of a value, on the average."""
    if pa.types.is_dictionary(column.type):
        values = [chunk.dictionary for chunk in column.chunks]
        size, count = sum(one.nbytes for one in values), sum(map(len, values))
    else:
        size, count = column.nbytes, len(column)
    return float(size / max(count, 1))


def _distinct(column: pa.ChunkedArray, offsets: pa.Array) -> float:
    """How many distinct values the column has, about."""
    if pa.types.is_dictionary(column.type):
        return sum(len(chunk.dictionary) for chunk in column.chunks)
    try:
        counts = pc.value_counts(column.take(offsets)).field("counts").to_numpy()
    except pa.ArrowNotImplementedError:  # lists
        return len(column)
    # Chao's estimate: those that were met once only, and twice, tell how many were not met.
    once, twice = int((counts == 1).sum()), int((counts == 2).sum())
    return len(counts) + once * (once - 1) / (2 * (twice + 1))
