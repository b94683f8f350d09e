"""Dumps of running servers, and lakes that begin with one."""

from __future__ import annotations

import gzip
import subprocess
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import binlog_kaitai as bk
from binlog_kaitai.core.filters import TableSet
from binlog_kaitai.snapshot.dump_snapshot import snapshot_of_dump
from binlog_kaitai.snapshot.server_snapshot import take_snapshot
from tests.lake import lakes
from tests.servers.conftest import StartServer
from tests.servers.fetching import PASSWORD, url
from tests.servers.random_tables import changes
from tests.servers.test_exactly_once import TABLES, check_tables, run_to_end, writing
from tests.servers.test_snapshot import META, SPECIAL, empty, privileged, run
from tests.servers.test_snapshot import url as root_url
from tools.servers import Server
from tools.servers.programs import program

pytestmark = pytest.mark.server


def dump(server: Server, *options: str) -> bytes:
    """What mysqldump or mariadb-dump writes."""
    is_mariadb = server.spec.flavour == "mariadb"
    command: list[str | Path] = [
        program(server.spec, "mariadb-dump" if is_mariadb else "mysqldump"),
        "--no-defaults",
        "-uroot",
        "--password=",
    ]
    options = ("--master-data=2" if is_mariadb else "--source-data=2", *options)
    address = "-h127.0.0.1", f"-P{server.port}"
    done = subprocess.run([*command, *address, *options], capture_output=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def tables_in(folder: Path) -> dict[str, Counter[str]]:
    return {path.name: rows_in(path) for path in (folder / "changes").iterdir()}


def rows_in(folder: Path) -> Counter[str]:
    """The types and rows of a table without metadata; FLOAT with the six digits that a dump has."""
    rows: Counter[str] = Counter()
    for path in folder.rglob("*.parquet"):
        table = pq.ParquetFile(path).read()
        kinds = {field.name: field.type for field in table.schema if field.name not in META}
        for row in table.to_pylist():
            own = {name: _rounded(row[name], kind) for name, kind in kinds.items()}
            rows[repr([(name, str(kinds[name]), value) for name, value in own.items()])] += 1
    return rows


def _rounded(value: Any, kind: pa.DataType) -> Any:
    return f"{value:.6g}" if kind == pa.float32() and value is not None else value


@pytest.mark.parametrize("name", ["mysql-9.7", "mariadb-11.8"])
def test_values_are_those_of_a_snapshot(name: str, start_server: StartServer, tmp_path: Path) -> None:
    """Tables of all types, as a dump has them and as queries return them."""
    server = start_server(name)
    empty(server, "r")
    run(server, [*changes(name, 7, 16)[0], *SPECIAL])
    every = TableSet.of([])
    taken = take_snapshot(root_url(server), tmp_path / "taken", tables=every)
    expected = tables_in(tmp_path / "taken")
    assert len(expected) == 19
    more = "--hex-blob", "--complete-insert", "--skip-extended-insert", "--default-character-set=binary"
    for number, options in enumerate(((), more)):
        path = tmp_path / f"{number}.sql"
        path.write_bytes(dump(server, *options, "--databases", "r"))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            snapshot = snapshot_of_dump(path, tmp_path / str(number), tables=every)
        assert (snapshot.log, snapshot.position) == (taken.log, taken.position)
        assert sorted(snapshot.keys) == sorted(taken.keys)
        got = tables_in(tmp_path / str(number))
        assert got.keys() == expected.keys()
        for table, rows in expected.items():
            assert got[table] == rows, table


def dump_while_writing(server: Server, path: Path) -> None:
    for table, columns in TABLES.items():
        server.execute(f"CREATE TABLE k.{table} ({columns})")
    with writing(server):
        time.sleep(1)
        path.write_bytes(gzip.compress(dump(server, "--single-transaction", "k")))
        time.sleep(1)


@pytest.mark.parametrize("name", ["mysql-9.7", "mariadb-11.8"])
def test_the_log_continues_a_dump(name: str, start_server: StartServer, tmp_path: Path) -> None:
    """A dump that is taken while a server writes, and all later changes, make up the server's tables."""
    server = start_server(name)
    empty(server, "k")
    path, every = tmp_path / "dump.sql.gz", TableSet.of(["k.*"])
    dump_while_writing(server, path)
    snapshot = snapshot_of_dump(path, tmp_path / "dump", tables=every)
    take_snapshot(root_url(server), tmp_path / "now", tables=every)
    for table in TABLES:
        rows, now = ([*images(tmp_path / one / "changes" / f"k.{table}")] for one in ("dump", "now"))
        state = Counter(values for _, _, values in rows)
        changed = bk.read_changes(server.data / "binlog.index", table=f"k.{table}").read_all().to_pylist()
        later = [one for row in changed if (one := image(row))[1] >= (snapshot.log, snapshot.position)]
        assert 5 < len(rows) < len(changed)
        assert later
        for kind, _, values in later:
            state[values] += 1 if kind in ("insert", "update_postimage") else -1
        assert +state == Counter(values for _, _, values in now)
        assert not -state


def images(folder: Path) -> Iterator[tuple[str, tuple[str, int], str]]:
    for path in folder.rglob("*.parquet"):
        yield from map(image, pq.ParquetFile(path).read().to_pylist())


def image(row: dict[str, Any]) -> tuple[str, tuple[str, int], str]:
    """The kind, the place and the values of a row image."""
    own = {name: value for name, value in row.items() if name not in META}
    return row["_change_type"], (Path(row["_file"]).name, row["_position"]), repr(own)


@pytest.mark.spark
def test_lake_that_begins_with_a_dump(
    start_server: StartServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Loaded from the server: the lake has its tables."""
    server, lake, path = start_server("mysql-9.7"), tmp_path / "lake", tmp_path / "dump.sql.gz"
    privileged(server)
    monkeypatch.setenv("MYSQL_PWD", PASSWORD)
    empty(server, "k")
    dump_while_writing(server, path)
    run_to_end(url(server.port), lake, "--snapshot-from", str(path))
    check_tables(server, lake)
    kinds = lakes.table(lakes.opened(lake), "changes/k.a")["_change_type"].to_pylist()
    assert {"snapshot", "insert"} <= set(kinds)
