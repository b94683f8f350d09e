"""Table contents as of a point in time equal those of the reader on a log that ends there."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import binlog_kaitai as bk
from binlog_kaitai.spark.state import latest
from binlog_kaitai.views.parquet_folder import folder_name
from tests.corpus_files import CORPUS, Case
from tests.rows.truth import OracleTable, Store
from tests.spark.lakes import make_lake
from tests.spark.test_truth import plain, rows_of, texts_of  # noqa: F401

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

#: Cases of one log with whole images, and some of their tables; MariaDB has no times of commits.
CASES = {
    "mysql-9.7/types_full": {"ints", "strs"},
    "mariadb-11.8/types_full": {"ints", "js"},
}


@pytest.mark.thorough
@pytest.mark.parametrize("id_", CASES)
def test_tables_as_of_any_transaction(plain: SparkSession, tmp_path: Path, id_: str) -> None:  # noqa: F811
    from binlog_kaitai.spark.tables import LakeTables

    one, choose = Case(CORPUS / id_), random.Random(id_)
    oracles = {table.name: table for table in map(OracleTable.of, one.tables())}
    lake = make_lake(tmp_path / "lake", list(one.logs), 1 << 16)
    frames: dict[str, DataFrame] = {}
    expected: dict[str, Counter[Any]] = {}
    tables: dict[str, OracleTable] = {}
    points = [row for row in transactions(one.logs[0]) if row["rows_inserted"]]
    for point in choose.sample(points, 2):
        store = Store(oracles.values()).read([log_up_to(one.logs[0], point["end_position"], tmp_path)])
        for moment in moments(point, points):
            found = LakeTables(plain, lake, moment)
            reported = {name: one for name, one in oracles.items() if name[1] in CASES[id_]}
            for name, oracle in reported.items():
                if name in store.incomplete or folder_name(name) not in found.names():
                    continue
                by_lake = f"{name} as of {moment}"
                frames[by_lake] = found.current(folder_name(name))
                tables[by_lake], expected[by_lake] = oracle, rows_in(store, oracle)
                by_query = f"{by_lake}, by a query"
                as_of = moment if isinstance(moment, datetime) else newest_gtid(one, name, point)
                if as_of is None:
                    continue
                frames[by_query] = queried(plain, one, name, found.keys(folder_name(name)), as_of)
                tables[by_query], expected[by_query] = oracle, rows_in(store, oracle)
    assert len({str(rows) for rows in expected.values()}) > 2  # they change from one to another
    got = rows_of(frames)
    wrong = {key for key in frames if texts_of(got[key], frames[key], tables[key]) != expected[key]}
    assert not wrong


def newest_gtid(one: Case, name: tuple[str, str], point: dict[str, Any]) -> str | None:
    """The last transaction up to a point that changed a table: a query of its changes knows no others."""
    changes = bk.read_changes([str(path) for path in one.logs], table=".".join(name)).read_all()
    gtids = [row["_gtid"] for row in changes.to_pylist() if row["_position"] < point["end_position"]]
    return gtids[-1] if gtids else None


def queried(
    spark: SparkSession, one: Case, name: tuple[str, str], keys: list[str], moment: datetime | str
) -> DataFrame:
    options = {"table": ".".join(name), "zeroDates": "text"}
    frame = spark.read.format("binlog").options(**options).load([str(path) for path in one.logs])
    return latest(frame, keys, as_of=moment)


def transactions(path: Path) -> list[dict[str, Any]]:
    return [row for row in bk.read_transactions(path).read_all().to_pylist() if row["gtid"]]


def moments(point: dict[str, Any], others: list[dict[str, Any]]) -> Iterator[datetime | str]:
    """A transaction, and the time of its commit where that is exact."""
    yield point["gtid"]
    time = point["original_commit_timestamp"]
    if time is not None and [row["original_commit_timestamp"] for row in others].count(time) == 1:
        yield time


def log_up_to(path: Path, end: int, folder: Path) -> Path:
    """The same log as if it had ended there."""
    shorter = folder / f"binlog.{end:06}"
    shorter.write_bytes(path.read_bytes()[:end])
    return shorter


def rows_in(store: Store, table: OracleTable) -> Counter[tuple[str | None, ...]]:
    names = [column.name for column in table.columns]
    return Counter(tuple(row.get(name) for name in names) for row in store.tables.get(table.name, []))
