"""The recipe for all versions of the rows of a lake's table."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from binlog_kaitai.lake.changes import changes
from tests.lake.lakes import WORKLOAD, opened
from tests.lake.test_state import run
from tests.lakes.recipes import ROOT

pytestmark = pytest.mark.lakes


def test_versions_end_where_the_next_begins_and_open_ones_are_the_state(tmp_path: Path) -> None:
    run(tmp_path, WORKLOAD, 1 << 14)
    (name,) = (path.name for path in (tmp_path / "state").glob("*.orders*"))
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs/spark.md").read_text(), re.DOTALL)
    (recipe,) = (block for block in blocks if "valid_to" in block)
    names: dict[str, Any] = {}
    exec(recipe.replace("/mnt/lake", str(tmp_path)).replace("shop.orders", name), names)
    versions = names["versions"].to_arrow_table().to_pylist()

    added = [row for row in changes(str(tmp_path), name).read_all().to_pylist() if is_added(row)]
    assert sorted(one["_sequence"] for one in versions) == sorted(one["_sequence"] for one in added)
    kept = opened(tmp_path).tables.open(f"state/{name}")
    assert kept is not None
    rows = [row for batch in kept.batches() for row in batch.to_pylist()]
    columns = [column for column in rows[0] if not column.startswith("_")]
    current = [version for version in versions if version["valid_to"] is None]
    assert len(current) < len(versions)
    assert as_texts(current, columns) == as_texts(rows, columns)
    by_key: dict[Any, list[dict[str, Any]]] = {}
    for one in sorted(versions, key=lambda row: row["_sequence"]):
        by_key.setdefault(one["id"], []).append(one)
    for of_key in by_key.values():
        for earlier, later in pairwise(of_key):
            assert earlier["valid_from"] <= earlier["valid_to"] <= later["valid_from"]


def is_added(row: dict[str, Any]) -> bool:
    return row["_change_type"] in ("snapshot", "insert", "update_postimage")


def as_texts(rows: list[dict[str, Any]], columns: list[str]) -> list[str]:
    return sorted(str([row[column] for column in columns]) for row in rows)
