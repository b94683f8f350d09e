"""The programs of docs/spark-guide.md, in order, on the logs of a server."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import binlog_kaitai as bk
from binlog_kaitai.lake.changes import changes
from tests.corpus_files import CORPUS
from tests.lake.lakes import fill
from tests.object_store import serving

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.lakes

GUIDE = Path(__file__).parents[2] / "docs/spark-guide.md"
LOGS = CORPUS / "mysql-9.7/rotate"
LAKE = "s3://lake/db1"


def programs(section: str, names: dict[str, str]) -> str:
    """The programs of a section, with the names of other tables and folders, and without the session."""
    text = GUIDE.read_text().split(f"\n## {section}\n")[1].split("\n## ")[0]
    text = "".join(re.findall(r"```python\n(.*?)```", text, re.DOTALL))
    text = re.sub(r"^spark = \(\n.*?^\)\n", "", text, flags=re.DOTALL | re.MULTILINE)
    for written, here in names.items():
        assert written in text
        text = text.replace(written, here)
    return text


def contents() -> dict[int, str]:
    """The rows of the table by key."""
    rows: dict[int, str] = {}
    for row in bk.read_changes(LOGS, table="t.a").read_all().to_pylist():
        rows.pop(row["id"], None)
        if row["_change_type"] in ("insert", "update_postimage"):
            rows[row["id"]] = row["v"]
    return rows


def test_other_readers_of_the_lake(
    spark: SparkSession, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """DuckDB and Polars read from the store; Spark, which has no S3 client here, from a disk."""
    monkeypatch.setenv("AWS_ALLOW_HTTP", "true")
    text = programs("A lake in an object store", {"shop.orders": "t.a"})
    others, _, sparks = text.partition("from pyspark.sql")
    space: dict[str, Any] = {"spark": spark}
    with serving():
        url = LAKE.replace("lake", "logs", 1)
        fill(url, [LOGS], keeps_state=True)
        exec(others.replace(LAKE, url), space)
        assert {row["id"]: row["v"] for row in space["orders"].to_table().to_pylist()} == contents()
        kinds = Counter(changes(url, "t.a").read_all()["_change_type"].to_pylist())
    printed = capsys.readouterr().out
    assert re.search(rf"count_star.*\b{len(contents())}\b", printed, re.DOTALL)
    for kind, count in kinds.items():
        assert re.search(rf"\b{kind}\b.*\b{count}\b", printed)
    fill(tmp_path, [LOGS], keeps_state=True)
    exec(("from pyspark.sql" + sparks).replace(LAKE, str(tmp_path)), space)
    assert "first log" in capsys.readouterr().out


def test_queries_on_the_logs(spark: SparkSession) -> None:
    names = {"/mnt/logs": str(LOGS), "shop.orders": "t.a", "orders": "guide_orders"}
    space: dict[str, Any] = {"spark": spark}
    exec(programs("Queries on the logs", names), space)
    assert {row["id"]: row["v"] for row in spark.table("guide_orders").collect()} == contents()
    assert {row["id"] for row in space["few"].collect()} >= contents().keys()
