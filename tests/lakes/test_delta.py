"""The pipeline into Delta tables: each batch once; columns whose types are widened."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import binlog_kaitai as bk
from tests.corpus_files import CORPUS
from tests.lakes.conftest import documented
from tests.lakes.recipes import ROOT, WORKLOAD

pytestmark = pytest.mark.lakes

SOURCE = CORPUS / "mysql-5.6" / "rotate"

#: What docs/spark-merge.md says for types that widen.
WIDENING = "spark.databricks.delta.properties.defaults.enableTypeWidening=true"


def run(lake: Path, source: Path = SOURCE, size: int = 4000) -> str:
    assert WIDENING in (ROOT / "docs/spark-merge.md").read_text()
    jars = documented(lake)["spark.jars.packages"].partition(",")[0]
    command = [sys.executable, "-m", "binlog_kaitai", "pipeline", "--format", "delta", "--to", str(lake)]
    settings = ["--conf", f"spark.jars.packages={jars}", "--conf", WIDENING, "--master", "local[1]"]
    limits = ["--batch-size", str(size), "--view", "events", "--view", "changes"]
    done = subprocess.run([*command, *settings, *limits, str(source)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def rows(table: Path) -> int:
    """The rows of a table by its log; nothing is ever removed from it."""
    logs = [json.loads(line) for path in table.glob("_delta_log/*.json") for line in path.open()]
    return sum(json.loads(one["add"]["stats"])["numRecords"] for one in logs if "add" in one)


def test_each_batch_is_appended_once(tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    assert "changes/t.a" in run(lake)
    expected = bk.read_events(SOURCE).read_all().num_rows, bk.read_changes(SOURCE).read_all().num_rows
    assert (rows(lake / "events"), rows(lake / "changes" / "t.a")) == expected
    # As if it had been killed when the last batch was in the tables, and not yet decided.
    last = max((lake / "_pipeline" / "batches").iterdir())
    commits = lake / "_pipeline" / "checkpoint" / "commits"
    (commits / str(int(last.stem))).unlink()
    (commits / f".{int(last.stem)}.crc").unlink(missing_ok=True)
    last.unlink()
    assert f"batch {int(last.stem)}: " in run(lake)
    assert (rows(lake / "events"), rows(lake / "changes" / "t.a")) == expected


def test_types_widen(tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    run(lake, WORKLOAD, 40_000)
    table = lake / "changes" / "t.orders"
    logs = sorted(table.glob("_delta_log/*.json"))
    assert len(logs) > 2, "one batch has all the rows, so that no type widens"
    actions = [json.loads(line) for path in logs for line in path.open()]
    schemas = [json.loads(one["metaData"]["schemaString"]) for one in actions if "metaData" in one]
    types = [{field["name"]: field["type"] for field in schema["fields"]} for schema in schemas]
    assert (types[0]["id"], types[-1]["id"]) == ("integer", "long")
    assert (types[0]["total"], types[-1]["total"]) == ("decimal(10,2)", "decimal(12,2)")
    assert rows(table) == bk.read_changes(WORKLOAD, table="t.orders").read_all().num_rows
