"""Lakes that begin with a dump and continue with a directory of logs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest
import zstandard

from binlog_kaitai.errors import SourceError, UsageError
from binlog_kaitai.spark.pipeline import Job, Pipeline
from binlog_kaitai.spark.stream_options import Following
from tests.follow.logs import ROTATED, ends_of_transactions
from tests.snapshot.building import POSITION, script, table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def run(spark: SparkSession, lake: Path, logs: Path, dump: Path) -> list[dict[str, Any]]:
    batches: list[dict[str, Any]] = []
    job = Job(Following((str(logs),)), str(lake), dump=str(dump))
    pipeline = Pipeline(job, on_batch=batches.append)
    try:
        pipeline.start(spark).awaitTermination()
    finally:
        pipeline.close()
    return batches


def test_a_dump_and_compressed_logs(spark: SparkSession, tmp_path: Path) -> None:
    """The first batch has the rows of the dump, and no change from before its position."""
    first = ROTATED[0]
    logs, lake, dump = tmp_path / "logs", tmp_path / "lake", tmp_path / "dump.sql"
    logs.mkdir()
    for path in ROTATED:
        (logs / f"{path.name}.zst").write_bytes(zstandard.compress(path.read_bytes()))
    place = ends_of_transactions(first)[1]
    position = POSITION.replace("binlog.000007", first.name).replace("158", str(place))
    dump.write_bytes(script(table("dumped", "`i` int PRIMARY KEY", "(1),(2)"), position=position))
    (record,) = run(spark, lake, logs, dump)
    assert record["pieces"][0]["source"] == {"file": first.name, "start": place, "end": place}
    assert record["pieces"][1]["source"]["start"] == place
    found = pq.read_table(lake / "changes" / "d.dumped", partitioning=None)
    assert found["i"].to_pylist() == [1, 2]
    assert set(found["_change_type"].to_pylist()) == {"snapshot"}


def test_refusals(spark: SparkSession, tmp_path: Path) -> None:
    dump = tmp_path / "dump.sql"
    dump.write_bytes(script(table("dumped", "`i` int", "(1)")))
    with pytest.raises(SourceError, match=r"continues in binlog\.000007, which is not among the logs"):
        run(spark, tmp_path / "new", ROTATED[0], dump)
    begun = tmp_path / "old" / "_pipeline" / "checkpoint" / "offsets"
    begun.mkdir(parents=True)
    (begun / "0").touch()
    with pytest.raises(UsageError, match="was begun without a snapshot"):
        run(spark, tmp_path / "old", ROTATED[0], dump)
