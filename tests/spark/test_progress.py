"""Progress of streams and pipelines."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from prometheus_client.parser import text_string_to_metric_families

from binlog_kaitai.errors import SourceError
from binlog_kaitai.following.backlog import Backlog
from binlog_kaitai.following.effects import LOGGED_AS_TEXT, Effect, EffectKind
from binlog_kaitai.lake.batches import Piece
from binlog_kaitai.lake.files import DataFile
from binlog_kaitai.pipeline.progress import ProgressFiles, progress_of, size_text
from binlog_kaitai.spark.batch import Files
from tests.corpus_files import CORPUS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def file(table: str, rows: int) -> DataFile:
    return DataFile(table, "part.parquet", "2026-11-20", 100, rows, pa.schema([]), {})


PIECE = Piece(
    "binlog.000001",
    4,
    1_500_004,
    files=[file("changes/shop.orders", 3), file("changes/shop.orders", 4), file("events", 5)],
    effects=[
        Effect(4, EffectKind.KEYED, "shop", "orders", key=("id",)),
        Effect(4, EffectKind.UNCLEAR, "shop", "carts", reason=LOGGED_AS_TEXT),
        Effect(9, EffectKind.UNCLEAR, "", "", reason="any table may have changed"),
    ],
    damaged_ranges=2,
    warnings=["names are missing"] * 2,
)


def test_a_batch_in_words_and_numbers(tmp_path: Path) -> None:
    one = progress_of(7, [PIECE], 0.5, Backlog(2, 2_000_000, 12, 3600))
    assert one.line() == (
        "batch 7: 12 rows of 2 tables, 1.5 MB in 0.5 s (3.0 MB/s), 2 damaged ranges; "
        "2.0 MB, 12 transactions, 3,600 s behind"
    )
    assert one.warnings == (
        "names are missing",
        "shop.carts: statements that change rows are logged as text (binlog_format), so they are missing "
        "from its changes",
        "binlog.000001, position 9: any table may have changed",
    )
    lines, metrics = tmp_path / "lines", tmp_path / "metrics"
    files = ProgressFiles(lines, metrics)
    files.take(one)
    files.take(progress_of(7, [PIECE], 0.25, None))
    first, second = map(json.loads, lines.read_text().splitlines())
    assert first["rows"] == {"changes/shop.orders": 7, "events": 5}
    assert (first["bytes_behind"], first["gtids_behind"], first["seconds_behind"]) == (2_000_000, 12, 3600)
    assert "bytes_behind" not in second
    families = text_string_to_metric_families(metrics.read_text())
    values = {
        (sample.name.removeprefix("binlog_kaitai_pipeline_"), sample.labels.get("table")): sample.value
        for family in families
        for sample in family.samples
    }
    assert values["rows_total", "changes/shop.orders"] == 14
    assert (values["bytes_total", None], values["damaged_ranges_total", None]) == (3_000_000, 4)
    assert (values["batch", None], values["batch_seconds", None]) == (7, 0.25)
    assert math.isnan(values["bytes_behind", None])
    with pytest.raises(SourceError, match="cannot write"):
        ProgressFiles(tmp_path / "no" / "folder").take(one)


def test_lines_and_metrics_name_their_source(tmp_path: Path) -> None:
    lines, metrics = tmp_path / "lines", tmp_path / "metrics"
    files = ProgressFiles(lines, metrics)
    for source, count in (("db1", 2), ("db2", 1)):
        for _ in range(count):
            files.take(replace(progress_of(3, [PIECE], 0.5, None), source=source))
    files.take_failure("db2")
    files.take_failure("db3")
    assert [json.loads(line)["source"] for line in lines.read_text().splitlines()] == ["db1", "db1", "db2"]
    assert (
        replace(progress_of(3, [PIECE], 0.5, None), source="db1").line().startswith("db1: batch 3: 12 rows")
    )
    values = {
        (sample.name.removeprefix("binlog_kaitai_pipeline_"), *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(metrics.read_text())
        for sample in family.samples
    }
    assert [values["up", name] for name in ("db1", "db2", "db3")] == [1, 0, 0]
    assert (values["batches_total", "db1"], values["batches_total", "db2"]) == (2, 1)
    assert values["rows_total", "db1", "changes/shop.orders"] == 14
    assert values["rows_total", "db2", "changes/shop.orders"] == 7


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0 B"), (999, "999 B"), (1000, "1.0 KB"), (2.5e9, "2.5 GB"), (1e16, "10,000.0 TB")]
)
def test_sizes(size: float, text: str) -> None:
    assert size_text(size) == text


def test_a_list_of_logs_is_unpacked_when_it_is_needed() -> None:
    """It travels to each task."""
    import pickle

    from binlog_kaitai.sources.source import LogState, Source

    state = LogState(1 << 30, 1.5)
    files = [replace(Source.of_path(f"/logs/binlog.{number:06}"), state=state) for number in range(2000)]
    data = pickle.dumps(Files(files))
    assert len(data) < len(pickle.dumps(files)) / 3
    found = pickle.loads(data)
    earlier = found[:1500]
    assert (len(found), len(earlier), bool(found[:0])) == (2000, 1500, False)
    assert found._files is None
    assert list(earlier[10:20]) == files[10:20]
    assert list(found) == files
    assert pickle.loads(pickle.dumps(found))[1999] == files[1999]


@pytest.mark.spark
def test_the_progress_of_a_stream_has_its_backlog(spark: SparkSession, tmp_path: Path) -> None:
    stream = spark.readStream.format("binlog").option("maxBytesPerTrigger", "2000")
    changes = stream.load(str(CORPUS / "mysql-9.7" / "rotate"))
    writer = changes.writeStream.format("noop").option("checkpointLocation", str(tmp_path))
    query = writer.trigger(availableNow=True).start()
    query.awaitTermination()
    offsets = [json.loads(one["sources"][0]["latestOffset"]) for one in query.recentProgress]
    backlogs = [one["bytes_behind"] for one in offsets if "bytes_behind" in one]
    assert len(backlogs) > 1
    assert backlogs == sorted(backlogs, reverse=True)
    assert {"logs_behind", "gtids_behind", "seconds_behind"} <= offsets[-1].keys()
