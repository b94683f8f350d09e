"""Iceberg tables have the rows of the lake's files, each once, even if the writer was killed.

Needs PyIceberg, and for one test DuckDB with its extensions:

pip install "binlog-kaitai[iceberg]" duckdb==1.5.5 pytz \\
    duckdb-extension-avro==1.5.5 duckdb-extension-iceberg==1.5.5
"""

from __future__ import annotations

import itertools
import os
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import binlog_kaitai as bk
from binlog_kaitai.errors import UsageError
from binlog_kaitai.lake.commits import Lake
from binlog_kaitai.lake.iceberg import CATALOG, IcebergTables, identifier
from binlog_kaitai.views.parquet_folder import folder_name
from tests.corpus_files import CORPUS
from tests.follow.logs import ROTATED
from tests.lake.test_lake import CASES, KilledError, expected, fill, opened, rows

pytestmark = pytest.mark.iceberg

DAY = pa.scalar(1_790_000_000_000_000, pa.timestamp("us", tz="UTC"))


def catalog(folder: Path) -> Any:
    from pyiceberg.catalog.sql import SqlCatalog

    return SqlCatalog(CATALOG, uri=f"sqlite:///{folder}/catalog.db")


def table_rows(table: Any) -> Counter[str]:
    """Like `rows` for those of files."""
    return Counter(
        repr([(name, str(value)) for name, value in row.items() if value is not None])
        for row in table.scan().to_arrow().to_pylist()
    )


def sorted_rows(found: Counter[str]) -> Counter[tuple[str, ...]]:
    """The same, whatever the order of columns."""
    return Counter({tuple(sorted(map(repr, eval(row)))): count for row, count in found.items()})


def folders(lake: Lake) -> list[str]:
    changes = sorted(path.name for path in (lake.folder / "changes").iterdir())
    return ["events", "transactions", *(f"changes/{name}" for name in changes)]


def commit(
    lake: Lake, batch: int, table: str, *contents: dict[str, Any], time: str = "_commit_timestamp"
) -> None:
    """A batch of one file for each of the contents."""
    pieces = []
    for columns in contents:
        folder = f"changes/{table}" if "." in table else table
        staging, path = lake.new_staging(), f"{folder}/log_date=2026-09-21/part-00001.parquet"
        (staging / path).parent.mkdir(parents=True)
        count = len(next(iter(columns.values())))
        times = {time: pa.array([DAY.as_py()] * count, DAY.type)}
        pq.write_table(pa.table({**times, **columns}), staging / path)
        pieces.append({"staging": str(staging), "files": {path: count}})
    lake.commit(batch, pieces)


@pytest.mark.parametrize("case", CASES)
def test_tables_have_the_rows_of_the_logs(case: str, tmp_path: Path) -> None:
    paths = [str(path) for path in sorted((CORPUS / case).glob("*.0*"))]
    lake = opened(tmp_path, "iceberg")
    fill(lake, paths, 9000, "iceberg")
    known = catalog(tmp_path)
    read = dict(zip(("events", "transactions"), expected(paths), strict=True))
    for name in folders(lake):
        table = known.load_table(identifier(name))
        assert sorted_rows(table_rows(table)) == sorted_rows(rows(lake.folder / name)), name
        if name == "events":
            assert table_rows(table) == read[name]
        elif name == "transactions":
            assert table.scan().count() == read[name].total()
    changes = Counter(map(folder_of, bk.read_changes(paths).read_all().to_pylist()))
    images = {name: known.load_table(identifier(name)).scan() for name in folders(lake)[2:]}
    is_last = "_change_type != 'update_preimage'"
    assert {name: scan.filter(is_last).count() for name, scan in images.items()} == changes


def folder_of(row: dict[str, Any]) -> str:
    return f"changes/{folder_name((row['schema'], row['table']))}"


@pytest.mark.parametrize("left", range(0, 40, 3))
def test_killed_between_any_two_steps(left: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed before and after each rename of files and each commit of the catalog."""
    from pyiceberg.catalog.sql import SqlCatalog

    paths = [str(path) for path in ROTATED]
    rename, commit_table, steps = Path.rename, SqlCatalog.commit_table, itertools.count()

    def step() -> None:
        if next(steps) == left:
            raise KilledError

    def rename_or_die(self: Path, target: Path) -> Path:
        step()
        return rename(self, target)

    def commit_or_die(*arguments: Any) -> Any:
        step()
        done = commit_table(*arguments)
        step()
        return done

    lake = opened(tmp_path, "iceberg")
    monkeypatch.setattr(Path, "rename", rename_or_die)
    monkeypatch.setattr(SqlCatalog, "commit_table", commit_or_die)
    with pytest.raises((KilledError, bk.BinlogError)):
        fill(lake, paths, 3000, "iceberg")
    lake.close()
    again = opened(tmp_path, "iceberg")
    fill(again, paths, 3000, "iceberg")
    known = catalog(tmp_path)
    assert table_rows(known.load_table("binlog.events")) == expected(paths)[0]
    for name in folders(again):
        table = known.load_table(identifier(name))
        assert sorted_rows(table_rows(table)) == sorted_rows(rows(again.folder / name)), name


def test_columns_come_and_types_widen(tmp_path: Path) -> None:
    lake = opened(tmp_path, "iceberg")
    commit(lake, 0, "s.t", {"a": pa.array([1], pa.int32()), "d": pa.array([Decimal("1.5")])})
    commit(
        lake,
        1,
        "s.t",
        {"a": pa.array([1 << 40]), "d": pa.array([Decimal("1000.5")]), "new": pa.array(["x"])},
        {"a": pa.array([2], pa.int32())},
    )
    found = catalog(tmp_path).load_table("s.t").scan().to_arrow().drop_columns("_commit_timestamp")
    assert sorted(found.to_pylist(), key=lambda row: row["a"]) == [
        {"a": 1, "d": Decimal("1.5"), "new": None},
        {"a": 2, "d": None, "new": None},
        {"a": 1 << 40, "d": Decimal("1000.5"), "new": "x"},
    ]


def test_a_column_of_another_type_goes_on_under_another_name(tmp_path: Path) -> None:
    lake = opened(tmp_path, "iceberg")
    absent = pa.array([["a", "d"]])
    commit(lake, 0, "s.t", {"a": pa.array([1]), "d": pa.array([Decimal("1.5")])})
    commit(lake, 1, "s.t", {"a": pa.array(["x"]), "d": pa.array([Decimal("1.25")]), "_absent": absent})
    commit(lake, 2, "s.t", {"A": pa.array([2])}, {"a": pa.array(["y"]), "a_": pa.array([3])})
    found = catalog(tmp_path).load_table("s.t").scan().to_arrow().drop_columns("_commit_timestamp")
    reported = [
        {name: value for name, value in row.items() if value is not None} for row in found.to_pylist()
    ]
    assert sorted(reported, key=repr) == sorted(
        [
            {"a": 1, "d": Decimal("1.5")},
            {"a_": "x", "d_": Decimal("1.25"), "_absent": ["a_", "d_"]},
            {"a": 2},
            {"a__": "y", "a___": 3},
        ],
        key=repr,
    )


def test_days_are_divided(tmp_path: Path) -> None:
    lake = opened(tmp_path, "iceberg")
    commit(lake, 0, "s.t", {"a": pa.array([1])})
    table = catalog(tmp_path).load_table("s.t")
    assert [str(one.transform) for one in table.spec().fields] == ["day"]
    assert table.scan("_commit_timestamp < '2026-09-01T00:00:00+00:00'").count() == 0
    assert len(list(table.scan("_commit_timestamp > '2026-09-01T00:00:00+00:00'").plan_files())) == 1


def test_rows_without_a_time(tmp_path: Path) -> None:
    lake = opened(tmp_path, "iceberg")
    commit(lake, 0, "transactions", {"start": pa.array([None], DAY.type), "xid": pa.array([1])}, time="start")
    table = catalog(tmp_path).load_table("binlog.transactions")
    assert table.scan("start is null").to_arrow().to_pylist() == [{"start": None, "xid": 1}]
    assert table.scan("start is not null").count() == 0


def test_damage(tmp_path: Path) -> None:
    lake = opened(tmp_path, "iceberg")
    commit(lake, 0, "damage", {"file": pa.array(["f"]), "from": pa.array([4])}, time="begun")
    assert catalog(tmp_path).load_table("binlog.damage").scan().to_arrow()["from"].to_pylist() == [4]


def test_a_table_of_another_pipeline_is_left_alone(tmp_path: Path) -> None:
    lake = opened(tmp_path, "iceberg")
    commit(lake, 0, "s.t", {"a": pa.array([1])})
    (lake.checkpoint / "metadata").write_text('{"id": "another"}')
    with pytest.raises(UsageError, match=r"s\.t in the Iceberg catalog belongs to another lake"):
        commit(lake, 1, "s.t", {"a": pa.array([1])})


def test_a_table_that_is_gone_is_not_begun_anew(tmp_path: Path) -> None:
    lake = opened(tmp_path, "iceberg")
    commit(lake, 0, "s.t", {"a": pa.array([1])})
    catalog(tmp_path).drop_table("s.t")
    with pytest.raises(UsageError, match=r"s\.t has files, but its table is missing"):
        commit(lake, 1, "s.t", {"a": pa.array([1])})


def test_another_catalog_by_its_own_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "other.db"
    monkeypatch.setitem(os.environ, "PYICEBERG_CATALOG__BINLOG__URI", f"sqlite:///{other}")
    lake = opened(tmp_path / "lake", "iceberg")
    commit(lake, 0, "s.t", {"a": pa.array([1])})
    assert other.exists()
    assert not (tmp_path / "lake" / "catalog.db").exists()


def test_names_of_tables() -> None:
    assert identifier("events") == ("binlog", "events")
    assert identifier("changes/shop.orders") == ("shop", "orders")
    assert identifier(f"changes/{folder_name(('Binlog', 'events'))}") == ("Binlog_", "events")
    assert identifier(f"changes/{folder_name(('a.b', 'c'))}") == ("a%2Eb", "c")


def test_duckdb_reads_the_same(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    extensions = [pytest.importorskip(f"duckdb_extension_{name}") for name in ("avro", "iceberg")]
    paths = [str(path) for path in sorted((CORPUS / "mysql-9.7" / "ddl").glob("*.0*"))]
    lake = opened(tmp_path, "iceberg")
    fill(lake, paths, 9000, "iceberg")
    connection = duckdb.connect(config={"allow_unsigned_extensions": "true"})
    for one in extensions:
        (path,) = Path(one.__path__[0]).rglob("*.duckdb_extension")
        connection.execute(f"LOAD '{path}'")
    connection.execute("SET TimeZone = 'UTC'")
    for name in folders(lake):
        table = catalog(tmp_path).load_table(identifier(name))
        place = table.metadata_location.replace("'", "''")
        found = connection.execute(f"FROM iceberg_scan('{place}')").to_arrow_table()
        ours = table.scan().to_arrow()
        assert found.column_names == ours.column_names
        assert Counter(map(repr, found.to_pylist())) == Counter(map(repr, ours.to_pylist())), name


def test_the_lake_is_for_one_kind(tmp_path: Path) -> None:
    lake = opened(tmp_path, "iceberg")
    commit(lake, 0, "s.t", {"a": pa.array([1])})
    lake.close()
    with pytest.raises(UsageError, match="is a lake in iceberg format"):
        Lake(tmp_path).open()
    Lake(tmp_path, "iceberg", IcebergTables(tmp_path)).open()
