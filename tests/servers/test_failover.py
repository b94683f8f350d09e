"""`fetch` from a source and its replica: when one is lost, the archive continues at the other."""

from __future__ import annotations

import json
import os
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest

import binlog_kaitai as bk
from tests.servers.conftest import StartServer
from tests.servers.fetching import (
    Proxy,
    differences,
    following,
    kill,
    logs_in,
    prepare,
    replicate,
    run_fetch,
    run_workload,
    start_fetch,
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


@pytest.mark.parametrize("name", ["mysql-9.7", "mariadb-11.8"])
def test_an_archive_continues_at_a_replica(name: str, start_server: StartServer, tmp_path: Path) -> None:
    source, archive = start_server(name), tmp_path / "archive"
    prepare(source)
    with Server(name, "replica-" + os.environ.get("PYTEST_XDIST_WORKER", "")) as replica:
        empty_replica(replica)
        proxies = [Proxy(lambda: source.port), Proxy(lambda: replica.port)]
        ports = [proxy.port for proxy in proxies]
        run_workload(source, 31, 20)
        with following(ports, archive) as fetching:
            # The archive is ahead: the replica lacks what was read, and is refused.
            wait_for(lambda: reaches(archive, source), "the source's logs")
            source.kill()
            log = archive.with_suffix(".log")
            wait_for(lambda: "the server lacks the transactions" in log.read_text(), "the refusal")
            source.start()
            replicate(source, replica)
            run_workload(source, 32, 40)
            wait_until_replicated(source, replica)
            kill(fetching)
        assert run_fetch(ports[::-1], archive).returncode == 0
        assert not (archive / "era-1").exists()  # the archive's own server is there
        assert differences(archive, source) == []
        read = gtids_of(archive)

        # The source is lost; the replica takes its place.
        source.kill()
        replica.execute("STOP REPLICA")
        replica.execute("RESET REPLICA ALL")
        run_workload(replica, 33, 40)
        era = archive / "era-1"
        fetching = start_fetch(ports, archive, "--follow")
        try:
            wait_for(lambda: reaches(era, replica), "the replica's logs")
            kill(fetching)
            run_workload(replica, 34, 10)
            fetching = start_fetch(ports, archive, "--follow")
            wait_for(lambda: reaches(era, replica), "the rest")
        finally:
            kill(fetching)
        assert differences(era, replica) == [] or logs_in(era) != logs_in(replica.data)
        for one in logs_in(era):
            assert (era / one).read_bytes() == (replica.data / one).read_bytes()
        everything = gtids_of(replica.data / "binlog.index")
        assert gtids_of(era / "binlog.index") & read  # a log cannot be cut
        check_each_once(archive, read, everything)

        # The former source comes back without the new transactions, and is refused at once.
        source.start()
        done = run_fetch(ports[:1] * 2, archive)
        assert done.returncode == 2
        assert "the server lacks the transactions" in done.stderr
        # Once it has them, the archive can return to it.
        prepared = gtids_of(archive)
        replicate(replica, source)
        wait_until_replicated(replica, source)
        source.execute("STOP REPLICA")
        source.execute("RESET REPLICA ALL")
        run_workload(source, 35, 10)
        done = run_fetch(ports[:1] * 2, archive)
        assert done.returncode == 0, done.stderr
        everything |= gtids_of(source.data / "binlog.index")
        check_each_once(archive, prepared, everything)
        assert bk.stats(archive).totals["transactions"] == sum(everything.values())


def check_each_once(archive: Path, read: Counter[str], everything: Counter[str]) -> None:
    found = gtids_of(archive)
    assert found == everything
    assert not read - found
    assert Counter(dict.fromkeys((one.gtid for one in bk.open(archive) if one.gtid), 1)) == everything
    followed = Counter[str]()
    for event in bk.follow(archive, idle_timeout=0):
        if "GTID_" in event.type and event.gtid and not event.type.endswith("LIST_EVENT"):
            followed[event.gtid] += event.type != "PREVIOUS_GTIDS_LOG_EVENT"
    assert +followed == everything
