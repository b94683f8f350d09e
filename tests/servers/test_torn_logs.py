"""Logs that end within an event because the server was killed: MariaDB leaves them as they are."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

import binlog_kaitai as bk
from binlog_kaitai.errors import SourceError
from binlog_kaitai.live import archive as archives
from binlog_kaitai.live import fetch
from binlog_kaitai.live.log_spool import LogSpool
from tests.servers.conftest import StartServer
from tests.servers.fetching import (
    PASSWORD,
    Proxy,
    following,
    logs_in,
    prepare,
    run_fetch,
    run_workload,
    url,
    wait_for,
)
from tests.servers.test_fetch import archived, printed_by
from tools.servers import Server

pytestmark = pytest.mark.server

#: What the end of a log looks like after a crash: how many events are lost as a whole, and how many bytes of
#: the event before them are left.
TEARS = {"in the last event": (0, -1), "in a header": (0, 7), "in a transaction": (1, 25)}


@pytest.fixture(autouse=True)
def _login(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MYSQL_PWD", PASSWORD)


@pytest.fixture
def server(start_server: StartServer) -> Server:
    found = start_server("mariadb-11.8")
    prepare(found)
    run_workload(found, 31, 40)
    found.execute("INSERT INTO f.a (n, v) VALUES (1, 'one'), (2, 'two')")
    return found


def newest(server: Server) -> Path:
    return server.data / logs_in(server.data)[-1]


def cut(log: Path, lost: int, left: int) -> int:
    """Cut a log within an event; returns where that event began."""
    event = list(bk.open(log))[-1 - lost]
    size = left if left > 0 else event.header.len_event + left
    with log.open("rb+") as file:
        file.truncate(event.position + size)
    return event.position


def tear(server: Server, lost: int, left: int) -> tuple[str, int]:
    """Kill the server, tear its newest log, and start it again; returns the log and where it is torn."""
    server.kill()
    log = newest(server)
    position = cut(log, lost, left)
    server.start()
    return log.name, position


def expected(server: Server, torn: dict[str, int]) -> dict[str, bytes]:
    """The server's logs, without the partial events."""
    return {log: (server.data / log).read_bytes()[: torn.get(log)] for log in logs_in(server.data)}


def contents(folder: Path) -> dict[str, bytes]:
    return {log: (folder / log).read_bytes() for log in logs_in(folder)}


def transactions(source: object) -> list[tuple[str, int]]:
    table = bk.read_transactions(source).read_all()  # type: ignore[arg-type]
    rows = table.select(["file", "position"]).to_pylist()
    return [(Path(row["file"]).name, row["position"]) for row in rows]


@pytest.mark.parametrize("where", TEARS)
def test_fetch_continues_after_torn_logs(where: str, server: Server, tmp_path: Path) -> None:
    """Logs are torn before the first run, between two runs, and while fetch follows."""
    lost, left = TEARS[where]
    archive, torn = tmp_path / "archive", dict([tear(server, lost, left)])
    ((name, position),) = torn.items()
    run_workload(server, 32, 10)
    done = run_fetch(server.port, archive)
    assert done.returncode == 0, done.stderr
    assert f"{name} ends within an event, at {position}" in done.stderr
    assert contents(archive) == expected(server, torn)
    server.execute("INSERT INTO f.a (n, v) VALUES (3, 'three')")
    torn.update([tear(server, lost, left)])
    assert run_fetch(server.port, archive).returncode == 0
    assert contents(archive) == expected(server, torn)
    again = run_fetch(server.port, archive)
    assert (again.returncode, "ends within" in again.stderr) == (0, False)
    assert transactions(archive) == transactions(server.data / "binlog.index")
    proxy = Proxy(lambda: server.port)
    with following(proxy.port, archive, "--heartbeat", "1"):
        wait_for(lambda: archived(archive, server), "the first logs")
        proxy.is_stalled = True
        server.execute("INSERT INTO f.a (n, v) VALUES (4, 'four')")
        torn.update([tear(server, lost, left)])
        proxy.cut()
        proxy.is_stalled = False
        wait_for(lambda: archived(archive, server), archive.with_suffix(".log").read_text()[-3000:])
    proxy.close()
    assert len(torn) == 3
    assert contents(archive) == expected(server, torn)


def test_transactions_that_only_the_archive_has(server: Server, tmp_path: Path) -> None:
    """A crash of the machine can take back what was sent: the archive is not the server's any more."""
    archive = tmp_path / "archive"
    assert run_fetch(server.port, archive).returncode == 0
    before = contents(archive)
    tear(server, 1, 25)
    done = run_fetch(server.port, archive)
    assert (done.returncode, "lost transactions" in done.stderr) == (2, True), done.stderr
    assert contents(archive) == before


def test_a_tear_where_the_archive_ends(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No event of the log comes again, so that only its start shows that it is the same log."""
    monkeypatch.setattr(archives, "_MOST_AGAIN", 0)
    wait_for(lambda: has_own_checkpoint(newest(server)), "the last event that the server writes by itself")
    archive = tmp_path / "archive"
    fetch(url(server.port), archive)
    torn = dict([append_half(server)])
    found: list[str] = []
    fetch(url(server.port), archive, report=lambda what, facts: found.append(what))
    assert found == ["connected", "connected", "torn", "connected", "up to date"]
    assert contents(archive) == expected(server, torn)


def has_own_checkpoint(log: Path) -> bool:
    checkpoints = [event for event in bk.open(log) if event.type == "BINLOG_CHECKPOINT_EVENT"]
    return bool(checkpoints) and checkpoints[-1].body.file_name == log.name


def append_half(server: Server) -> tuple[str, int]:
    """Kill the server, and append half an event to its newest log."""
    server.kill()
    log = newest(server)
    data, last = log.read_bytes(), list(bk.open(log))[-1]
    log.write_bytes(data + last.raw[:-5])
    server.start()
    return log.name, len(data)


def test_streams_continue_after_torn_logs(server: Server, tmp_path: Path) -> None:
    proxy = Proxy(lambda: server.port)  # the server has another port after each start
    spool = LogSpool(url(proxy.port), tmp_path / "spool")
    spool.update()
    server.execute("INSERT INTO f.a (n, v) VALUES (3, 'three')")
    torn = dict([tear(server, 1, 25)])
    run_workload(server, 32, 10)
    torn.update([tear(server, 0, -1)])
    spool.update()
    proxy.close()
    assert contents(tmp_path / "spool") == expected(server, torn)
    with bk.follow(url(server.port), idle_timeout=0) as events:
        found = [(os.path.basename(event.file), event.position) for event in events]
    logs = expected(server, torn)
    assert found == [(name, event.position) for name, data in logs.items() for event in bk.open(data)]


def test_rows_of_torn_logs(server: Server) -> None:
    tear(server, 1, 25)
    run_workload(server, 32, 10)
    tear(server, 0, -1)
    address = f"mysql://root:@127.0.0.1:{server.port}/"
    of_files = printed_by("rows", "--format", "json", str(server.data / "binlog.index"))
    assert (
        printed_by("rows", "--format", "json", address).replace(address.replace(":@", "@"), f"{server.data}/")
        == of_files
    )
    with pytest.warns(bk.TornLogWarning, match="continuing with binlog"):
        assert bk.read_changes(address).read_all().num_rows == of_files.count("\n")


def test_a_log_that_does_not_continue_a_torn_one(server: Server, tmp_path: Path) -> None:
    """The torn log is cut once more, so that transactions are missing that its server still knew."""
    server.execute("FLUSH BINARY LOGS")
    run_workload(server, 33, 12)
    name, _ = tear(server, 0, -1)
    server.stop()
    cut(server.data / name, 12, 25)
    server.start()
    archive = tmp_path / "archive"
    done = run_fetch(server.port, archive)
    assert done.returncode == 2
    assert "is torn" in done.stderr
    assert re.search(r"the transactions 0-118-\S+, which binlog.\d+ continues, are missing", done.stderr)
    assert logs_in(archive)[-1] == name
    for read in (bk.read_changes, bk.read_transactions):
        with pytest.raises(SourceError, match="is torn"):
            read(f"mysql://root:@127.0.0.1:{server.port}/").read_all()
