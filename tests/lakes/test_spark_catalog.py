"""Tables of a lake in a catalog of Spark: `pipeline --catalog`."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from binlog_kaitai.cli.app import app
from binlog_kaitai.errors import SourceError, UsageError
from binlog_kaitai.lake.storage import Storage
from binlog_kaitai.pipeline import spark_session
from binlog_kaitai.pipeline.spark_catalog import CatalogTables
from tests.lake.lakes import fill
from tests.lake.table_log import TableLog

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.lakes


@pytest.fixture(autouse=True)
def _forgotten(request: pytest.FixtureRequest) -> None:
    """The session's catalog has no table of another lake."""
    if "spark" in request.fixturenames:
        for schema in ("binlog", "s", "s_state"):
            request.getfixturevalue("spark").sql(f"DROP DATABASE IF EXISTS {schema} CASCADE")


def test_tables_are_registered_once(spark: SparkSession, tmp_path: Path) -> None:
    lake, log = tmp_path / "it's a lake", TableLog(["id", "x"], ["id"])
    log.insert(1, 10)
    fill(lake, [log.write(tmp_path)], keeps_state=True)
    tables = CatalogTables(spark, "spark_catalog", Storage(str(lake)))
    tables.register()
    assert [(row.id, row.x) for row in spark.table("s_state.t").collect()] == [(1, 10)]
    log.table = "u"
    log.insert(2, 20)
    fill(lake, [log.write(tmp_path)], keeps_state=True)
    tables.register()
    assert spark.table("s.u").count() == spark.table("s.t").count() == 1
    assert spark.table("binlog.events").count() > 0
    CatalogTables(spark, "spark_catalog", Storage(str(lake))).register()  # of a later run
    shutil.copytree(lake, tmp_path / "other")
    with pytest.raises(UsageError, match=r"is another table, in .*; drop it first"):
        CatalogTables(spark, "spark_catalog", Storage(str(tmp_path / "other"))).register()
    with pytest.raises(SourceError, match=r"--catalog: .*nowhere"):
        CatalogTables(spark, "nowhere", Storage(str(lake))).register()


def test_the_command(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In this session, which it would stop."""
    monkeypatch.setattr(spark_session, "stop", lambda spark: None)
    lake, log = tmp_path / "lake", TableLog(["id", "x"], ["id"])
    log.table = "c"
    log.insert(1, 10)
    log.insert(2, 20)
    options = ["--state", "--catalog", "spark_catalog", "--batch-size", "3", "--to", str(lake)]
    done = CliRunner().invoke(app, ["pipeline", *options, str(log.write(tmp_path))])
    assert done.exit_code == 0, done.output
    assert done.output.count("batch ") > 1
    rows = spark.table("spark_catalog.s_state.c").collect()
    assert sorted((row.id, row.x) for row in rows) == [(1, 10), (2, 20)]
    assert spark.table("s.c").where("_change_type = 'insert'").count() == 2


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--engine", "local"], "--catalog requires --engine spark"),
        (["--format", "iceberg"], "--catalog registers Delta tables"),
        (["--servers", "fleet.toml"], "--catalog requires --into one"),
    ],
)
def test_refusals(options: list[str], reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("fleet.toml").write_text("")
    done = CliRunner().invoke(app, ["pipeline", "--to", "lake", "--catalog", "c", *options])
    assert isinstance(done.exception, UsageError)
    assert reason in str(done.exception)
