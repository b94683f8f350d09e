"""What definitions say, as metadata of a lake's tables: primary keys, NOT NULL, and comments of columns."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from binlog_kaitai.lake.rules import Rules
from binlog_kaitai.rows.row_masks import Masks
from tests.lake.lakes import KINDS, catalog, fill, opened
from tests.lake.table_log import TableLog

FACTS = ("binlog-kaitai.primary-key", "binlog-kaitai.not-null")

CREATE = "CREATE TABLE s.t (id TINYINT PRIMARY KEY COMMENT 'the number', x TINYINT COMMENT 'it''s \u00e9')"


def described(lake: Path, kind: str, name: str) -> tuple[dict[str, list[str]], dict[str, str], int]:
    """The primary key and the columns that are NOT NULL, comments, and how many commits there were."""
    table: Any = opened(lake, kind).tables.open(name)
    if kind == "delta":
        fields = {field.name: field.metadata for field in table.handle.schema().fields}
        comments = {name: one["comment"] for name, one in fields.items() if one.get("comment")}
        facts = {what: [name for name, one in fields.items() if one.get(what)] for what in FACTS}
        return facts, comments, table.handle.version()
    facts = {what: json.loads(table.handle.properties.get(what) or "[]") for what in FACTS}
    comments = {field.name: field.doc for field in table.handle.schema().fields if field.doc}
    return facts, comments, len(table.handle.schemas())


def facts_of(*key: str) -> dict[str, list[str]]:
    return {what: [*key] for what in FACTS}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["changes/s.t", "state/s.t"])
def test_keys_and_comments_are_those_of_the_last_row(kind: str, name: str, tmp_path: Path) -> None:
    lake = tmp_path / "lake"

    def load() -> tuple[dict[str, list[str]], dict[str, str], int]:
        fill(lake, [log.write(tmp_path)], format=kind, keeps_state=True)
        return described(lake, kind, name)

    log = TableLog(["id", "x"], ["id"])
    log.run(CREATE)
    log.insert(1, 10)
    facts, comments, count = load()
    assert facts == facts_of("id")
    assert comments == {"id": "the number", "x": "it's \u00e9"}

    log.insert(2, 20)  # nothing new
    assert load() == (facts, comments, count + (kind == "delta"))

    log.alter("MODIFY id TINYINT COMMENT 'another', MODIFY x TINYINT", ["id", "x"], [])
    log.alter("DROP PRIMARY KEY", ["id", "x"], [])
    log.insert(3, 30)
    facts, comments, _ = load()
    assert facts == facts_of()
    assert comments == {"id": "another"}

    log.alter("ADD y TINYINT COMMENT 'new', ADD PRIMARY KEY (x)", ["id", "x", "y"], ["x"])
    log.insert(4, 40, 41)
    facts, comments, _ = load()
    assert facts == facts_of("x")
    assert comments == {"id": "another", "y": "new"}


@pytest.mark.iceberg
def test_a_new_comment_comes_with_a_new_name_of_its_column(tmp_path: Path) -> None:
    """Rows from before, and others with the former name, keep their values."""
    log = TableLog(["id", "x"], ["id"])
    log.run(CREATE)
    log.insert(1, 10)
    fill(tmp_path / "lake", [log.write(tmp_path)], format="iceberg", keeps_state=True)
    log.alter("CHANGE x y TINYINT COMMENT 'renamed'", ["id", "y"], ["id"])
    log.insert(2, 20)
    fill(tmp_path / "lake", [log.write(tmp_path)], format="iceberg", keeps_state=True)
    log.alter("ADD x TINYINT COMMENT 'another'", ["id", "y", "x"], ["id"])
    log.insert(3, 30, 31)
    fill(tmp_path / "lake", [log.write(tmp_path)], format="iceberg", keeps_state=True)
    for name in ("changes/s.t", "state/s.t"):
        _, comments, _ = described(tmp_path / "lake", "iceberg", name)
        assert comments == {"id": "the number", "y": "renamed", "x": "another"}, name
    for table in ("s.t", "s_state.t"):
        found = catalog(tmp_path / "lake").load_table(table).scan(selected_fields=("id", "y", "x")).to_arrow()
        rows = [(row["id"], row["y"], row["x"]) for row in found.to_pylist()]
        assert sorted(rows) == [(1, 10, None), (2, 20, None), (3, 30, 31)], table


def test_comments_are_texts_of_statements(tmp_path: Path) -> None:
    """So a lake with rules for columns has none."""
    log = TableLog(["id", "x"], ["id"])
    log.run(CREATE)
    log.insert(1, 10)
    fill(tmp_path / "lake", [log.write(tmp_path)], rules=Rules(Masks.of((), (), ("s.t.x=null",), None)))
    facts, comments, _ = described(tmp_path / "lake", "delta", "changes/s.t")
    assert facts == facts_of("id")
    assert not comments
