"""Tables of a lake whose columns have the names of its own."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq

from binlog_kaitai.lake.files import TableFiles
from binlog_kaitai.lake.storage import Storage
from binlog_kaitai.lake.types import TAKEN
from binlog_kaitai.lake.write import write_lake
from binlog_kaitai.rows.change_schemas import untaken_name
from binlog_kaitai.sources.source import resolve
from tests.views.test_taken_names import NAMES, log_with


def test_a_lake_has_its_dates_to_itself(tmp_path: Path) -> None:
    log = log_with(list(NAMES), tmp_path)
    (source,) = resolve(str(log))
    files = TableFiles(Storage(str(tmp_path / "lake")))
    written = write_lake(source, files, views=["changes"])
    files.close()
    (row,) = pq.read_table(tmp_path / "lake/changes/s.t", partitioning="hive").to_pylist()
    names = [untaken_name(name, TAKEN["delta"]) for name in NAMES.values()]
    assert {"log_date_", "_Metadata_"} <= {*names}
    assert [row[name] for name in names] == list(range(len(NAMES)))
    assert row["log_date"] != list(NAMES).index("log_date")
    assert [fact.key for fact in written.facts] == [(), tuple(NAMES.values())]


def test_keys_that_differ_only_by_case_are_distinguished(tmp_path: Path) -> None:
    (source,) = resolve(str(log_with(["a", "A", "b", "A_", "_gtid", "_GTID"], tmp_path)))
    written = write_lake(source, TableFiles(Storage(str(tmp_path / "lake"))), views=["changes"])
    names = ("a", "A_", "b", "A__", "_gtid_", "_GTID__")
    assert [fact.key for fact in written.facts] == [(), names]
