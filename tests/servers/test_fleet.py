"""Several servers in one pipeline that is killed: each row of each server is in the lake once."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

import pyarrow.compute as pc
import pytest

import binlog_kaitai as bk
from binlog_kaitai.lake.changes import TableChanges
from tests.extent import rounds, sample
from tests.lake.lakes import fold, kill, opened, table
from tests.servers.conftest import StartServer
from tests.servers.fetching import environment, prepare, url
from tests.servers.test_exactly_once import TABLES, rows, transaction, writing
from tests.servers.test_snapshot import url as snapshot_url
from tools.servers import Server

pytestmark = [pytest.mark.server, pytest.mark.spark]

NAMES = ("mysql-5.7", "mysql-8.0", "mysql-9.7", "mariadb-10.11", "mariadb-11.4")
KILLS = rounds(6, 1)


def command(folder: Path, *options: str) -> list[str]:
    fleet = ["--servers", str(folder / "fleet.toml"), "--to", str(folder / "lake"), "--master", "local[2]"]
    return [sys.executable, "-m", "binlog_kaitai", "pipeline", *fleet, *options]


def loaded(progress: Path) -> Counter[str]:
    """The number of batches of each source."""
    lines = progress.read_text().splitlines() if progress.exists() else []
    return Counter(json.loads(line)["source"] for line in lines)


def begin(server: Server) -> None:
    server.execute("DROP DATABASE IF EXISTS k")
    prepare(server)
    server.execute("CREATE DATABASE k")
    for name, columns in TABLES.items():
        server.execute(f"CREATE TABLE k.{name} ({columns})")
    write(server, 0)


def write(server: Server, seed: int) -> None:
    connection, choose = server.connect(), random.Random(f"{server.spec.name} {seed}")
    for _ in range(100):
        for statement in transaction(choose):
            connection.cursor().execute(statement)
    connection.close()


@pytest.mark.parametrize("into", sample(["one", "folders"], 1))
def test_each_row_of_each_server_once_over_kills(
    into: str, start_server: StartServer, tmp_path: Path
) -> None:
    servers = {name: start_server(name) for name in NAMES}
    sources = {name: url(server.port) for name, server in servers.items()}
    sources["refused"] = url(servers["mysql-9.7"].port, user="nobody")
    (tmp_path / "fleet.toml").write_text(
        "\n".join(f'["{name}"]\nurl = "{source}"\nstate = true\n' for name, source in sources.items())
    )
    for server in servers.values():
        begin(server)
    progress = tmp_path / "progress"
    options = ["--into", into, "--progress-file", str(progress)]
    live = [*options, "--continuous", "--interval", "500 ms", "--batch-size", "100000"]
    with ExitStack() as writers:
        for server in servers.values():
            writers.enter_context(writing(server, 0.5))
        for number in range(KILLS):
            before, deadline = loaded(progress), time.monotonic() + 240
            with (tmp_path / f"errors-{number}").open("w") as errors:
                process = subprocess.Popen(
                    command(tmp_path, *live),
                    env=environment(),
                    start_new_session=True,
                    stdout=subprocess.DEVNULL,
                    stderr=errors,
                    text=True,
                )
            try:
                while not all(loaded(progress)[name] >= before[name] + 2 for name in NAMES):
                    assert process.poll() is None, (tmp_path / f"errors-{number}").read_text()[-3000:]
                    assert time.monotonic() < deadline, loaded(progress)
                    time.sleep(0.1)
            finally:
                kill(process)
            assert "refused: " in (tmp_path / f"errors-{number}").read_text()
    done = subprocess.run(command(tmp_path, *options), env=environment(), capture_output=True, text=True)
    assert done.returncode == 2
    assert "binlog-kaitai: 1 of 6 sources failed: refused\n" in done.stderr
    for name, server in servers.items():
        is_one = into == "one"
        check(server, tmp_path / "lake" if is_one else tmp_path / "lake" / name, name if is_one else "")


def check(server: Server, folder: Path, source: str) -> None:
    """The lake has the server's changes, and its tables."""
    lake = opened(folder, source=source)
    tables = TableChanges(lake)

    def own(name: str) -> list[dict[str, object]]:
        found = table(lake, name)
        if source:
            found = found.filter(pc.field("_source") == source).drop_columns("_source")
        return found.to_pylist()

    for name in TABLES:
        found = rows(own(f"changes/k.{name}"))
        assert found == rows(
            bk.read_changes(server.data / "binlog.index", table=f"k.{name}").read_all().to_pylist()
        )
        assert len(found) > 20
        assert set(found.values()) == {1}
        expected = Counter(server.execute(f"SELECT * FROM k.{name}"))
        assert Counter(tuple(row.values()) for row in fold(tables, ("k", name))) == expected
        assert Counter(tuple(row.values()) for row in own(f"state/k.{name}")) == expected


def test_a_lake_of_several_servers_begins_with_their_tables(
    start_server: StartServer, tmp_path: Path
) -> None:
    """The same tables, with other rows; what is written later follows."""
    servers = {name: start_server(name) for name in ("mysql-9.7", "mariadb-11.4")}
    (tmp_path / "fleet.toml").write_text(
        "\n".join(f'["{name}"]\nurl = "{snapshot_url(server)}"\n' for name, server in servers.items())
    )
    for server in servers.values():
        begin(server)
    options = ["--into", "one", "--snapshot", "--state", "--tables", "k.*"]
    first: dict[tuple[str, str], Counter[object]] = {}
    for attempt in range(2):
        done = subprocess.run(command(tmp_path, *options), env=environment(), capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        for name, server in servers.items():
            lake = opened(tmp_path / "lake", source=name)
            for one in TABLES:
                found = table(lake, f"changes/k.{one}").filter(pc.field("_source") == name)
                kinds = Counter(found["_change_type"].to_pylist())
                expected = Counter[object](server.execute(f"SELECT * FROM k.{one}"))
                first.setdefault((name, one), expected)
                assert kinds["snapshot"] == sum(first[name, one].values())
                assert (kinds.keys() == {"snapshot"}) == (attempt == 0)
                assert (
                    Counter(tuple(row.values()) for row in fold(TableChanges(lake), ("k", one))) == expected
                )
                state = table(lake, f"state/k.{one}").filter(pc.field("_source") == name)
                rows_of_state = state.drop_columns("_source").to_pylist()
                assert Counter(tuple(row.values()) for row in rows_of_state) == expected
            write(server, 1 + attempt)
