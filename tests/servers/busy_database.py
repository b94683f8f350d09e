"""A database that several connections change at the same time, in rows and in definitions.

Statements are random, and made for the definitions that the server has at that moment; it refuses some.
"""

from __future__ import annotations

import random
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from typing import Any

import pymysql

from tools.servers import Server

#: Share of statements that change definitions or empty tables.
_DDL_SHARE = 0.02

_TABLES = (
    "parents (id INT PRIMARY KEY, code VARCHAR(9) NOT NULL DEFAULT 'c', n INT, KEY (n))",
    "children (id INT AUTO_INCREMENT PRIMARY KEY, parent INT, v INT DEFAULT 5, FOREIGN KEY children_parent "
    "(parent) REFERENCES parents (id) ON DELETE CASCADE ON UPDATE CASCADE)",
    "grandchildren (id INT PRIMARY KEY, child INT, v INT, FOREIGN KEY grand_child (child) "
    "REFERENCES children (id) ON DELETE SET NULL ON UPDATE CASCADE)",
    "loops (id INT PRIMARY KEY, up INT, FOREIGN KEY loops_up (up) REFERENCES loops (id) ON DELETE CASCADE)",
    "computed (id INT PRIMARY KEY, a INT, b VARCHAR(20), s INT AS (a + 1) STORED, "
    "t VARCHAR(30) AS (CONCAT(b, '!')) VIRTUAL)",
    "defaults (id INT PRIMARY KEY, a INT NOT NULL DEFAULT 7, b VARCHAR(9) DEFAULT 'x', "
    "c DECIMAL(9,2) NOT NULL DEFAULT 1.5, d DATETIME(3) DEFAULT CURRENT_TIMESTAMP(3) "
    "ON UPDATE CURRENT_TIMESTAMP(3), e INT DEFAULT (1 + 2), f DATE DEFAULT '2026-01-02')",
    "heap (a INT, b VARCHAR(9), c DATE)",
    "plain (k INT, l VARCHAR(9) NOT NULL DEFAULT '', a DOUBLE, b ENUM('x','y'), c BIT(9), "
    "PRIMARY KEY (k, l))",
    "wide (k BIGINT UNSIGNED PRIMARY KEY, a DECIMAL(20,4), b TEXT, c VARBINARY(9))",
    "named (name VARCHAR(9) PRIMARY KEY, a SMALLINT UNSIGNED, t TIME(2), y YEAR, s SET('p','q'))",
    "moments (at DATETIME(2), k INT, v FLOAT, PRIMARY KEY (at, k))",
    "ranges (k INT PRIMARY KEY, v INT, w VARCHAR(9)) PARTITION BY RANGE (k) "
    "(PARTITION p0 VALUES LESS THAN (15), PARTITION p1 VALUES LESS THAN (30), "
    "PARTITION p2 VALUES LESS THAN MAXVALUE)",
    "days (k INT, d DATE, v INT, PRIMARY KEY (k, d)) PARTITION BY RANGE COLUMNS (d) "
    "(PARTITION p0 VALUES LESS THAN ('2026-01-10'), PARTITION p1 VALUES LESS THAN ('2026-01-20'), "
    "PARTITION p2 VALUES LESS THAN (MAXVALUE))",
    "lists (k INT PRIMARY KEY, v INT) PARTITION BY LIST (k) "
    f"(PARTITION p0 VALUES IN ({', '.join(map(str, range(0, 60, 2)))}), "
    f"PARTITION p1 VALUES IN ({', '.join(map(str, range(1, 60, 2)))}))",
    "hashes (k INT PRIMARY KEY, v INT) PARTITION BY HASH (k) PARTITIONS 3",
    "unkeyed (d DATE, v INT) PARTITION BY RANGE (TO_DAYS(d)) (PARTITION p0 VALUES LESS THAN "
    "(TO_DAYS('2026-01-10')), PARTITION p1 VALUES LESS THAN MAXVALUE)",
)  # fmt: skip

#: Tables of MariaDB only.
_VERSIONED = (
    "history (id INT PRIMARY KEY, a INT, b VARCHAR(9)) WITH SYSTEM VERSIONING",
    "periods (k INT, v INT, s TIMESTAMP(6) GENERATED ALWAYS AS ROW START, e TIMESTAMP(6) GENERATED ALWAYS AS "
    "ROW END, PERIOD FOR SYSTEM_TIME (s, e), PRIMARY KEY (k, e)) WITH SYSTEM VERSIONING",
)

#: Types of columns; those in a line widen, and go back.
_TYPES = (
    ("TINYINT", "SMALLINT", "INT", "BIGINT", "VARCHAR(20)"),
    ("TINYINT UNSIGNED", "INT UNSIGNED", "BIGINT UNSIGNED", "DECIMAL(25,0)"),
    ("DECIMAL(9,2)", "DECIMAL(12,4)", "DECIMAL(30,4)", "DOUBLE"),
    ("VARCHAR(5)", "VARCHAR(20)", "VARCHAR(300)", "TEXT", "LONGTEXT"),
    ("VARCHAR(20) CHARACTER SET latin1", "VARCHAR(20) CHARACTER SET utf8mb4", "CHAR(20)"),
    ("ENUM('x','y')", "ENUM('x','y','z')", "VARCHAR(8)"),
    ("SET('p','q')", "SET('p','q','r')"),
    ("DATE", "DATETIME", "DATETIME(3)", "DATETIME(6)"),
    ("TIME", "TIME(3)"),
    ("TIMESTAMP NULL", "TIMESTAMP(3) NULL"),
    ("VARBINARY(5)", "VARBINARY(30)", "BLOB"),
    ("FLOAT", "DOUBLE"),
    ("BIT(5)", "BIT(9)"),
    ("YEAR",),
    ("JSON",),
)


@dataclass(frozen=True)
class _Column:
    name: str
    kind: str
    is_nullable: bool
    has_default: bool
    is_generated: bool


@dataclass
class _Table:
    name: str
    columns: list[_Column] = field(default_factory=list)
    key: list[str] = field(default_factory=list)
    partitions: list[str] = field(default_factory=list)
    method: str = ""
    foreign_keys: list[str] = field(default_factory=list)

    @property
    def own(self) -> list[_Column]:
        """The columns that statements give values."""
        return [column for column in self.columns if not column.is_generated]

    def of_key(self, choose: random.Random) -> _Column:
        """A column of the key, or any if there is none."""
        return choose.choice([column for column in self.columns if column.name in self.key] or self.own)


class BusyDatabase:
    """Random changes of the database `w`.

    Parameters
    ----------
    seed
        Determines what each connection chooses, but not the order in which their statements run.
    """

    def __init__(self, server: Server, seed: int) -> None:
        self._server, self._seed = server, seed
        self._choose = random.Random(seed)
        self._is_mariadb = server.spec.flavour == "mariadb"
        self._tables: list[_Table] = []
        self._next = 0
        self._lock = threading.Lock()
        self._phase = 0
        #: Statements that the server executed, and that it refused.
        self.done, self.failed = 0, 0
        self.ddl_done: list[str] = []
        self.refusals: list[str] = []
        with closing(server.connect(database="w")) as connection:
            for table in (*_TABLES, *_VERSIONED * self._is_mariadb):
                connection.cursor().execute(f"CREATE TABLE {table}")
            self._look(connection.cursor())

    def change(self, statements: int, writers: int = 3) -> None:
        """Run about so many statements, on several connections, one of which changes definitions."""
        self._phase += 1
        ddl = round(statements * _DDL_SHARE)
        rest = threading.Event()
        threads = [
            threading.Thread(target=self._write, args=(number, (statements - ddl) // writers, rest))
            for number in range(writers)
        ]
        for thread in threads:
            thread.start()
        try:
            self._define(ddl, threads)
        finally:
            rest.set()
            for thread in threads:
                thread.join()

    def _connected(self) -> Any:
        connection = self._server.connect(database="w")
        cursor = connection.cursor()
        cursor.execute("SET SESSION lock_wait_timeout = 5")
        cursor.execute("SET SESSION innodb_lock_wait_timeout = 2")
        cursor.execute("SET SESSION time_zone = '+00:00'")
        return connection

    def _run(self, cursor: Any, statement: str) -> bool:
        try:
            cursor.execute(statement)
        except pymysql.err.Error as error:
            with self._lock:
                self.failed += 1
                self.refusals.append(f"{error.args}: {statement}"[:400])
            return False
        with self._lock:
            self.done += 1
        return True

    # Rows

    def _write(self, number: int, count: int, rest: threading.Event) -> None:
        choose = random.Random(f"{self._seed} {self._phase} {number}")
        with closing(self._connected()) as connection:
            cursor, left = connection.cursor(), count
            while left > 0:
                with self._lock:
                    tables = [*self._tables]
                kind = choose.random()
                if kind < 0.02:
                    image = choose.choice(("FULL", "MINIMAL", "NOBLOB"))
                    batch = [f"SET SESSION binlog_row_image = '{image}'"]
                elif kind < 0.15:
                    batch = ["BEGIN"]
                    for _ in range(choose.randrange(2, 6)):
                        batch.append(self._statement(choose, choose.choice(tables)))
                    if choose.random() < 0.3:
                        batch.append("SAVEPOINT s")
                        batch.append(self._statement(choose, choose.choice(tables)))
                        batch.append("ROLLBACK TO s")
                    batch.append(choose.choice(("COMMIT", "COMMIT", "ROLLBACK")))
                elif kind < 0.19:
                    left -= self._prepare(choose, f"x{self._phase}-{number}-{left}")
                    continue
                elif kind < 0.22:
                    left -= self.end_prepared(choose, 0.4) or 1
                    continue
                else:
                    batch = [self._statement(choose, choose.choice(tables))]
                left -= len(batch)
                for statement in batch:
                    self._run(cursor, statement)
            with suppress(pymysql.err.Error):
                cursor.execute("ROLLBACK")

    def _prepare(self, choose: random.Random, xid: str) -> int:
        """An XA transaction that others may end, after its connection; returns the count of statements.

        If one is prepared, and DROP PARTITION fails for its lock, MariaDB drops the partition nevertheless,
        and does not log that.
        """
        with self._lock:
            tables = [table for table in self._tables if not (self._is_mariadb and table.partitions)]
        batch = [self._statement(choose, choose.choice(tables)) for _ in range(choose.randrange(1, 5))]
        last = choose.choice((*3 * ["PREPARE '{}'"], "COMMIT '{}' ONE PHASE", "ROLLBACK '{}'")).format(xid)
        batch = [f"XA START '{xid}'", *batch, f"XA END '{xid}'", f"XA {last}"]
        with closing(self._connected()) as connection:
            for statement in batch:
                self._run(connection.cursor(), statement)
        return len(batch)

    def end_prepared(self, choose: random.Random, share: float = 1) -> int:
        """Commit a share of the prepared transactions, or roll them back; returns the number."""
        count = 0
        with closing(self._connected()) as connection:
            cursor = connection.cursor()
            cursor.execute("XA RECOVER")
            for *_, xid in _texts(cursor):
                if choose.random() < share:
                    end = choose.choice(("COMMIT", "COMMIT", "ROLLBACK"))
                    count += self._run(cursor, f"XA {end} '{xid}'")
        return count

    def _statement(self, choose: random.Random, table: _Table) -> str:
        if not table.own:
            return "DO 0"
        return choose.choices(
            (self._insert, self._update, self._delete, self._replace, self._upsert, self._copy, self._join),
            (12, 8, 4, 2, 2, 1, 1),
        )[0](choose, table)

    def _row(self, choose: random.Random, columns: list[_Column]) -> str:
        return f"({', '.join(self.value(choose, column) for column in columns)})"

    def _some_columns(self, choose: random.Random, table: _Table) -> list[_Column]:
        return [
            one
            for one in table.own
            if one.name in table.key or not (one.is_nullable or one.has_default) or choose.random() < 0.7
        ] or table.own

    def _insert(self, choose: random.Random, table: _Table) -> str:
        columns = self._some_columns(choose, table)
        rows = ", ".join(self._row(choose, columns) for _ in range(choose.choice((1, 1, 2, 8))))
        ignore = self._ignore(choose, table)
        return f"INSERT {ignore}INTO {table.name} ({_names(columns)}) VALUES {rows}"

    def _ignore(self, choose: random.Random, table: _Table) -> str:
        """Whether errors are warnings.

        If a statement fails in a partitioned table, MariaDB may keep some of its rows, and does not log them.
        """
        is_safe = self._is_mariadb and table.partitions
        return "IGNORE " if is_safe or choose.random() < 0.4 else ""

    def _replace(self, choose: random.Random, table: _Table) -> str:
        columns = self._some_columns(choose, table)
        return f"REPLACE INTO {table.name} ({_names(columns)}) VALUES {self._row(choose, columns)}"

    def _upsert(self, choose: random.Random, table: _Table) -> str:
        column = choose.choice(table.own)
        value = self.value(choose, column)
        return f"{self._insert(choose, table)} ON DUPLICATE KEY UPDATE `{column.name}` = {value}"

    def _copy(self, choose: random.Random, table: _Table) -> str:
        names, shift = _names(table.own), choose.randrange(60)
        listed = [
            f"`{one.name}` + {shift}" if one.name in table.key and "int" in one.kind else f"`{one.name}`"
            for one in table.own
        ]
        where = self._where(choose, table)
        return (
            f"INSERT IGNORE INTO {table.name} ({names}) SELECT {', '.join(listed)} FROM {table.name}{where}"
        )

    def _update(self, choose: random.Random, table: _Table) -> str:
        columns = choose.sample(table.own, min(len(table.own), choose.choice((1, 1, 2))))
        changes = ", ".join(f"`{column.name}` = {self.value(choose, column)}" for column in columns)
        ignore = self._ignore(choose, table)
        return f"UPDATE {ignore}{table.name} SET {changes}{self._where(choose, table)}"

    def _delete(self, choose: random.Random, table: _Table) -> str:
        return f"DELETE FROM {table.name}{self._where(choose, table)}"

    def _join(self, choose: random.Random, table: _Table) -> str:
        """Rows that have a partner; only numbers, since a server may log half of a statement that fails."""
        with self._lock:
            other = choose.choice(self._tables)
        own, others = ([one.name for one in it.own if "int" in one.kind] for it in (table, other))
        if other.name == table.name or not own or not others:
            return self._delete(choose, table)
        name, partner = choose.choice(own), choose.choice(others)
        return (
            f"DELETE a FROM {table.name} a JOIN {other.name} b ON a.`{name}` = b.`{partner}` "
            f"WHERE a.`{name}` = {choose.randrange(60)}"
        )

    def _where(self, choose: random.Random, table: _Table) -> str:
        column = table.of_key(choose) if choose.random() < 0.8 else choose.choice(table.own)
        value, limit = self.value(choose, column), choose.choice((1, 3, 9))
        return f" WHERE `{column.name}` {choose.choice(('=', '=', '<', '>'))} {value} LIMIT {limit}"

    def value(self, choose: random.Random, column: _Column) -> str:
        """A literal for a column, of few, so that statements find rows."""
        if column.is_nullable and choose.random() < 0.15:
            return "NULL"
        if column.has_default and choose.random() < 0.05:
            return "DEFAULT"
        n, kind = choose.randrange(60), column.kind.partition("(")[0].split()[0]
        is_integer = ",0" in column.kind or "," not in column.kind
        members = re.findall(r"'([^']*)'", column.kind)
        texts = *(f"{letter}{n}{end}" for letter in ("", "A", "a", "é") for end in ("", " ")), str(n)
        literals = {
            "bigint": str(n + (2**63 if n % 3 == 0 and "unsigned" in column.kind else 0)),
            "decimal": str(n) if is_integer else f"{n}.{n % 4 * 25:02}",
            **dict.fromkeys(("double", "float"), str(choose.choice((n / 7, n, n / 4)))),
            **dict.fromkeys(("varchar", "char", "text", "longtext"), f"'{choose.choice(texts)}'"),
            **dict.fromkeys(("varbinary", "blob", "binary"), f"X'{n:02x}{n % 3:02x}'"),
            "date": f"'2026-01-{n % 31 + 1:02}'",
            **dict.fromkeys(("datetime", "timestamp"), f"'2026-01-{n % 31 + 1:02} 10:{n:02}:00.{n % 4}'"),
            "time": f"'{choose.choice(('', '-'))}{n}:00:01.{n % 4}'",
            "year": str(1990 + n),
            "bit": str(n % 32),
            "json": f"""'{{"n": {n}, "t": [1.5, "é", null]}}'""",
            **dict.fromkeys(("enum", "set"), f"'{choose.choice(members or [''])}'"),
        }
        return literals.get(kind, str(n))

    # Definitions

    def _define(self, count: int, threads: list[threading.Thread]) -> None:
        choose = random.Random(f"{self._seed} {self._phase} ddl")
        begun, whole = self.done + self.failed, max(1, count)
        target = count / _DDL_SHARE
        with closing(self._connected()) as connection:
            cursor = connection.cursor()
            if self._is_mariadb:  # tables may otherwise get rows that were rolled back, and are not logged
                cursor.execute("SET SESSION old_mode = CONCAT(@@old_mode, ',LOCK_ALTER_TABLE_COPY')")
                cursor.execute("SET SESSION system_versioning_alter_history = 'KEEP'")
            for number in range(count):
                while (self.done + self.failed - begun) / target < number / whole and any(
                    thread.is_alive() for thread in threads
                ):
                    threads[0].join(0.002)
                for statement in self._definition(choose):
                    if self._run(cursor, statement):
                        self.ddl_done.append(statement)
                    else:
                        break
                self._look(cursor)

    def _look(self, cursor: Any) -> None:
        """Take note of the definitions."""
        tables: dict[str, _Table] = {}
        cursor.execute(
            "SELECT table_name, column_name, column_type, is_nullable, column_default, extra "
            "FROM information_schema.columns WHERE table_schema = 'w' ORDER BY table_name, ordinal_position"
        )
        for table, name, kind, nullable, default, extra in _texts(cursor):
            is_nullable, extra = nullable == "YES", extra.lower()
            has_default = (default is not None and default != "NULL") or "auto_increment" in extra
            is_generated = "generated" in extra and "default_generated" not in extra
            column = _Column(name, kind.lower(), is_nullable, has_default, is_generated)
            tables.setdefault(table, _Table(table)).columns.append(column)
        cursor.execute(
            "SELECT table_name, constraint_name, column_name FROM information_schema.key_column_usage "
            "WHERE table_schema = 'w' ORDER BY ordinal_position"
        )
        for table, constraint, column_name in _texts(cursor):
            if table in tables and constraint == "PRIMARY":
                tables[table].key.append(column_name)
        cursor.execute(
            "SELECT table_name, constraint_name FROM information_schema.referential_constraints "
            "WHERE constraint_schema = 'w'"
        )
        for table, constraint in _texts(cursor):
            if table in tables:
                tables[table].foreign_keys.append(constraint)
        cursor.execute(
            "SELECT table_name, partition_name, partition_method FROM information_schema.partitions "
            "WHERE table_schema = 'w' AND partition_name IS NOT NULL"
        )
        for table, partition, method in _texts(cursor):
            if table in tables:
                tables[table].partitions.append(partition)
                tables[table].method = method
        with self._lock:
            self._tables = [one for one in tables.values() if one.own]

    def _definition(self, choose: random.Random) -> Iterator[str]:
        """One change, which may take several statements."""
        self._next += 1
        table = choose.choice(self._tables)
        acts: list[tuple[Callable[[random.Random, _Table], Iterator[str]], float]] = [
            (self._add, 6), (self._drop_column, 3), (self._rename_column, 3), (self._modify, 7),
            (self._set_default, 2), (self._change_key, 3), (self._rename, 1.5), (self._swap, 2),
            (self._truncate, 1), (self._create, 1), (self._drop, 0.7), (self._partition, 9),
            (self._foreign_key, 2), (self._otherwise, 3), (self._copy_table, 0.7), (self._as_text, 0.7),
            (self._convert, 1), (self._several, 2), (self._flush, 1), (self._version, self._is_mariadb),
        ]  # fmt: skip
        act = choose.choices([one for one, _ in acts], [weight for _, weight in acts])[0]
        yield from act(choose, table)

    def _new_column(self, choose: random.Random) -> tuple[str, str]:
        """A name, and a type with attributes."""
        kinds = choose.choice(_TYPES)
        kind = choose.choice(kinds)
        name = choose.choice(("a", "b", "c", "d", "e", "v", "w", "n", "Big", f"c{self._next}"))
        probe = _Column(name, kind.lower(), False, False, False)
        literal = self.value(choose, probe)
        is_long = any(word in kind for word in ("TEXT", "BLOB", "JSON"))
        match choose.randrange(7):
            case 0 | 1:
                rest = ""
            case 2:
                rest = " NOT NULL"
            case 3 if not is_long:
                rest = f" NOT NULL DEFAULT {literal}"
            case 4 if not is_long:
                rest = f" DEFAULT {literal}"
            case 5 if not is_long:
                rest = f" DEFAULT ({choose.randrange(9)} + 1)" if "INT" in kind else " DEFAULT NULL"
            case _:
                rest = ""
        return name, kind + rest

    def _add(self, choose: random.Random, table: _Table) -> Iterator[str]:
        name, kind = self._new_column(choose)
        place = choose.choice(("", "", " FIRST", f" AFTER `{choose.choice(table.columns).name}`"))
        numbers = [one.name for one in table.own if "int" in one.kind]
        if numbers and choose.random() < 0.15:
            kind = f"BIGINT AS (`{choose.choice(numbers)}` % 7) {choose.choice(('STORED', 'VIRTUAL'))}"
        yield f"ALTER TABLE {table.name} ADD COLUMN `{name}` {kind}{place}"

    def _drop_column(self, choose: random.Random, table: _Table) -> Iterator[str]:
        if len(table.columns) > 2:
            yield f"ALTER TABLE {table.name} DROP COLUMN `{choose.choice(table.columns).name}`"

    def _rename_column(self, choose: random.Random, table: _Table) -> Iterator[str]:
        old, new = choose.choice(table.columns).name, f"r{self._next}"
        if choose.random() < 0.3:
            new = old.swapcase() if old.swapcase() != old else f"{old}_"
        yield f"ALTER TABLE {table.name} RENAME COLUMN `{old}` TO `{new}`"

    def _modify(self, choose: random.Random, table: _Table) -> Iterator[str]:
        column = choose.choice(table.own)
        bare = column.kind.upper()
        line = next((one for one in _TYPES if any(kind.split(" CH")[0] == bare for kind in one)), None)
        steps = [*line] if line and choose.random() < 0.85 else [*choose.choice(_TYPES)]
        kind = choose.choice(steps)
        if choose.random() < 0.3 and not bare.startswith(("ENUM", "SET")):
            kind = column.kind
        null = "" if "NULL" in kind else choose.choice((" NULL", " NOT NULL", ""))
        literal = self.value(choose, _Column("", kind.lower(), False, False, False))
        is_long = any(word in kind.upper() for word in ("TEXT", "BLOB", "JSON"))
        default = "" if is_long else choose.choice(("", "", f" DEFAULT {literal}"))
        place = choose.choice(("", "", "", " FIRST"))
        yield f"ALTER TABLE {table.name} MODIFY COLUMN `{column.name}` {kind}{null}{default}{place}"

    def _set_default(self, choose: random.Random, table: _Table) -> Iterator[str]:
        column = choose.choice(table.own)
        literal = self.value(choose, _Column("", column.kind, False, False, False))
        change = choose.choice((f"SET DEFAULT {literal}", "DROP DEFAULT"))
        yield f"ALTER TABLE {table.name} ALTER COLUMN `{column.name}` {change}"

    def _change_key(self, choose: random.Random, table: _Table) -> Iterator[str]:
        columns = choose.sample(table.own, min(len(table.own), choose.choice((1, 2, 2, 3))))
        new = f"ADD PRIMARY KEY ({_names(columns)})"
        clauses = [new]
        if table.key:
            clauses = choose.choice(
                (["DROP PRIMARY KEY", new], ["DROP PRIMARY KEY", new], ["DROP PRIMARY KEY"])
            )
            if choose.random() < 0.5:  # most often, rows have other keys afterwards, too
                more = [one for one in table.own if one.name in table.key] + columns[:1]
                clauses = ["DROP PRIMARY KEY", f"ADD PRIMARY KEY ({_names([*dict.fromkeys(more)])})"]
        yield f"ALTER TABLE {table.name} {', '.join(clauses)}"

    def _rename(self, choose: random.Random, table: _Table) -> Iterator[str]:
        new = f"{table.name.rstrip('0123456789')}{self._next}"
        yield choose.choice(
            (f"RENAME TABLE {table.name} TO {new}", f"ALTER TABLE {table.name} RENAME TO {new}")
        )

    def _swap(self, choose: random.Random, table: _Table) -> Iterator[str]:
        other = choose.choice(self._tables).name
        one = table.name
        if other != one:
            yield f"RENAME TABLE {one} TO _t, {other} TO {one}, _t TO {other}"

    def _truncate(self, choose: random.Random, table: _Table) -> Iterator[str]:
        yield f"TRUNCATE TABLE {table.name}"

    def _drop(self, choose: random.Random, table: _Table) -> Iterator[str]:
        if len(self._tables) > 14:
            yield f"DROP TABLE {table.name}"

    def _create(self, choose: random.Random, table: _Table) -> Iterator[str]:
        columns = dict(self._new_column(choose) for _ in range(3))
        listed = ", ".join(f"`{name}` {kind}" for name, kind in columns.items())
        key = choose.choice((", PRIMARY KEY (k)", ", PRIMARY KEY (k)", ""))
        replaces = "OR REPLACE " if self._is_mariadb and choose.random() < 0.3 else ""
        name = table.name if replaces else f"made{self._next}"
        yield f"CREATE {replaces}TABLE {name} (k INT, {listed}{key})"

    def _copy_table(self, choose: random.Random, table: _Table) -> Iterator[str]:
        name = f"copy{self._next}"
        if choose.random() < 0.5:
            yield f"CREATE TABLE {name} LIKE {table.name}"
            yield f"INSERT INTO {name} ({_names(table.own)}) SELECT {_names(table.own)} FROM {table.name}"
        else:
            yield f"CREATE TABLE {name} AS SELECT * FROM {table.name}"

    def _as_text(self, choose: random.Random, table: _Table) -> Iterator[str]:
        """A statement that the log has as text: the state is not known."""
        yield "SET SESSION binlog_format = 'STATEMENT'"
        column = choose.choice(table.own)
        yield f"UPDATE {table.name} SET `{column.name}` = {self.value(choose, column)} LIMIT 2"
        yield "SET SESSION binlog_format = 'ROW'"

    def _convert(self, choose: random.Random, table: _Table) -> Iterator[str]:
        charset = choose.choice(("latin1", "utf8mb4", "utf8mb4 COLLATE utf8mb4_bin"))
        yield f"ALTER TABLE {table.name} CONVERT TO CHARACTER SET {charset}"

    def _several(self, choose: random.Random, table: _Table) -> Iterator[str]:
        """Columns that swap their names, one that goes and comes with another type, and others."""
        one, other = choose.choice(table.own), choose.choice(table.own)
        name, kind = self._new_column(choose)
        if one is not other and choose.random() < 0.5:
            yield (
                f"ALTER TABLE {table.name} RENAME COLUMN `{one.name}` TO `{other.name}`, "
                f"RENAME COLUMN `{other.name}` TO `{one.name}`, ADD COLUMN `{name}` {kind}"
            )
        else:
            yield f"ALTER TABLE {table.name} DROP COLUMN `{one.name}`, ADD COLUMN `{one.name}` {kind}"

    def _otherwise(self, choose: random.Random, table: _Table) -> Iterator[str]:
        column = choose.choice(table.own).name
        yield f"ALTER TABLE {table.name} " + choose.choice(
            (
                f"ADD INDEX i{self._next} (`{column}`)",
                "ENGINE = InnoDB",
                "FORCE",
                f"COMMENT = 'c{self._next}'",
                f"ORDER BY `{column}`",
                "ROW_FORMAT = DYNAMIC",
                f"ADD CONSTRAINT k{self._next} CHECK (`{column}` IS NULL OR 1 = 1)",
            )
        )

    def _flush(self, choose: random.Random, table: _Table) -> Iterator[str]:
        yield choose.choice(("FLUSH BINARY LOGS", "ANALYZE TABLE " + table.name))

    def _version(self, choose: random.Random, table: _Table) -> Iterator[str]:
        yield choose.choice(
            (
                f"ALTER TABLE {table.name} ADD SYSTEM VERSIONING",
                f"ALTER TABLE {table.name} DROP SYSTEM VERSIONING",
                f"DELETE HISTORY FROM {table.name}",
            )
        )

    def _foreign_key(self, choose: random.Random, table: _Table) -> Iterator[str]:
        if table.foreign_keys and choose.random() < 0.5:
            yield f"ALTER TABLE {table.name} DROP FOREIGN KEY `{choose.choice(table.foreign_keys)}`"
            return
        other = choose.choice([table for table in self._tables if table.key] or [table])
        column = choose.choice(table.own).name
        action = choose.choice(
            ("ON DELETE CASCADE", "ON DELETE SET NULL", "ON UPDATE CASCADE ON DELETE CASCADE")
        )
        yield "SET SESSION foreign_key_checks = 0" if choose.random() < 0.3 else "DO 0"
        yield (
            f"ALTER TABLE {table.name} ADD CONSTRAINT f{self._next} FOREIGN KEY (`{column}`) "
            f"REFERENCES {other.name} (`{(other.key or [column])[0]}`) {action}"
        )
        yield "SET SESSION foreign_key_checks = 1"

    def _partition(self, choose: random.Random, table: _Table) -> Iterator[str]:
        if not (partitioned := [one for one in self._tables if one.partitions]) or choose.random() < 0.12:
            column = choose.choice([one.name for one in table.own if "int" in one.kind] or ["k"])
            ranges = "(PARTITION p0 VALUES LESS THAN (20), PARTITION p1 VALUES LESS THAN MAXVALUE)"
            yield f"ALTER TABLE {table.name} PARTITION BY " + choose.choice(
                (
                    f"HASH (`{column}`) PARTITIONS 3",
                    f"KEY (`{column}`) PARTITIONS 2",
                    f"RANGE (`{column}`) {ranges}",
                )
            )
            return
        table = choose.choice(partitioned)
        partition, every = choose.choice(table.partitions), ", ".join(table.partitions)
        if choose.random() < 0.25:
            yield from self._exchange(choose, table, partition)
            return
        changes = [
            *(f"{verb} PARTITION {partition}" for verb in ("TRUNCATE", "TRUNCATE", "REBUILD", "OPTIMIZE")),
            *(f"TRUNCATE PARTITION {which}" for which in ("ALL", every)),
            "REMOVE PARTITIONING",
        ]
        if table.method in ("HASH", "KEY"):
            changes += ["COALESCE PARTITION 1", "ADD PARTITION PARTITIONS 2", "REORGANIZE PARTITION"]
        elif len(table.partitions) > 1:
            changes += [f"DROP PARTITION {partition}"] * 2
        if table.method == "RANGE":
            first = f"PARTITION q{self._next} VALUES LESS THAN ({choose.randrange(20, 60)})"
            rest = f"PARTITION s{self._next} VALUES LESS THAN MAXVALUE"
            changes.append(f"REORGANIZE PARTITION {table.partitions[-1]} INTO ({first}, {rest})")
        if self._is_mariadb and len(table.partitions) > 1:
            changes.append(f"CONVERT PARTITION {partition} TO TABLE part{self._next}")
        yield f"ALTER TABLE {table.name} {choose.choice(changes)}"

    def _exchange(self, choose: random.Random, table: _Table, partition: str) -> Iterator[str]:
        """A partition changes places with a table that has some of its rows, or of others."""
        other, columns = f"part{self._next}", _names(table.own)
        yield f"CREATE TABLE {other} LIKE {table.name}"
        yield f"ALTER TABLE {other} REMOVE PARTITIONING"
        # Without a check, rows in a wrong partition would be found by some conditions only.
        where, check = choose.choice((("", ""), *2 * [(f" PARTITION ({partition})", " WITHOUT VALIDATION")]))
        yield f"INSERT INTO {other} ({columns}) SELECT {columns} FROM {table.name}{where} LIMIT 5"
        yield f"ALTER TABLE {table.name} EXCHANGE PARTITION {partition} WITH TABLE {other}{check}"


def _names(columns: list[_Column]) -> str:
    return ", ".join(f"`{column.name}`" for column in columns)


def _texts(cursor: Any) -> list[list[Any]]:
    return [[one.decode() if isinstance(one, bytes) else one for one in row] for row in cursor.fetchall()]
