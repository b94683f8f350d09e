"""The definitions of a file hold from where the logs' statements show that they do: never is a name wrong.

`logs/given`, without column names in table maps:

- `SERVER-N`: a random history of statements that change tables, and rows after each, whose values are the
  names of their columns (MySQL 5.7.22 and 9.7.4, MariaDB 11.8.9); the `.json` file has SHOW CREATE TABLE of
  all tables before the first statement and after each
- `attributes`, MySQL 5.7.22: one change for each table, rows before and after it; `attributes.sql` is newer
"""

from __future__ import annotations

import io
import json
import pickle
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import binlog_kaitai as bk
from binlog_kaitai.ddl.definitions import DatedText, restore
from binlog_kaitai.ddl.given import Era, LogPlace, timeline
from binlog_kaitai.ddl.statements import AlterTable, read_statement
from binlog_kaitai.ddl.store import Session
from binlog_kaitai.errors import DefinitionWarning
from binlog_kaitai.following.checkpoints import Checkpoint
from binlog_kaitai.following.follower import Follower
from binlog_kaitai.log.series import with_places
from binlog_kaitai.sources.source import Source
from binlog_kaitai.values.table_definition import TableDefinition
from binlog_kaitai.views.splits import definitions_in, plan, read_split
from tests.earlier_logs import files_before
from tests.extent import sample

LOGS = Path(__file__).parent / "logs" / "given"
HISTORIES = sorted(LOGS.glob("*.json"))

Row = dict[str, str]


def changes(log: Path, ddl: str) -> Iterator[Row]:
    for batch in bk.read_changes(log, ddl=ddl):
        yield from map(json.loads, batch.column("after").to_pylist())


def events(log: Path, ddl: str) -> Iterator[Row]:
    for event in bk.open(log, ddl=ddl):
        yield from (dict(row.after or {}) for row in event.rows())


def script(log: Path, ddl: str) -> Iterator[Row]:
    text = b"".join(bk.sql_script(log, ddl=ddl, allow_unnamed=True)).decode()
    for names, values in re.findall(r"INSERT INTO .* \((.*)\) VALUES \((.*)\);", text):
        literals = [value.strip("'") for value in values.split(", ")]
        yield dict(zip(re.findall(r"`(\w+)`", names), literals, strict=True))


def splits(log: Path, ddl: str) -> Iterator[Row]:
    every = plan([log], split_size=4000)
    dated = pickle.loads(pickle.dumps(with_places(ddl, [Source.of_path(str(log))])))
    for split in every:
        for scans in (True, False):
            for batch in read_split(split, earlier=files_before(every, split), ddl=dated, scan_ddl=scans):
                yield from map(json.loads, batch.column("after").to_pylist())


def followed(log: Path, ddl: str) -> Iterator[Row]:
    follower = Follower([str(log)], follows_definitions=True, ddl=ddl, split_size=4000)
    checkpoint = follower.earliest()
    while (end := follower.advance(checkpoint, max_bytes=7000)) != checkpoint:
        for step in follower.steps(checkpoint, end):
            for batch in read_split(step.source, definitions_at=definitions_in(step.source, ddl)):
                yield from map(json.loads, batch.column("after").to_pylist())
        checkpoint = end


def resumed(log: Path, ddl: str, checkpoint: Any = "earliest") -> Iterator[Row]:
    """By a new process for each few transactions, from the checkpoint of the one before."""
    while True:
        follower = Follower([str(log)], follows_definitions=True, ddl=ddl)
        is_place = checkpoint == "earliest" or "log_id" not in checkpoint
        start = follower.place(checkpoint) if is_place else Checkpoint.of(checkpoint)
        end = follower.advance(start, max_bytes=5000)
        if end == start:
            return
        for step in follower.steps(start, end):
            for batch in read_split(step.source, definitions_at=definitions_in(step.source, ddl)):
                yield from map(json.loads, batch.column("after").to_pylist())
        checkpoint = json.loads(json.dumps(end.as_dict()))


READERS = [changes, events, script, splits, followed, resumed]


def are_unnamed(row: Row) -> bool:
    return all(name == f"c{number}" for number, name in enumerate(row, 1))


@pytest.mark.filterwarnings("ignore::binlog_kaitai.DefinitionWarning")
@pytest.mark.parametrize("history", HISTORIES, ids=lambda path: path.stem)
@pytest.mark.parametrize(
    "reader", [changes, events, script, splits, followed, resumed], ids=lambda one: one.__name__
)
def test_a_file_of_any_moment_gives_no_wrong_name(
    reader: Callable[[Path, str], Iterator[Row]], history: Path
) -> None:
    moments = json.loads(history.read_text())
    log = history.with_suffix(".000002")
    for ddl in [moments[0], *sample(moments[1:-1], 4), moments[-1]]:
        rows = list(reader(log, ddl))
        wrong = [
            row for row in rows if any(name != value for name, value in row.items()) and not are_unnamed(row)
        ]
        assert wrong == []
        assert not all(map(are_unnamed, rows))
    assert len(list(changes(log, moments[0]))) == len(list(changes(log, moments[-1])))


@pytest.mark.parametrize(
    ("table", "before", "after"),
    [
        ("a_change", None, {"id": 2, "x": 33, "b": 44}),
        ("b_reorder", None, {"id": 2, "b": 33, "a": 44}),
        ("d_dropadd", None, {"id": 2, "b": 33, "c": 44}),
        ("e_rename_readd", None, {"id": 2, "n1": "N1", "c2": "C2", "c1": "C1"}),
        ("f_unsigned", {"c1": 1, "c2": -1, "c3": 5}, {"id": 2, "a": 4294967295, "b": 5}),
        ("g_enum", {"c1": 1, "c2": 1}, {"id": 2, "e": "a"}),
        ("h_charset", None, {"id": 2, "a": "é"}),
        ("j_swap", None, {"c1": 2, "c2": 33, "c3": 44}),  # it applies to its own result
    ],
)
def test_a_newer_file_holds_after_the_statement(table: str, before: object, after: object) -> None:
    ddl = (LOGS / "attributes.sql").read_text()
    with pytest.warns(DefinitionWarning, match="the given definition"):
        batches = list(bk.read_changes(LOGS / "attributes.000001", ddl=ddl))
    rows = [row for batch in batches for row in batch.to_pylist() if row["table"] == table]
    first, second = (json.loads(row["after"]) for row in rows)
    assert second == after
    assert are_unnamed(first)
    assert before in (None, first)


def test_definitions_of_a_snapshot_hold_from_its_position_on() -> None:
    history = LOGS / "mariadb-11.8-1.json"
    moments, log = json.loads(history.read_text()), history.with_suffix(".000002")
    statements = bk.read_ddl(log).read_all().to_pylist()
    positions = {row["_position"]: None for row in statements if row["kind"] != "drop_table"}
    ends = [event.end_position for event in bk.open(log) if event.position in positions]
    assert len(moments) == len(ends) + 1
    for number in sample(range(1, len(ends)), 5):
        place = {"file": str(log), "position": ends[number - 1]}
        rows = list(resumed(log, DatedText.of(moments[number], {}), place))
        assert rows
        assert all(name == value for row in rows for name, value in row.items())


@pytest.mark.parametrize("read", [bk.read_rows, bk.read_changes])
def test_a_stream_cannot_show_that_a_file_is_newer(read: Callable[..., Any]) -> None:
    stream = io.BytesIO((LOGS / "attributes.000001").read_bytes())
    with pytest.warns(DefinitionWarning, match="can be read only once.* give the log as a file"):
        list(read(stream, ddl=(LOGS / "attributes.sql").read_text()))


def definition(columns: str) -> TableDefinition:
    return restore("", f"CREATE TABLE d.t ({columns})").of("d", "t") or pytest.fail(columns)


def alter(clauses: str) -> AlterTable:
    statement = read_statement(f"ALTER TABLE t {clauses}", Session())
    assert isinstance(statement, AlterTable)
    return statement


@pytest.mark.parametrize(
    ("columns", "clauses", "expected"),
    [
        # Older: the statement applies to it.
        ("a INT", ["ADD b INT"], ["a", "a b"]),
        ("a INT, b INT", ["DROP a"], ["a b", "b"]),
        ("a INT", ["MODIFY a INT UNSIGNED"], ["a", "a"]),
        ("a ENUM('x')", ["MODIFY a ENUM('y', 'x')"], ["a", "a"]),
        # Newer: it has the result. What was before is known if columns were only added or renamed.
        ("a INT, b INT", ["ADD b INT"], ["a", "a b"]),
        ("b INT, a INT", ["ADD b INT FIRST"], ["a", "b a"]),
        ("b INT", ["RENAME COLUMN a TO b"], ["a", "b"]),
        ("b INT", ["CHANGE a b INT"], [None, "b"]),
        ("b INT", ["DROP a"], [None, "b"]),
        ("a INT UNSIGNED", ["MODIFY a INT UNSIGNED"], [None, "a"]),
        ("a ENUM('y', 'x')", ["MODIFY a ENUM('y', 'x')"], [None, "a"]),
        ("a INT, b INT, c INT", ["ADD b INT", "ADD c INT"], ["a", "a b", "a b c"]),
        # In between.
        ("a INT, b INT", ["ADD b INT", "ADD c INT"], ["a", "a b", "a b c"]),
        ("b INT", ["DROP a", "ADD c INT"], [None, "b", "b c"]),
        # Undecided: the statement applies to its own result, or the file is of no such moment.
        ("a INT, b INT", ["CHANGE a b INT, CHANGE b a INT"], [None, None]),
        ("a INT, b INT", ["RENAME COLUMN a TO b, RENAME COLUMN b TO a"], [None, None]),
        ("z INT", ["DROP a", "DROP b"], [None, None, "z"]),
        ("z INT", ["ADD z BIGINT"], [None, None]),
    ],
)
def test_what_follows_from_the_statements_of_a_table(
    columns: str, clauses: list[str], expected: list[str | None]
) -> None:
    """The columns before the first statement and after each; None if they are not known."""
    alters = [(LogPlace(0, number), alter(text), 0) for number, text in enumerate(clauses, 1)]
    changes = timeline(definition(columns), [Era(LogPlace(0, 0), alters=alters)])
    assert changes is not None
    found = [
        " ".join(column.name for column in change.columns) if isinstance(change, TableDefinition) else None
        for _, change in changes
    ]
    assert found == expected


def test_a_statement_without_columns_leaves_the_file_as_it_is() -> None:
    """An index, a partition or a table option has no influence on where a definition holds."""
    assert timeline(definition("a INT"), [Era(LogPlace(0, 0))]) is None
