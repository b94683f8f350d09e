"""Random statements: tables that change their rows, keys, columns and names, and columns of all types.

A server accepts each statement of `Workload`; those of `TypedTables` it may refuse.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

#: Types that no ALTER changes, and those of their columns after each of several ALTERs. No step changes the
#: text of a value, since the log has no rows for it.
_PLAIN = ("DATE", "DATETIME(3)", "TIME(2)", "DOUBLE", "VARBINARY(12)", "BIT(9)", "YEAR", "JSON")
_STEPS = (
    ("SMALLINT", "INT", "BIGINT", "VARCHAR(20)"),
    ("TINYINT UNSIGNED", "INT UNSIGNED", "BIGINT UNSIGNED", "DECIMAL(25,0)"),
    ("DECIMAL(9,2)", "DECIMAL(14,2)", "DECIMAL(30,2)"),
    ("VARCHAR(20)", "VARCHAR(300)", "TEXT"),
    ("ENUM('x','y')", "ENUM('x','y','z')", "VARCHAR(8)"),
)
_NAMES = "abcdefgh"
_TABLES = ("orders", "items", "stock", "notes")


#: Defaults of new columns, by the first words of their types.
_DEFAULTS = {
    **dict.fromkeys(("TINYINT", "SMALLINT", "MEDIUMINT", "INT", "BIGINT", "DOUBLE"), " DEFAULT 7"),
    "DECIMAL": " DEFAULT '1'",
    "VARCHAR": " DEFAULT 'd'",
}


@dataclass
class _Column:
    kinds: tuple[str, ...]
    step: int = 0

    @property
    def kind(self) -> str:
        return self.kinds[self.step]


@dataclass
class _Table:
    """A table with the columns `k` and `l`, which may be its key, and others."""

    keys: tuple[str, ...]
    columns: dict[str, _Column] = field(default_factory=dict)


class Workload:
    """Statements on a few tables of the database `w`, each of which the server accepts.

    Parameters
    ----------
    seed
        Determines all of them.
    has_keyless
        Some tables have no primary key.
    """

    def __init__(self, seed: int, *, has_keyless: bool = True) -> None:
        self._choose = random.Random(seed)
        self._has_keyless = has_keyless
        self._tables: dict[str, _Table] = {}
        self._next = 0

    def statements(self, count: int) -> Iterator[str]:
        """So many statements on rows and definitions, each transaction counted as one."""
        yield "CREATE DATABASE w"
        for name in _TABLES:
            yield from self._create(name)
        for _ in range(count):
            name = self._choose.choice(list(self._tables))
            act = self._choose.choices(
                (
                    self._insert, self._update, self._move_keys, self._delete, self._replace,
                    self._transaction, self._xa, self._truncate, self._drop, self._rename, self._swap,
                    self._add_column, self._drop_column, self._rename_column, self._change_type,
                    self._several_at_once, self._alter_otherwise, self._flush,
                ),
                (9, 6, 4, 4, 3, 4, 1, 0.5, 0.5, 1, 0.7, 2, 1.3, 1.3, 2, 1, 1, 1),
            )[0]  # fmt: skip
            yield from act(name)
        for name in list(self._tables):
            yield from self._insert(name)

    def _create(self, name: str) -> Iterator[str]:
        is_keyless = self._has_keyless and self._choose.random() < 0.3
        keys = () if is_keyless else self._choose.choice((("k",), ("k", "l")))
        table = self._tables[name] = _Table(keys)
        for column in self._choose.sample(_NAMES, 4):
            table.columns[column] = self._column()
        listed = ["k INT", "l VARCHAR(5)"] + [f"{one} {it.kind}" for one, it in table.columns.items()]
        if keys:
            listed.append(f"PRIMARY KEY ({', '.join(keys)})")
        yield f"CREATE TABLE w.{name} ({', '.join(listed)})"

    def _column(self) -> _Column:
        if self._choose.random() < 0.4:
            return _Column((self._choose.choice(_PLAIN),))
        return _Column(self._choose.choice(_STEPS))

    def _value(self, column: _Column) -> str:
        choose = self._choose
        if choose.random() < 0.2:
            return "NULL"
        kind = column.kinds[0].partition("(")[0]
        n = choose.randrange(120)
        day = f"20{n % 80 + 10}-{n % 12 + 1:02}-{n % 28 + 1:02}"
        match kind:
            case "DATE":
                return f"'{day}'"
            case "DATETIME":
                return f"'{day} 12:34:{n % 60:02}.{n:03}'"
            case "TIME":
                return f"'{choose.choice(('', '-'))}{n}:00:{n % 60:02}.25'"
            case "DOUBLE":
                return f"{choose.uniform(-9, 9)!r}"
            case "VARBINARY":
                return f"X'{choose.randbytes(n % 12).hex()}'"
            case "BIT":
                return str(n * 4)
            case "YEAR":
                return str(1950 + n)
            case "JSON":
                return f"""'{{"n": {n}, "t": ["é", null]}}'"""
            case "DECIMAL":
                return f"{choose.choice(('', '-'))}{n * 999}.{n % 100:02}"
            case "VARCHAR":
                return f"'{'é' if n % 3 else ''}{n}'"
            case "ENUM":
                return f"'{'xy'[n % 2]}'"
        return str(n)

    def _row(self, table: _Table) -> str:
        self._next += 1
        values = (self._value(one) for one in table.columns.values())
        return f"({', '.join((str(self._next), repr('pqr'[self._next % 3]), *values))})"

    def _named(self, table: _Table) -> str:
        return ", ".join(("k", "l", *table.columns))

    def _some(self) -> str:
        """A condition for some of the newest rows."""
        return f"k > {self._next - self._choose.randrange(60)} AND k % 3 = {self._choose.randrange(3)}"

    def _insert(self, name: str) -> Iterator[str]:
        table = self._tables[name]
        rows = ", ".join(self._row(table) for _ in range(self._choose.choice((1, 2, 9))))
        yield f"INSERT INTO w.{name} ({self._named(table)}) VALUES {rows}"
        if not table.keys and self._choose.random() < 0.5:
            named = self._named(table)
            yield f"INSERT INTO w.{name} ({named}) SELECT {named} FROM w.{name} WHERE k = {self._next}"

    def _update(self, name: str) -> Iterator[str]:
        table = self._tables[name]
        if self._choose.random() < 0.2:
            yield f"UPDATE IGNORE w.{name} SET l = '{self._choose.choice('pqr')}' WHERE {self._some()}"
        column = self._choose.choice(list(table.columns))
        yield f"UPDATE w.{name} SET {column} = {self._value(table.columns[column])} WHERE {self._some()}"

    def _move_keys(self, name: str) -> Iterator[str]:
        """Some keys move to new places, others to where others have been."""
        if self._choose.random() < 0.5:
            self._next += 200
            yield f"UPDATE w.{name} SET k = k + 200 WHERE {self._some()} AND k <= {self._next - 200}"
        else:
            yield f"UPDATE w.{name} SET k = -k WHERE k > 0 AND {self._some()}"
            yield f"UPDATE w.{name} SET k = -k WHERE k < 0"

    def _delete(self, name: str) -> Iterator[str]:
        yield f"DELETE FROM w.{name} WHERE {self._some()} LIMIT {self._choose.choice((1, 50))}"

    def _replace(self, name: str) -> Iterator[str]:
        table = self._tables[name]
        values = ", ".join(self._value(one) for one in table.columns.values())
        row = f"{self._next - self._choose.randrange(9)}, 'p'{', ' if values else ''}{values}"
        yield f"REPLACE INTO w.{name} ({self._named(table)}) VALUES ({row})"

    def _transaction(self, name: str) -> Iterator[str]:
        yield "BEGIN"
        for _ in range(self._choose.randrange(2, 5)):
            other = self._choose.choice(list(self._tables))
            act = self._choose.choice((self._insert, self._update, self._move_keys, self._delete))
            yield from act(other)
        yield "SAVEPOINT s"
        yield from self._delete(name)
        yield from self._choose.choice(([], ["ROLLBACK TO s"]))
        yield self._choose.choice(("COMMIT", "COMMIT", "ROLLBACK"))

    def _xa(self, name: str) -> Iterator[str]:
        self._next += 1
        xid = f"'x{self._next}'"
        yield f"XA START {xid}"
        yield from self._insert(name)
        yield from self._update(name)
        yield from (f"XA END {xid}", f"XA PREPARE {xid}")
        yield f"XA {self._choose.choice(('COMMIT', 'ROLLBACK'))} {xid}"

    def _truncate(self, name: str) -> Iterator[str]:
        yield f"TRUNCATE TABLE w.{name}"

    def _drop(self, name: str) -> Iterator[str]:
        yield f"DROP TABLE w.{name}"
        del self._tables[name]
        yield from self._create(name)
        yield from self._insert(name)

    def _rename(self, name: str) -> Iterator[str]:
        new = f"{name.rstrip('0123456789')}{self._next}"
        if new not in self._tables:
            self._tables[new] = self._tables.pop(name)
            form = self._choose.choice(("RENAME TABLE w.{} TO w.{}", "ALTER TABLE w.{} RENAME TO w.{}"))
            yield form.format(name, new)

    def _swap(self, name: str) -> Iterator[str]:
        other = self._choose.choice([table for table in self._tables if table != name])
        self._tables[name], self._tables[other] = self._tables[other], self._tables[name]
        yield f"RENAME TABLE w.{name} TO w.t, w.{other} TO w.{name}, w.t TO w.{other}"

    def _add_column(self, name: str) -> Iterator[str]:
        table = self._tables[name]
        if free := [one for one in _NAMES if one not in table.columns]:
            new = self._choose.choice(free)
            place = self._choose.choice(("", " FIRST", " AFTER k"))
            table.columns[new] = column = self._column()
            default = _DEFAULTS.get(re.split(r"\W", column.kind)[0], "") if self._next % 3 else ""
            yield f"ALTER TABLE w.{name} ADD COLUMN {new} {column.kind}{default}{place}"

    def _drop_column(self, name: str) -> Iterator[str]:
        table = self._tables[name]
        if len(table.columns) > 1:
            old = self._choose.choice(list(table.columns))
            del table.columns[old]
            yield f"ALTER TABLE w.{name} DROP COLUMN {old}"

    def _rename_column(self, name: str) -> Iterator[str]:
        table = self._tables[name]
        if free := [one for one in _NAMES if one not in table.columns]:
            old, new = self._choose.choice(list(table.columns)), self._choose.choice(free)
            table.columns[new] = column = table.columns.pop(old)
            if column.step + 1 < len(column.kinds) and self._choose.random() < 0.3:
                column.step += 1
            yield f"ALTER TABLE w.{name} CHANGE COLUMN {old} {new} {column.kind}"

    def _change_type(self, name: str) -> Iterator[str]:
        table = self._tables[name]
        column = self._choose.choice(list(table.columns))
        it = table.columns[column]
        if it.step + 1 < len(it.kinds):
            it.step += 1
            place = self._choose.choice(("", " FIRST"))
            yield f"ALTER TABLE w.{name} MODIFY COLUMN {column} {it.kind}{place}"

    def _several_at_once(self, name: str) -> Iterator[str]:
        """Two columns swap their names, and another one comes, in one statement."""
        table = self._tables[name]
        free = [one for one in _NAMES if one not in table.columns]
        if len(table.columns) < 2 or not free:
            return
        (one, first), (other, second) = self._choose.sample(list(table.columns.items()), 2)
        table.columns[one], table.columns[other] = second, first
        table.columns[free[0]] = third = self._column()
        yield (
            f"ALTER TABLE w.{name} CHANGE {one} {other} {first.kind}, CHANGE {other} {one} {second.kind}, "
            f"ADD COLUMN {free[0]} {third.kind}"
        )

    def _alter_otherwise(self, name: str) -> Iterator[str]:
        table = self._tables[name]
        forms = [f"ADD INDEX i{self._next} (k)", "ENGINE = InnoDB", "ALTER COLUMN l SET DEFAULT 'z'"]
        if table.keys == ("k",):
            forms.append("DROP PRIMARY KEY, ADD PRIMARY KEY (k, l)")
        form = self._choose.choice(forms)
        if form.startswith("DROP"):
            table.keys = ("k", "l")
        yield f"ALTER TABLE w.{name} {form}"

    def _flush(self, name: str) -> Iterator[str]:
        yield "FLUSH BINARY LOGS"


_CHARSETS = ("latin1", "utf8mb4", "utf8", "ucs2", "cp1251", "binary", "sjis")
#: Types with numbers, by what may follow them.
_NUMBERS = {
    "INT TINYINT SMALLINT MEDIUMINT BIGINT INTEGER INT1 INT2 INT3 INT4 INT8 MIDDLEINT": ("", "(5)", "(0)"),
    "DECIMAL DEC NUMERIC FIXED FLOAT FLOAT4": ("", "(9)", "(9,2)", "(0)", "(19.5)", "(30.2)", "(7,0)"),
    "DOUBLE FLOAT8 REAL": ("", "(9,2)"),
    "YEAR SQL_TSI_YEAR": ("", "(4)"),
    "NUMBER": ("", "(5)", "(5,2)"),
}
_TIMES = (
    "DATE",
    "TIME",
    "TIME(3)",
    "DATETIME",
    "DATETIME(6)",
    "DATETIME(0)",
    "TIMESTAMP NULL",
    "TIMESTAMP(2) NULL",
)
_TEXTS = (
    "CHAR", "CHARACTER(5)", "CHAR(0)", "VARCHAR(9)", "VARCHAR(20000)", "CHAR VARYING(9)", "VARCHARACTER(9)",
    "CHARACTER VARYING(70000)", "TINYTEXT", "TEXT", "TEXT(9)", "TEXT(100)", "TEXT(20000)", "MEDIUMTEXT",
    "LONGTEXT", "LONG", "LONG VARCHAR", "LONG CHAR VARYING", "LONG VARCHARACTER", "ENUM('a','b ')",
    "SET('é','x')", "VARCHAR2(9)", "CLOB", "XMLTYPE",
)  # fmt: skip
_NATIONAL = (
    "NCHAR", "NCHAR(5)", "NATIONAL CHAR(5)", "NATIONAL CHARACTER", "NVARCHAR(9)", "NCHAR VARCHAR(9)",
    "NCHAR VARYING(9)", "NATIONAL VARCHAR(9)", "NATIONAL CHAR VARYING(9)", "NATIONAL CHARACTER VARYING(9)",
    "NATIONAL VARCHARACTER(9)", "NVARCHAR(30000)",
)  # fmt: skip
_BYTES = (
    "BINARY", "BINARY(5)", "VARBINARY(9)", "VARBINARY(70000)", "TINYBLOB", "BLOB", "BLOB(9)", "BLOB(300)",
    "BLOB(70000)", "MEDIUMBLOB", "LONGBLOB", "LONG VARBINARY", "RAW(9)",
)  # fmt: skip
_OTHERS = (
    "BIT", "BIT(9)", "BIT(0)", "BOOL", "BOOLEAN", "SERIAL", "JSON", "VECTOR(3)", "UUID", "INET4", "INET6",
    "POINT", "GEOMETRY", "GEOMCOLLECTION", "MULTIPOLYGON",
)  # fmt: skip
_ATTRIBUTES = (
    "NULL", "NOT NULL", "NOT NULL", "UNIQUE", "UNIQUE KEY", "KEY", "PRIMARY KEY", "COMMENT 'NOT NULL'",
    "INVISIBLE", "VISIBLE", "DEFAULT NULL", "DEFAULT 1", "DEFAULT 'a' 'b'", "DEFAULT -1.5e-3",
    "DEFAULT _latin1 x'41'", "DEFAULT (1 + (2))", "DEFAULT CASE 1 WHEN 1 THEN 2 END",
    "DEFAULT CURRENT_TIMESTAMP", "ON UPDATE NOW()", "AUTO_INCREMENT", "SERIAL DEFAULT VALUE",
    "CHECK (1 < 2)", "CHECK (1 < 2) NOT ENFORCED", "CONSTRAINT CHECK (1 < 2)", "COLUMN_FORMAT FIXED",
    "COLUMN_FORMAT DEFAULT STORAGE DISK", "SECONDARY_ENGINE_ATTRIBUTE = '{}'", "SRID 0", "REF_SYSTEM_ID=5",
    "NOT NULL ENABLE", "COLLATE latin1_bin", "COLLATE utf8mb4_bin", "COLLATE DEFAULT",
    "COLLATE utf8mb4_general_ci", "WITHOUT SYSTEM VERSIONING", "REFERENCES z (y) ON DELETE SET NULL",
)  # fmt: skip


class TypedTables:
    """Statements on tables of the database `d` whose columns have types of all spellings and attributes.

    Parameters
    ----------
    seed
        Determines all of them.
    """

    def __init__(self, seed: int) -> None:
        self._choose = random.Random(seed)

    def create(self, name: str) -> str:
        """A table of few columns, so that a server accepts it now and then."""
        columns = [f"{one} {self._column()}" for one in "abc"[: self._choose.choice((1, 1, 2, 3))]]
        place = self._choose.choice(("{}, id INT", "id INT, {}"))
        charset = self._any("", "", " CHARSET=", " DEFAULT CHARACTER SET = ")
        options = charset + self._choose.choice(_CHARSETS) if charset else ""
        return f"CREATE TABLE d.{name} ({place.format(', '.join(columns))}){options}"

    def alter(self, name: str) -> str:
        """Up to four clauses, in any order, on the columns a to f and `id`."""
        if self._choose.random() < 0.1:  # alone: MySQL 9.7 gives other sizes to texts that are also defined
            return f"ALTER TABLE d.{name} CONVERT TO CHARACTER SET {self._choose.choice(_CHARSETS)}"
        clauses = ", ".join(self._clause() for _ in range(self._choose.choice((1, 1, 2, 3, 4))))
        return f"ALTER TABLE d.{name} {clauses}"

    def _any(self, *texts: str) -> str:
        return self._choose.choice(texts)

    def _column(self) -> str:
        kind, options = self._type()
        attributes = [
            self._choose.choice(_ATTRIBUTES) for _ in range(self._choose.choice((0, 0, 1, 1, 2, 3)))
        ]
        if self._choose.random() < 0.1:
            stored = self._any("", " VIRTUAL", " STORED", " PERSISTENT")
            attributes.insert(0, f"{self._any('', 'GENERATED ALWAYS ')}AS (1){stored}")
        words = " ".join((kind, options, *attributes)).split(" ")
        return " ".join(
            self._choose.choice((word, word.lower())) if word.isalpha() else word for word in words
        )

    def _type(self) -> tuple[str, str]:
        """A type, and what may follow it before other attributes."""
        match self._choose.randrange(7):
            case 0:
                names, arguments = self._choose.choice(list(_NUMBERS.items()))
                sign = self._any("", "", "UNSIGNED", "ZEROFILL", "SIGNED", "ZEROFILL UNSIGNED")
                return self._any(*names.split()) + self._any(*arguments), sign
            case 1:
                return self._any("DOUBLE PRECISION", *_TIMES), ""
            case 2 | 3:
                return self._any(*_TEXTS), self._any("", "", "COMPRESSED ") + self._charset()
            case 4:
                return self._any(*_NATIONAL), self._any("", "BINARY")
            case 5:
                return self._any(*_BYTES), self._any("", "", "COMPRESSED")
            case _:
                return self._any(*_OTHERS), ""

    def _charset(self) -> str:
        charset = self._any("CHARACTER SET", "CHAR SET", "CHARSET") + f" {self._choose.choice(_CHARSETS)}"
        forms = ("", "BYTE", "BINARY", "ASCII", "UNICODE", "ASCII BINARY", "BINARY UNICODE", charset)
        return self._any(*forms, f"{charset} BINARY", f"BINARY {charset}", f"{charset} COLLATE DEFAULT")

    def _clause(self) -> str:
        column, other = self._any("a", "b", "c", "id"), self._any(*"abcdef", "id")
        place = self._any("", "", "", " FIRST", f" AFTER {self._any(*'abcdef', 'id')}")
        exists = self._any("", "", "", "IF EXISTS ")
        return self._any(
            f"ADD {self._any('', 'COLUMN ', 'COLUMN IF NOT EXISTS ')}{other} {self._column()}{place}",
            f"ADD COLUMN ({other} {self._column()}, {self._any(*'def')} INT, KEY (id))",
            f"MODIFY {exists}{column} {self._column()}{place}",
            f"CHANGE COLUMN {exists}{column} {other} {self._column()}{place}",
            f"CHANGE {column} {other} INT{place}",
            f"MODIFY {column} BIGINT{place}",
            f"DROP {exists}{column}",
            f"RENAME COLUMN {column} TO {other}",
            f"ALTER {column} SET DEFAULT 5",
            f"DEFAULT CHARSET={self._choose.choice(_CHARSETS)} COMMENT = 'x'",
            self._any(f"ADD PRIMARY KEY ({column})", "DROP PRIMARY KEY", f"ADD UNIQUE ({column})", "FORCE"),
        )
