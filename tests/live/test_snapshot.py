"""Snapshots with the rules of a lake, from a server that answers with the rows of a log."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import binlog_kaitai as bk
from binlog_kaitai.core.filters import Filters, TableSet
from binlog_kaitai.core.spans import Span
from binlog_kaitai.ddl import Definitions
from binlog_kaitai.errors import ServerError, UsageError
from binlog_kaitai.lake.files import TableFiles
from binlog_kaitai.lake.rules import NO_RULES, Rules
from binlog_kaitai.lake.storage import Storage
from binlog_kaitai.lake.write import write_lake
from binlog_kaitai.live.server_session import Server
from binlog_kaitai.rows.log_pages import RowsPages
from binlog_kaitai.rows.row_masks import KEY_VARIABLE, Masks
from binlog_kaitai.snapshot import server_snapshot as snapshots
from binlog_kaitai.snapshot.server_snapshot import _add_statements, take_snapshot
from binlog_kaitai.snapshot.snapshot_chunks import Touched
from binlog_kaitai.snapshot.snapshot_files import Snapshot
from binlog_kaitai.sources.source import Source
from tests.lake.test_rules import ROTATED, texts_of
from tests.log_maker import log_of_statements

CREATE = "CREATE TABLE `a` (`id` int NOT NULL, `v` varchar(9999) DEFAULT NULL, PRIMARY KEY (`id`))"


class FakeSession:
    """A server with one table, whose rows are those that a log inserts."""

    queries: list[str]
    rows: list[tuple[Any, ...]]

    def __init__(self, *given: Any, **options: Any) -> None:
        self.server = Server("9.7.4", "", 97, is_mariadb=False)

    def __enter__(self) -> FakeSession:
        return self

    def __exit__(self, *given: Any) -> None:
        pass

    def run(self, statement: str) -> None:
        pass

    def close(self) -> None:
        pass

    def newest_position(self) -> tuple[str, int]:
        return "binlog.000001", 157

    def ask(self, query: str, *kinds: Any, what: str = "") -> list[tuple[Any, ...]]:
        answers: dict[str, list[tuple[Any, ...]]] = {
            "UTC_TIMESTAMP": [(datetime(2026, 1, 2),)],
            "engines": [("InnoDB", "YES")],
            "information_schema.tables": [("t", "a", "InnoDB", 3)],
            "SHOW CREATE": [("a", CREATE)],
        }
        return next((answer for words, answer in answers.items() if words in query), [])

    def ask_one(self, query: str, *kinds: Any, what: str = "") -> tuple[Any, ...]:
        return self.ask(query)[0]

    def stream(self, query: str, columns: int, what: str = "") -> Iterator[tuple[Any, ...]]:
        self.queries.append(query)
        selected = query.removeprefix("SELECT ").partition(" FROM ")[0].split(", ")
        for row in self.rows:
            yield tuple(None if one == "NULL" else value for one, value in zip(selected, row, strict=True))


@pytest.fixture
def raw(monkeypatch: pytest.MonkeyPatch) -> dict[int, str]:
    monkeypatch.setenv(KEY_VARIABLE, "sixteen bytes at least")
    changes = bk.read_changes(ROTATED, table="t.a").read_all().to_pylist()
    found = [change for change in changes if change["_change_type"] == "insert"]
    FakeSession.rows = [(str(one["id"]), one["v"].encode()) for one in found]
    FakeSession.queries = []
    monkeypatch.setattr(snapshots, "ServerSession", FakeSession)
    monkeypatch.setattr(snapshots, "log_id", lambda address, log: None)
    return {one["id"]: one["v"] for one in found}


def take(folder: Path, rules: Rules) -> Snapshot:
    return take_snapshot("mysql://a/", folder, tables=TableSet.of([]), rules=rules)


def masked(*masks: str, exclude: tuple[str, ...] = (), renames: tuple[str, ...] = ()) -> Rules:
    return Rules.of(Masks.of(mask=masks, exclude=exclude), renames)


def own(folder: Path) -> tuple[list[Any], list[Any]]:
    """The types of a table's own columns in the files of a folder, and its inserted rows."""
    fields, rows = set(), set()
    for path in folder.glob("changes/**/*.parquet"):
        table = pq.ParquetFile(path).read()
        names = [name for name in table.column_names if not name.startswith("_")]
        fields |= {(name, str(table.schema.field(name).type)) for name in names}
        for row in table.to_pylist():
            if row["_change_type"] in ("insert", "snapshot"):
                rows.add(tuple(row[name] for name in names))
    return sorted(fields), sorted(rows, key=repr)


@pytest.mark.parametrize(
    ("rules", "is_incomplete"),
    [
        (masked("t.a.id|v=sha256"), False),
        (masked("t.a.v=null"), False),
        (masked("t.a.v=truncate:3", exclude=("t.a.id",)), True),
        (masked(exclude=("t.a.v",), renames=("t=shop",)), False),
        (NO_RULES, False),
    ],
    ids=["sha256", "null", "truncate", "rename", "none"],
)
def test_values_are_masked_as_those_of_the_log(
    rules: Rules, is_incomplete: bool, raw: dict[int, str], tmp_path: Path
) -> None:
    found = take(tmp_path / "a", rules)
    assert found == Snapshot.load(tmp_path / "a") == take(tmp_path / "a", rules)

    def definitions_at(_: Span) -> Definitions:
        definitions = Definitions("file")
        definitions.load(found.ddl)
        return definitions

    for log in ROTATED:
        options: dict[str, Any] = {"views": ["changes"], "tables": ["t.a"], "rules": rules}
        files = TableFiles(Storage(str(tmp_path / "b")))
        write_lake(Source.of_path(log), files, definitions_at=definitions_at, **options)
        files.close()
    assert own(tmp_path / "a") == own(tmp_path / "b")
    assert sum(found.files.values()) == len(raw) > 1
    assert bool(found.incomplete) == is_incomplete
    folder = "changes/shop.a/" if rules.renames else "changes/t.a/"
    assert all(name.startswith(folder) for name in found.files)
    everything = "\n".join(
        [texts_of(tmp_path / "a"), *(path.read_text() for path in tmp_path.glob("a/*.json"))]
    )
    assert any(one in everything for one in raw.values()) == (not rules.masks)
    is_withheld = rules.masks.exclude == ("t.a.v",) or rules.masks.mask == ("t.a.v=null",)
    assert all((", NULL FROM" in query) == is_withheld for query in FakeSession.queries)


def test_hashes_need_the_key(raw: dict[int, str], tmp_path: Path) -> None:
    take(tmp_path / "a", masked("t.a.v=hash"))
    ((_, kind),) = [one for one in own(tmp_path / "a")[0] if one[0] == "v"]
    assert kind == "string"
    assert not any(one in texts_of(tmp_path / "a") for one in raw.values())


def test_rules_fail_closed(raw: dict[int, str], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"t\.a has no column email"):
        take(tmp_path / "a", masked("t.a.email=null"))
    with pytest.raises(UsageError, match="truncate is for text"):
        take(tmp_path / "a", masked("t.a.id=truncate:1"))
    assert not list(tmp_path.rglob("*.parquet"))
    take(tmp_path / "b", NO_RULES)
    with pytest.raises(UsageError, match="taken with other masks or renames"):
        take(tmp_path / "b", masked("t.a.v=sha256"))


def test_errors_do_not_quote_masked_values(raw: dict[int, str], tmp_path: Path) -> None:
    FakeSession.rows = [("secret", b"x")]
    with pytest.raises(ServerError, match=r"t\.a, column id: .*secret"):
        take(tmp_path, NO_RULES)
    with pytest.raises(ServerError, match=r"t\.a, column id: \w+$") as caught:
        take(tmp_path, masked("t.a.id=sha256"))
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.usefixtures("raw")
@pytest.mark.parametrize("kind", ["char('x')", "bit(x)", "datetime(-1)", "time('6')", "int("])
def test_a_definition_that_no_server_prints(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.live.test_snapshot.CREATE", f"CREATE TABLE `a` (`id` int, `v` {kind})")
    with pytest.raises(ServerError, match=r"the definition of t\.a cannot be read"):
        take(tmp_path, NO_RULES)


@pytest.mark.usefixtures("raw")
@pytest.mark.parametrize(
    ("kind", "value"), [("vector(2)", "00"), ("vector(2)", "0"), ("date", b"x"), ("int", "x")]
)
def test_a_value_that_is_not_of_its_type(
    kind: str, value: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.live.test_snapshot.CREATE", f"CREATE TABLE `a` (`id` int, `v` {kind})")
    FakeSession.rows = [("1", value)]
    with pytest.raises(ServerError, match=r"t\.a, column v: "):
        take(tmp_path, NO_RULES)


@pytest.mark.parametrize(
    ("query", "tables", "is_all"),
    [
        (b"ALTER TABLE shop.orders ADD x INT", {("shop", "orders")}, False),
        (b"DROP DATABASE `Shop`", {("shop", "orders"), ("shop", "items")}, False),
        (b"CREATE VIEW v AS SELECT 1", set(), False),
        (b"SAVEPOINT `orders`", set(), False),
        (b"SELECT f()", set(), True),
        (b"INSERT INTO x VALUES (1)", set(), True),
    ],
)
def test_what_statements_may_have_changed_since_an_interruption(
    query: bytes, tables: set[tuple[str, str]], is_all: bool, tmp_path: Path
) -> None:
    log = tmp_path / "binlog.000001"
    log.write_bytes(log_of_statements(query))
    changes, known = Touched(), [("shop", "orders"), ("shop", "items"), ("other", "new_orders_")]
    for page in RowsPages([str(log)], Filters(), every_block=True):
        _add_statements(page, 0, changes, known)
    assert (set(changes.keys), bool(changes.reason)) == (tables, is_all)
