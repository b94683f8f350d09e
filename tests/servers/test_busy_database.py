"""State tables are those of a server that several connections change, in rows and in definitions."""

from __future__ import annotations

import json
import random
import re
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pytest

from binlog_kaitai.lake import SOURCE
from binlog_kaitai.lake.batches import Shared
from tests.extent import rounds, sample
from tests.lake.lakes import opened
from tests.rows.truth import OracleTable
from tests.servers.busy_database import BusyDatabase
from tests.servers.conftest import StartServer
from tests.servers.test_heal import Run
from tests.servers.test_snapshot import empty
from tests.spark.oracle import server_text
from tools.corpus.snapshot import snapshot
from tools.servers import Server

pytestmark = pytest.mark.server

_GENERATED = re.compile("(VIRTUAL|STORED) GENERATED")


def texts(rows: list[dict[str, Any]], table: OracleTable) -> Iterator[tuple[str | None, ...]]:
    """Rows of a state as the server prints them; a column of several types goes on with `_` appended."""
    names = {column.name.lower() for column in table.columns}
    for row in rows:
        values: dict[str, Any] = {}
        for column, value in row.items():
            name = column.lower()
            while name not in names and name.endswith("_"):
                name = name[:-1]
            if isinstance(value, datetime):
                value = value.replace(tzinfo=None)
            if value is not None:
                assert values.setdefault(name, value) is value
        yield tuple(server_text(values.get(column.name.lower()), column) for column in table.columns)


def compared(
    server: Server, lake: Path, refused: dict[str, str], kind: str = "delta", source: str = ""
) -> int:
    """Number of tables whose state is that of the server; each other one is refused, and marked.

    Columns that the server computes may be left out, if the description of the state says so. In a lake of
    several sources, they may be null.
    """
    found, equal = opened(lake, kind, source), 0
    outdated = f"outdated: {source}: " if source else "outdated: "
    own = pc.field(SOURCE) == source if source else None
    for line in map(json.loads, snapshot(server, ["w"]).splitlines()):
        table = OracleTable.of(line)
        name = ".".join(table.name)
        state = found.tables.open(f"state/{name}")
        description = "" if state is None else state.description
        if name in refused:
            assert state is None or outdated in description, name
            continue
        assert outdated not in description, name
        rows = [row for batch in (() if state is None else state.batches(own)) for row in batch.to_pylist()]
        left_out = re.search(r"without columns .*: (.*)", description)
        without = set(left_out[1].lower().split(", ")) if left_out else set[str]()
        if source:
            without |= {one["name"].lower() for one in line["columns"] if _GENERATED.search(one["extra"])}
        kept = [at for at, one in enumerate(table.columns) if one.name.lower() not in without]
        wanted = Counter(tuple(row[at] for at in kept) for row in table.rows)
        has = Counter(tuple(row[at] for at in kept) for row in texts(rows, table))
        names = [table.columns[at].name for at in kept]
        assert has == wanted, (name, names, [*(has - wanted)][:5], [*(wanted - has)][:5])
        equal += 1
    return equal


def play(
    servers: Mapping[str, Server], lake: Path, seed: int, statements: int, phases: int, kind: str = "delta"
) -> dict[str, int]:
    """Change databases and load their changes into a lake; check the states whenever the changes pause.

    `servers`: by the names of their sources, which is empty for a lake of one server.
    """
    choose, reasons = random.Random(seed), Counter[str]()
    databases, runs, shared = list[BusyDatabase](), dict[str, Run](), Shared()
    for source, server in servers.items():
        empty(server, "w")
        databases.append(BusyDatabase(server, seed))
        runs[source] = Run(server, lake, shared, source=source, is_shared=source != "", format=kind)

    def load(size: int, *, heals: bool = False) -> dict[str, dict[str, str]]:
        with ThreadPoolExecutor() as pool:
            refused = pool.map(lambda run: run(size, heals=heals), runs.values())
            found = dict(zip(runs, refused, strict=True))
        reasons.update(reason for one in found.values() for reason in one.values())
        return found

    def compare(refused: dict[str, dict[str, str]]) -> None:
        for source, server in servers.items():
            compared(server, lake, refused[source], kind, source)

    for _ in range(phases):
        size, heals = choose.choice((30_000, 100_000, 1 << 20)), choose.random() < 0.5
        threads = [
            threading.Thread(target=database.change, args=(statements // phases,)) for database in databases
        ]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            load(size, heals=heals)
            threads[0].join(0.5)
        compare(load(size))
        for database in databases:
            database.end_prepared(choose)
        refused = load(size, heals=True)
        assert not any(refused.values()), [run.lines for run in runs.values()]
        compare(refused)
    counts = {
        "done": sum(database.done for database in databases),
        "failed": sum(database.failed for database in databases),
        "ddl": sum(len(database.ddl_done) for database in databases),
    }
    return counts | reasons


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables that prepared transactions have changed are not read again before these end; so do not wait."""
    monkeypatch.setattr("binlog_kaitai.snapshot.server_snapshot._LOCK_SECONDS", 2)


@pytest.mark.parametrize("seed", sample(range(1, 6), 1))
@pytest.mark.parametrize("name", ["mysql-9.7", "mariadb-11.8"])
def test_states_are_the_tables_of_a_busy_server(
    name: str, seed: int, start_server: StartServer, tmp_path: Path
) -> None:
    play({"": start_server(name)}, tmp_path, seed, rounds(10_000, 700), rounds(8, 2))


@pytest.mark.iceberg
def test_iceberg_states_are_the_tables_of_a_busy_server(start_server: StartServer, tmp_path: Path) -> None:
    play({"": start_server("mariadb-11.8")}, tmp_path, 7, rounds(3000, 500), rounds(4, 1), "iceberg")


def test_states_of_one_lake_are_the_tables_of_two_busy_servers(
    start_server: StartServer, tmp_path: Path
) -> None:
    servers = {name: start_server(name) for name in ("mysql-9.7", "mariadb-11.8")}
    play(servers, tmp_path, 8, rounds(4000, 400), rounds(6, 1))
