"""Several sources in one pipeline: each is loaded whatever becomes of the others."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.compute as pc
import pytest

import binlog_kaitai as bk
from binlog_kaitai.errors import SourceError
from binlog_kaitai.lake.batches import Lake
from binlog_kaitai.lake.changes import changes
from binlog_kaitai.pipeline.fleet import Fleet
from binlog_kaitai.pipeline.followed_logs import Following
from binlog_kaitai.pipeline.pipeline import Job, Pipeline
from binlog_kaitai.pipeline.progress import Progress
from binlog_kaitai.pipeline.spark_tasks import SparkTasks
from tests.corpus_files import CORPUS
from tests.extent import sample
from tests.follow.logs import ROTATED
from tests.lake.lakes import opened, rows, table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

SOURCES = {
    "old": CORPUS / "mysql-5.6" / "rotate",
    "new": CORPUS / "mysql-9.7" / "rotate",
    "other": CORPUS / "mariadb-10.11" / "rotate",
}
MISSING, DAMAGED = Path("/nowhere/at/all"), CORPUS / "damaged" / "mysql-9.7-flipped_bit"


class Run:
    """One complete run over some sources, each into its own folder, or all into one lake."""

    def __init__(
        self, spark: SparkSession, lake: Path, sources: Mapping[str, Path], *, into_one: bool = False
    ) -> None:
        self.batches: list[Progress] = []
        self.errors: dict[str, str] = {}
        pipelines = [
            Pipeline(
                Job(
                    Following((str(path),), max_bytes=4000),
                    str(lake if into_one else lake / name),
                    source=name,
                    is_shared=into_one,
                    keeps_state=into_one,
                ),
                on_progress=self.batches.append,
            )
            for name, path in sources.items()
        ]
        self.ended: SourceError | None = None
        try:
            Fleet(pipelines, self.take_failure).run(partial(SparkTasks, spark))
        except SourceError as error:
            self.ended = error

    def take_failure(self, source: str, error: Exception) -> None:
        self.errors[source] = str(error)


def assert_has(lake: Path, source: Path, name: str = "") -> None:
    """The lake has all events of a source, and the changes of a table, once."""
    changed = bk.read_changes(source, table="t.a").read_all()
    assert changed.num_rows > 10
    for folder, expected in (("events", bk.read_events(source).read_all()), ("changes/t.a", changed)):
        found = table(opened(lake, source=name), folder)
        own = found.filter(pc.field("_source") == name).drop_columns("_source") if name else found
        assert rows(own) == rows(expected), folder


@pytest.mark.thorough
def test_each_source_has_its_own_folder(spark: SparkSession, tmp_path: Path) -> None:
    run = Run(spark, tmp_path, SOURCES)
    assert (run.ended, run.errors) == (None, {})
    for name, source in SOURCES.items():
        assert_has(tmp_path / name, source)
        numbers = [batch.batch for batch in run.batches if batch.source == name]
        assert numbers == list(range(len(numbers)))
        assert len(numbers) > 1
    assert not Run(spark, tmp_path, SOURCES).batches


def test_all_sources_into_one_lake(spark: SparkSession, tmp_path: Path) -> None:
    """Their batches are committed to the same tables side by side."""
    run = Run(spark, tmp_path, {"gone": MISSING, **SOURCES}, into_one=True)
    assert set(run.errors) == {"gone"}
    for name, source in SOURCES.items():
        assert_has(tmp_path, source, name)
        found = changes(str(tmp_path), "t.a", source=name).read_all()
        state = table(opened(tmp_path, source=name), "state/t.a").filter(pc.field("_source") == name)
        assert {row["id"] for row in state.to_pylist()} == set(found["id"].to_pylist())
    assert pc.count_distinct(table(opened(tmp_path, source="old"), "events")["_source"]).as_py() == 3
    assert not Run(spark, tmp_path, SOURCES, into_one=True).batches


def test_failures_do_not_stop_the_others(spark: SparkSession, tmp_path: Path) -> None:
    run = Run(spark, tmp_path, {"gone": MISSING, **SOURCES, "damaged": DAMAGED})
    for name, source in SOURCES.items():
        assert_has(tmp_path / name, source)
    assert run.errors["gone"] == "/nowhere/at/all: no such file or directory"
    assert re.search(r"binlog\.000001, position 1776, .*checksum mismatch", run.errors["damaged"])
    assert set(run.errors) == {"gone", "damaged"}
    assert str(run.ended) == "2 of 5 sources failed: damaged, gone"
    assert not (tmp_path / "gone").exists()


@pytest.mark.parametrize("into_one", sample([True, False], 1))
def test_a_source_that_was_killed_repeats_its_batch(
    into_one: bool, spark: SparkSession, tmp_path: Path
) -> None:
    """As if the driver had been killed while some sources were committing their first batch."""
    commit = Lake.commit

    def killed(lake: Lake, pieces: object) -> None:
        if "old" not in (lake.source, Path(lake.storage.name).name):
            raise KeyboardInterrupt
        commit(lake, pieces)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Lake, "commit", killed)
        patch.setattr("threading.excepthook", lambda _: None)
        Run(spark, tmp_path, SOURCES, into_one=into_one)
    run = Run(spark, tmp_path, SOURCES, into_one=into_one)
    first = {one.source: one for one in reversed(run.batches)}
    assert {name: (one.batch, one.is_recovered) for name, one in first.items()} == {
        "new": (0, True),
        "other": (0, True),
    }
    for name, source in SOURCES.items():
        assert_has(*(tmp_path, source, name) if into_one else (tmp_path / name, source))


def test_sources_that_grow_are_loaded_further(spark: SparkSession, tmp_path: Path) -> None:
    logs, lake = tmp_path / "logs", tmp_path / "lake"
    for name in ("a", "b"):
        (logs / name).mkdir(parents=True)
        shutil.copy(ROTATED[0], logs / name)
    sources = {"a": logs / "a", "b": logs / "b"}
    assert {batch.source for batch in Run(spark, lake, sources).batches} == {"a", "b"}
    for path in ROTATED[1:]:
        shutil.copy(path, logs / "b")
    assert {batch.source for batch in Run(spark, lake, sources).batches} == {"b"}
    assert_has(lake / "b", logs / "b")
