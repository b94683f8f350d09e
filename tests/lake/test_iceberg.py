"""Iceberg tables have the rows of the logs, each once, even if the pipeline was killed.

Needs PyIceberg: pip install "binlog-kaitai[iceberg]"
"""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any

import pytest

from binlog_kaitai.errors import SourceError, UsageError
from binlog_kaitai.lake.batches import Lake
from binlog_kaitai.lake.iceberg import CATALOG, IcebergTables, identifier
from binlog_kaitai.lake.storage import table_name
from tests.corpus_files import CORPUS
from tests.extent import sample
from tests.lake.lakes import KilledError, fill, opened, rows, table
from tests.lake.test_lake import CASES, DDL

pytestmark = pytest.mark.iceberg


def contents(lake: Lake) -> dict[str, Any]:
    names = [f"changes/{name}" for name in lake.storage.names("changes")]
    return {name: rows(table(lake, name)) for name in ("events", "transactions", "statements", *names)}


def catalog(folder: Path) -> Any:
    from pyiceberg.catalog.sql import SqlCatalog

    return SqlCatalog(CATALOG, uri=f"sqlite:///{folder}/catalog.db")


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


@pytest.mark.parametrize("left", sample([5, *range(0, 40, 4)], 2))
def test_killed_around_any_commit_of_the_catalog(
    left: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pyiceberg.catalog.sql import SqlCatalog

    fill(tmp_path / "whole", DDL, 9000, format="iceberg")
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
            fill(tmp_path / "lake", DDL, 9000, format="iceberg")
    fill(tmp_path / "lake", DDL, 9000, format="iceberg")
    assert contents(opened(tmp_path / "lake", "iceberg")) == contents(opened(tmp_path / "whole", "iceberg"))


def test_days_are_divided(tmp_path: Path) -> None:
    fill(tmp_path, DDL, format="iceberg")
    found = catalog(tmp_path).load_table("binlog.events")
    assert [(one.name, str(one.transform)) for one in found.spec().fields] == [("log_date", "day")]
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
    assert identifier(f"changes/{table_name(('Binlog', 'events'))}") == ("Binlog_", "events")
    assert identifier(f"changes/{table_name(('a.b', 'c'))}") == ("a~2Eb", "c")


def test_tables_without_partitions(tmp_path: Path) -> None:
    fill(tmp_path / "divided", DDL, 9000, format="iceberg")
    fill(tmp_path / "whole", DDL, 9000, format="iceberg", has_dates=False)
    found, expected = (contents(opened(tmp_path / name, "iceberg")) for name in ("whole", "divided"))
    assert found == expected
    assert not catalog(tmp_path / "whole").load_table((CATALOG, "events")).spec().fields
