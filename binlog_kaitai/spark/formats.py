"""A batch as appends to tables of Delta, each batch once.

Delta notes with each append who wrote it and its number, and takes no number again. So a batch that was
killed between two tables is appended to those that lack it when it is made again.
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
from binlog_kaitai.spark.tables import by_schema, joined

#: Who writes, for Delta.
_APPLICATION = "binlog-kaitai pipeline"

_SETTINGS = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}


def settings_of(name: str) -> list[str]:
    """What Spark has to be told for a format, as ``name=value``; its jars are the user's to name."""
    return [f"{key}={value}" for key, value in _SETTINGS.items()] if name == "delta" else []


def check_format(spark: SparkSession, name: str) -> None:
    """Refuse a format whose classes Spark has not.

    Raises
    ------
    UsageError
        Says what to add.
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
    """Append what tasks have written to the tables below the lake's folder.

    Parameters
    ----------
    pieces
        As `Lake.commit` takes them; their files become numbers of rows.
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
