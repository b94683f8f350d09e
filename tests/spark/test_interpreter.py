"""The Python of Spark's workers."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceRegistration

from binlog_kaitai.pipeline import spark_session as session
from binlog_kaitai.pipeline import tasks
from binlog_kaitai.pipeline.spark_session import register_source

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif("PYSPARK_PYTHON" in os.environ or os.name != "posix", reason="another is named"),
]


def test_workers_take_pyspark_from_where_its_bytecode_is(spark: SparkSession) -> None:
    # Spark gets classes of a function by value: its workers cannot import this module.
    class Reader(DataSourceReader):
        def read(self, partition: Any) -> Iterator[tuple[str, str]]:
            import pyspark

            yield pyspark.__file__, sys.executable

    class Where(DataSource):
        @classmethod
        def name(cls) -> str:
            return "where"

        def schema(self) -> str:
            return "package string, python string"

        def reader(self, schema: Any) -> DataSourceReader:
            return Reader()

    import pyspark

    register_source(spark, Where)
    assert spark.read.format("where").load().collect() == [(pyspark.__file__, sys.executable)]


def test_a_source_is_registered_once(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """Spark prints a warning for a source that replaces one."""
    registered: list[type[DataSource]] = []
    monkeypatch.setattr(DataSourceRegistration, "register", lambda _, source: registered.append(source))

    class Another(DataSource):
        pass

    register_source(spark, Another)
    register_source(spark, Another)
    assert registered == [Another]


def test_entries_after_the_archives_of_spark_stay_in_the_path() -> None:
    path, variables = session.local_interpreter()
    given = ["/spark/python/lib/pyspark.zip", "/spark/python/lib/py4j-0.10-src.zip", "/spark.jar", "/my own"]
    environment = {**os.environ, **variables, "PYTHONPATH": os.pathsep.join(given)}
    command = [path, "-c", "import os, sys; print(os.environ['PYTHONPATH'], sys.executable, sep='\\n')"]
    found = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    assert found.splitlines() == [
        os.pathsep.join([*given[2:], variables["BINLOG_KAITAI_PYSPARK"]]),
        sys.executable,
    ]


def test_another_spark_keeps_its_own_archives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_HOME", "/opt/spark")
    assert session.local_interpreter() == (sys.executable, {})


def test_modules_are_no_garbage_from_the_second_task_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "_tasks_begun", 0)
    gc.unfreeze()
    try:
        tasks.spare_modules()
        assert not gc.get_freeze_count()
        tasks.spare_modules()
        count = gc.get_freeze_count()
        assert count > 1000
        tasks.spare_modules()
        assert gc.get_freeze_count() <= count
    finally:
        gc.unfreeze()
