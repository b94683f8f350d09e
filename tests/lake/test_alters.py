"""State tables after statements whose effect on older rows the log shows, and after others."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from binlog_kaitai.lake import SOURCE
from binlog_kaitai.lake.changes import TableChanges
from binlog_kaitai.lake.rules import Rules
from binlog_kaitai.rows.row_masks import KEY_VARIABLE, Masks
from tests.lake.alters import UNKNOWN
from tests.lake.lakes import opened, table
from tests.lake.table_log import TableLog
from tests.lake.test_state import run
from tests.rows.truth import OracleTable
from tests.spark.oracle import server_text

LOGS = Path(__file__).parent / "logs"


@pytest.mark.parametrize("size", [9_000, 1 << 20], ids=["many batches", "one batch"])
@pytest.mark.parametrize("server", ["mysql-9.7", "mariadb-11.8"])
def test_the_state_is_what_the_server_has_or_is_refused(server: str, size: int, tmp_path: Path) -> None:
    refused = run(tmp_path, [LOGS / f"alters-{server}.000001.zst"], size, views=["changes"])
    tables = map(json.loads, (LOGS / f"alters-{server}.json").read_text().splitlines())
    check(tmp_path, refused, map(OracleTable.of, tables))


def check(path: Path, refused: dict[str, str], tables: Iterable[OracleTable]) -> None:
    """Compare a lake with the tables of a server after the statements of `alters`."""
    lake, wrong = opened(path), []
    for oracle in tables:
        full_name = ".".join(oracle.name)
        name, kind = oracle.name[1].rsplit("_", 1)
        if name in UNKNOWN:
            reason = refused.pop(full_name, "")
            if (UNKNOWN[name].reason if kind == "keyed" else "") not in reason or not reason:
                wrong.append((full_name, reason))
            continue
        state = lake.tables.open(f"state/{full_name}")
        assert state is not None
        rows = [row for batch in state.batches() for row in batch.to_pylist()]
        counts = Counter(
            tuple(server_text(row.get(column.name), column) for column in oracle.columns) for row in rows
        )
        if full_name in refused or shown(counts) != shown(Counter(map(tuple, oracle.rows))):
            wrong.append((full_name, refused.get(full_name) or str(counts)))
    assert not wrong


def shown(rows: Counter[tuple[str | None, ...]]) -> Counter[tuple[str | None, ...]]:
    """Without zeros at the end of the fraction of a time."""
    times = re.compile(r"( \d\d:\d\d:\d\d)(?:\.0+)?$")
    return Counter(tuple(one and times.sub(r"\1", one) for one in row) for row in rows.elements())


def log_of(*alters: str, definition: str = "a TINYINT PRIMARY KEY, b TINYINT") -> TableLog:
    """A row of `s.t`, and statements."""
    log = TableLog("ab", "a")
    log.run(f"CREATE TABLE s.t ({definition}) CHARACTER SET utf8mb4")
    log.insert(1, 7)
    for one in alters:
        log.run(f"ALTER TABLE s.t {one}")
    return log


def state(log: TableLog, folder: Path, **job: Any) -> list[dict[str, Any]] | str:
    """The state of the table, or the reason why it has none, whatever the batches."""
    folder.mkdir(exist_ok=True)
    path = log.write(folder)
    refused = [run(folder / str(size), [path], size, views=["changes"], **job) for size in (3, 1 << 20)]
    assert refused[0] == refused[1]
    if refused[0]:
        return refused[0]["s.t"]
    one, other = (
        sorted(
            table(opened(folder / str(size), source=job.get("source", "")), "state/s.t").to_pylist(), key=str
        )
        for size in (3, 1 << 20)
    )
    assert one == other
    return [{name: value for name, value in row.items() if name != SOURCE} for row in one]


def test_a_column_that_no_change_has_yet(tmp_path: Path) -> None:
    log = log_of(
        "ADD c VARCHAR(9) NOT NULL DEFAULT 'x', ADD d DECIMAL(30,2) DEFAULT 1.5", "CHANGE c e VARCHAR(9)"
    )
    assert state(log, tmp_path) == [{"a": 1, "b": 7, "e": "x", "d": Decimal("1.50")}]
    changes = TableChanges(opened(tmp_path / "3")).changes(("s", "t")).read_all().to_pylist()
    assert [(row["e"], row["d"]) for row in changes] == [("x", Decimal("1.50"))]
    log.run("ALTER TABLE s.t RENAME s.u, DROP e")
    run(tmp_path / "3", [log.write(tmp_path)], 3, views=["changes"])
    assert table(opened(tmp_path / "3"), "state/s.u").to_pylist() == [{"a": 1, "b": 7, "d": Decimal("1.50")}]
    log.run("CREATE TABLE s.t (a TINYINT PRIMARY KEY, b TINYINT)")
    log.insert(2, 8)
    run(tmp_path / "3", [log.write(tmp_path)], 3, views=["changes"])
    assert [row["b"] for row in table(opened(tmp_path / "3"), "state/s.t").to_pylist()] == [8]


def test_a_column_of_a_name_that_another_one_had(tmp_path: Path) -> None:
    """No change has it when the state gets its values; later ones have it under another name in the lake."""
    log = log_of("CHANGE b h TINYINT", "ADD b VARCHAR(9) DEFAULT 'x'", "ADD c INT")
    assert state(log, tmp_path) == [{"a": 1, "h": 7, "b": "x"}]
    log = log_of("CHANGE b h TINYINT", "ADD c VARCHAR(9)", "ADD b DECIMAL(9,2) DEFAULT 1")
    assert state(log, tmp_path / "decimal") == [{"a": 1, "h": 7, "b": 1}]


@pytest.mark.parametrize("method", ["hash", "null", "sha256", "exclude"])
def test_a_column_with_a_rule(method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether a masked text is the same cannot be seen; what is not in the lake does not matter."""
    monkeypatch.setenv(KEY_VARIABLE, "0123456789abcdef")
    column = "s.t.b|c"
    rules = Masks.of(exclude=[column]) if method == "exclude" else Masks.of(mask=[f"{column}={method}"])
    found = state(log_of("ADD c INT DEFAULT 5", "MODIFY b INT"), tmp_path, rules=Rules(rules))
    if method in ("hash", "sha256"):
        assert "adds a value other than NULL as c" in found
    else:
        assert found == [{"a": 1, "b": None}] if method == "null" else [{"a": 1}]
    assert "5" not in str(table(opened(tmp_path / "3"), "_lineage")["values"].to_pylist())


def test_times_that_are_text(tmp_path: Path) -> None:
    log = log_of("ADD c DATE DEFAULT '2020-02-29'")
    assert state(log, tmp_path, zero_dates="text") == (
        "an ALTER TABLE adds a value other than NULL as c, or may do so, in rows that have not changed since"
    )


def test_a_lake_of_several_sources(tmp_path: Path) -> None:
    """Tables of others may have other types."""
    assert "adds a value" in state(
        log_of("ADD c INT DEFAULT 5"), tmp_path / "a", source="db1", is_shared=True
    )
    wider = log_of("MODIFY b BIGINT")
    assert state(wider, tmp_path / "b", source="db1", is_shared=True) == [{"a": 1, "b": 7}]


def test_a_column_of_two_types_that_is_renamed_and_dropped(tmp_path: Path) -> None:
    log = log_of("MODIFY b BIGINT UNSIGNED", definition="a TINYINT PRIMARY KEY, b TINYINT UNSIGNED")
    log.run("ALTER TABLE s.t CHANGE b a BIGINT UNSIGNED, CHANGE a b TINYINT")
    assert state(log, tmp_path) == [{"a": 7, "b": 1}]
    log.run("ALTER TABLE s.t DROP a, ADD c INT DEFAULT 5")
    assert state(log, tmp_path) == [{"b": 1, "c": 5}]


def test_a_column_of_the_name_under_which_another_one_goes_on(tmp_path: Path) -> None:
    log = log_of(
        "MODIFY b BIGINT UNSIGNED", "ADD b_ INT", definition="a TINYINT PRIMARY KEY, b TINYINT UNSIGNED"
    )
    assert "a column got a name under which b may go on" in state(log, tmp_path)
    log.run("TRUNCATE s.t")
    log.insert(2, 8)
    assert {"a": 2, "b": 8} in state(log, tmp_path)
