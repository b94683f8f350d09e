"""Encrypted logs in Spark: keys come from files that each executor reads."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.corpus_files import Case, special_cases

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


@pytest.mark.thorough
@pytest.mark.parametrize("case", special_cases("encrypted"), ids=lambda case: case.id)
def test_keys_come_from_files(spark: SparkSession, case: Case, tmp_path: Path) -> None:
    keyring = case.folder / "keyring.json"
    name, path = ("keyring", keyring) if keyring.exists() else ("keyFile", case.folder / "keys.txt")
    columns = ["position", "type", "gtid"]
    expected = spark.read.format("binlog").load(str(case.folder / "plain")).select(columns).collect()
    for log in case.logs:
        (tmp_path / log.name).write_bytes(log.read_bytes())
    reader = spark.read.format("binlog").option(name, str(path)).option("splitSize", "300")
    assert sorted(reader.load(str(tmp_path)).select(columns).collect()) == sorted(expected)
    stream = spark.readStream.format("binlog").option(name, str(path)).load(str(tmp_path)).select(columns)
    query = (
        stream.writeStream.format("memory")
        .queryName("sealed")
        .trigger(availableNow=True)
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .start()
    )
    query.awaitTermination(60)
    assert query.exception() is None
    streamed = spark.sql("select * from sealed").select(columns).collect()
    assert sorted(streamed) == sorted(expected)
    spark.sql("drop view sealed")


@pytest.mark.thorough
def test_a_missing_key_is_named(spark: SparkSession) -> None:
    for case in special_cases("encrypted"):
        with pytest.raises(Exception, match="is not known"):
            spark.read.format("binlog").load(str(case.logs[0])).collect()
