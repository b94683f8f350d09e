"""The programs of docs/spark-guide.md, in order, on the logs of a server."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import binlog_kaitai as bk
from tests.corpus_files import CORPUS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.lakes

GUIDE = Path(__file__).parents[2] / "docs/spark-guide.md"
LOGS = CORPUS / "mysql-9.7/rotate"


def test_the_guide(spark: SparkSession, tmp_path: Path) -> None:
    text = GUIDE.read_text()
    names = {"/mnt/logs": str(LOGS), "shop.orders": "t.a", "orders": "guide_orders"}
    space: dict[str, Any] = {"spark": spark}
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    blocks[0], count = re.subn(r"^spark = \(\n.*?^\)\n", "", blocks[0], flags=re.DOTALL | re.MULTILINE)
    assert count == 1
    for block in blocks:
        for written, here in names.items():
            block = block.replace(written, here)
        exec(block, space)
    rows: dict[int, str] = {}
    for one in bk.read_changes(LOGS, table="t.a").read_all().to_pylist():
        rows.pop(one["id"], None)
        if one["_change_type"] in ("insert", "update_postimage"):
            rows[one["id"]] = one["v"]
    assert {row["id"]: row["v"] for row in spark.table("guide_orders").collect()} == rows
    assert {row["id"] for row in space["few"].collect()} >= rows.keys()
