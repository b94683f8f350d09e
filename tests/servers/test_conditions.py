"""Conditions on real servers: `--where` selects the rows that a SELECT with the same condition selects.

Where that is not sure, a condition is refused. How many are is bounded: a refusal is no answer.

``python -m tests.servers.test_conditions`` records logs and answers for tests without a server.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import pytest

from tests.condition_trials import Selected, by_kernels
from tests.extent import sample
from tests.servers.conditions import conditions, statements
from tests.servers.conftest import StartServer
from tests.servers.replay import last_log
from tools.servers import Server

pytestmark = pytest.mark.server

NAMES = ["mysql-9.7", "mariadb-11.8"]
RECORDED = Path(__file__).parents[1] / "render" / "conditions"

#: Literals are chosen to be refused more often than people write such: a little less than half of all.
MOST_REFUSED = 0.5


def asked(server: Server, metadata: str, wanted: Iterable[str]) -> tuple[Path, Selected]:
    """The log of the table, and the ids that the server selects; None where it refuses the condition."""
    server.execute(f"SET GLOBAL binlog_row_metadata = {metadata}")
    cursor = server.connect(init_command="SET sql_mode = '', time_zone = '+00:00'").cursor()
    cursor.execute("DROP DATABASE IF EXISTS w")
    cursor.execute("CREATE DATABASE w CHARACTER SET utf8mb4")
    cursor.execute("FLUSH LOGS")
    for statement in statements():
        cursor.execute(statement)
    selected: Selected = {}
    for condition in wanted:
        selected[condition] = None
        with suppress(Exception):
            cursor.execute(f"SELECT id FROM w.t WHERE {condition} ORDER BY id")
            selected[condition] = [row[0] for row in cursor.fetchall()]
    return last_log(server), selected


@pytest.mark.parametrize("metadata", ["FULL", "MINIMAL"])
@pytest.mark.parametrize("name", NAMES)
def test_conditions_select_the_rows_that_a_server_selects(
    name: str, metadata: str, start_server: StartServer
) -> None:
    wanted = sample(list(conditions()), 3000)
    log, right = asked(start_server(name), metadata, wanted)
    selected = by_kernels(log, wanted)
    wrong = {each: (rows, right[each]) for each, rows in selected.items() if rows not in (None, right[each])}
    assert wrong == {}
    refused = [condition for condition, rows in selected.items() if rows is None]
    assert len(refused) < MOST_REFUSED * len(wanted)


def record() -> None:
    """Record a log of each server, and its answers to a sample of the conditions."""
    wanted = sample(list(conditions()), 900)
    for name in NAMES:
        with Server(name, "conditions") as server:
            log, right = asked(server, "FULL", wanted)
            shutil.copyfile(log, RECORDED / f"{name}.000001")
            (RECORDED / f"{name}.json").write_text(json.dumps(right, indent=0, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    record()
