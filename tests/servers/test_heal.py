"""Tables of a lake that are read from their server again: all are those of the server then."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import closing, suppress
from operator import itemgetter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pymysql
import pytest

from binlog_kaitai.errors import BinlogError, DataLossWarning, ServerError, UsageError
from binlog_kaitai.lake.batches import Shared
from binlog_kaitai.lake.changes import TableChanges
from binlog_kaitai.lake.delta import DeltaTable, DeltaTables
from binlog_kaitai.lake.place import PlanTable
from binlog_kaitai.pipeline.followed_logs import Following
from binlog_kaitai.pipeline.pipeline import Job, Pipeline
from tests.extent import rounds
from tests.lake.lakes import KilledError, OneByOne, dying, opened, processes
from tests.lake.lakes import kill as kill_session
from tests.lake.test_truth import changes_of, content
from tests.rows.truth import OracleTable
from tests.servers.conftest import StartServer
from tests.servers.fetching import kill, prepare, replicate, wait_for, wait_until_replicated
from tests.servers.test_failover import empty_replica
from tests.servers.test_snapshot import empty, url
from tests.servers.test_state import shown
from tools.corpus.snapshot import snapshot
from tools.servers import Server

pytestmark = pytest.mark.server

NAMES = ("mysql-5.6", "mysql-9.7", "mariadb-10.2", "mariadb-11.8")

#: Tables whose contents their changes do not tell.
LOST = (
    # Values that an ALTER converts, of rows that do not change afterwards.
    "CREATE TABLE w.converted (id INT PRIMARY KEY, v VARCHAR(20), t DATETIME(3))",
    "INSERT INTO w.converted VALUES (1, 'a', '2026-01-01 10:00:00.6'), (2, 'b', NULL), (3, 'c', NULL)",
    "ALTER TABLE w.converted MODIFY t DATETIME",
    "UPDATE w.converted SET v = 'bb' WHERE id = 2",
    # Statements logged as text.
    "CREATE TABLE w.`Text` (id INT PRIMARY KEY, v INT)",
    "INSERT INTO w.`Text` VALUES (1, 1), (2, 2)",
    "SET SESSION binlog_format = 'STATEMENT'",
    "UPDATE w.`Text` SET v = v + 1",
    "SET SESSION binlog_format = 'ROW'",
    # Without a key, and older than the log.
    "CREATE TABLE w.old (v INT)",
    "SET SESSION sql_log_bin = 0",
    "INSERT INTO w.old VALUES (1), (1), (2)",
    "SET SESSION sql_log_bin = 1",
    "DELETE FROM w.old WHERE v = 2",
    # Changed without the log's knowledge, which only the server's administrator knows.
    "CREATE TABLE w.silent (id INT PRIMARY KEY, v INT)",
    "INSERT INTO w.silent VALUES (1, 1), (2, 2)",
    "SET SESSION sql_log_bin = 0",
    "UPDATE w.silent SET v = 20 WHERE id = 2",
    "SET SESSION sql_log_bin = 1",
    "CREATE TABLE w.fine (id INT PRIMARY KEY, v INT)",
    "INSERT INTO w.fine VALUES (1, 1)",
)

#: Of their rows, some that had no changes, and some that had.
LATER = (
    "INSERT INTO w.converted VALUES (4, 'd', '2026-02-02 02:02:02')",
    "DELETE FROM w.converted WHERE id = 1",
    "UPDATE w.`Text` SET v = -v WHERE id = 2",
    "DELETE FROM w.old WHERE v = 1 LIMIT 1",
    "INSERT INTO w.old VALUES (7)",
    "UPDATE w.silent SET v = 10 WHERE id = 1",
    "DELETE FROM w.silent WHERE id = 2",
    "INSERT INTO w.fine VALUES (2, 2)",
)

REFUSED = {"w.converted", "w.Text", "w.old"}


def started(start_server: StartServer, name: str, *statements: str) -> Server:
    """A server after some statements; by default, with tables whose state is lost."""
    server = start_server(name)
    empty(server, "w")
    execute(server, *(statements or LOST))
    return server


def execute(server: Server, *statements: str) -> None:
    connection = server.connect()
    cursor = connection.cursor()
    for statement in statements:
        cursor.execute(statement)
    connection.close()


class Run:
    """Runs of a pipeline on a server's logs.

    `address`: of the server, or of several.
    `lines`: what the last one reported of snapshots.
    """

    def __init__(self, server: Server, lake: Path, shared: Shared | None = None, **job: Any) -> None:
        self.address, self._lake, self._job = url(server), lake, job
        self._shared = shared or Shared()
        self.lines: list[str] = []

    def __call__(self, size: int = 2000, *, loses: bool = False, **job: Any) -> dict[str, str]:
        """Load what is new; returns tables without state, and why."""
        pipeline = self.pipeline(size, loses=loses, **job)
        pipeline.run(OneByOne())
        return {} if pipeline._state is None else dict(pipeline._state.refused)

    def pipeline(self, size: int = 2000, *, loses: bool = False, **job: Any) -> Pipeline:
        """The next one."""
        work, self.lines = self._lake / "_work" / self._job.get("source", ""), []
        spool, fails = (str(work / "spool"),), not loses
        following = Following(spool, max_bytes=size, server=self.address, fails_on_data_loss=fails)
        options = {"keeps_state": True, "views": ["changes"], "zero_dates": "text", **self._job, **job}
        made = Job(following, str(self._lake), str(work), **options)
        return Pipeline(made, on_snapshot=self.lines.append, shared=self._shared)


def check(server: Server, lake: Path, *without: str) -> None:
    """Changes and states are the server's tables, with those `without` a state."""
    loaded = opened(lake)
    changes = TableChanges(loaded)
    oracle = [OracleTable.of(json.loads(line)) for line in snapshot(server, ["w"]).splitlines()]
    for table in oracle:
        if (name := ".".join(table.name)) in without:
            continue
        expected = Counter(table.rows)
        state = loaded.tables.open(f"state/{name}")
        kept = [row for batch in (() if state is None else state.batches()) for row in batch.to_pylist()]
        assert shown(kept, table) == expected, name
        assert (
            shown(content(changes_of(changes, table.name), changes.lineage.keys[table.name]), table)
            == expected
        )


@pytest.mark.parametrize("name", NAMES)
def test_tables_without_state_heal(name: str, start_server: StartServer, tmp_path: Path) -> None:
    server = started(start_server, name)
    run = Run(server, tmp_path)
    assert run().keys() == REFUSED
    check(server, tmp_path, *REFUSED, "w.silent")
    assert run(heals=True) == {}
    assert len(run.lines) == len(REFUSED)
    check(server, tmp_path, "w.silent")
    execute(server, *LATER)
    assert run(heals=True) == {}
    assert run.lines == []
    check(server, tmp_path)
    changes = changes_of(TableChanges(opened(tmp_path)), ("w", "converted"))
    assert Counter(kind for kind, *_ in changes) == {"snapshot": 3, "insert": 1, "delete": 1}


@pytest.mark.parametrize("name", NAMES)
def test_tables_that_are_asked_for_are_read_again(
    name: str, start_server: StartServer, tmp_path: Path
) -> None:
    server = started(start_server, name)
    run = Run(server, tmp_path)
    run()
    assert run(resnapshot=["w.silent", "w.Te*"]).keys() == REFUSED - {"w.Text"}
    check(server, tmp_path, "w.converted", "w.old")
    execute(server, *LATER)
    assert run().keys() == REFUSED - {"w.Text"}
    check(server, tmp_path, "w.converted", "w.old")


def test_a_table_that_a_lake_did_not_load_so_far(start_server: StartServer, tmp_path: Path) -> None:
    server = started(start_server, "mysql-9.7")
    run = Run(server, tmp_path)
    run(tables=["w.fine"])
    with pytest.raises(
        UsageError, match=r"the lake does not load changes of w\.silent; add them to --tables"
    ):
        run(tables=["w.fine"], resnapshot=["w.silent"])
    run(tables=["w.fine", "w.silent"], resnapshot=["w.silent"])
    execute(server, *LATER)
    run(tables=["w.fine", "w.silent"])
    check(server, tmp_path, *REFUSED)


def test_what_cannot_be_read_again(start_server: StartServer, tmp_path: Path) -> None:
    server = started(start_server, "mariadb-11.8")
    run = Run(server, tmp_path)
    with pytest.raises(UsageError, match="is new: --resnapshot is for a lake that exists"):
        run(resnapshot=["w.fine"])
    run()
    with pytest.raises(ServerError, match="the server has no such table"):
        run(resnapshot=["w.none"])
    execute(server, "DROP TABLE w.old")
    with pytest.MonkeyPatch.context() as patch, closing(server.connect()) as connection:
        patch.setattr("binlog_kaitai.snapshot.server_snapshot._LOCK_SECONDS", 1)
        connection.cursor().execute("BEGIN")
        connection.cursor().execute("INSERT INTO w.`Text` VALUES (9, 9)")
        # A transaction that is open keeps a table from being locked; the run goes on without it.
        assert run(heals=True).keys() == {"w.Text"}
    assert any("it cannot be read" in line for line in run.lines), run.lines
    assert run(heals=True) == {}
    check(server, tmp_path, "w.silent")


def test_a_table_is_refused_again(start_server: StartServer, tmp_path: Path) -> None:
    """It is read again in the next run, not in the same one."""
    server = started(start_server, "mariadb-11.8")
    run = Run(server, tmp_path)
    assert run(heals=True) == {}
    execute(server, "SET binlog_format = 'STATEMENT'", "UPDATE w.`Text` SET v = v * 2")
    assert run().keys() == {"w.Text"}
    execute(server, *LATER)
    assert run(heals=True) == {}
    assert len(run.lines) == 1
    check(server, tmp_path, "w.silent")


def test_a_table_that_cannot_have_a_state_is_read_again_once_it_can(
    start_server: StartServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lists need a key; without one, a table is left alone until its definition is another one."""
    monkeypatch.setattr("binlog_kaitai.pipeline.healing._PAUSE", 0.0)
    add = "INSERT INTO w.t VALUES (1, TO_VECTOR('[1, 2]'))"
    server = started(start_server, "mysql-9.7", "CREATE TABLE w.t (k INT NOT NULL, v VECTOR(2))", add)
    run = Run(server, tmp_path)
    pipeline = run.pipeline(heals=True)
    thread = threading.Thread(target=pipeline.run, args=(OneByOne(),), kwargs={"interval": 0.1})
    thread.start()
    try:
        for statement in (add, add, "CREATE TABLE w.other (k INT)"):
            wait_for(lambda: len(run.lines) == 1, "read again")
            time.sleep(0.5)
            execute(server, statement)
        assert len(run.lines) == 1
        execute(server, "DELETE FROM w.t LIMIT 2", "ALTER TABLE w.t ADD PRIMARY KEY (k)")
        wait_for(lambda: pipeline._state is not None and not pipeline._state.refused, "a state", 20)
        assert len(run.lines) == 2
    finally:
        pipeline.stopped.set()
        thread.join()
    check(server, tmp_path, "w.other")


@pytest.mark.parametrize("name", ["mysql-9.7", "mariadb-11.8"])
def test_columns_have_names_from_then_on(name: str, start_server: StartServer, tmp_path: Path) -> None:
    """Definitions that no log has are those of the snapshot from there on."""
    server = started(
        start_server,
        name,
        "SET sql_log_bin = 0",
        "CREATE TABLE w.unnamed (id INT PRIMARY KEY, e ENUM('x', 'y'), u INT UNSIGNED)",
        "SET sql_log_bin = 1",
        "INSERT INTO w.unnamed VALUES (1, 'x', 4000000000), (2, 'y', 2)",
    )
    run = Run(server, tmp_path)
    run()
    run(resnapshot=["w.unnamed"])
    execute(
        server, "UPDATE w.unnamed SET e = 'x', u = 3000000000 WHERE id = 2", "ALTER TABLE w.unnamed ADD n INT"
    )
    execute(server, "INSERT INTO w.unnamed VALUES (3, 'y', 0, 5)")
    assert run() == {}
    check(server, tmp_path)


@pytest.mark.parametrize("name", NAMES)
def test_while_the_tables_change(name: str, start_server: StartServer, tmp_path: Path) -> None:
    """A change counts once: it is before the snapshot, or after it. Without a key, one too many shows."""
    server = started(
        start_server, name, "CREATE TABLE w.k (id INT PRIMARY KEY, v INT)", "CREATE TABLE w.n (v INT)"
    )
    stopped, size = threading.Event(), 1 << 20

    def write(seed: int) -> None:
        chance = random.Random(seed)
        connection = server.connect()
        cursor = connection.cursor()
        while not stopped.wait(0.005):
            one = chance.randrange(9)
            with suppress(pymysql.err.OperationalError):  # a deadlock, which rolls back
                cursor.execute("BEGIN")
                cursor.execute(f"REPLACE INTO w.k VALUES ({10 * seed + one}, {chance.randrange(9)})")
                cursor.execute(f"INSERT INTO w.n VALUES ({one})")
                cursor.execute(f"DELETE FROM w.n WHERE v = {chance.randrange(9)} LIMIT 1")
                cursor.execute("COMMIT" if chance.random() < 0.9 else "ROLLBACK")
        connection.close()

    threads = [threading.Thread(target=write, args=(seed,)) for seed in range(3)]
    for thread in threads:
        thread.start()
    try:
        run = Run(server, tmp_path)
        run(size)
        for _ in range(5):
            assert run(size, resnapshot=["w.*"]) == {}
    finally:
        stopped.set()
        for thread in threads:
            thread.join()
    assert run(size) == {}
    check(server, tmp_path)


@pytest.mark.parametrize("left", range(12))
def test_kills(left: int, start_server: StartServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run ends between two of the commits of plans and tables, then another one."""
    server = started(start_server, "mysql-9.7")
    run = Run(server, tmp_path)
    run()
    execute(server, *LATER[:4])
    with monkeypatch.context() as patch:
        dies = dying(left)
        for one, name in ((DeltaTable, "append"), (DeltaTables, "replace"), (PlanTable, "store")):
            patch.setattr(one, name, dies(getattr(one, name)))
        with suppress(KilledError):
            run(heals=True)
    execute(server, *LATER[4:])
    assert run(heals=True) == {}
    check(server, tmp_path, "w.silent")


def test_many_kills_while_tables_are_read_again(start_server: StartServer, tmp_path: Path) -> None:
    """SIGKILL at random moments from a snapshot to the merge, with new refusals and changes each time."""
    server, chance = started(start_server, "mysql-9.7"), random.Random(5)
    command = [sys.executable, "-m", "binlog_kaitai", "pipeline", "--engine", "local", "--to", str(tmp_path)]
    command += ["--state", "--heal", "--view", "changes", "--zero-dates", "text", url(server)]
    snapshot, killed = tmp_path / "_work" / "snapshot", 0

    def begun() -> float:
        return snapshot.stat().st_mtime if snapshot.exists() else 0.0

    for number in range(6):
        values = ", ".join(f"({1000 * number + index}, {index})" for index in range(100, 900))
        execute(
            server,
            f"INSERT INTO w.fine VALUES {values}",
            "SET SESSION binlog_format = 'STATEMENT'",
            f"UPDATE w.fine SET v = v + {number}",
        )
        before = begun()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while begun() == before and process.poll() is None:
            time.sleep(0.01)
        time.sleep(chance.uniform(0, 0.4))
        killed += process.poll() is None
        kill(process)
        execute(server, f"DELETE FROM w.fine WHERE id = {1000 * number + 100}")
    assert killed > 3
    assert Run(server, tmp_path)(heals=True) == {}
    check(server, tmp_path, "w.silent")


def test_a_column_gets_capitals(start_server: StartServer, tmp_path: Path) -> None:
    """The folder of its table has the former spelling, that of the table's next name the new one."""
    server = start_server("mysql-9.7")
    empty(server, "w")
    run = Run(server, tmp_path)
    for statement in (
        "CREATE TABLE w.t (k INT PRIMARY KEY, b INT)",
        "INSERT INTO w.t VALUES (1, 1), (2, 2)",
        "CREATE TABLE w.u (k INT PRIMARY KEY)",
        "INSERT INTO w.u VALUES (1)",
        "ALTER TABLE w.t RENAME COLUMN b TO B",
        "RENAME TABLE w.u TO w.x, w.t TO w.u, w.x TO w.t",
        "INSERT INTO w.u VALUES (4, 4)",
        "UPDATE w.u SET B = 9 WHERE k < 3",
    ):
        execute(server, statement)
        assert run() == {}
    state = opened(tmp_path).tables.open("state/w.u")
    assert state is not None
    rows = [row for batch in state.batches() for row in batch.to_pylist()]
    assert sorted(rows, key=itemgetter("k")) == [{"k": 1, "B": 9}, {"k": 2, "B": 9}, {"k": 4, "B": 4}]


def test_a_statement_at_the_position_of_a_snapshot(tmp_path: Path) -> None:
    """Without GTIDs, no event comes before it."""
    statements = (
        "TRUNCATE TABLE w.t",
        "RENAME TABLE w.t TO w.u",
        "ALTER TABLE w.t CHANGE v x INT",
        "ALTER TABLE w.t ADD x INT DEFAULT 5",
    )
    server = Server("mysql-5.6", folder=tmp_path / "server")
    server.start("--gtid-mode=OFF", "--enforce-gtid-consistency=OFF")
    try:
        for number, statement in enumerate(statements):
            empty(server, "w")
            execute(server, "CREATE TABLE w.t (k INT PRIMARY KEY, v INT)", "INSERT INTO w.t VALUES (1, 1)")
            run = Run(server, tmp_path / str(number), snapshot_readers=1)
            assert run() == {}
            execute(server, statement)
            assert run() == {}
            check(server, tmp_path / str(number))
    finally:
        server.stop()


@pytest.mark.parametrize("begins", ["snapshot", "resnapshot"])
@pytest.mark.parametrize("name", ["mysql-9.7", "mariadb-11.8"])
def test_a_transaction_that_is_prepared_where_tables_were_read(
    name: str, begins: str, start_server: StartServer, tmp_path: Path
) -> None:
    """Its position is that of the rows that were read, which are none of its rows."""
    server = started(
        start_server,
        name,
        "CREATE TABLE w.t (id INT PRIMARY KEY, v INT)",
        "INSERT INTO w.t VALUES (1, 1), (2, 2)",
    )
    run = Run(server, tmp_path, snapshot_readers=1 if begins == "snapshot" else 0)
    run()
    if begins == "resnapshot":
        run(resnapshot=["w.t"])
    with closing(server.connect()) as connection:
        for statement in ("XA START 'x'", "INSERT INTO w.t VALUES (3, 3)", "XA END 'x'", "XA PREPARE 'x'"):
            connection.cursor().execute(statement)
        run()
        check(server, tmp_path)
        execute(server, "DELETE FROM w.t WHERE id = 1", "UPDATE w.t SET v = 20 WHERE id = 2")
        run()
        check(server, tmp_path)
        connection.cursor().execute("XA COMMIT 'x'")
    run()
    check(server, tmp_path)


@pytest.mark.parametrize("name", ["mysql-9.7", "mariadb-11.8"])
def test_a_table_is_read_twice_at_one_position(name: str, start_server: StartServer, tmp_path: Path) -> None:
    """Only the rows of the last time count, also without a key."""
    server = started(start_server, name, "CREATE TABLE w.t (v INT)", "INSERT INTO w.t VALUES (1), (1), (2)")
    run = Run(server, tmp_path, snapshot_readers=1)
    for value in (1, 2, 3):
        assert run(resnapshot=["w.t"] if value > 1 else []) == {}
        check(server, tmp_path)
        execute(server, "SET SESSION sql_log_bin = 0", f"UPDATE w.t SET v = {value} LIMIT 1")
    execute(server, "INSERT INTO w.t VALUES (4)")
    assert run(resnapshot=["w.t"]) == {}
    check(server, tmp_path)


@pytest.mark.parametrize("name", ["mysql-9.7", "mariadb-11.8"])
def test_a_key_that_goes_on_in_another_column(name: str, start_server: StartServer, tmp_path: Path) -> None:
    server = started(
        start_server,
        name,
        "CREATE TABLE w.t (k INT, l INT, v INT, PRIMARY KEY (l, k))",
        "INSERT INTO w.t VALUES (1, 1, 1), (2, 2, 2)",
        "ALTER TABLE w.t MODIFY k VARBINARY(9)",
    )
    run = Run(server, tmp_path)
    assert run().keys() == {"w.t"}
    assert run(heals=True) == {}
    check(server, tmp_path)
    for _ in range(2):
        execute(
            server,
            "INSERT INTO w.t VALUES ('3', 1, 3)",
            "UPDATE w.t SET v = 9 WHERE k = '1'",
            "DELETE FROM w.t WHERE k = '2'",
        )
        assert run() == {}
        check(server, tmp_path)
        execute(server, "TRUNCATE TABLE w.t")
        assert run() == {}
        check(server, tmp_path)


def test_tables_without_rows_heal_in_the_same_run(start_server: StartServer, tmp_path: Path) -> None:
    server = started(
        start_server,
        "mysql-9.7",
        "CREATE TABLE w.t (k INT PRIMARY KEY)",
        "SET SESSION binlog_format = 'STATEMENT'",
        "UPDATE w.t SET k = 2",
    )
    run = Run(server, tmp_path)
    assert run().keys() == {"w.t"}
    assert run(heals=True) == {}
    assert len(run.lines) == 1
    execute(server, "SET SESSION binlog_format = 'STATEMENT'", "UPDATE w.t SET k = 2")
    assert run().keys() == {"w.t"}
    execute(server, "DROP TABLE w.t")
    assert run() == {}


@pytest.mark.spark
@pytest.mark.thorough
def test_kills_of_spark_while_tables_are_read_again(start_server: StartServer, tmp_path: Path) -> None:
    """Of its JVM, which ends the run, and of a Python worker, which does not."""
    server, chance, killed = started(start_server, "mysql-9.7"), random.Random(7), Counter[str]()
    command = [
        sys.executable,
        "-m",
        "binlog_kaitai",
        "pipeline",
        "--to",
        str(tmp_path),
        "--master",
        "local[2]",
    ]
    command += ["--conf", "spark.driver.memory=512m", "--state", "--heal", "--view", "changes"]
    command += ["--zero-dates", "text", url(server)]
    folder, run = tmp_path / "_work" / "snapshot", Run(server, tmp_path)
    run(heals=True)
    for number in range(rounds(12, 1)):
        victim = ("java", "pyspark.daemon")[number % 2]
        values = ", ".join(f"({1000 * number + index}, {index})" for index in range(100, 900))
        execute(
            server,
            f"INSERT INTO w.fine VALUES {values}",
            "SET SESSION binlog_format = 'STATEMENT'",
            f"UPDATE w.fine SET v = v + {number}",
        )
        process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        try:
            while not folder.exists() and process.poll() is None:
                time.sleep(0.01)
            deadline = time.monotonic() + chance.uniform(0, 0.8)
            while process.poll() is None and not killed[f"{number}"]:
                for pid in processes(process.pid, victim)[-1:] if time.monotonic() > deadline else ():
                    with suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
                        killed[f"{number}"] += 1
                time.sleep(0.01)
            process.wait(60)
        finally:
            kill_session(process)
        execute(server, f"DELETE FROM w.fine WHERE id = {1000 * number + 100}")
    assert len(killed) >= rounds(9, 1)
    assert run(heals=True) == {}
    check(server, tmp_path, "w.silent")


def test_a_table_that_has_no_state_at_all_is_read_once(start_server: StartServer, tmp_path: Path) -> None:
    """Without a key, its documents cannot be compared."""
    server = started(
        start_server,
        "mysql-9.7",
        "CREATE TABLE w.lists (v VECTOR(2))",
        "INSERT INTO w.lists VALUES (TO_VECTOR('[1,2]'))",
    )
    run = Run(server, tmp_path)
    assert run(heals=True).keys() == {"w.lists"}
    assert len(run.lines) == 1


@pytest.mark.parametrize("name", ["mysql-9.7", "mariadb-11.8"])
def test_an_errant_transaction_of_the_new_server(
    name: str, start_server: StartServer, tmp_path: Path
) -> None:
    """A replica has executed its own UPDATE, and then that of its source, which a lake read before."""
    source, lake = start_server(name), tmp_path / "lake"
    empty(source)
    prepare(source)
    source.execute("CREATE DATABASE w")
    with Server(name, folder=tmp_path / "replica") as replica:
        empty_replica(replica)
        empty(replica)
        run = Run(source, lake)
        run.address = url(source).replace("/?", f",127.0.0.1:{replica.port}/?")
        replicate(source, replica)
        for table in ("t", "u"):
            source.execute(f"CREATE TABLE w.{table} (id INT PRIMARY KEY, v INT)")
            source.execute(f"INSERT INTO w.{table} VALUES (1, 1), (2, 2)")
        wait_until_replicated(source, replica)
        replica.execute("STOP REPLICA")
        source.execute("UPDATE w.t SET v = 10 WHERE id = 1")
        assert run(1 << 20) == {}
        replica.execute("UPDATE w.t SET v = 90 WHERE id = 1")
        replica.execute("START REPLICA")
        wait_until_replicated(source, replica)
        replica.execute("STOP REPLICA")
        replica.execute("RESET REPLICA ALL")
        source.kill()
        try:
            replica.execute("UPDATE w.u SET v = 20 WHERE id = 1")
            refused = run(1 << 20)
            assert refused.keys() == {"w.t"}
            assert "another server has executed" in refused["w.t"]
            check(replica, lake, "w.t")
            run.address = url(replica)
            assert run(1 << 20, heals=True) == {}
            check(replica, lake)
        finally:
            source.start()


@pytest.mark.parametrize("name", ["mysql-5.6", "mysql-5.7", "mysql-9.7", "mariadb-11.8"])
@pytest.mark.parametrize("has_spool", [True, False])
def test_a_server_has_purged_logs(
    name: str, has_spool: bool, start_server: StartServer, tmp_path: Path
) -> None:
    """A lake goes on after the gap if it may; all states are refused, and heal."""
    server = started(start_server, name)
    run = Run(server, tmp_path)
    run()
    for statement in (LATER[0], "FLUSH BINARY LOGS", *LATER[1:], "FLUSH BINARY LOGS"):
        server.execute(statement)
    (*_, (newest, *_)) = server.execute("SHOW BINARY LOGS")

    def purged() -> bool:  # which waits for the end of the connection that has read them
        server.execute(f"PURGE BINARY LOGS TO '{newest}'")
        return len(server.execute("SHOW BINARY LOGS")) == 1

    wait_for(purged, "purged logs")
    server.execute("INSERT INTO w.fine VALUES (9, 9)")
    if not has_spool:
        shutil.rmtree(tmp_path / "_work")
    with pytest.raises(BinlogError, match=r"purged|no longer exists.*(failOnDataLoss=false|--allow-loss)"):
        run()
    with pytest.warns(DataLossWarning):
        refused = run(loses=True)
    assert refused.keys() == {*REFUSED, "w.silent", "w.fine"}
    assert "logs are missing: " in refused["w.silent"]
    gaps = opened(tmp_path).tables.open("gaps")
    assert gaps is not None
    (gap,) = pa.Table.from_batches(gaps.batches()).to_pylist()
    assert gap["file"].endswith(newest)
    execute(server, "INSERT INTO w.fine VALUES (10, 10)")
    assert run(heals=True) == {}
    check(server, tmp_path)
