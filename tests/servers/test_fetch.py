"""`fetch` from real servers: the archive equals the server's logs after any interruption."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from pyarrow import fs

import binlog_kaitai as bk
from binlog_kaitai.live import fetch as bk_fetch
from binlog_kaitai.live import fetching
from binlog_kaitai.live import server_session as requests
from binlog_kaitai.sources.source import Source
from tests.live.test_packets import not_in_use
from tests.object_store import serving
from tests.servers.conftest import StartServer
from tests.servers.fetching import (
    Proxy,
    Writing,
    differences,
    environment,
    following,
    kill,
    last_differences,
    logs_in,
    prepare,
    run_fetch,
    run_workload,
    settle,
    start_fetch,
    url,
    wait_for,
)
from tests.servers.replay import NAMES
from tools.servers import Server
from tools.servers.keys import encryption_options

pytestmark = pytest.mark.server

KILLS, LOST_CONNECTIONS, SERVER_KILLS = 20, 10, 10


def archived(archive: Path, server: Server) -> bool:
    """Whether the archive has gone as far as the server."""
    state = archive / "fetch.json"
    place = json.loads(state.read_text())["place"] if state.exists() else None
    newest = server.data / logs_in(server.data)[-1]
    return place is not None and (place["name"], place["position"]) == (newest.name, newest.stat().st_size)


@pytest.mark.parametrize("name", NAMES)
def test_archive_is_the_logs_of_the_server(name: str, start_server: StartServer, tmp_path: Path) -> None:
    server = start_server(name)
    prepare(server)
    run_workload(server, 1, 150)
    server.execute("INSERT INTO f.long VALUES (REPEAT('x', 20000000))")
    archive = tmp_path / "archive"
    settle(server)
    done = run_fetch(server.port, archive)
    assert done.returncode == 0, done.stderr
    assert differences(archive, server) == []
    run_workload(server, 2, 50)
    server.execute("FLUSH BINARY LOGS")
    run_workload(server, 3, 20)
    settle(server)
    assert run_fetch(server.port, archive).returncode == 0
    assert differences(archive, server) == []


@pytest.mark.parametrize("name", ["mysql-9.7", "mariadb-11.8"])
def test_kills_and_lost_connections(name: str, start_server: StartServer, tmp_path: Path) -> None:
    server = start_server(name)
    prepare(server)
    archive, choose = tmp_path / "archive", random.Random(7)
    proxy = Proxy(lambda: server.port)
    writing = Writing(server, 100)
    fetching = start_fetch(proxy.port, archive, "--follow", "--heartbeat", "1")
    actions = ["kill"] * KILLS + ["cut"] * LOST_CONNECTIONS + ["server"] * SERVER_KILLS
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
        # MariaDB clears the in-use flag after it has begun the next log; killed in between, it never does.
        found = last_differences(proxy.port, archive, server, but_in_use=name.startswith("mariadb"))
    finally:
        writing.stop()
        kill(fetching)
        proxy.close()
    assert writing.count > 500
    assert found == []


@pytest.mark.parametrize("name", ["mysql-9.7", "mariadb-11.8"])
def test_compressed_archive(name: str, start_server: StartServer, tmp_path: Path) -> None:
    """Whatever becomes of the process, the archive has each log, compressed or not yet."""
    server = start_server(name)
    prepare(server)
    archive, choose = tmp_path / "archive", random.Random(3)
    writing = Writing(server, 700)
    try:
        for _ in range(6):
            with following(server.port, archive, "--compress", "zstd"):
                time.sleep(choose.uniform(1, 4))
                server.execute("FLUSH BINARY LOGS")
    finally:
        writing.stop()
    settle(server)
    assert run_fetch(server.port, archive, "--compress", "zstd").returncode == 0
    *closed, newest = logs_in(server.data)
    names = sorted(path.name for path in archive.iterdir() if path.name.startswith("binlog.0"))
    assert names == [*(f"{one}.zst" for one in closed), newest]
    for one in closed:
        assert Source.of_path(str(archive / f"{one}.zst")).open().read() == (server.data / one).read_bytes()
    assert (archive / newest).read_bytes() == (server.data / newest).read_bytes()
    assert bk.read_transactions(archive).read_all().num_rows == transactions_of(server)


def transactions_of(server: Server) -> int:
    return int(bk.read_transactions(server.data / "binlog.index").read_all().num_rows)


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
        wait_for(lambda: "no data from the server" in archive.with_suffix(".log").read_text(), "the timeout")
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
    assert done.returncode == 2
    # Servers of MariaDB have no UUID: what differs is the bytes, or the log is too short.
    assert "another directory" in done.stderr or "was reset or" in done.stderr or "were reset" in done.stderr
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
    archived, newest = logs_in(server.data)[0], logs_in(server.data)[-1]
    deadline = time.monotonic() + 60
    while archived in [row[0] for row in server.execute("SHOW BINARY LOGS")]:
        # A server keeps what a dump reads, and notices late that its client is gone.
        server.execute(f"PURGE BINARY LOGS TO '{newest}'")
        assert time.monotonic() < deadline
        time.sleep(0.1)
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
        chosen: dict[str, str | None] = {"earliest": logs[0], logs[1]: logs[1], gtids: None}
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
        assert "requires a privilege" in done.stderr
        done = run_fetch(server.port, tmp_path / f"{name}-none", "--from", "binlog.999999")
        assert done.returncode == 2
        assert "does not have this log" in done.stderr


def test_refusals_have_their_own_words(start_server: StartServer, tmp_path: Path) -> None:
    server = start_server("mysql-9.7")
    prepare(server)
    server.execute("CREATE USER IF NOT EXISTS nobody@'127.0.0.1' IDENTIFIED BY ''")
    for number, (target, code, words) in enumerate(
        (
            (url(server.port, "archivist:wrong"), 2, "rejected the login"),
            (url(server.port, "nobody:"), 2, "REPLICATION SLAVE"),
            ("mysql://archivist@127.0.0.1:1/", 4, "connect"),
            (url(server.port) + "?ssl-mode=VERIFY_CA", 2, "certificate"),
        )
    ):
        done = run_url(target, tmp_path / str(number))
        assert (done.returncode, words in done.stderr) == (code, True), done.stderr
        assert "wrong" not in done.stderr


def run_url(target: str, archive: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "binlog_kaitai", "fetch", target, "--to", str(archive)]
    return subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize("name", ["mysql-9.7", "mariadb-11.8"])
def test_semi_sync(name: str, start_server: StartServer, tmp_path: Path) -> None:
    """Commits wait for the archive; it has everything acknowledged, even if either is killed."""
    server = start_server(name)
    prepare(server)
    archive = tmp_path / "archive"
    done = run_fetch(server.port, archive, "--follow", "--semi-sync")
    assert (done.returncode, "not enabled" in done.stderr) == (2, True)
    word = _enable_semi_sync(server)
    try:
        with following(server.port, archive, "--semi-sync"):
            wait_for(lambda: archived(archive, server), "the first log")
            before = int(dict(server.execute("SHOW GLOBAL STATUS LIKE 'Rpl_semi_sync%'"))[f"{word}_yes_tx"])
            run_workload(server, 11, 40)
            status = dict(server.execute("SHOW GLOBAL STATUS LIKE 'Rpl_semi_sync%'"))
            assert int(status[f"{word}_yes_tx"]) - before > 20
            assert status[f"{word}_status"] == "ON"
            sizes = {log: (server.data / log).stat().st_size for log in logs_in(server.data)}
            # No second has to pass: it was on disk before each commit returned.
            assert {log: (archive / log).stat().st_size for log in logs_in(archive)} == sizes
        assert differences(archive, server) == []
    finally:
        server.restart()


def _enable_semi_sync(server: Server) -> str:
    """Gives the beginning of the names of its status variables."""
    if server.spec.flavour == "mariadb":
        server.execute("SET GLOBAL rpl_semi_sync_master_enabled=1, GLOBAL rpl_semi_sync_master_timeout=20000")
        return "Rpl_semi_sync_master"
    with suppress(Exception):
        server.execute("INSTALL PLUGIN rpl_semi_sync_source SONAME 'semisync_source.so'")
    server.execute("SET GLOBAL rpl_semi_sync_source_enabled=1, GLOBAL rpl_semi_sync_source_timeout=20000")
    return "Rpl_semi_sync_source"


@pytest.mark.parametrize("name", NAMES)
def test_a_server_as_a_source(name: str, start_server: StartServer) -> None:
    server = start_server(name)
    prepare(server)
    run_workload(server, 21, 60)
    settle(server)
    address = f"mysql://root:@127.0.0.1:{server.port}/"
    logs = [server.data / log for log in logs_in(server.data)]
    named = address.replace(":@", "@")
    printed = [printed_by("rows", "--format", "json", address).replace(named, f"{server.data}/")]
    printed.append(printed_by("rows", "--format", "json", *map(str, logs)))
    assert printed[0] == printed[1]
    assert len(printed[0]) > 1000
    newest = bk.open(f"{address}?from={logs[-1].name}")
    assert [event.raw for event in newest][1:] == [event.raw for event in bk.open(logs[-1])][1:]
    assert bk.read_changes(address).read_all().num_rows == bk.read_changes(logs).read_all().num_rows
    with pytest.raises(bk.UsageError, match="no log none"):
        bk.open(f"{address}?from=none")


def printed_by(*arguments: str) -> str:
    command = [sys.executable, "-m", "binlog_kaitai", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_position_that_only_gtids_identify(
    start_server: StartServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As past 4 GiB, where COM_BINLOG_DUMP cannot begin."""
    monkeypatch.setattr(fetching, "MAX_SHORT_POSITION", 100)
    monkeypatch.setattr(requests, "MAX_SHORT_POSITION", 100)
    for name in ("mysql-9.7", "mariadb-11.8"):
        server = start_server(name)
        prepare(server)
        archive = tmp_path / name
        for seed in range(3):
            run_workload(server, seed, 10)
            bk_fetch(f"mysql://root:@127.0.0.1:{server.port}/", archive)
            assert differences(archive, server) == []


def test_killed_while_a_log_is_stored(
    start_server: StartServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An object is there as a whole or not at all, and the next run stores the rest."""
    server, archive = start_server("mysql-9.7"), tmp_path / "archive"
    prepare(server)
    run_workload(server, 1, 40)
    with serving() as (store, port):
        proxy = Proxy(lambda: port)
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{proxy.port}")
        options = ["--store", "s3://logs/db1", "--keep-local", "0"]
        server.execute("FLUSH BINARY LOGS")
        first = run_fetch(server.port, archive, *options)
        assert first.returncode == 0, first.stderr
        server.execute("INSERT INTO f.long VALUES (REPEAT('x', 15000000))")
        server.execute("FLUSH BINARY LOGS")
        proxy.stall_after(12_000_000)
        with following(server.port, archive, *options) as process:
            wait_for(lambda: proxy.is_stalled, archive.with_suffix(".log").read_text())
            kill(process)
        proxy.go_on()
        *closed, newest = logs_in(server.data)
        assert logs_in(archive) == [closed[-1], newest]
        for name in logs_in(server.data)[:-2]:
            assert store.open_input_file(f"logs/db1/{name}").read() == (server.data / name).read_bytes()
        again = run_fetch(server.port, archive, *options, "--format", "json")
        assert again.returncode == 0, again.stderr
        assert f'"stored","log":"{closed[-1]}"' in again.stdout
        assert logs_in(archive) == [newest]
        stored = store.get_file_info(fs.FileSelector("logs/db1"))
        assert {info.base_name for info in stored} == {*closed, "fetch.json"}
        for name in closed:
            assert store.open_input_file(f"logs/db1/{name}").read() == (server.data / name).read_bytes()
        proxy.close()


@pytest.mark.parametrize("name", ["mysql-9.7", "mariadb-11.8"])
def test_logs_that_the_server_encrypts(name: str, start_server: StartServer, tmp_path: Path) -> None:
    """The stream is plain, and so is the archive; it is what the server's own client copies."""
    server = start_server(name)
    try:
        server.restart(*encryption_options(server))
        prepare(server)
        archive = tmp_path / "archive"
        for seed in range(3):
            run_workload(server, seed, 10)
            assert run_fetch(server.port, archive).returncode == 0
        assert run_fetch(server.port, archive).returncode == 0
        copies = tmp_path / "copies"
        copies.mkdir()
        login = ["--host=127.0.0.1", f"--port={server.port}", "--user=root", f"--result-file={copies}/"]
        command = [*server.client(), "--no-defaults", "--read-from-remote-server", "--raw", "--to-last-log"]
        subprocess.run([*command, *login, "binlog.000001"], check=True, capture_output=True, timeout=60)
        assert logs_in(copies) == logs_in(archive)
        for log in logs_in(archive):
            mine, theirs = (not_in_use((folder / log).read_bytes()) for folder in (archive, copies))
            assert mine == theirs
        assert "damage" not in printed_by("verify", str(archive))
    finally:
        server.restart()
