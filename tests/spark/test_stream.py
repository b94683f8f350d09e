"""Streams: the rows of a batch, in steps; restarts from the checkpoint; errors if logs are gone."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException

import binlog_kaitai as bk
from binlog_kaitai.errors import UsageError
from binlog_kaitai.spark.data_source import BinlogDataSource
from binlog_kaitai.spark.stream import ASKED_BY_SPARK, BinlogStreamReader
from binlog_kaitai.spark.stream_options import parse_stream
from tests.corpus_files import CORPUS
from tests.extent import sample
from tests.follow.logs import ROTATED, grow, with_start

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def stream(spark: SparkSession, source: Path, checkpoint: Path, **options: object) -> list[pa.Table]:
    """The batches that there are until all that is there now has been read."""
    batches: list[pa.Table] = []

    def take(frame: DataFrame, batch: int) -> None:
        batches.append(frame.toArrow())

    reader = spark.readStream.format("binlog").options(**{name: str(one) for name, one in options.items()})
    writer = reader.load(str(source)).writeStream.foreachBatch(take)
    writer.option("checkpointLocation", str(checkpoint)).trigger(availableNow=True).start().awaitTermination()
    return batches


def rows(tables: list[pa.Table], *names: str) -> Counter[str]:
    counts: Counter[str] = Counter()
    for table in tables:
        counts.update(map(repr, table.select(list(names or table.column_names)).to_pylist()))
    return counts


@pytest.mark.spark
@pytest.mark.parametrize("view", sample(["changes", "events", "transactions", "table"], 1))
def test_a_stream_has_the_rows_of_a_batch(spark: SparkSession, view: str, tmp_path: Path) -> None:
    source = CORPUS / "mysql-9.7" / "rotate"
    options: dict[str, Any] = {"table": "t.a"} if view == "table" else {"view": view}
    reader = spark.read.format("binlog").options(**options)
    expected = rows([reader.load(str(source)).toArrow()])
    batches = stream(spark, source, tmp_path, maxBytesPerTrigger=6000, splitSize=2000, **options)
    assert len(batches) > 1 or not ASKED_BY_SPARK
    assert rows(batches) == expected


@pytest.mark.spark
def test_a_stream_goes_on_from_its_checkpoint(spark: SparkSession, tmp_path: Path) -> None:
    logs, checkpoint = tmp_path / "logs", tmp_path / "checkpoint"
    logs.mkdir()
    shutil.copy(ROTATED[0], logs)
    grow(ROTATED[1], logs / ROTATED[1].name, 300)
    whole = [rows([bk.read_events(path).read_all()], "position", "gtid") for path in ROTATED]

    first = stream(spark, logs, checkpoint)
    assert len(first) == 1
    assert rows(first, "position", "gtid") > whole[0]
    assert stream(spark, logs, checkpoint) == []
    for path in ROTATED[1:]:
        shutil.copy(path, logs)
    second = stream(spark, logs, checkpoint, maxFilesPerTrigger=2)
    assert len(second) == (2 if ASKED_BY_SPARK else 1)
    assert rows(first + second, "position", "gtid") == sum(whole, Counter())


@pytest.mark.thorough
@pytest.mark.spark
def test_a_stream_goes_on_in_the_logs_of_another_server(spark: SparkSession, tmp_path: Path) -> None:
    old, new, checkpoint = tmp_path / "old", tmp_path / "new", tmp_path / "checkpoint"
    for folder, name, paths in ((old, "binlog", ROTATED[:3]), (new, "replica-bin", ROTATED)):
        folder.mkdir()
        for path in paths:
            shutil.copy(path, folder / path.name.replace("binlog", name))
    first = stream(spark, old, checkpoint, view="transactions")
    second = stream(spark, new, checkpoint, view="transactions")
    for found, paths in ((first, ROTATED[:3]), (second, ROTATED[3:])):
        expected = [bk.read_transactions(path).read_all() for path in paths]
        assert rows(found, "gtid") == rows(expected, "gtid")


@pytest.mark.spark
def test_changes_keep_their_order_on_another_server(spark: SparkSession, tmp_path: Path) -> None:
    old, new, checkpoint = tmp_path / "old", tmp_path / "new", tmp_path / "checkpoint"
    for folder, shift, paths in ((old, 100, ROTATED[:3]), (new, 0, ROTATED)):
        folder.mkdir()
        for number, path in enumerate(paths, 1 + shift):
            (folder / f"binlog.{number:06}").write_bytes(with_start(path, server_id=1 + shift))
    first = stream(spark, old, checkpoint, view="changes")
    second = stream(spark, new, checkpoint, view="changes", splitSize=400)
    before, after = (pa.concat_tables(tables)["_sequence"].to_pylist() for tables in (first, second))
    assert max(before) < min(after)
    assert sorted(rows(first + second, "after")) == sorted(
        rows([bk.read_changes(ROTATED).read_all()], "after")
    )


@pytest.mark.spark
@pytest.mark.thorough
def test_a_purged_log_ends_the_stream(spark: SparkSession, tmp_path: Path) -> None:
    logs, checkpoint = tmp_path / "logs", tmp_path / "checkpoint"
    logs.mkdir()
    shutil.copy(ROTATED[0], logs)
    stream(spark, logs, checkpoint)
    (logs / ROTATED[0].name).unlink()
    for path in ROTATED[3:]:
        shutil.copy(path, logs)
    with pytest.raises(PySparkException, match=r"no longer exists; .*no available log.*failOnDataLoss"):
        stream(spark, logs, checkpoint)
    found = stream(spark, logs, checkpoint, failOnDataLoss="false")
    assert {Path(file).name for table in found for file in table["file"].to_pylist()} == {
        path.name for path in ROTATED[3:]
    }


@pytest.mark.thorough
@pytest.mark.spark
def test_a_stream_begins_at_its_starting_position(spark: SparkSession, tmp_path: Path) -> None:
    place = json.dumps({"file": ROTATED[2].name, "position": 4})
    found = stream(spark, ROTATED[0].parent, tmp_path, startingOffsets=place)
    assert rows(found, "file", "position") == rows(
        [bk.read_events(path).read_all() for path in ROTATED[2:]], "file", "position"
    )


@pytest.mark.thorough
@pytest.mark.spark
def test_a_stream_continues_after_damage(spark: SparkSession, tmp_path: Path) -> None:
    """Each damaged range is one row, also over restarts; the rest is as in a batch."""
    logs, checkpoint = tmp_path / "logs", tmp_path / "checkpoint"
    logs.mkdir()
    data = bytearray(ROTATED[0].read_bytes())
    hit = bk.read_changes(ROTATED[0]).read_all().to_pylist()[0]["_position"]
    data[hit + 30] ^= 4
    (logs / ROTATED[0].name).write_bytes(data)
    options = {"view": "changes", "mode": "PERMISSIVE", "maxBytesPerTrigger": 900}
    found = stream(spark, logs, checkpoint, **options)
    for path in ROTATED[1:3]:
        shutil.copy(path, logs)
    found += stream(spark, logs, checkpoint, **options)
    batch = spark.read.format("binlog").options(view="changes", mode="PERMISSIVE").load(str(logs)).toArrow()
    assert rows(found) == rows([batch])
    records = (record for table in found for record in table["_corrupt_record"].drop_null().to_pylist())
    assert [json.loads(record)["from"] for record in records] == [hit]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"maxBytesPerTrigger": "many"}, "many.*not a valid size"),
        ({"maxFilesPerTrigger": "0"}, "must be greater than 0"),
        ({"startingOffsets": "yesterday"}, "yesterday.*earliest, latest, or JSON"),
        ({"failOnDataLoss": "maybe"}, "maybe.*true or false"),
        ({"mode": "GENTLE"}, "PERMISSIVE"),
        ({"startPosition": "4"}, "startingOffsets"),
        ({"endingOffsets": '{"file": "a"}'}, "endingOffsets"),
        ({"maxBytes": "4"}, "unknown option maxBytes"),
    ],
)
def test_options_that_make_no_sense(options: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_stream({"path": "x", **options})


def test_options_of_a_stream() -> None:
    read, following = parse_stream(
        {"path": "x", "MAXBYTESPERTRIGGER": "64m", "startingoffsets": "LATEST", "splitSize": "1m"}
    )
    assert read.paths == following.paths == ("x",)
    assert (following.max_bytes, following.max_files) == (64 << 20, None)
    assert (following.starting, following.fails_on_data_loss) == ("latest", True)
    assert following.split_size == 1 << 20


def test_limits_where_spark_has_none() -> None:
    """Spark 4.1 asks for the end of a batch and says neither from where nor how much; the first one of a run
    may be that of Trigger.AvailableNow.
    """
    given = {"path": str(ROTATED[0].parent), "view": "transactions", "maxBytesPerTrigger": "6000"}
    data_source = BinlogDataSource(given)

    def ends(reader: Any, start: dict[str, Any]) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        while (end := reader.latestOffset()) != start:
            reader.partitions(start, end)
            found.append(end)
            start = end
        return found

    first = cast(BinlogStreamReader, data_source.streamReader(data_source.schema()))
    start = first.initialOffset()
    (whole,) = ends(first, start)

    again = data_source.streamReader(data_source.schema())
    assert again.partitions(whole, whole) == []  # so Spark begins after a restart
    assert ends(again, whole) == []
