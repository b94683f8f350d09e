"""A local Spark with Delta and Iceberg, configured as in docs/spark-merge.md."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.lakes.recipes import ROOT, block
from tests.spark.conftest import JAVA

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


#: Spark's sink for Kafka.
KAFKA = "org.apache.spark:spark-sql-kafka-0-10_2.13:4.1.1"


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    from binlog_kaitai.pipeline.spark_session import session
    from binlog_kaitai.spark import register

    settings = documented(tmp_path_factory.mktemp("lake")) | {
        "spark.driver.memory": "1g",
        "spark.driver.extraJavaOptions": JAVA,
        "spark.sql.shuffle.partitions": "1",
        # To compile large plans takes longer than to run them on few rows.
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.databricks.delta.snapshotPartitions": "1",
        "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse")),
    }
    settings["spark.jars.packages"] += f",{KAFKA}"
    settings["spark.jars.excludes"] = "org.xerial.snappy:snappy-java"  # Spark has one
    with needing_jars():
        made = session("local[2]", [f"{name}={value}" for name, value in settings.items()])
    register(made)
    yield made
    made.stop()


@contextmanager
def needing_jars() -> Iterator[None]:
    """Skip a test for which Spark cannot get jars, if there is no network."""
    try:
        yield
    except Exception:
        if subprocess.run([ROOT / "tools/need_packages.sh", sys.executable]).returncode:
            pytest.skip("without a network, Spark cannot get the jars")
        raise


def documented(lake: Path) -> dict[str, str]:
    """The settings of the document, with another folder of the lake."""
    names: dict[str, object] = {}
    text = block("SparkSession.builder").replace("/mnt/lake", str(lake))
    before, _, builder = text.partition("spark = (")
    exec(re.sub(r"^(from|import) .*$", "", before, flags=re.MULTILINE), names)
    matches = re.findall(r'\.config\("([\w.]+)", (.+)\)\n', builder)
    return {name: str(eval(value, names)) for name, value in matches}
