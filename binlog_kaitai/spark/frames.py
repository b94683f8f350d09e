"""DataFrames that read only the selected columns and rows.

Spark does not pass the columns and conditions of a query to Python sources. So they are arguments here: each
call creates its own source, which can skip the others.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from pyspark.sql.types import StructType

from binlog_kaitai.arrow import pc
from binlog_kaitai.errors import UsageError
from binlog_kaitai.spark.batch import columns_of_table
from binlog_kaitai.spark.reader_options import ReadOptions, as_text
from binlog_kaitai.spark.registration import register
from binlog_kaitai.spark.schemas import arrow_schema
from binlog_kaitai.views.row_conditions import Where

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def read(
    spark: SparkSession,
    source: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    table: str,
    columns: Sequence[str] | None = None,
    where: pc.Expression | None = None,
    **options: str | int | bool,
) -> DataFrame:
    """The changes of a table, reading only some columns and rows.

    Parameters
    ----------
    spark
        The session; the source need not be registered.
    source
        A path, URL, glob, directory or index file, or several.
    table
        ``schema.table``.
    columns
        Names of the columns to read, in the desired order and in any case; all by default. The values of
        other columns are not read, so damage in them is not detected.
    where
        A condition on the columns, selected or not, such as ``pc.field("id") == 42`` (`pyarrow.compute`);
        only rows that meet it are returned. Each image of an update is a row, kept or dropped independently
        of the other. Of other rows, only the columns in the condition are read. In mode PERMISSIVE, rows that
        report damage are always kept.
    options
        Of ``spark.read.format("binlog")``, such as ``splitSize="64m"``.

    Raises
    ------
    UsageError
        There is no such column, or `where` is not a valid condition on the columns.
    """
    register(spark)
    paths = paths_of(source)
    reader = spark.read.format("binlog").options(**options).option("table", table)
    whole = reader.load(paths).schema
    if where is not None:
        known = ReadOptions.parse({**texts_of(options), "table": table, "paths": json.dumps(paths)})
        condition = Where.of(where, columns_of_table(arrow_schema(whole), known.corrupt_column))
        reader = reader.option("where", as_text(condition))
    return reader.schema(_chosen(whole, columns)).load(paths)


def paths_of(source: str | os.PathLike[str] | Iterable[str | os.PathLike[str]]) -> list[str]:
    """The paths given by a caller, as for the option `paths`."""
    if isinstance(source, str | os.PathLike):
        return [os.fspath(source)]
    return [os.fspath(path) for path in source]


def texts_of(options: dict[str, Any]) -> dict[str, str]:
    """Options as Spark has them."""
    return {name: str(value) for name, value in options.items()}


def _chosen(whole: StructType, names: Sequence[str] | None) -> StructType:
    if names is None:
        return whole
    fields = {field.name.lower(): field for field in whole.fields}
    for name in names:
        if name.lower() not in fields:
            raise UsageError(f"column {name!r} not found; available: {', '.join(whole.names)}")
    return StructType([fields[name.lower()] for name in names])
