"""AUTO CDC of Spark Declarative Pipelines: the table has the rows of the server that wrote the logs.

Spark accepts only tables that implement its own row-level operations. No released table format for Spark 4.2
does, so the target is a table that Spark's own tests of AUTO CDC use, which exists in memory.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.lakes.conftest import needing_jars
from tests.lakes.recipes import COLUMNS, RENAMED, WORKLOAD, Emptied, of_lake, of_server, recipe
from tests.spark.conftest import JAVA

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.lakes

pipelines = pytest.importorskip("pyspark.pipelines", exc_type=ImportError)
if not hasattr(pipelines, "create_auto_cdc_flow"):
    pytest.skip("AUTO CDC was introduced in Spark 4.2", allow_module_level=True)

#: Spark's classes for tests, under another name, since Spark excludes the names of its own modules. The
#: repository is Ivy's default.
JAR = "org.apache.spark:classes-for-tests:4.2.0"
IVY = """<ivysettings><settings defaultResolver="tests"/><resolvers>
<ibiblio name="tests" m2compatible="true" usepoms="false" useMavenMetadata="false"
  pattern="org/apache/spark/spark-catalyst_2.13/[revision]/spark-catalyst_2.13-[revision]-tests.[ext]"/>
</resolvers></ivysettings>"""
CATALOG = "org.apache.spark.sql.connector.catalog.SharedTablesInMemoryRowLevelOperationTableCatalog"


@pytest.fixture
def connected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SparkSession]:
    """A client of Spark Connect with a server of its own, as `spark-pipelines` starts one."""
    from pyspark.sql import SparkSession

    (tmp_path / "ivy.xml").write_text(IVY)
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
    settings = {
        "spark.jars.packages": JAR,
        "spark.jars.ivySettings": tmp_path / "ivy.xml",
        "spark.sql.catalog.lake": CATALOG,
        "spark.sql.warehouse.dir": tmp_path / "warehouse",
        "spark.sql.shuffle.partitions": "1",
        "spark.driver.memory": "1g",
        "spark.driver.extraJavaOptions": JAVA,
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.log.level": "ERROR",
    }
    builder = SparkSession.builder.remote("local[2]")
    for name, value in settings.items():
        builder = builder.config(name, str(value))
    with needing_jars():
        made = builder.getOrCreate()
    yield made
    made.stop()


# The server has the settings; the client warns that it cannot change them.
@pytest.mark.filterwarnings("ignore:Failed to set")
def test_tables_of_a_pipeline(connected: SparkSession, tmp_path: Path) -> None:
    """A pipeline that begins after the TRUNCATE, and runs again when there is another log."""
    logs = tmp_path / "logs"
    logs.mkdir()
    connected.sql("CREATE NAMESPACE lake.shop")
    emptied = Emptied.of_workload()
    names = {
        "shop.orders": "t.orders",
        'option("table"': f'options(**{emptied.options}).schema("{emptied.schema}").option("table"',
        '"/mnt/logs/binlog.index")': f"{str(logs)!r}){RENAMED}",
        '["id", "customer", "total"]': repr(re.findall(r"(\w+) [A-Z]", COLUMNS)),
    }
    text = recipe("create_auto_cdc_flow", names)
    for paths in (("binlog.000001", "binlog.000002"), ("binlog.000003",)):
        for path in paths:
            shutil.copy(WORKLOAD / path, logs)
        run(connected, text, tmp_path / "storage")
    table = connected.table("lake.shop.orders")
    added = [name for name in table.columns if name.startswith("__spark_autocdc")]
    assert of_lake(table.drop(*added), "orders") == of_server("orders")


def run(spark: SparkSession, text: str, storage: Path) -> None:
    """One run of a pipeline, as by `spark-pipelines run`, which would stop the server that has the table."""
    from pyspark.errors import PySparkValueError
    from pyspark.pipelines.graph_element_registry import graph_element_registration_context
    from pyspark.pipelines.spark_connect_graph_element_registry import SparkConnectGraphElementRegistry
    from pyspark.pipelines.spark_connect_pipeline import (
        create_dataflow_graph,
        handle_pipeline_events,
        start_run,
    )
    from pyspark.sql.functions import coalesce

    graph = create_dataflow_graph(spark, default_catalog="lake", default_database="shop", sql_conf={})
    with graph_element_registration_context(SparkConnectGraphElementRegistry(spark, graph)):
        exec(text, {"coalesce": coalesce})
    nothing: dict[str, Any] = {"full_refresh": None, "full_refresh_all": False, "refresh": None, "dry": False}
    try:
        handle_pipeline_events(start_run(spark, graph, **nothing, storage=storage.as_uri()))
    except PySparkValueError as error:
        # At the end of a run, Spark reports accumulators of Python data sources, which its client rejects.
        if error.getCondition() != "UNKNOWN_RESPONSE":
            raise
