"""Exported changes: masked columns, and dates that no calendar has, as the library reads them."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import binlog_kaitai as bk
from binlog_kaitai.rows.row_masks import KEY_VARIABLE, Masks
from tests.cli.conftest import Run
from tests.corpus_files import case
from tests.rows.test_masks import KEY, read

LOGS = case("mysql-9.7", "types_full").logs


def exported(folder: Path, table: str) -> pa.Table:
    return pq.ParquetDataset(folder / "changes" / table).read()


def agrees(found: pa.Table, expected: pa.Table) -> bool:
    """Whether an export has the rows that the library reads; it does not number them."""
    return found.equals(expected.drop_columns("_sequence").cast(found.schema))


def test_masked_columns(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    rules = ["*.*.*=hash", "t.strs.*=null"]
    words = [word for rule in rules for word in ("--mask", rule)]
    assert run("export", "--to", tmp_path, "--view", "changes", *words, *LOGS).returncode == 0
    for table in ("t.strs", "t.ints", "t.temps", "t.js"):
        assert agrees(exported(tmp_path, table), read(table, Masks.of(mask=rules)))


@pytest.mark.parametrize("views", [(), ("changes", "events")])
def test_statements_are_not_masked(views: tuple[str, ...], run: Run, tmp_path: Path) -> None:
    words = [word for view in views for word in ("--view", view)]
    done = run("export", "--to", tmp_path / "lake", *words, "--mask", "*.*.*=null", *LOGS)
    assert done.returncode == 2
    assert "statements may contain what is masked" in done.stderr
    assert not (tmp_path / "lake").exists()


def test_rules_for_no_table_are_named(run: Run, tmp_path: Path) -> None:
    words = ("--view", "changes", "--exclude-columns", "t.strs.*", "--mask", "t.strss.*=null")
    done = run("export", "--to", tmp_path, *words, *LOGS)
    assert "no table has the columns t.strss.*=null" in done.stderr
    assert all(name.startswith("_") for name in exported(tmp_path, "t.strs").column_names)


def test_dates_that_no_calendar_has(run: Run, tmp_path: Path) -> None:
    words = ("--view", "changes", "--zero-dates", "text", "-t", "t.temps")
    assert run("export", "--to", tmp_path, *words, *LOGS).returncode == 0
    found = exported(tmp_path, "t.temps")
    assert "0000-00-00" in found["d"].to_pylist()
    assert agrees(found, bk.read_changes(LOGS, table="t.temps", zero_dates="text").read_all())
