"""`fetch` from a source and its replica: when one is lost, the archive continues at the other."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import pytest

import binlog_kaitai as bk
from binlog_kaitai.core.transactions import GTID_TYPES
from binlog_kaitai.log.event_log import Event
from tests.servers.conftest import StartServer
from tests.servers.fetching import (
    Proxy,
    differences,
    environment,
    following,
    kill,
    logs_in,
    prepare,
    replicate,
    run_fetch,
    run_workload,
    url,
    wait_for,
    wait_until_replicated,
)
from tools.corpus.recorder import reset_statement
from tools.servers import Server

pytestmark = pytest.mark.server


def reaches(archive: Path, server: Server) -> bool:
    state = archive / "fetch.json"
    place = json.loads(state.read_text())["place"] if state.exists() else None
    newest = server.data / logs_in(server.data)[-1]
    return place is not None and (place["name"], place["position"]) == (newest.name, newest.stat().st_size)


def gtids_of(*paths: Path) -> Counter[str]:
    return Counter(bk.read_transactions(list(paths)).read_all().column("gtid").to_pylist())


def empty_replica(replica: Server) -> None:
    """No data, no log, and a server id of its own."""
    replica.restart("--server-id=98", "--skip-slave-start", "--log-slave-updates")
    with suppress(Exception):
        replica.execute("STOP REPLICA")
    replica.execute("RESET REPLICA ALL")
    prepare(replica)
    replica.execute("DROP DATABASE f")
    replica.execute(reset_statement(replica))
    if replica.spec.flavour == "mariadb":
        replica.execute("SET GLOBAL gtid_slave_pos = ''")


@pytest.fixture(autouse=True)
def _login(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in environment().items():
        monkeypatch.setenv(name, value)


@pytest.mark.parametrize("name", ["mysql-9.7", "mariadb-11.8"])
def test_an_archive_continues_at_a_replica(name: str, start_server: StartServer, tmp_path: Path) -> None:
    source, archive = start_server(name), tmp_path / "archive"
    era = archive / "era-1"
    prepare(source)
    if name.startswith("mariadb"):
        source.execute("SET GLOBAL gtid_slave_pos = ''")
    with Server(name, folder=tmp_path / "replica") as replica:
        empty_replica(replica)
        # Their ports change with each start.
        ports = [Proxy(lambda: source.port).port, Proxy(lambda: replica.port).port]
        replicate(source, replica)
        run_workload(source, 31, 10)
        follower = Following(url(ports))
        with following(ports, archive) as fetching:
            wait_until_replicated(source, replica)
            wait_for(lambda: reaches(archive, source), "the source's logs")
            assert differences(archive, source) == []
            read = gtids_of(archive)
            source.kill()
            replica.execute("STOP REPLICA")
            replica.execute("RESET REPLICA ALL")
            run_workload(replica, 34, 10)
            wait_for(lambda: reaches(era, replica), "the replica's logs")
            kill(fetching)
        replica.execute("FLUSH BINARY LOGS")
        run_workload(replica, 35, 3)
        done = run_fetch(ports[1], archive)
        assert done.returncode == 0, done.stderr
        for log in logs_in(era):
            assert (era / log).read_bytes() == (replica.data / log).read_bytes()
        assert gtids_of(era / "binlog.index") & read  # a log cannot be cut
        everything = gtids_of(replica.data / "binlog.index")
        wait_for(lambda: sum(follower.found.values()) >= sum(everything.values()), "the follower", 20)
        follower.stop()
        assert follower.found == everything
        check_each_once(archive, read, everything)
        # The former source lacks the new transactions.
        source.start()
        done = run_fetch(ports[:1] * 2, archive)
        assert done.returncode == 2
        assert "the server lacks the transactions" in done.stderr


class Following:
    """A thread that follows servers, and counts transactions."""

    def __init__(self, target: str) -> None:
        self.found = Counter[str]()
        self._is_over = threading.Event()
        self._events = bk.follow(target, interval=0.1, stop=self._is_over.is_set)
        self._thread = threading.Thread(target=self._read)
        self._thread.start()

    def _read(self) -> None:
        for event in self._events:
            self.found.update(begun([event]))

    def stop(self) -> None:
        self._is_over.set()
        self._thread.join()
        self._events.close()


def check_each_once(archive: Path, read: Counter[str], everything: Counter[str]) -> None:
    """Each transaction of both servers is read once, in whatever way the archive is read."""
    assert not read - everything
    assert gtids_of(archive) == everything
    assert bk.stats(archive).totals["transactions"] == sum(everything.values())
    assert Counter(begun(bk.open(archive))) == everything
    assert Counter(begun(bk.follow(archive, idle_timeout=0))) == everything


def begun(events: Iterable[Event]) -> list[str]:
    """The GTIDs of the transactions that events begin."""
    return [event.gtid or "" for event in events if event.type_code in GTID_TYPES]
