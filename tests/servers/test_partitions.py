"""States after statements about single partitions are the tables of the server, or refused."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, NamedTuple

import pymysql
import pytest

from tests.extent import rounds, sample
from tests.servers.conftest import StartServer
from tests.servers.test_busy_database import compared
from tests.servers.test_heal import Run, execute
from tests.servers.test_snapshot import empty
from tools.servers import Server

pytestmark = pytest.mark.server

MOVED = "a statement moved rows of whole partitions"


def number(choose: random.Random) -> str:
    return str(choose.randrange(-5, 60))


def large(choose: random.Random) -> str:
    return str(2**63 + choose.randrange(-30, 30))


def null(choose: random.Random) -> str:
    return choose.choice(("NULL", *map(str, range(-3, 30))))


def day(choose: random.Random) -> str:
    return f"'20{choose.randrange(20, 30)}-{choose.randrange(1, 13):02}-{choose.randrange(1, 29):02}'"


def moment(choose: random.Random) -> str:
    return f"{day(choose)[:-1]} {choose.randrange(24):02}:30:{choose.randrange(60):02}.5'"


def unix(choose: random.Random) -> str:
    return str(1_577_836_800 + choose.randrange(9 * 365) * 86_400)


class Divided(NamedTuple):
    """A table, and how random rows and statements are made.

    `by`: the expressions of PARTITION BY.
    `values`: those of the columns `a` and `b`, after the number `k`.
    `bounds`: makes a bound of RANGE, or the members of LIST.
    `is_exact`: whether states follow its partitions.
    """

    columns: str
    by: str
    values: tuple[Callable[[random.Random], str], ...]
    bound: Callable[[random.Random], str]
    is_exact: bool = True

    @property
    def is_list(self) -> bool:
        return self.by.startswith("LIST")


def pair(choose: random.Random) -> str:
    return f"{number(choose)}, {choose.choice((number(choose), 'MAXVALUE'))}"


def pairs(choose: random.Random) -> str:
    return ", ".join(f"({null(choose)}, {day(choose)})" for _ in range(3))


def several(choose: random.Random) -> str:
    return ", ".join({null(choose) for _ in range(4)})


TABLES = {
    "ints": Divided("a INT NOT NULL, b INT, PRIMARY KEY (k, a)", "RANGE (a)", (number, null), number),
    "unkeyed": Divided("a INT, b INT", "RANGE (a)", (null, null), number),
    "big": Divided("a BIGINT UNSIGNED, b INT", "RANGE (a)", (large, null), large),
    "pairs": Divided("a SMALLINT, b INT", "RANGE COLUMNS (a, b)", (null, null), pair),
    "lists": Divided("a INT, b INT", "LIST (b)", (null, null), several),
    "rests": Divided("a INT, b INT", "LIST (b)", (null, null), several, is_exact=False),
    "many": Divided("a TINYINT, b DATE NOT NULL", "LIST COLUMNS (a, b)", (null, day), pairs),
    "days": Divided("a DATE NOT NULL, b INT, PRIMARY KEY (k, a)", "RANGE COLUMNS (a)", (day, null), day),
    "years": Divided(
        "a DATE NOT NULL, b INT, PRIMARY KEY (k, a)",
        "RANGE (YEAR(a))",
        (day, null),
        lambda choose: str(choose.randrange(2019, 2031)),
    ),
    "to_days": Divided(
        "a DATETIME NOT NULL, b INT",
        "RANGE (TO_DAYS(a)) SUBPARTITION BY HASH (k) SUBPARTITIONS 2",
        (day, null),
        lambda choose: choose.choice((f"TO_DAYS({day(choose)})", str(737_791 + choose.randrange(3000)))),
    ),
    "moments": Divided("a DATETIME(6) NOT NULL, b INT", "RANGE COLUMNS (a)", (moment, null), moment),
    "times": Divided(
        "a TIMESTAMP NOT NULL DEFAULT '2020-01-01', b INT, PRIMARY KEY (k, a)",
        "RANGE (UNIX_TIMESTAMP(a))",
        (day, null),
        unix,
    ),
    "texts": Divided(
        "a VARCHAR(9), b INT",
        "RANGE COLUMNS (a)",
        (lambda choose: f"'{number(choose)}'", null),
        lambda choose: f"'{number(choose)}'",
        is_exact=False,
    ),
    "months": Divided(
        "a DATE NOT NULL, b INT",
        "RANGE (MONTH(a))",
        (day, null),
        lambda choose: str(choose.randrange(13)),
        is_exact=False,
    ),
    "hashes": Divided("a INT, b INT", "HASH (a)", (number, null), number, is_exact=False),
}


class Database:
    """Random changes of `TABLES`, each with a statement that a server may refuse."""

    def __init__(self, server: Server, seed: int) -> None:
        self._server, self._choose, self._next = server, random.Random(seed), 0
        self.done: list[str] = []

    def create(self, *before: str) -> None:
        for name, table in TABLES.items():
            parts = " PARTITIONS 3"
            if table.is_list:
                parts = f" (PARTITION p0 VALUES IN ({table.bound(self._choose)}))"
            elif table.by.startswith("RANGE"):
                parts = f" ({self._last(table)})"
            execute(
                self._server,
                *before,
                f"CREATE TABLE w.{name} (k INT, {table.columns}) PARTITION BY {table.by}{parts}",
            )

    def _last(self, table: Divided) -> str:
        most = "(MAXVALUE, MAXVALUE)" if "," in table.by else "(MAXVALUE)"
        return f"PARTITION p{self._name()} VALUES LESS THAN {most}"

    def _name(self) -> int:
        self._next += 1
        return self._next

    def change(self, count: int) -> None:
        with closing(self._server.connect(database="w")) as connection:
            cursor = connection.cursor()
            cursor.execute("SET time_zone = '+00:00'")
            for _ in range(count):
                statement = self._statement(cursor)
                with suppress(pymysql.err.Error):
                    cursor.execute(statement)
                    self.done.append(statement)

    def _statement(self, cursor: Any) -> str:
        choose = self._choose
        name, table = choose.choice([*TABLES.items()])
        row = f"{choose.randrange(40)}, {', '.join(make(choose) for make in table.values)}"
        kind = choose.random()
        if kind < 0.6:
            rows = ", ".join(
                f"({choose.randrange(40)}, {', '.join(make(choose) for make in table.values)})"
                for _ in range(3)
            )
            return f"INSERT IGNORE INTO {name} VALUES {rows}, ({row})"
        if kind < 0.8:
            column = choose.randrange(2)
            value = table.values[column](choose)
            return (
                f"UPDATE IGNORE {name} SET {'ab'[column]} = {value} WHERE k < {choose.randrange(40)} LIMIT 3"
            )
        if kind < 0.84:
            return f"DELETE FROM {name} WHERE k = {choose.randrange(40)} LIMIT 2"
        if kind < 0.87:
            return choose.choice(
                (
                    f"TRUNCATE TABLE {name}",
                    f"ALTER TABLE {name} ADD c{self._name()} INT",
                    f"ALTER TABLE {name} FORCE",
                )
            )
        cursor.execute(
            "SELECT partition_name FROM information_schema.partitions WHERE table_schema = 'w' "
            f"AND table_name = '{name}' ORDER BY partition_ordinal_position"
        )
        names = list(dict.fromkeys(one for (one,) in cursor.fetchall()))
        changes = [
            f"TRUNCATE PARTITION {', '.join(choose.sample(names, min(len(names), choose.choice((1, 1, 2)))))}"
        ]
        if table.is_list:
            changes += 2 * [f"ADD PARTITION (PARTITION p{self._name()} VALUES IN ({table.bound(choose)}))"]
            if not table.is_exact:
                changes += [f"ADD PARTITION (PARTITION p{self._name()} DEFAULT)"]
        elif table.by.startswith("RANGE"):
            first = f"PARTITION p{self._name()} VALUES LESS THAN ({table.bound(choose)})"
            changes += 3 * [f"REORGANIZE PARTITION {names[-1]} INTO ({first}, {self._last(table)})"]
        if len(names) > 1 and not table.by.startswith("HASH"):
            changes += 2 * [f"DROP PARTITION {choose.choice(names)}"]
        if len(names) > 2 and table.by.startswith("RANGE"):
            changes += [f"REORGANIZE PARTITION {names[-2]}, {names[-1]} INTO ({self._last(table)})"]
        return f"ALTER TABLE {name} {choose.choice(changes)}"


@pytest.mark.parametrize("seed", sample(range(4), 1))
@pytest.mark.parametrize("begins", ["log", "snapshot", "heal"])
@pytest.mark.parametrize("name", ["mysql-9.7", "mariadb-11.8"])
def test_random_statements(
    name: str, begins: str, seed: int, start_server: StartServer, tmp_path: Path
) -> None:
    server, choose = start_server(name), random.Random(seed)
    empty(server, "w")
    database = Database(server, seed)
    database.create(*() if begins == "log" else ("SET sql_log_bin = 0",))
    run = Run(server, tmp_path, zero_dates="null", snapshot_readers=int(begins == "snapshot"))
    if begins == "heal":
        database.change(60)
        run(1 << 20)
        run(1 << 20, resnapshot=["w.*"])
    for _ in range(rounds(12, 5)):
        database.change(120)
        refused = run(choose.choice((3000, 30_000, 1 << 20)))
        compared(server, tmp_path, refused)
        assert not [one for one in refused if TABLES[one.removeprefix("w.")].is_exact], refused
        assert all(reason.startswith(MOVED) for reason in refused.values())
    assert sum("DROP PARTITION" in one for one in database.done) > 5
