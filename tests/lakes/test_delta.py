"""The pipeline into Delta tables: each batch once; columns whose types are widened."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import binlog_kaitai as bk
from binlog_kaitai.spark.pipeline import Job, Pipeline
from binlog_kaitai.spark.stream_options import Following
from tests.corpus_files import CORPUS
from tests.lakes.conftest import documented
from tests.lakes.recipes import ROOT, WORKLOAD

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.lakes

SOURCE = CORPUS / "mysql-5.6" / "rotate"

#: What docs/spark-merge.md says for types that widen.
WIDENING = "spark.databricks.delta.properties.defaults.enableTypeWidening=true"


def run_command(lake: Path, source: Path) -> str:
    """A run as a user starts it."""
    jars = documented(lake)["spark.jars.packages"].partition(",")[0]
    command = [sys.executable, "-m", "binlog_kaitai", "pipeline", "--format", "delta", "--to", str(lake)]
    settings = ["--conf", f"spark.jars.packages={jars}", "--master", "local[1]", "--batch-size", "5000"]
    done = subprocess.run(
        [*command, *settings, "--view", "changes", str(source)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def run(spark: SparkSession, lake: Path, source: Path, size: int) -> list[int]:
    """A run in the session of these tests; returns the numbers of its batches."""
    following = Following((str(source),), max_bytes=size)
    batches: list[dict[str, Any]] = []
    job = Job(following, str(lake), views=("changes",), tables=("t.a", "t.orders"), format="delta")
    pipeline = Pipeline(job, on_batch=batches.append)
    try:
        pipeline.start(spark).awaitTermination()
    finally:
        pipeline.close()
    return [batch["batch"] for batch in batches]


def rows(table: Path) -> int:
    """The rows of a table by its log; nothing is ever removed from it."""
    logs = [json.loads(line) for path in table.glob("_delta_log/*.json") for line in path.open()]
    return sum(json.loads(one["add"]["stats"])["numRecords"] for one in logs if "add" in one)


def test_each_batch_is_appended_once(spark: SparkSession, tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    assert "up to date" in run_command(lake, SOURCE)
    expected = bk.read_changes(SOURCE, table="t.a").read_all().num_rows
    assert rows(lake / "changes" / "t.a") == expected
    # As if it had been killed when the last batch was in the tables, and not yet decided.
    last = max((lake / "_pipeline" / "batches").iterdir())
    commits = lake / "_pipeline" / "checkpoint" / "commits"
    (commits / str(int(last.stem))).unlink()
    (commits / f".{int(last.stem)}.crc").unlink(missing_ok=True)
    last.unlink()
    assert run(spark, lake, SOURCE, 5_000) == [int(last.stem)]
    assert rows(lake / "changes" / "t.a") == expected


def test_types_widen(spark: SparkSession, tmp_path: Path) -> None:
    name, _, value = WIDENING.partition("=")
    assert WIDENING in (ROOT / "docs/spark-merge.md").read_text()
    lake = tmp_path / "lake"
    spark.conf.set(name, value)
    try:
        run(spark, lake, WORKLOAD, 40_000)
    finally:
        spark.conf.unset(name)
    table = lake / "changes" / "t.orders"
    logs = sorted(table.glob("_delta_log/*.json"))
    assert len(logs) > 2, "one batch has all the rows, so that no type widens"
    actions = [json.loads(line) for path in logs for line in path.open()]
    schemas = [json.loads(one["metaData"]["schemaString"]) for one in actions if "metaData" in one]
    types = [{field["name"]: field["type"] for field in schema["fields"]} for schema in schemas]
    assert (types[0]["id"], types[-1]["id"]) == ("integer", "long")
    assert (types[0]["total"], types[-1]["total"]) == ("decimal(10,2)", "decimal(12,2)")
    assert rows(table) == bk.read_changes(WORKLOAD, table="t.orders").read_all().num_rows
