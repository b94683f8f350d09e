"""Iceberg tables have the rows of the logs, each once, even if the pipeline was killed.

Needs PyIceberg
"""

from __future__ import annotations

import itertools
import random
import re
from pathlib import Path
from typing import Any

import pytest

from binlog_kaitai.errors import SourceError, UsageError
from binlog_kaitai.lake.changes import TableChanges
from binlog_kaitai.lake.iceberg import CATALOG, IcebergTables, identifier
from binlog_kaitai.lake.storage import table_name
from tests.corpus_files import CORPUS
from tests.extent import sample
from tests.lake.lakes import DDL, KilledError, catalog, contents, fill, opened, rows
from tests.lake.table_log import TableLog
from tests.lake.test_lake import CASES

pytestmark = pytest.mark.iceberg


@pytest.mark.parametrize("case", sample(CASES, 2))
def test_tables_have_the_rows_of_delta_tables(case: str, tmp_path: Path) -> None:
    """Their only difference are names that Iceberg has taken."""
    paths = sorted((CORPUS / case).glob("*.0*"))
    fill(tmp_path / "delta", paths, 9000)
    fill(tmp_path / "iceberg", paths, 9000, format="iceberg")
    found, expected = contents(opened(tmp_path / "iceberg", "iceberg")), contents(opened(tmp_path / "delta"))
    assert found.keys() == expected.keys()
    for name in found:
        text = {_plain(row): count for row, count in found[name].items()}
        assert text == {_plain(row): count for row, count in expected[name].items()}, name


def _plain(row: str) -> str:
    """A row with Delta's names; PyIceberg reads lists of structs that are null as empty."""
    row = re.sub(r"\('(columns_before|columns_after|renamed_columns)', '\[\]'\)(, )?", "", row)
    return row.replace("('_file_', ", "('_file', ")


def renaming() -> TableLog:
    """A column that is renamed, one that gets its name, and both again."""
    log = TableLog("ka", "k")
    log.insert(1, 10)
    log.alter("RENAME COLUMN a TO b", "kb", "k")
    log.insert(2, 20)
    log.insert(3, 30)
    log.alter("ADD COLUMN a TINYINT", "kba", "k")
    log.insert(4, 40, 41)
    log.alter("RENAME COLUMN b TO c, RENAME COLUMN a TO d", "kcd", "k")
    log.insert(5, 50, 51)
    log.alter("RENAME COLUMN c TO a", "kad", "k")
    log.update((5, 50, 51), (5, 52, 53))
    log.alter("ADD COLUMN b TINYINT", "kadb", "k")
    log.insert(6, 60, 61, 62)
    return log


@pytest.mark.parametrize("size", [3, 1000, 1 << 20])
def test_a_renamed_column_is_one_for_all_readers(size: int, tmp_path: Path) -> None:
    fill(tmp_path / "lake", [renaming().write(tmp_path)], size, format="iceberg")
    orders = catalog(tmp_path / "lake").load_table("s.t")
    found = (
        orders.scan(selected_fields=("k", "a", "d", "b"))
        .to_arrow()
        .sort_by([("k", "ascending"), ("a", "ascending")])
    )
    assert [tuple(row.values()) for row in found.to_pylist()] == [
        (1, 10, None, None),
        (2, 20, None, None),
        (3, 30, None, None),
        (4, 40, 41, None),
        (5, 50, 51, None),
        (5, 50, 51, None),
        (5, 52, 53, None),
        (6, 60, 61, 62),
    ]
    assert orders.scan("a > 45").to_arrow()["k"].to_pylist().count(5) == 3
    assert [one for one in orders.schema().column_names if not one.startswith("_")] == ["k", "a", "d", "b"]


@pytest.mark.parametrize("seed", sample(range(20), 1))
def test_changes_of_renamed_columns_are_those_of_delta(seed: int, tmp_path: Path) -> None:
    choose, log, names, key = random.Random(seed), TableLog("ka", "k"), ["k", "a"], itertools.count()
    for _ in range(30):
        own, free = names[1:], [one for one in "abcdef" if one not in names]
        old, new, clauses = choose.choice(own), choose.choice(free), ""
        number = names.index(old)
        act = choose.choices(("insert", "rename", "replace", "add", "drop", "swap"), (6, 3, 0.5, 1, 1, 0.5))
        if act[0] in ("add", "replace") and len(free) == 1:
            continue
        match act[0]:
            case "insert":
                log.insert(next(key), *(choose.randrange(200) for _ in own))
            case "rename":
                names[number], clauses = new, f"RENAME COLUMN {old} TO {new}"
            case "replace":
                names[number], clauses = new, f"RENAME COLUMN {old} TO {new}, ADD COLUMN {old} TINYINT"
                names.append(old)
            case "add":
                names, clauses = [*names, new], f"ADD COLUMN {new} TINYINT"
            case "drop" if len(own) > 1:
                names, clauses = [name for name in names if name != old], f"DROP COLUMN {old}"
            case "swap" if old != own[0]:
                names[1], names[number] = old, own[0]
                clauses = f"RENAME COLUMN {old} TO {own[0]}, RENAME COLUMN {own[0]} TO {old}"
        log.alter(clauses, "".join(names), "k")
    path = log.write(tmp_path)
    fill(tmp_path / "delta", [path])
    expected = TableChanges(opened(tmp_path / "delta")).changes(("s", "t")).read_all()
    for size in (3, 700, 1 << 20):
        fill(tmp_path / f"{size}", [path], size, format="iceberg")
        table = TableChanges(opened(tmp_path / f"{size}", "iceberg")).changes(("s", "t")).read_all()
        assert rows(table, "_file_") == rows(expected, "_file")


@pytest.mark.parametrize("has_renames", [False, True])
@pytest.mark.parametrize("left", sample([5, *range(0, 40, 4)], 2))
def test_killed_around_any_commit_of_the_catalog(
    left: int, has_renames: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pyiceberg.catalog.sql import SqlCatalog

    paths, size = ([renaming().write(tmp_path)], 300) if has_renames else (DDL, 9000)
    fill(tmp_path / "whole", paths, size, format="iceberg")
    commit_table, steps = SqlCatalog.commit_table, itertools.count()

    def step() -> None:
        if next(steps) >= left:
            raise KilledError

    def commit_or_die(*arguments: Any) -> Any:
        step()
        done = commit_table(*arguments)
        step()
        return done

    with monkeypatch.context() as patch:
        patch.setattr(SqlCatalog, "commit_table", commit_or_die)
        with pytest.raises(SourceError, match="Iceberg: "):
            fill(tmp_path / "lake", paths, size, format="iceberg")
    fill(tmp_path / "lake", paths, size, format="iceberg")
    assert contents(opened(tmp_path / "lake", "iceberg")) == contents(opened(tmp_path / "whole", "iceberg"))


def test_days_are_divided(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    fill(tmp_path, DDL, format="iceberg")
    assert not caplog.records  # PyIceberg warns of each list
    found = catalog(tmp_path).load_table("binlog.events")
    assert [(field.name, str(field.transform)) for field in found.spec().fields] == [("log_date", "day")]
    assert found.scan("timestamp < '2000-01-01T00:00:00+00:00'").count() == 0


def test_a_table_of_another_pipeline_is_left_alone(tmp_path: Path) -> None:
    fill(tmp_path, DDL, format="iceberg")
    lake = opened(tmp_path, "iceberg")
    with pytest.raises(UsageError, match=r"binlog\.events in the Iceberg catalog belongs to another lake"):
        IcebergTables(lake.storage, "another").open("events")


def test_another_catalog_by_its_own_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "other.db"
    monkeypatch.setenv("PYICEBERG_CATALOG__BINLOG__URI", f"sqlite:///{other}")
    fill(tmp_path / "lake", DDL, format="iceberg")
    assert other.exists()
    assert not (tmp_path / "lake" / "catalog.db").exists()


def test_names_of_tables() -> None:
    assert identifier("events") == ("binlog", "events")
    assert identifier("changes/shop.orders") == ("shop", "orders")
    assert identifier("state/shop.orders") == ("shop_state", "orders")
    assert identifier(f"changes/{table_name(('Binlog', 'events'))}") == ("Binlog_", "events")
    assert identifier(f"changes/{table_name(('a.b', 'c'))}") == ("a~2Eb", "c")


def test_tables_without_partitions(tmp_path: Path) -> None:
    fill(tmp_path / "divided", DDL, 9000, format="iceberg")
    fill(tmp_path / "whole", DDL, 9000, format="iceberg", has_dates=False)
    found, expected = (contents(opened(tmp_path / name, "iceberg")) for name in ("whole", "divided"))
    assert found == expected
    assert not catalog(tmp_path / "whole").load_table((CATALOG, "events")).spec().fields
