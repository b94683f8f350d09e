"""Iceberg tables in an object store follow changed definitions: catalogs of SQLite, REST and Glue."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from binlog_kaitai.lake.changes import TableChanges
from tests.corpus_files import CORPUS
from tests.lake.lakes import fill, opened, rows
from tests.lake.test_iceberg import _plain
from tests.lakes.catalogs import configured, rest_catalog
from tests.object_store import serving

pytestmark = pytest.mark.lakes


@pytest.mark.parametrize(("kind", "case"), [("sql", "ddl"), ("rest", "workload"), ("glue", "workload")])
def test_columns_are_added_renamed_dropped_and_changed(
    kind: str, case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logs, url = sorted((CORPUS / "mysql-9.7" / case).glob("binlog.0*")), f"s3://logs/{kind}-{case}"
    fill(tmp_path / "lake", logs, 1 << 20)
    expected = TableChanges(opened(tmp_path / "lake"))
    with ExitStack() as contexts:
        contexts.enter_context(serving())
        uri = f"sqlite:///{tmp_path}/catalog.db"
        if kind == "rest":
            uri = contexts.enter_context(rest_catalog(tmp_path))
        contexts.enter_context(configured(monkeypatch, type=kind, uri=uri, glue__region="us-east-1"))
        assert len(fill(url, logs, 15_000, format="iceberg")) > 2
        found = TableChanges(opened(url, "iceberg"))
        assert found.lineage.tables() == expected.lineage.tables()
        moved = 0
        for name in expected.lineage.tables():
            if expected.parts(name):
                moved += bool(expected.lineage.moves(name))
                texts = {_plain(row): count for row, count in rows(found.changes(name).read_all()).items()}
                whole = rows(expected.changes(name).read_all())
                assert texts == {_plain(row): count for row, count in whole.items()}, name
        assert moved
