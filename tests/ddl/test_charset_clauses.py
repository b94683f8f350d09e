"""Given these character set clauses, these are the character sets and ENUM members.

The results are those of MySQL 5.7.22, 8.0.15 and 9.7.4, and of MariaDB 10.2.11, 10.11.19 and 11.4.5, as far
as they accept the clause; they agree unless a test says otherwise.
"""

from __future__ import annotations

import pytest

from binlog_kaitai.ddl import Charset, ColumnDefinition, Definitions, Session

#: The default database is `g`; `l` is another one.
DATABASES = (
    "CREATE DATABASE g CHARACTER SET greek COLLATE greek_bin",
    "CREATE DATABASE l CHARACTER SET latin1",
)
SESSION = Session(server_charset=Charset("utf8mb4"))


def columns(*statements: str, table: str = "g.t", session: Session = SESSION) -> tuple[ColumnDefinition, ...]:
    definitions = Definitions()
    for statement in (*DATABASES, *statements):
        definitions.observe("g", statement, session)
    schema_name, table_name = table.split(".")
    definition = definitions.of(schema_name, table_name)
    assert definition is not None, definitions.notes
    return definition.columns


def charsets(*statements: str, table: str = "g.t", session: Session = SESSION) -> list[str | None]:
    return [column.charset for column in columns(*statements, table=table, session=session)]


@pytest.mark.parametrize(
    ("options", "charset"),
    [
        ("CHARACTER SET = DEFAULT", "greek"),
        ("CHARSET DEFAULT", "greek"),
        ("DEFAULT CHARACTER SET = DEFAULT ENGINE=InnoDB", "greek"),
        ("COLLATE=DEFAULT", "greek"),
        ("COLLATE DEFAULT CHARSET latin1", "latin1"),
        ("CHARSET greek COLLATE DEFAULT", "greek"),
        # MariaDB 10.11: latin1; MySQL 5.7 and MariaDB 10.2: greek.
        ("CHARSET latin1 COLLATE DEFAULT", None),
    ],
)
def test_default_of_a_table_is_that_of_its_database(options: str, charset: str | None) -> None:
    assert charsets(f"CREATE TABLE t (v VARCHAR(5)) {options}") == [charset]


def test_default_is_unknown_if_the_database_is() -> None:
    statements = (
        "CREATE TABLE x.t (v VARCHAR(5)) CHARSET=DEFAULT",
        "ALTER TABLE x.t CHARSET=DEFAULT, ADD w TEXT",
    )
    assert charsets(*statements, table="x.t") == [None, None]


@pytest.mark.parametrize(
    ("column", "charset", "collation"),
    [
        ("v VARCHAR(5) COLLATE DEFAULT", "greek", None),
        ("v VARCHAR(5) CHARACTER SET latin1 COLLATE DEFAULT", "latin1", None),
        ("v VARCHAR(5) COLLATE DEFAULT NOT NULL DEFAULT 'x'", "greek", None),
        ("v VARCHAR(5)", "greek", "greek_bin"),
    ],
)
def test_default_of_a_column_is_that_of_its_table(column: str, charset: str, collation: str | None) -> None:
    (defined,) = columns(f"CREATE TABLE t ({column})")
    assert (defined.name, defined.charset, defined.collation) == ("v", charset, collation)


@pytest.mark.parametrize(
    ("statement", "charset"),
    [
        ("CREATE DATABASE d CHARACTER SET DEFAULT", "utf8mb4"),
        ("CREATE DATABASE d CHARSET = DEFAULT COMMENT 'x'", "utf8mb4"),
        ("CREATE DATABASE d DEFAULT COLLATE DEFAULT", "utf8mb4"),
        ("CREATE DATABASE d CHARACTER SET latin1 COLLATE DEFAULT", None),  # as for a table
        ("CREATE DATABASE d CHARACTER SET latin1; ALTER DATABASE d CHARACTER SET DEFAULT", "utf8mb4"),
        ("CREATE DATABASE d CHARACTER SET latin1; ALTER DATABASE d COLLATE DEFAULT", None),
        ("CREATE DATABASE d CHARACTER SET utf8mb4; ALTER DATABASE d COLLATE DEFAULT", "utf8mb4"),
    ],
)
def test_default_of_a_database_is_that_of_the_server(statement: str, charset: str | None) -> None:
    assert charsets(*statement.split(";"), "CREATE TABLE d.t (v TEXT)", table="d.t") == [charset]


@pytest.mark.parametrize(
    "options",
    [
        "CHARACTER SET hebrew",
        "DEFAULT CHARACTER SET = hebrew",
        "DEFAULT COLLATE = hebrew_bin",
        "READ ONLY = 0 CHARACTER SET hebrew",
        "COMMENT 'x' CHARSET hebrew",
        "DEFAULT ENCRYPTION = 'N' COLLATE hebrew_bin",
        "g CHARACTER SET hebrew",
    ],
)
def test_alter_database_without_a_name_means_the_default_one(options: str) -> None:
    assert charsets(f"ALTER DATABASE {options}", "CREATE TABLE t (v TEXT)") == ["hebrew"]


def test_a_database_that_is_created_again_has_the_new_charset() -> None:
    again = ("DROP DATABASE l", "CREATE DATABASE IF NOT EXISTS l CHARACTER SET hebrew")
    assert charsets(*again, "CREATE TABLE l.t (v TEXT)", table="l.t") == ["hebrew"]
    assert charsets(again[1], "CREATE TABLE l.t (v TEXT)", table="l.t") == ["latin1"]


def test_a_database_that_was_there_keeps_its_charset() -> None:
    session = Session(server_charset=Charset("utf8mb4"), has_changed=False)
    create = "CREATE DATABASE IF NOT EXISTS x CHARACTER SET hebrew"
    assert charsets(create, "CREATE TABLE x.t (v TEXT)", table="x.t", session=session) == [None]


def test_columns_of_a_query_keep_their_charset() -> None:
    source = "CREATE TABLE x.a (v TEXT, w TEXT CHARACTER SET hebrew)"
    query = "CREATE TABLE t (z TEXT) CHARSET latin1 AS SELECT v, w FROM x.a"
    assert charsets(source, query) == ["latin1", None, "hebrew"]


@pytest.mark.parametrize(
    ("clauses", "expected"),
    [
        ("CHARSET=DEFAULT, ADD w TEXT", ["latin1", "greek"]),
        ("DEFAULT CHARACTER SET utf8mb4, ADD w TEXT", ["latin1", "utf8mb4"]),
        # The charset applies to the whole statement.
        ("ADD w TEXT, DEFAULT CHARACTER SET utf8mb4", ["latin1", "utf8mb4"]),
        ("MODIFY v TEXT, CHARSET=utf8mb4", ["utf8mb4"]),
        ("CHANGE v x TEXT FIRST, CHARSET=utf8mb4", ["utf8mb4"]),
        ("MODIFY v TEXT CHARACTER SET hebrew, CHARSET=utf8mb4", ["hebrew"]),
        ("RENAME COLUMN v TO x, CHARSET=utf8mb4", ["latin1"]),
        ("CONVERT TO CHARACTER SET DEFAULT", ["greek"]),
        ("CONVERT TO CHARACTER SET DEFAULT COLLATE DEFAULT, ADD w TEXT", ["greek", "greek"]),
        ("CONVERT TO CHARACTER SET utf8mb4 COLLATE DEFAULT", ["utf8mb4"]),
        ("ADD w TEXT CHARACTER SET hebrew, CONVERT TO CHARSET utf8mb4", ["utf8mb4", "utf8mb4"]),
        ("CHARSET hebrew, CONVERT TO CHARACTER SET utf8mb4, ADD w TEXT", ["utf8mb4", "utf8mb4"]),
        ("CONVERT TO CHARACTER SET utf8mb4, CHARSET hebrew, ADD w TEXT", ["utf8mb4", "utf8mb4"]),
        # MariaDB 10.11: latin1; MySQL 5.7 and MariaDB 10.2: greek.
        ("COLLATE DEFAULT, ADD w TEXT", ["latin1", None]),
    ],
)
def test_alter(clauses: str, expected: list[str | None]) -> None:
    assert charsets("CREATE TABLE t (v VARCHAR(5)) CHARSET latin1", f"ALTER TABLE t {clauses}") == expected


@pytest.mark.parametrize(
    ("clauses", "charset"),
    [
        ("CONVERT TO CHARACTER SET utf8mb4", "utf8mb4"),
        ("CONVERT TO CHARACTER SET utf8mb4, CHARSET utf8mb4", "utf8mb4"),
        ("CHARSET utf8mb4, CONVERT TO CHARACTER SET utf8mb4", "utf8mb4"),
        # Only MariaDB accepts it.
        ("CONVERT TO CHARACTER SET utf8mb4, CHARSET hebrew", "hebrew"),
        # MariaDB: hebrew; MySQL 5.7: utf8mb4.
        ("CHARSET hebrew, CONVERT TO CHARACTER SET utf8mb4", None),
    ],
)
def test_a_conversion_changes_the_default_of_the_table(clauses: str, charset: str | None) -> None:
    statements = ("CREATE TABLE t (v TEXT)", f"ALTER TABLE t {clauses}", "ALTER TABLE t ADD w TEXT")
    assert charsets(*statements) == ["utf8mb4", charset]


def test_default_of_a_conversion_is_unknown_if_session_and_database_differ() -> None:
    """MariaDB 10.11 takes the charset of the table's database, other servers that of the session."""
    table = "CREATE TABLE l.t (v VARCHAR(5)) CHARSET utf8mb4"
    convert = "ALTER TABLE l.t CONVERT TO CHARACTER SET DEFAULT"
    assert charsets(table, convert, table="l.t") == [None]
    session = Session(server_charset=Charset("utf8mb4"), database_charset=Charset("latin1"))
    assert charsets(table, convert, table="l.t", session=session) == ["latin1"]


def members(table: str, *clauses: str) -> tuple[str, ...] | None:
    """The members of the first column."""
    statements = [f"ALTER TABLE t {clause}" for clause in clauses]
    return columns(f"CREATE TABLE t {table}", *statements)[0].members


@pytest.mark.parametrize(
    ("table", "clause", "expected"),
    [
        (
            "(e ENUM('a', 'é', '中')) CHARSET utf8mb4",
            "CONVERT TO CHARACTER SET latin1",
            ("a", "Ã©", "ä¸\xad"),
        ),
        ("(e SET('x', 'ß')) CHARSET utf8mb4", "CONVERT TO CHARACTER SET latin1", ("x", "ÃŸ")),
        ("(e ENUM('a', 'é')) CHARSET utf8mb4", "CONVERT TO CHARACTER SET gbk", ("a", "茅")),
        ("(e ENUM('a', '~')) CHARSET utf8mb4", "CONVERT TO CHARACTER SET swe7", ("a", "ü")),
        ("(e ENUM('a', 'é')) CHARSET utf8mb3", "CONVERT TO CHARACTER SET utf8mb4", ("a", "é")),
        ("(e ENUM('表')) CHARSET sjis", "CONVERT TO CHARACTER SET cp932", ("表",)),
        ("(e ENUM('é')) CHARSET utf8mb4", "CONVERT TO CHARACTER SET binary", ("é",)),
        # Bytes that are invalid in the new character set.
        ("(e ENUM('a', 'é')) CHARSET latin1", "CONVERT TO CHARACTER SET utf8mb4", ("a", "\udce9")),
        # Servers differ.
        ("(e ENUM('a', 'b')) CHARSET utf8mb4", "CONVERT TO CHARACTER SET ucs2", None),
        ("(e ENUM('a', 'b')) CHARSET ucs2", "CONVERT TO CHARACTER SET latin1", None),
        # Columns whose character set is binary are not converted.
        ("(e ENUM('é') CHARACTER SET binary) CHARSET utf8mb4", "CONVERT TO CHARACTER SET latin1", ("é",)),
        # The table's default does not apply to existing columns.
        ("(e ENUM('a', 'é')) CHARSET utf8mb4", "DEFAULT CHARACTER SET latin1", ("a", "é")),
        # Members that the statement lists are converted.
        ("(e ENUM('é')) CHARSET utf8mb4", "MODIFY e ENUM('é', 'ж') CHARACTER SET latin1", ("é", "?")),
        ("(e ENUM('é')) CHARSET utf8mb4", "MODIFY e ENUM('é'), CONVERT TO CHARACTER SET latin1", ("é",)),
        (
            "(e ENUM('é')) CHARSET utf8mb4",
            "CONVERT TO CHARSET latin1, CHANGE e f ENUM('é') CHARSET utf8",
            ("é",),
        ),
        ("(e ENUM('é')) CHARSET utf8mb4", "RENAME COLUMN e TO f, CONVERT TO CHARACTER SET latin1", ("Ã©",)),
    ],
)
def test_a_conversion_keeps_the_bytes_of_members(
    table: str, clause: str, expected: tuple[str, ...] | None
) -> None:
    assert members(table, clause) == expected


def test_members_are_the_same_again_after_the_opposite_conversion() -> None:
    table = "(e ENUM('a', 'é', '中')) CHARSET utf8mb4"
    there, back = "CONVERT TO CHARACTER SET gbk", "CONVERT TO CHARACTER SET utf8mb4"
    assert members(table, there) == ("a", "茅", "\udce4\udcb8\udcad")
    assert members(table, there, back) == ("a", "é", "中")


def test_members_of_an_unknown_charset_are_known_only_if_they_are_ascii() -> None:
    convert = "ALTER TABLE x.t CONVERT TO CHARACTER SET utf8mb4"
    table = "CREATE TABLE x.t (e ENUM('on', 'off'), f ENUM('on', 'é'))"
    assert [column.members for column in columns(table, convert, table="x.t")] == [("on", "off"), None]
    # Without members, the type has no arguments.
    assert columns(table, convert, table="x.t")[1].type_name == "enum"


def test_a_conversion_to_binary_makes_texts_byte_strings() -> None:
    found = columns(
        "CREATE TABLE t (a CHAR(5), b VARCHAR(5), c TEXT, d VARBINARY(5), e INT) CHARSET latin1",
        "ALTER TABLE t CONVERT TO CHARACTER SET binary",
    )
    assert [column.type_name for column in found] == [
        "binary(5)",
        "varbinary(5)",
        "blob",
        "varbinary(5)",
        "int",
    ]


def test_a_conversion_affects_mariadbs_json() -> None:
    found = columns("CREATE TABLE t (j JSON)", "ALTER TABLE t CONVERT TO CHARACTER SET latin1")
    assert (found[0].type_name, found[0].charset) == ("json", "latin1")
