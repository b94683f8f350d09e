"""`sql --undo --for-table`: statements for a table's current definition; and INSERTs of several rows."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from binlog_kaitai.core.filters import Filters
from binlog_kaitai.errors import UsageError
from binlog_kaitai.render.sql import OmissionReport, SqlOptions, write_sql
from tests.corpus_files import case

MIXED = case("mysql-9.7", "mixed").logs[0]
#: It has `t.ukey (a INT NOT NULL, b VARCHAR(20) NOT NULL, c BLOB, d TEXT)`, with all kinds of changes.
LOG = case("mysql-9.7", "types_full").logs[0]


def sql(*, log: Path = LOG, table: str | None = "t.ukey", **options: Any) -> tuple[list[str], list[str]]:
    """The lines of a script, and its warnings."""
    said: list[str] = []
    wanted = SqlOptions(**options)
    parts = write_sql(log, Filters.of(table=table), wanted, OmissionReport(said.append))
    lines = b"".join(map(bytes, parts)).decode().splitlines()
    return lines, said


def statements(lines: list[str], *words: str) -> list[str]:
    return [line for line in lines if line.startswith(words)]


def today(columns: str, name: str = "t.ukey") -> str:
    return f"CREATE TABLE {name} ({columns})"


def test_a_renamed_column_has_its_new_name() -> None:
    before, _ = sql(undo=True)
    found, said = sql(
        undo=True, for_table=today("a INT, text VARCHAR(300), c BLOB, d TEXT"), renamed=["b=text"]
    )
    words = "INSERT", "UPDATE"
    assert [line.replace("`text`", "`b`") for line in found[1:]] == before[1:]
    assert any("`text`" in line for line in statements(found, *words))
    assert said == ["t.ukey: column b is written as text"]


def test_a_dropped_column_is_left_out_and_a_new_one_has_its_default() -> None:
    found, said = sql(undo=True, for_table=today("a INT, c BLOB, d TEXT, added INT, made INT AS (a) STORED"))
    assert not any("`b`" in line for line in statements(found, "INSERT", "UPDATE", "DELETE"))
    assert said == [
        "t.ukey: the current definition has no column b; its values are omitted",
        "t.ukey: column added is not in the log; inserted rows get its default",
    ]


def test_possible_renames_are_reported_and_not_applied() -> None:
    found, said = sql(undo=True, for_table=today("a INT, text VARCHAR(300), c BLOB, d TEXT"))
    assert said == [
        "t.ukey: the current definition has no column b; its values are omitted "
        "(if it was renamed to text: --renamed b=text)",
        "t.ukey: column text is not in the log; inserted rows get its default",
    ]
    assert not any("text" in line for line in statements(found, "INSERT", "UPDATE", "DELETE"))


@pytest.mark.parametrize(
    "columns",
    [
        "a INT, text INT, c BLOB, d TEXT",  # another type
        "a INT, one VARCHAR(9), two VARCHAR(9), c BLOB, d TEXT",  # two could be it
        "a INT, c BLOB, d TEXT, text VARCHAR(9)",  # another place
    ],
)
def test_what_cannot_be_renamed_is_no_hint(columns: str) -> None:
    found, said = sql(undo=True, for_table=today(columns))
    assert "t.ukey: the current definition has no column b; its values are omitted" in said
    assert not any("text" in line or "`one`" in line for line in statements(found, "INSERT", "UPDATE"))


def test_rows_are_found_by_the_key_of_today() -> None:
    before, _ = sql(undo=True)
    found, _ = sql(undo=True, for_table=today("a INT, b VARCHAR(9), c BLOB, d TEXT, PRIMARY KEY (b, a)"))
    assert statements(before, "DELETE")[0].endswith(" LIMIT 1;")
    assert re.search(r" WHERE `a` = 3 AND `b` = 'c';$", statements(found, "DELETE")[0])
    # A new column in the key does not tell which row it is.
    found, _ = sql(undo=True, for_table=today("a INT, b TEXT, c BLOB, d TEXT, n INT PRIMARY KEY"))
    assert statements(found, "DELETE")[0].endswith(" LIMIT 1;")


def test_a_definition_without_a_database_is_for_any() -> None:
    _, said = sql(
        undo=True,
        for_table=today("a INT, text VARCHAR(300), c BLOB, d TEXT", name="ukey"),
        renamed=["t.ukey.b=text"],
    )
    assert said == ["t.ukey: column b is written as text"]


def test_a_table_that_is_not_in_the_file_is_taken_as_it_was() -> None:
    before, _ = sql(undo=True)
    found, said = sql(undo=True, for_table=today("id INT", name="t.other"))
    assert found == before
    assert said == ["t.ukey is not in the --for-table file; its logged columns are used"]


def test_wrong_usage() -> None:
    with pytest.raises(UsageError, match="--for-table requires --undo"):
        sql(for_table=today("id INT"))
    for renamed, reason in (("b", "use OLD=NEW"), ("b=nosuch", "of t.ukey has no column nosuch")):
        with pytest.raises(UsageError, match=reason):
            sql(undo=True, for_table=today("a INT, c BLOB, d TEXT"), renamed=[renamed])
    with pytest.raises(UsageError, match="--renamed requires"):
        sql(undo=True, renamed=["a=b"])
    with pytest.raises(UsageError, match="no valid CREATE TABLE"):
        sql(undo=True, for_table="SELECT 1")


def split(lines: list[str]) -> list[str]:
    """INSERTs of several rows as one for each."""
    found: list[str] = []
    head = ""
    for line in lines:
        if line.startswith("("):
            line = head + line
        if line.startswith("INSERT"):
            head = line[: line.index(" VALUES ") + len(" VALUES ")]
            line = re.sub(r"\),$", ");", line)
        found.append(line)
    return found


@pytest.mark.parametrize("undo", [False, True])
@pytest.mark.parametrize("most", [1, 300, 1 << 20])
def test_inserts_that_follow_each_other_become_one(
    undo: bool, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    single, _ = sql(table=None, undo=undo, allow_unnamed=True)
    monkeypatch.setattr("binlog_kaitai.render.sql.script_lines.MOST_IN_STATEMENT", most)
    found, _ = sql(table=None, undo=undo, allow_unnamed=True, extended_insert=True)
    assert split(found) == single
    rows = [line for line in found if line.startswith("(")]
    assert bool(rows) == (most > 1)
    for text in re.split(r"^(?!\()", "\n".join(found), flags=re.MULTILINE):
        assert "\n(" not in text or len(text.rsplit("\n(", 1)[0]) < 2 * most


def test_inserts_of_different_transactions_stay_apart() -> None:
    found, _ = sql(log=MIXED, table=None, extended_insert=True, allow_unnamed=True)
    for line, following in pairwise(found):
        if line.endswith("),"):
            assert following.startswith("(")
        if following == "COMMIT;":
            assert line.endswith(";")
