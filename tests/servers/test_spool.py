"""Queries that stream from a server through a spool: each transaction once, over one connection."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import binlog_kaitai as bk
from binlog_kaitai.errors import BinlogError, ServerError, UsageError
from binlog_kaitai.live import log_spool as spools
from tests.servers.conftest import StartServer
from tests.servers.endless_stream import Query
from tests.servers.fetching import (
    Proxy,
    Writing,
    environment,
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

pytestmark = [pytest.mark.server, pytest.mark.spark]

KILLS = 12


@pytest.fixture(autouse=True)
def _login(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in environment().items():
        monkeypatch.setenv(name, value)


def start(port: int, spool: Path, checkpoint: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.servers.endless_stream", url(port), str(spool), str(checkpoint)]
    log = checkpoint.with_suffix(".log").open("a")
    return subprocess.Popen(command, env=environment(), stdout=log, stderr=log, text=True)


def transactions(server: Server) -> Counter[tuple[str, int]]:
    table = bk.read_transactions(server.data / "binlog.index").read_all()
    rows = table.select(["file", "position"]).to_pylist()
    return Counter((os.path.basename(row["file"]), row["position"]) for row in rows)


def dumps(server: Server) -> int:
    """The dump connections that the server has."""
    return sum("Binlog Dump" in str(row[4]) for row in server.execute("SHOW PROCESSLIST"))


@pytest.mark.parametrize("name", ["mysql-9.7", "mariadb-11.8"])
def test_each_transaction_once_over_many_kills(name: str, start_server: StartServer, tmp_path: Path) -> None:
    """Two queries share a spool; they, the server and the connections are killed at random moments."""
    server = start_server(name)
    prepare(server)
    spool, choose = tmp_path / "spool", random.Random(11)
    proxy = Proxy(lambda: server.port)
    checkpoints = [tmp_path / one for one in ("a", "b")]
    writing = Writing(server, 300)
    queries = [start(proxy.port, spool, checkpoint) for checkpoint in checkpoints]
    actions = ["kill"] * KILLS + ["cut"] * 5 + ["server"] * 3
    choose.shuffle(actions)
    try:
        # One that is killed before it has begun holds no logs back for its next start.
        wait_for(lambda: all((one / "batch-0").exists() for one in checkpoints), "each query's first batch")
        for action in actions:
            time.sleep(choose.uniform(0.3, 2.5))
            which = choose.randrange(2)
            if action == "kill":
                kill(queries[which])
                queries[which] = start(proxy.port, spool, checkpoints[which])
            elif action == "cut":
                proxy.cut_after(choose.randrange(1 << 17))
            else:
                server.kill()
                server.start()
            for query, checkpoint in zip(queries, checkpoints, strict=True):
                assert query.poll() is None, checkpoint.with_suffix(".log").read_text()[-3000:]
        assert dumps(server) <= 1
    finally:
        writing.stop()
        for query in queries:
            kill(query)
        proxy.close()
    for checkpoint in checkpoints:
        query_to_end = Query(url(server.port), str(spool), checkpoint)
        query_to_end.run(None)
        assert Counter(query_to_end.rows()) == transactions(server)
    assert writing.count > 300


def test_logs_go_once_all_queries_have_read_them(
    start_server: StartServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spools, "_TRIM_SECONDS", 0.0)
    server = start_server("mysql-9.7")
    prepare(server)
    spool = tmp_path / "spool"
    queries = [Query(url(server.port), str(spool), tmp_path / one) for one in ("a", "b")]
    _write_logs(server, 3)
    queries[0].run(None)
    queries[1].run(None)
    assert logs_in(spool) == logs_in(server.data)
    held = logs_in(spool)[-1]
    _write_logs(server, 2)
    queries = [Query(url(server.port), str(spool), tmp_path / one) for one in ("a", "b")]
    queries[0].run(None)  # the other query still holds the logs back
    newest = logs_in(server.data)
    assert logs_in(spool) == newest[newest.index(held) :]
    queries[1].run(None)
    queries = [Query(url(server.port), str(spool), tmp_path / one) for one in ("a", "b")]
    for query in queries:
        query.run(None)
    assert logs_in(spool) == newest[-1:]
    assert (spool / "binlog.index").read_text().split() == [f"./{newest[-1]}"]
    for query in queries:
        assert Counter(query.rows()) == transactions(server)
    # Whoever comes now, and wants all that the server has, would miss what is gone.
    late = Query(url(server.port), str(spool), tmp_path / "late")
    with pytest.raises(UsageError, match=f"begins with {newest[-1]}.*still has {newest[0]}"):
        late.run(None)
    from_now = Query(url(server.port), str(spool), tmp_path / "now", startingOffsets="latest")
    from_now.run(None)
    assert from_now.rows() == []


def _write_logs(server: Server, count: int) -> None:
    for number in range(count):
        run_workload(server, number, 8)
        server.execute("FLUSH BINARY LOGS")
    server.execute("INSERT INTO f.a (n) VALUES (1)")


def test_a_spool_that_was_lost_begins_where_its_query_is(start_server: StartServer, tmp_path: Path) -> None:
    server = start_server("mariadb-11.8")
    prepare(server)
    _write_logs(server, 2)
    Query(url(server.port), str(tmp_path / "one"), tmp_path / "a").run(None)
    reached = len(logs_in(server.data))
    _write_logs(server, 1)
    again = Query(url(server.port), str(tmp_path / "other"), tmp_path / "a")
    again.run(None)
    assert Counter(again.rows()) == transactions(server)
    assert logs_in(tmp_path / "other") == logs_in(server.data)[reached - 1 :]


def test_a_query_goes_on_at_a_replica(start_server: StartServer, tmp_path: Path) -> None:
    """Its checkpoint finds the first new transaction in the logs of a server that numbers them otherwise."""
    source = start_server("mysql-9.7")
    prepare(source)
    _write_logs(source, 3)
    with Server("mysql-9.7", folder=tmp_path / "replica") as replica:
        replica.restart("--server-id=98", "--skip-replica-start")
        replica.execute("RESET REPLICA ALL")
        prepare(replica)
        replica.execute("DROP DATABASE f")
        replica.execute(reset_statement(replica))
        query = Query(url(source.port), str(tmp_path / "one"), tmp_path / "a")
        query.run(None)
        read = Counter(query.rows())
        follow = Query(url(source.port), str(tmp_path / "one"), tmp_path / "b")
        follow.run(None)
        # One that lacks what was read is refused.
        with pytest.raises(BinlogError, match="lack"):
            Query(url(replica.port), str(tmp_path / "empty"), tmp_path / "b").run(None)
        replicate(source, replica)
        wait_until_replicated(source, replica)
        before = transactions(replica)
        assert sum(before.values()) >= sum(read.values())
        source.kill()
        replica.execute("STOP REPLICA")
        _write_logs(replica, 1)
        new = transactions(replica) - before
        moved = Query(url(replica.port), str(tmp_path / "other"), tmp_path / "a")
        moved.run(None)
        assert Counter(moved.rows()) - read == new
        assert sum(Counter(moved.rows()).values()) == sum(read.values()) + sum(new.values())
        _write_logs(replica, 1)
        Query(url(replica.port), str(tmp_path / "other"), tmp_path / "a").run(None)
        assert sum(Counter(moved.rows()).values()) == sum(read.values()) + sum(
            (transactions(replica) - before).values()
        )
    source.start()


def test_nothing_is_removed_from_an_archive(
    start_server: StartServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spools, "_TRIM_SECONDS", 0.0)
    server = start_server("mysql-9.7")
    prepare(server)
    archive = tmp_path / "archive"
    assert run_fetch(server.port, archive).returncode == 0
    for _ in range(3):
        _write_logs(server, 1)
        query = Query(url(server.port), str(archive), tmp_path / "a")
        query.run(None)
    assert logs_in(archive) == logs_in(server.data)
    assert Counter(query.rows()) == transactions(server)


def test_what_the_server_refuses_ends_the_query(start_server: StartServer, tmp_path: Path) -> None:
    server = start_server("mysql-9.7")
    prepare(server)
    wrong = Query(url(server.port, "nobody:wrong"), str(tmp_path / "spool"), tmp_path / "a")
    with pytest.raises(ServerError, match="rejected the login"):
        wrong.run()
    begun = tmp_path / "begun"
    Query(url(server.port), str(begun), tmp_path / "b").run(None)
    prepare(server)  # resets its logs
    with pytest.raises(ServerError, match="reset or replaced"):
        Query(url(server.port), str(begun), tmp_path / "b").run()


def test_starting_offsets(start_server: StartServer, tmp_path: Path) -> None:
    server = start_server("mysql-9.7")
    prepare(server)
    _write_logs(server, 2)
    ((executed,),) = server.execute("SELECT @@global.gtid_executed")
    before = transactions(server)
    second = logs_in(server.data)[1]
    _write_logs(server, 1)
    wanted: dict[str, Any] = {
        json.dumps({"file": second, "position": 4}): lambda one: one[0] >= second,
        json.dumps({"gtids": executed.replace("\n", "")}): lambda one: one not in before,
    }
    for number, (starting, is_wanted) in enumerate(wanted.items()):
        folder = tmp_path / str(number)
        query = Query(url(server.port), str(folder), tmp_path / f"c{number}", startingOffsets=starting)
        query.run(None)
        assert Counter(query.rows()) == Counter(filter(is_wanted, transactions(server)))
        assert logs_in(folder)[0] >= second


def test_another_process_takes_over(start_server: StartServer, tmp_path: Path) -> None:
    server = start_server("mysql-9.7")
    prepare(server)
    spool = tmp_path / "spool"
    first = start(server.port, spool, tmp_path / "a")
    try:
        wait_for(lambda: dumps(server) == 1, "the first query's dump")
        second = start(server.port, spool, tmp_path / "b")
        try:
            wait_for(lambda: (tmp_path / "b" / "batch-0").exists(), "a batch of the second query")
            assert dumps(server) == 1
            kill(first)
            run_workload(server, 4, 20)
            query = Query(url(server.port), str(spool), tmp_path / "b")
            wait_for(lambda: Counter(query.rows()) == transactions(server), "the rest", 30)
            assert dumps(server) <= 2  # the server notices late that a client is gone
        finally:
            kill(second)
    finally:
        kill(first)
