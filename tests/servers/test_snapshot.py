"""Snapshots of running servers, and lakes that begin with one."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from binlog_kaitai.core.table_set import TableSet
from binlog_kaitai.lake.types import SPARK
from binlog_kaitai.lake.write import write_lake
from binlog_kaitai.live import snapshot as snapshots
from binlog_kaitai.live.snapshot import Snapshot, take_snapshot
from binlog_kaitai.sources.source import Source
from tests.servers.conftest import StartServer
from tests.servers.fetching import logs_in
from tests.servers.random_tables import changes
from tools.corpus.recorder import reset_statement
from tools.servers import Server

pytestmark = pytest.mark.server


def url(server: Server) -> str:
    return f"mysql://root:@127.0.0.1:{server.port}/?ssl-mode=DISABLED"


def run(server: Server, lines: list[str]) -> None:
    connection = server.connect()
    cursor = connection.cursor()
    cursor.execute(
        "SET SESSION sql_mode = 'ALLOW_INVALID_DATES', time_zone = '+05:30', binlog_format = 'ROW'"
    )
    for line in lines:
        cursor.execute(line)
    connection.close()


def empty(server: Server, *databases: str) -> None:
    for name in (*databases, "f"):
        server.execute(f"DROP DATABASE IF EXISTS {name}")
    server.execute(reset_statement(server))
    for name in databases:
        server.execute(f"CREATE DATABASE {name}")


#: Types and values that random tables do not have.
SPECIAL = [
    "CREATE TABLE r.plain (id INT UNSIGNED ZEROFILL PRIMARY KEY, v VARCHAR(9)) ENGINE=MyISAM",
    "INSERT INTO r.plain VALUES (1, 'x'), (20, NULL), (300, '')",
    "CREATE TABLE r.odd (`a``b` BIGINT UNSIGNED ZEROFILL, `_row` DOUBLE, `Ü` FLOAT, d DECIMAL(65,30), "
    "b VARCHAR(20) CHARACTER SET ascii, z DATE, t TIMESTAMP(6) NULL)",
    "INSERT INTO r.odd VALUES (18446744073709551615, -0e0, 16777217, 1e-30, 'a  ', '0000-00-00', NULL), "
    "(0, 1e308, 3.4028234e38, -99999, '\\0', '2020-02-31', '1970-01-01 05:30:01.000001'), "
    "(7, 0.1, 0.1, NULL, 'é', NULL, '2038-01-19 03:14:07.999999')",
    "CREATE TABLE r.nothing (id INT PRIMARY KEY)",
    "CREATE TABLE r.`dotted.name` (id INT, e ENUM('', 'a', 'ß') CHARACTER SET latin1, PRIMARY KEY (id))",
    "INSERT IGNORE INTO r.`dotted.name` VALUES (1, ''), (2, 'ß'), (3, 'none such')",
]


def rows_in(folder: Path) -> tuple[dict[str, Any], Counter[str]]:
    """The columns of a table's own in the files of a folder, and its rows."""
    kinds: dict[str, Any] = {}
    rows: Counter[str] = Counter()
    for path in folder.rglob("*.parquet"):
        table = pq.ParquetFile(path).read()
        own = table.select([name for at, name in enumerate(table.schema.names) if at > 8])
        kinds.update({field.name: field.type for field in own.schema})
        rows.update(repr(list(row.items())) for row in own.to_pylist())
    return kinds, rows


@pytest.mark.parametrize("name", ["mysql-9.7", "mariadb-11.8", "mariadb-10.11", "mysql-5.6"])
@pytest.mark.parametrize("zero_dates", ["null", "text"])
def test_values_are_those_of_the_log(
    name: str, zero_dates: str, start_server: StartServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tables of all types, as a snapshot has them and as the log has their rows."""
    server = start_server(name)
    empty(server, "r")
    monkeypatch.setattr(snapshots, "_BATCH_ROWS", 5)
    run(server, [*changes(name, 7, 16)[0], *SPECIAL])
    found = take_snapshot(
        url(server), tmp_path / "a", tables=TableSet.of([]), dialect=SPARK, zero_dates=zero_dates
    )
    assert found == Snapshot.load(tmp_path / "a")
    log = server.data / logs_in(server.data)[-1]
    assert (found.log, found.position) == (log.name, log.stat().st_size)
    write_lake(Source.of_path(str(log)), tmp_path / "b", views=["changes"], zero_dates=zero_dates)
    tables = sorted(path.name for path in (tmp_path / "b" / "changes").iterdir())
    assert sorted(path.name for path in (tmp_path / "a" / "changes").iterdir()) == tables
    assert len(tables) == 19
    for table in tables:
        mine, theirs = (rows_in(tmp_path / one / "changes" / table) for one in "ab")
        assert mine[0] == theirs[0], table
        assert mine[1] == theirs[1], table
    assert sum(found.files.values()) == sum(
        sum(rows_in(tmp_path / "b" / "changes" / table)[1].values()) for table in tables
    )
