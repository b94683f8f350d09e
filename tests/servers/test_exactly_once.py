"""A pipeline that is killed repeatedly while a server writes: each row is in the lake once."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import binlog_kaitai as bk
from binlog_kaitai.lake.changes import TableChanges
from binlog_kaitai.lake.place import PlanTable
from binlog_kaitai.lake.storage import Storage
from tests.extent import rounds
from tests.lake.lakes import complete, fold, kill, opened, table
from tests.servers.conftest import StartServer
from tests.servers.fetching import PASSWORD, prepare, url
from tools.servers import Server

pytestmark = [pytest.mark.server, pytest.mark.spark]

KILLS, LIVE_KILLS = rounds(20, 3), rounds(6, 2)

TABLES = {
    "a": "id INT PRIMARY KEY AUTO_INCREMENT, n BIGINT, v VARCHAR(300), d DECIMAL(10,2), t DATETIME(3)",
    "b": "n INT, v VARCHAR(20)",
    "c": "k INT, l VARCHAR(8), n INT, PRIMARY KEY (k, l)",
}


def transaction(choose: random.Random) -> Iterator[str]:
    """The statements of one random transaction."""
    yield "BEGIN"
    for _ in range(choose.choice((1, 1, 2, 5, 20))):
        n, text = choose.randrange(1000), "x" * choose.randrange(300)
        yield choose.choice(
            (
                f"INSERT INTO k.a (n, v, d, t) VALUES ({n}, '{text}', {n}.25, '2026-01-02 03:04:05.678'), "
                f"({n}, NULL, -{n}, NULL)",
                f"UPDATE k.a SET n = n + 1, v = '{text}' WHERE id % 97 = {n % 97}",
                f"UPDATE k.a SET id = -id WHERE id = {n}",
                f"DELETE FROM k.a WHERE id % 101 = {n % 101}",
                f"INSERT INTO k.b VALUES ({n % 13}, 'a'), ({n % 13}, 'a'), (NULL, 'b')",
                f"DELETE FROM k.b WHERE n = {n % 7} LIMIT 1",
                f"UPDATE k.b SET n = {n % 7} WHERE n = {n % 5}",
                f"REPLACE INTO k.c VALUES ({n % 50}, '{'abc'[n % 3]}', {n})",
                f"UPDATE IGNORE k.c SET k = k + 50 WHERE k = {n % 100}",
            )
        )
    yield choose.choice(("COMMIT", "COMMIT", "COMMIT", "ROLLBACK"))


@contextmanager
def writing(server: Server, pause: float = 0.01) -> Iterator[None]:
    """Have a server write random transactions, with pauses in seconds, and begin new logs, meanwhile."""
    is_over = threading.Event()
    failures: list[BaseException] = []

    def write() -> None:
        choose = random.Random(9)
        try:
            connection = server.connect()
            cursor = connection.cursor()
            while not is_over.wait(pause):
                for statement in transaction(choose):
                    cursor.execute(statement)
                if choose.random() < 0.01:
                    cursor.execute("FLUSH BINARY LOGS")
            connection.close()
        except BaseException as error:
            failures.append(error)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        yield
    finally:
        is_over.set()
        writer.join()
    assert not failures


def start(source: str, folder: Path, *options: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.servers.endless_pipeline", source, str(folder), *options]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with words(folder).open("wb") as stderr:
        return subprocess.Popen(command, text=True, start_new_session=True, stderr=stderr, **pipes)


def words(folder: Path) -> Path:
    """Where the newest pipeline of a lake complains."""
    return folder.with_suffix(".stderr")


@pytest.mark.parametrize(("is_live", "kills"), [(False, KILLS), (True, LIVE_KILLS)])
def test_each_row_once_over_many_kills(
    is_live: bool, kills: int, start_server: StartServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the server's files, and from the server."""
    server = start_server("mysql-9.7")
    server.execute("DROP DATABASE IF EXISTS k")
    prepare(server)
    monkeypatch.setenv("MYSQL_PWD", PASSWORD)
    server.execute("CREATE DATABASE k")
    for name, columns in TABLES.items():
        server.execute(f"CREATE TABLE k.{name} ({columns})")
    logs, lake = server.data / "binlog.index", tmp_path / "lake"
    source = url(server.port) if is_live else str(logs)
    choose, in_flight = random.Random(5), 0
    run_to_end(source, lake, engine="spark")  # which leaves Java's archive of classes to all that are killed
    with writing(server):
        for process in pipelines(source, lake, kills):
            wait_for_a_batch(process, lake, complete(lake) + choose.randrange(1, 4))
            time.sleep(choose.uniform(0, 1.5))
            assert process.poll() is None
            kill(process)
            in_flight += planned(lake) > complete(lake)
    run_to_end(source, lake, engine="spark")
    check_rows(lake, logs)
    check_tables(server, lake)
    assert in_flight > kills // 4 or kills < 5  # chance decides about a few


def run_to_end(source: str, lake: Path, *options: str, engine: str = "local") -> None:
    command: list[str | Path] = [
        sys.executable,
        "-m",
        "binlog_kaitai",
        "pipeline",
        "--engine",
        engine,
        *options,
    ]
    command += ["--to", lake, source]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def pipelines(source: str, lake: Path, kills: int) -> Iterator[subprocess.Popen[str]]:
    """One pipeline at a time; the next one starts its Spark meanwhile."""
    started = [start(source, lake)]
    try:
        for _ in range(kills):
            started.append(start(source, lake))
            process = started[-2]
            assert process.stdin is not None
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n", words(lake).read_text()[-3000:]
            process.stdin.write("go\n")
            process.stdin.flush()
            yield process
    finally:
        for process in started:
            kill(process)


def planned(lake: Path) -> int:
    """The last batch that was planned."""
    plan = PlanTable(Storage(str(lake))).load()
    return -1 if plan is None else plan.batch


def wait_for_a_batch(process: subprocess.Popen[str], lake: Path, number: int) -> None:
    """Until a batch has ended, and the next one is planned."""
    deadline = time.monotonic() + 120
    while complete(lake) < number or planned(lake) <= number:
        assert process.poll() is None, words(lake).read_text()[-3000:]
        assert time.monotonic() < deadline
        time.sleep(0.02)


def check_rows(lake: Path, source: Path) -> None:
    """The lake has what the logs have: events, transactions, and the images of all rows."""
    there = opened(lake)
    for view, read in (("events", bk.read_events), ("transactions", bk.read_transactions)):
        offsets = table(there, view).select(["file", "position"]).to_pylist()
        expected = read(source).read_all().select(["file", "position"])
        assert rows(offsets) == rows(expected.to_pylist())
    for name in TABLES:
        found = rows(table(there, f"changes/k.{name}").to_pylist())
        assert found == rows(bk.read_changes(source, table=f"k.{name}").read_all().to_pylist())
        assert len(found) > 500
        assert set(found.values()) == {1}


def rows(found: list[dict[str, Any]]) -> Counter[str]:
    """Rows with the names of their logs, without folders: a spool is another one than the server's."""
    for row in found:
        for name in {"file", "_file"} & set(row):
            row[name] = os.path.basename(row[name])
    return Counter(map(repr, found))


def check_tables(server: Server, lake: Path) -> None:
    """The changes in the lake amount to the content of the server's tables."""
    tables = TableChanges(opened(lake))
    for name in TABLES:
        mine = Counter(tuple(row.values()) for row in fold(tables, ("k", name)))
        assert mine == Counter(server.execute(f"SELECT * FROM k.{name}"))
        assert len(mine) > 5
