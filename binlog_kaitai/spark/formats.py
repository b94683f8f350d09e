"""Appends batches to Delta tables, each batch exactly once.

Delta stores the application and a number with each append, and ignores a number that it already has. If a
process is killed between two tables, repeating the batch appends it only to those that lack it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import functions as f

from binlog_kaitai.errors import UsageError
from binlog_kaitai.lake import DATE
from binlog_kaitai.lake.commits import Lake
from binlog_kaitai.spark.lake_rows import by_schema
from binlog_kaitai.spark.tables import joined

#: The application name for Delta.
_APPLICATION = "binlog-kaitai pipeline"

_SETTINGS = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}


def settings_of(name: str) -> list[str]:
    """Spark settings that a format needs, as ``name=value``; the user must name its jars."""
    return [f"{key}={value}" for key, value in _SETTINGS.items()] if name == "delta" else []


def check_format(spark: SparkSession, name: str) -> None:
    """Reject a format whose classes Spark does not have.

    Raises
    ------
    UsageError
        The message says what to add.
    """
    if name == "delta":
        jvm: Any = spark._jvm
        try:
            loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
            loader.loadClass(_SETTINGS["spark.sql.extensions"])
        except Exception as error:
            own = ".".join(spark.version.split(".")[:2])
            needed = f"--conf spark.jars.packages=io.delta:delta-spark_{own}_2.13:VERSION"
            raise UsageError(f"Spark has no Delta; add {needed} ({spark.version})") from error


def append_batch(spark: SparkSession, lake: Lake, batch: int, pieces: list[dict[str, Any]]) -> None:
    """Append the files written by tasks to the tables in the lake's folder.

    Parameters
    ----------
    pieces
        As for `Lake.commit`; their files are replaced by row counts.
    """
    groups: defaultdict[str, list[Path]] = defaultdict(list)
    for piece in pieces:
        piece["rows"] = defaultdict(int)
        for path, rows in piece.pop("files").items():
            name = path.partition(f"/{DATE}=")[0]
            groups[name].append(Path(piece["staging"]) / path)
            piece["rows"][name] += rows
        piece["files"] = {}
    for name, paths in sorted(groups.items()):
        _append(spark, lake.folder / name, batch, paths)


def _append(spark: SparkSession, target: Path, batch: int, paths: Iterable[Path]) -> None:
    date = f.to_date(f.regexp_extract("_metadata.file_path", rf"/{DATE}=([\d-]+)/", 1), "yyyy-MM-dd")
    frames = [spark.read.parquet(*same).select("*", date.alias(DATE)) for same in by_schema(paths)]
    (
        joined(frames)
        .write.format("delta")
        .mode("append")
        .partitionBy(DATE)
        .option("mergeSchema", "true")
        .option("txnAppId", _APPLICATION)
        .option("txnVersion", str(batch))
        .save(str(target))
    )
