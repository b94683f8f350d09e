"""`fetch` against real servers: the archive is the server's logs, whatever happens on the way."""

from __future__ import annotations

import json
import random
import signal
import time
from pathlib import Path

import pytest

from tests.servers.conftest import StartServer
from tests.servers.fetching import (
    Proxy,
    Writing,
    differences,
    following,
    kill,
    logs_in,
    prepare,
    run_fetch,
    run_workload,
    start_fetch,
    url,
    wait_for,
)
from tools.servers import Server

pytestmark = pytest.mark.server

SERVERS = ("mysql-5.6", "mysql-9.7", "mariadb-10.11", "mariadb-11.8")

KILLS, CUTS, SERVER_KILLS = 20, 10, 3


def archived(archive: Path, server: Server) -> bool:
    """Whether the archive has gone as far as the server."""
    place = json.loads((archive / "fetch.json").read_text())["place"]
    newest = server.data / logs_in(server.data)[-1]
    return bool(place) and (place["name"], place["position"]) == (newest.name, newest.stat().st_size)


@pytest.mark.parametrize("name", SERVERS)
def test_archive_is_the_logs_of_the_server(name: str, start_server: StartServer, tmp_path: Path) -> None:
    server = start_server(name)
    prepare(server)
    run_workload(server, 1, 150)
    server.execute("INSERT INTO f.long VALUES (REPEAT('x', 20000000))")
    archive = tmp_path / "archive"
    done = run_fetch(server.port, archive)
    assert done.returncode == 0, done.stderr
    assert differences(archive, server) == []
    run_workload(server, 2, 50)
    server.execute("FLUSH BINARY LOGS")
    run_workload(server, 3, 20)
    assert run_fetch(server.port, archive).returncode == 0
    assert differences(archive, server) == []


@pytest.mark.parametrize("name", ["mysql-9.7", "mariadb-11.8"])
def test_kills_and_cuts(name: str, start_server: StartServer, tmp_path: Path) -> None:
    server = start_server(name)
    prepare(server)
    archive, choose = tmp_path / "archive", random.Random(7)
    proxy = Proxy(lambda: server.port)
    writing = Writing(server, 100)
    fetching = start_fetch(proxy.port, archive, "--follow", "--heartbeat", "1")
    actions = ["kill"] * KILLS + ["cut"] * CUTS + ["server"] * SERVER_KILLS
    choose.shuffle(actions)
    try:
        for action in actions:
            time.sleep(choose.uniform(0.3, 2.5))
            assert fetching.poll() is None, archive.with_suffix(".log").read_text()[-3000:]
            if action == "kill":
                kill(fetching)
                fetching = start_fetch(proxy.port, archive, "--follow", "--heartbeat", "1")
            elif action == "cut":
                proxy.cut_after(choose.randrange(1 << 17))
            else:
                server.kill()
                server.start()
        writing.stop()
        wait_for(lambda: archived(archive, server), archive.with_suffix(".log").read_text()[-3000:])
        assert kill(fetching, signal.SIGTERM) == 0
    finally:
        writing.stop()
        kill(fetching)
        proxy.close()
    assert writing.count > 500
    assert differences(archive, server) == []


def test_dead_connection_is_noticed(start_server: StartServer, tmp_path: Path) -> None:
    """A network that loses everything without a word: no heartbeat comes, and the client connects again."""
    server = start_server("mysql-9.7")
    prepare(server)
    archive = tmp_path / "archive"
    proxy = Proxy(lambda: server.port)
    with following(proxy.port, archive, "--heartbeat", "0.5"):
        wait_for(lambda: (archive / "fetch.json").exists() and archived(archive, server), "the first log")
        proxy.is_stalled = True
        server.execute("INSERT INTO f.a (v) VALUES ('late')")
        wait_for(lambda: "nothing has come" in archive.with_suffix(".log").read_text(), "the timeout")
        proxy.cut()
        proxy.is_stalled = False
        wait_for(lambda: archived(archive, server), "the rest")
    proxy.close()
    assert differences(archive, server) == []


@pytest.mark.parametrize("name", ["mysql-9.7", "mariadb-11.8"])
def test_another_server_is_refused(name: str, start_server: StartServer, tmp_path: Path) -> None:
    server = start_server(name)
    prepare(server)
    run_workload(server, 5, 20)
    archive = tmp_path / "archive"
    assert run_fetch(server.port, archive).returncode == 0
    before = {path.name: path.read_bytes() for path in archive.iterdir()}
    prepare(server)  # resets its logs
    run_workload(server, 6, 40)
    done = run_fetch(server.port, archive)
    assert done.returncode == 2
    assert "reset" in done.stderr
    other = start_server("mariadb-10.11")
    prepare(other)
    done = run_fetch(other.port, archive)
    assert (done.returncode, "another directory" in done.stderr) == (2, True)
    assert {path.name: path.read_bytes() for path in archive.iterdir()} == before


@pytest.mark.parametrize("name", ["mysql-9.7", "mariadb-11.8"])
def test_purged_logs_are_named(name: str, start_server: StartServer, tmp_path: Path) -> None:
    server = start_server(name)
    prepare(server)
    archive = tmp_path / "archive"
    assert run_fetch(server.port, archive).returncode == 0
    for _ in range(2):
        run_workload(server, 8, 5)
        server.execute("FLUSH BINARY LOGS")
    newest = logs_in(server.data)[-1]
    server.execute(f"PURGE BINARY LOGS TO '{newest}'")
    done = run_fetch(server.port, archive)
    assert done.returncode == 2
    oldest = server.execute("SHOW BINARY LOGS")[0][0]  # MariaDB keeps what a dump may still need
    assert f"its oldest log is {oldest}" in done.stderr
    if name == "mysql-9.7":
        (uuid,) = server.execute("SELECT @@server_uuid")[0]
        assert f"the transactions {uuid}:" in done.stderr


def test_where_a_new_archive_begins(start_server: StartServer, tmp_path: Path) -> None:
    for name in ("mysql-9.7", "mariadb-11.8"):
        server = start_server(name)
        prepare(server)
        for seed in range(3):
            run_workload(server, seed, 4)
            if seed == 1:
                variable = "gtid_executed" if name == "mysql-9.7" else "gtid_binlog_pos"
                ((gtids,),) = server.execute(f"SELECT @@global.{variable}")
            server.execute("FLUSH BINARY LOGS")
        server.execute("INSERT INTO f.a (n) VALUES (1)")
        logs = logs_in(server.data)
        chosen = server.execute("SELECT 1") and {"earliest": logs[0], logs[1]: logs[1], gtids: None}
        for start, first in chosen.items():
            archive = tmp_path / f"{name}-{len(list(tmp_path.iterdir()))}"
            done = run_fetch(server.port, archive, "--from", start.replace("\n", ""))
            assert done.returncode == 0, done.stderr
            names = logs_in(archive)
            assert names == logs[-len(names) :]
            if first is None:
                assert 1 <= len(names) < len(logs)
            else:
                assert names[0] == first
        done = run_fetch(server.port, tmp_path / f"{name}-latest", "--from", "latest")
        assert done.returncode == 2
        assert "needs a privilege" in done.stderr
        done = run_fetch(server.port, tmp_path / f"{name}-none", "--from", "binlog.999999")
        assert done.returncode == 2
        assert "does not have this log" in done.stderr


def test_refusals_have_their_own_words(start_server: StartServer, tmp_path: Path) -> None:
    server = start_server("mysql-9.7")
    prepare(server)
    server.execute("CREATE USER IF NOT EXISTS nobody@'127.0.0.1' IDENTIFIED BY ''")
    for number, (target, code, words) in enumerate(
        (
            (url(server.port, "archivist:wrong"), 2, "refuses the login"),
            (url(server.port, "nobody:"), 2, "REPLICATION SLAVE"),
            ("mysql://archivist@127.0.0.1:1/", 4, "connect"),
            (url(server.port) + "?ssl-mode=VERIFY_CA", 4, "certificate"),
        )
    ):
        done = run_url(target, tmp_path / str(number))
        assert (done.returncode, words in done.stderr) == (code, True), done.stderr
        assert "wrong" not in done.stderr


def run_url(target: str, archive: Path):  # type: ignore[no-untyped-def]
    import subprocess
    import sys

    from tests.servers.fetching import environment

    command = [sys.executable, "-m", "binlog_kaitai", "fetch", target, "--to", str(archive)]
    return subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=300)
