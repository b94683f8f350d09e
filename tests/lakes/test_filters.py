"""Other readers of a lake find each row by each of its values, before and after merges and compaction."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable

from tests.lake.lakes import catalog, opened, rows, table
from tests.lake.test_state import run
from tests.lake.typed_keys import LOGS, TABLES, Reader, lakes, misses

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.lakes


#: A query of Spark takes long.
OF_SPARK = ("bigint", "dec38", "stamps", "texts", "ubigint")


def by_duckdb(handle: DeltaTable, column: str, value: Any, kind: pa.DataType) -> int:
    import duckdb

    rows = handle.to_pyarrow_dataset()  # noqa: F841 (the query's table)
    where = f"{column} IS NULL" if value is None else f"{column} = ?"
    with duckdb.connect() as connection:
        query = f"SELECT count(*) FROM rows WHERE {where}"
        return int(connection.execute(query, [] if value is None else [value]).fetchall()[0][0])


def by_polars(handle: DeltaTable, column: str, value: Any, kind: pa.DataType) -> int:
    import polars as pl

    wanted = pl.from_arrow(pa.array([value], kind))
    named = pl.col(column)
    frame = pl.scan_delta(handle.table_uri)
    return int(frame.filter(named.is_null() if value is None else named == pl.lit(wanted)).collect().height)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    return lakes(tmp_path_factory.mktemp("typed") / "lake")


def test_other_readers_find_all_rows_by_values_of_all_types(
    spark: SparkSession, folders: Iterator[Path]
) -> None:
    from pyspark.sql import functions as f

    frames: dict[str, Any] = {}

    def by_spark(handle: DeltaTable, column: str, value: Any, kind: pa.DataType) -> int:
        if handle.table_uri not in frames:
            frames[handle.table_uri] = spark.read.format("delta").load(handle.table_uri)
        frame, named = frames[handle.table_uri], f.col(column)
        wanted = f.lit(str(value)) if pa.types.is_timestamp(kind) else f.lit(value)
        is_wanted = named.isNull() if value is None else named == wanted.cast(frame.schema[column].dataType)
        return int(frame.where(is_wanted).count())

    readers: list[tuple[Reader, str]] = [(by_duckdb, "kvwx"), (by_polars, "kvwx")]
    for lake in folders:
        frames.clear()
        for name in TABLES:
            for folder in (f"changes/k.{name}", f"state/k.{name}"):
                for reader, columns in readers:
                    assert not misses(lake, folder, reader, columns), reader
                if name in OF_SPARK:
                    assert not misses(lake, folder, by_spark, "k")


def test_pyiceberg_and_spark_find_all_rows_by_values_of_all_types(
    spark: SparkSession, tmp_path: Path
) -> None:
    """The states are those of Delta tables."""
    from pyiceberg.expressions import EqualTo, IsNull
    from pyspark.sql import functions as f

    for count in range(1, len(LOGS) + 1):
        assert not run(tmp_path / "lake", LOGS[:count], 1 << 20, format="iceberg")
    assert not run(tmp_path / "delta", LOGS, 1 << 20)
    lake, delta = opened(tmp_path / "lake", "iceberg"), opened(tmp_path / "delta")
    for name in TABLES:
        assert rows(table(lake, f"state/k.{name}")) == rows(table(delta, f"state/k.{name}"))
        for space, folder in (("k", f"changes/k.{name}"), ("k_state", f"state/k.{name}")):
            found, kept = catalog(tmp_path / "lake").load_table(f"{space}.{name}"), table(lake, folder)
            for column in ("k", "v", "x"):
                for value in {*kept[column].to_pylist()}:
                    where: Any = IsNull(column) if value is None else EqualTo(column, value)
                    count = found.scan(where).to_arrow().num_rows
                    assert count == kept[column].to_pylist().count(value), (folder, column, value)
        if name in OF_SPARK:
            frame = spark.read.format("iceberg").load(found.metadata_location)
            for value in kept["k"].to_pylist():
                wanted = f.lit(value if name != "stamps" else str(value)).cast(frame.schema["k"].dataType)
                assert frame.where(f.col("k") == wanted).count() == 1, (name, value)
