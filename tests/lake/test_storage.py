"""Lakes in an object store."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
from deltalake import DeltaTable

from binlog_kaitai.lake.changes import changes
from tests.corpus_files import CORPUS
from tests.lake.lakes import fill, opened, rows, table
from tests.object_store import serving, serving_logs


def test_a_lake_in_s3_is_that_of_a_disk(tmp_path: Path) -> None:
    paths = sorted((CORPUS / "mysql-9.7" / "ddl").glob("*.0*"))
    fill(tmp_path, paths, 9000)
    here = opened(tmp_path)
    with serving():
        url = "s3://logs/lake"
        assert len(fill(url, paths, 9000)) > 2
        assert fill(url, paths, 9000) == []
        there = opened(url)
        names = [f"changes/{name}" for name in here.storage.names("changes")]
        assert [f"changes/{name}" for name in there.storage.names("changes")] == names
        for name in ("events", "transactions", "statements", *names):
            assert rows(table(there, name)) == rows(table(here, name)), name
        found = changes(url, "t.c").read_all()
        assert rows(found) == rows(changes(str(tmp_path), "t.c").read_all())
        assert found.num_rows > 0


def test_from_a_store_to_another_folder_of_it() -> None:
    with serving_logs() as logs:
        (batch,) = fill("s3://logs/another", [f"{logs}/binlog.index"])
        handle = DeltaTable("s3://logs/another/events", storage_options={"AWS_ALLOW_HTTP": "true"})
        stored = pa.table(handle.get_add_actions())
        assert sum(stored["num_records"].to_pylist()) == batch.rows["events"] > 0
