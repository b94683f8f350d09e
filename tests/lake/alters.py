"""Statements that change what a table's older rows contain, and whether the log shows the new values.

Each is run on a table that has rows, with a primary key and without; afterwards a row is changed, one is
deleted, and one is inserted. The logs `alters-*` in `logs` are of MySQL 9.7.4 and MariaDB 11.8.6, with
binlog_row_image FULL, after `statements`; the file `.json` beside each has the tables as the server's SELECT
then shows them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple


class Alter(NamedTuple):
    """The column `c` before, literals of three rows, the clauses, and a part of the reason of a refusal."""

    column: str
    values: tuple[object, ...]
    clauses: str
    reason: str = ""


#: Those after which the contents are known, by a name for the table.
KNOWN = {
    # New columns: literals, and the type's own value of NOT NULL.
    "int": Alter("", (), "ADD c INT DEFAULT -5"),
    "int_first": Alter("", (), "ADD c INT NOT NULL DEFAULT 5 FIRST"),
    "int_implicit": Alter("", (), "ADD c INT NOT NULL"),
    "bigint": Alter("", (), "ADD c BIGINT UNSIGNED NOT NULL DEFAULT 18446744073709551615"),
    "boolean": Alter("", (), "ADD c BOOLEAN NOT NULL DEFAULT TRUE"),
    "decimal": Alter("", (), "ADD c DECIMAL(10,3) DEFAULT 1.5"),
    "decimal_implicit": Alter("", (), "ADD c DECIMAL(10,3) NOT NULL"),
    "float": Alter("", (), "ADD c FLOAT DEFAULT 0.1"),
    "double": Alter("", (), "ADD c DOUBLE NOT NULL"),
    "varchar": Alter("", (), "ADD c VARCHAR(20) CHARACTER SET utf8mb4 NOT NULL DEFAULT 'it''s '"),
    "varchar_implicit": Alter("", (), "ADD c VARCHAR(20) NOT NULL"),
    "text_implicit": Alter("", (), "ADD c TEXT NOT NULL"),
    "enum": Alter("", (), "ADD c ENUM('a','b') DEFAULT 'b'"),
    "enum_implicit": Alter("", (), "ADD c ENUM('a','b') NOT NULL"),
    "set": Alter("", (), "ADD c SET('a','b','c') DEFAULT 'c,a'"),
    "set_implicit": Alter("", (), "ADD c SET('a','b') NOT NULL"),
    "date": Alter("", (), "ADD c DATE NOT NULL DEFAULT '2020-02-29'"),
    "datetime": Alter("", (), "ADD c DATETIME(3) DEFAULT '2020-02-29 01:02:03'"),
    "instant": Alter("", (), "ADD c INT NOT NULL DEFAULT 7, ALGORITHM=INSTANT"),
    "several": Alter("", (), "ADD (c INT DEFAULT 1, d VARCHAR(9) DEFAULT 'd', e INT)"),
    "default_later": Alter("", (), "ADD c INT DEFAULT 5; ALTER c SET DEFAULT 6"),
    "renamed_later": Alter("", (), "ADD c INT DEFAULT 5; CHANGE c d INT DEFAULT 5"),
    "again": Alter("INT", (1, 2, 3), "DROP c; ADD c INT DEFAULT 5"),
    "in_place": Alter("INT", (1, 2, 3), "DROP c, ADD c INT DEFAULT 5"),
    "other_type": Alter("INT", (1, 2, 3), "DROP c; ADD c VARCHAR(9) DEFAULT 'x'"),
    "in_key": Alter("", (), "ADD c INT NOT NULL DEFAULT 5, DROP PRIMARY KEY, ADD PRIMARY KEY (k, c)"),
    "is_there": Alter("INT", (1, None, 3), "ADD COLUMN IF NOT EXISTS c INT DEFAULT 5"),
    # The same values in another type.
    "nullable": Alter("INT NOT NULL", (1, 2, 3), "MODIFY c INT"),
    "not_null": Alter("INT", (1, 2, 3), "MODIFY c INT NOT NULL"),
    "wider": Alter("SMALLINT", (1, None, -3), "MODIFY c BIGINT"),
    "longer": Alter("VARCHAR(9)", ("'a'", None, "'c '"), "MODIFY c VARCHAR(300)"),
    "bytes": Alter("VARBINARY(9)", ("x'00'", None, "''"), "MODIFY c VARBINARY(300)"),
    "members": Alter("ENUM('a','b')", ("'a'", None, "'b'"), "MODIFY c ENUM('a','b','c') DEFAULT 'c'"),
    "comment": Alter("INT", (1, None, 3), "MODIFY c INT DEFAULT 7 COMMENT 'x', ADD INDEX (c), COMMENT='y'"),
    "to_unsigned": Alter("INT", (1, None, 3), "MODIFY c BIGINT UNSIGNED"),
    "to_varchar": Alter("SMALLINT", (1, None, -3), "MODIFY c VARCHAR(9)"),
    "to_decimal": Alter("BIGINT", (1, None, -3), "MODIFY c DECIMAL(20,0)"),
    "more_digits": Alter("DECIMAL(10,2)", (1.25, None, -99999999.99), "MODIFY c DECIMAL(12,4)"),
    "more_places": Alter("DECIMAL(10,2)", (1.25, None, -99999999.99), "MODIFY c DECIMAL(30,9)"),
    "to_datetime": Alter("DATE", ("'2020-02-29'", None, "'1000-01-01'"), "MODIFY c DATETIME"),
    "to_double": Alter("FLOAT", (0.1, None, -1e30), "MODIFY c DOUBLE"),
    "twice": Alter("DECIMAL(10,2)", (1.25, None, -3), "MODIFY c DECIMAL(12,4); MODIFY c DECIMAL(20,6)"),
    "and_back": Alter("INT", (1, None, 3), "MODIFY c BIGINT UNSIGNED; MODIFY c INT"),
    "renamed_too": Alter(
        "DECIMAL(10,2)", (1.25, None, -3), "CHANGE c d DECIMAL(12,4); CHANGE d e DECIMAL(12,4)"
    ),
    "its_key": Alter("INT NOT NULL", (1, 2, 3), "MODIFY c BIGINT UNSIGNED NOT NULL, ADD UNIQUE (c)"),
    # NULL becomes the type's own value, unless the server is strict; then there was none.
    "no_nulls": Alter("INT", (1, None, 3), "MODIFY c INT NOT NULL"),
    "no_nulls_decimal": Alter("DECIMAL(10,2)", (1, None, 3), "MODIFY c DECIMAL(12,4) NOT NULL"),
    "no_nulls_text": Alter("VARCHAR(9)", ("'a'", None, "''"), "MODIFY c VARCHAR(20) NOT NULL"),
    "no_nulls_double": Alter("DOUBLE", (1, None, 3), "MODIFY c DOUBLE NOT NULL DEFAULT 5"),
}

#: Those after which the contents are not known.
UNKNOWN = {
    "generated": Alter("", (), "ADD c INT AS (k + 1) STORED", "adds a value other than NULL as c"),
    "now": Alter("", (), "ADD c DATETIME DEFAULT CURRENT_TIMESTAMP", "adds a value"),
    "timestamp": Alter("", (), "ADD c TIMESTAMP NULL DEFAULT '2020-02-29 01:02:03'", "adds a value"),
    "bit": Alter("", (), "ADD c BIT(8) DEFAULT b'101'", "adds a value"),
    "expression": Alter("", (), "ADD c INT DEFAULT (1 + 1)", "adds a value"),
    "narrower": Alter(
        "DATETIME(6)",
        ("'2020-02-29 01:02:03.999999'", None, "'1000-01-01'"),
        "MODIFY c DATETIME",
        "converts",
    ),
    "fewer_digits": Alter("DECIMAL(10,2)", (1.25, None, -3), "MODIFY c DECIMAL(10,1)", "converts"),
    "to_integer": Alter("VARCHAR(9)", ("'1'", None, "'3'"), "MODIFY c INT", "converts"),
    "no_nulls_enum": Alter(
        "ENUM('a','b')", ("'a'", None, "'b'"), "MODIFY c ENUM('a','b') NOT NULL", "converts"
    ),
    "no_nulls_date": Alter(
        "DATE", ("'2020-02-29'", None, "'1000-01-01'"), "MODIFY c DATE NOT NULL", "converts"
    ),
}

#: Of one server only.
MYSQL_ONLY = {"instant"}
MARIADB_ONLY = {"is_there"}


def statements(*, is_mariadb: bool, without: Collection[str] = ()) -> Iterator[str]:
    """All of them but some, for a new database `w`."""
    yield "CREATE DATABASE w CHARACTER SET latin1"
    left_out = MYSQL_ONLY if is_mariadb else MARIADB_ONLY
    for name, (column, values, clauses, _) in {**KNOWN, **UNKNOWN}.items():
        for kind, key in (("keyed", ", PRIMARY KEY (k)"), ("keyless", "")):
            if name in {*left_out, *without} or (name == "in_key" and not key):
                continue
            table = f"w.{name}_{kind}"
            yield f"SET sql_mode = '{'' if name.startswith('no_nulls') else 'STRICT_TRANS_TABLES'}'"
            yield f"CREATE TABLE {table} (k INT NOT NULL, n INT{column and f', c {column}'}{key})"
            own = [", " + ("NULL" if value is None else str(value)) for value in values] or [""] * 3
            rows = ", ".join(f"({number}, 0{value})" for number, value in enumerate(own))
            yield f"INSERT INTO {table} VALUES {rows}"
            for one in clauses.split("; "):
                yield f"ALTER TABLE {table} {one}"
            yield "SET sql_mode = ''"
            yield f"UPDATE {table} SET n = 1 WHERE k = 0"
            yield f"DELETE FROM {table} WHERE k = 2"
            yield f"INSERT INTO {table} (k, n) VALUES (9, 9)"
