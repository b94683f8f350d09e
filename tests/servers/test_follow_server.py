"""Following servers without an archive yields the contents of their logs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from itertools import islice
from pathlib import Path

import pytest

import binlog_kaitai as bk
from binlog_kaitai.errors import ServerError, UsageError
from tests.servers.conftest import StartServer
from tests.servers.fetching import (
    Writing,
    environment,
    kill,
    logs_in,
    prepare,
    run_workload,
    settle,
    url,
    wait_for,
)
from tests.servers.replay import NAMES, client_of
from tools.servers import Server

pytestmark = pytest.mark.server


@pytest.fixture(autouse=True)
def _login(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name, value in environment().items():
        monkeypatch.setenv(name, value)
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setattr(tempfile, "tempdir", None)


def positions_of(server: Server) -> list[tuple[str, int]]:
    with bk.open(server.data / "binlog.index") as log:
        return [(os.path.basename(event.file), event.position) for event in log]


def settled(server: Server) -> list[tuple[str, int]]:
    settle(server)
    return positions_of(server)


@pytest.mark.parametrize("name", NAMES)
def test_events_and_checkpoints(name: str, start_server: StartServer, tmp_path: Path) -> None:
    server = start_server(name)
    prepare(server)
    run_workload(server, 1, 30)
    expected = settled(server)
    reached = bk.follow(url(server.port), idle_timeout=0)
    found = list(reached)
    assert {event.file for event in found} <= {url(server.port) + log for log in logs_in(server.data)}
    assert [(os.path.basename(event.file), event.position) for event in found] == expected
    reached.close()
    assert list((tmp_path / "temporary").iterdir()) == []
    run_workload(server, 2, 10)
    server.execute("FLUSH BINARY LOGS")
    server.execute("INSERT INTO f.a (n) VALUES (5)")
    expected = settled(server)
    with bk.follow(url(server.port), start=reached.checkpoint, idle_timeout=0) as later:
        found += list(later)
    assert [(os.path.basename(event.file), event.position) for event in found] == expected


def test_new_transactions_come(start_server: StartServer) -> None:
    server = start_server("mariadb-11.8")
    prepare(server)
    with bk.follow(url(server.port), interval=0.05, idle_timeout=20) as events:
        writing = Writing(server, 40)
        try:
            found = [(os.path.basename(one.file), one.position) for one in islice(events, 3000)]
        finally:
            writing.stop()
    assert found == positions_of(server)[:3000]


def test_rows_of_a_server(start_server: StartServer, tmp_path: Path) -> None:
    server = start_server("mysql-9.7")
    prepare(server)
    # To list the logs, as a source does; to follow needs no more than to fetch.
    server.execute("GRANT REPLICATION CLIENT ON *.* TO archivist@'127.0.0.1'")
    run_workload(server, 3, 40)
    command = [sys.executable, "-m", "binlog_kaitai", "rows", "--format", "json"]
    output = tmp_path / "rows"
    with output.open("w") as stdout, (tmp_path / "errors").open("w") as stderr:
        follow = subprocess.Popen(
            [*command, "--follow", url(server.port)], env=environment(), stdout=stdout, stderr=stderr
        )
        try:
            run_workload(server, 4, 10)
            expected = subprocess.run(
                [*command, url(server.port)], env=environment(), capture_output=True, text=True, check=True
            ).stdout
            wait_for(lambda: output.stat().st_size >= len(expected.encode()), "the rows")
            assert kill(follow, signal.SIGINT) == 0, (tmp_path / "errors").read_text()
        finally:
            kill(follow)
    assert output.read_text() == expected
    assert len(expected.splitlines()) > 300
    assert list((tmp_path / "temporary").iterdir()) == []


def test_another_server_gets_the_statements(start_server: StartServer, tmp_path: Path) -> None:
    server, other = start_server("mysql-8.0"), start_server("mysql-9.7")
    other.execute("DROP DATABASE IF EXISTS f")
    prepare(server)
    run_workload(server, 5, 40)
    command = [sys.executable, "-m", "binlog_kaitai", "sql", "--follow", url(server.port)]
    with (tmp_path / "errors").open("w") as stderr:
        follow = subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, stderr=stderr)
        root = os.environ | {"MYSQL_PWD": ""}
        client = subprocess.Popen(
            [*client_of(other), "--binary-mode"], env=root, stdin=follow.stdout, stderr=stderr
        )
        try:
            run_workload(server, 6, 40)
            query = "CHECKSUM TABLE f.a, f.b"
            wait_for(lambda: other.execute(query) == server.execute(query), "the rows")
            assert kill(follow, signal.SIGINT) == 0, (tmp_path / "errors").read_text()
            assert client.wait(20) == 0, (tmp_path / "errors").read_text()
        finally:
            kill(follow)
            kill(client)
    assert other.execute("SELECT count(*) FROM f.a")[0][0] > 100


def test_refusals(start_server: StartServer, tmp_path: Path) -> None:
    server = start_server("mysql-9.7")
    prepare(server)
    with pytest.raises(ServerError, match="rejected the login"):
        bk.follow(url(server.port, "nobody:wrong"))
    with pytest.raises(UsageError, match="together with other sources"):
        bk.follow([url(server.port), str(tmp_path)])
    assert list((tmp_path / "temporary").iterdir()) == []
