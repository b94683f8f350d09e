"""Encrypted logs in Spark: keys come from files that each executor reads. Packed logs: what is one split."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from binlog_kaitai.errors import PackedWarning
from binlog_kaitai.views.splits import plan
from tests.corpus_files import Case, case, special_cases
from tests.sources.packing import PACKERS, seekable_zstd

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
    for sample in special_cases("encrypted"):
        with pytest.raises(Exception, match="was not given"):
            spark.read.format("binlog").load(str(sample.logs[0])).collect()


def test_zstd_with_a_seek_table_is_split(spark: SparkSession, tmp_path: Path) -> None:
    """Several tasks read it like the plain log. Without the table it is one split: the planner warns."""
    plain = case("mysql-9.7", "payloads").logs[0].read_bytes()
    ways = {"plain": plain, "seekable": seekable_zstd(plain), "single": PACKERS[".zst"](plain)}
    rows, counts = {}, {}
    for way, data in ways.items():
        (tmp_path / way).mkdir()
        (tmp_path / way / "binlog.000001").write_bytes(data)
        reader = spark.read.format("binlog").option("view", "changes").option("splitSize", "1000")
        frame = reader.load(str(tmp_path / way)).drop("_file")
        counts[way] = frame.rdd.getNumPartitions()
        rows[way] = sorted(map(str, frame.collect()))
    assert rows["plain"]
    assert rows["plain"] == rows["seekable"] == rows["single"]
    assert counts["seekable"] == counts["plain"] > 2
    assert counts["single"] == 1
    with pytest.warns(PackedWarning, match="binlog.000001"):
        assert len(plan(tmp_path / "single", 1000)) == 1
