"""State tables are those of a server that several connections change, in rows and in definitions."""

from __future__ import annotations

import json
import random
import re
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

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


def texts(rows: list[dict[str, Any]], table: OracleTable) -> Iterator[tuple[str | None, ...]]:
    """Rows of a state as the server prints them; a column of several types goes on with `_` appended."""
    names = {one.name.lower() for one in table.columns}
    for row in rows:
        values: dict[str, Any] = {}
        for column, value in row.items():
            name = column.lower()
            while name not in names and name.endswith("_"):
                name = name[:-1]
            if value is not None:
                assert values.setdefault(name, value) is value
        yield tuple(server_text(values.get(one.name.lower()), one) for one in table.columns)


def compared(server: Server, lake: Path, refused: dict[str, str]) -> int:
    """Number of tables whose state is that of the server; each other one is refused, and marked.

    Columns that the server computes may be left out, if the description of the state says so.
    """
    found, equal = opened(lake), 0
    oracle = [OracleTable.of(json.loads(line)) for line in snapshot(server, ["w"]).splitlines()]
    for table in oracle:
        name = ".".join(table.name)
        state = found.tables.open(f"state/{name}")
        description = "" if state is None else state.description
        if name in refused:
            assert state is None or "outdated: " in description, name
            continue
        assert "outdated: " not in description, name
        rows = [row for batch in (() if state is None else state.batches()) for row in batch.to_pylist()]
        left_out = re.search(r"without columns .*: (.*)", description)
        without = set(left_out[1].lower().split(", ")) if left_out else set[str]()
        kept = [at for at, one in enumerate(table.columns) if one.name.lower() not in without]
        wanted = Counter(tuple(row[at] for at in kept) for row in table.rows)
        has = Counter(tuple(row[at] for at in kept) for row in texts(rows, table))
        names = [table.columns[at].name for at in kept]
        assert has == wanted, (name, names, [*(has - wanted)][:5], [*(wanted - has)][:5])
        equal += 1
    return equal


def play(server: Server, lake: Path, seed: int, statements: int, phases: int) -> dict[str, int]:
    """Change a database and load its changes; check the states whenever the changes pause."""
    choose = random.Random(seed)
    empty(server, "w")
    database, run, reasons = BusyDatabase(server, seed), Run(server, lake), Counter[str]()
    for _ in range(phases):
        size, heals = choose.choice((30_000, 100_000, 1 << 20)), choose.random() < 0.5
        thread = threading.Thread(target=database.change, args=(statements // phases,))
        thread.start()
        while thread.is_alive():
            reasons.update(run(size, heals=heals).values())
            thread.join(0.5)
        refused = run(size)
        reasons.update(refused.values())
        compared(server, lake, refused)
        assert run(size, heals=True) == {}, run.lines
        compared(server, lake, {})
    return {"done": database.done, "failed": database.failed, "ddl": len(database.ddl_done)} | reasons


@pytest.mark.parametrize("seed", sample(range(1, 6), 1))
@pytest.mark.parametrize("name", ["mysql-9.7", "mariadb-11.8"])
def test_states_are_the_tables_of_a_busy_server(
    name: str, seed: int, start_server: StartServer, tmp_path: Path
) -> None:
    play(start_server(name), tmp_path, seed, rounds(10_000, 700), rounds(8, 2))
