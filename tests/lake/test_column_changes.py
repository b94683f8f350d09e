"""Lakes whose tables must keep their columns: `--on-schema-change fail`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from binlog_kaitai.cli.app import app
from binlog_kaitai.errors import UsageError
from binlog_kaitai.following.effects import Effect, EffectKind
from binlog_kaitai.lake.batches import Piece
from binlog_kaitai.lake.column_changes import check_columns
from binlog_kaitai.lake.rules import Rules
from binlog_kaitai.rows.row_masks import Masks
from tests.lake.lakes import KINDS, contents, fill, opened, table
from tests.lake.table_log import TableLog


def changed_log(clauses: str, names: list[str], folder: Path, *, is_logged: bool = True) -> list[Path]:
    """Two rows of a table, of which the second one has other columns."""
    log = TableLog(["id", "x"], ["id"])
    log.insert(1, 10)
    log.alter(clauses if is_logged else "", names, ["id"])
    log.insert(2, *range(20, 19 + len(names)))
    return [log.write(folder)]


CHANGES = [
    ("ADD y TINYINT", ["id", "x", "y"], "adds y", r"adds y \(int64\)"),
    ("DROP x", ["id"], "drops x", "drops x"),
    ("RENAME COLUMN x TO y", ["id", "y"], "renames x to y", r"adds y \(int64\), drops x"),
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("is_logged", [True, False])
@pytest.mark.parametrize(("clauses", "names", "said", "found"), CHANGES)
def test_a_batch_with_other_columns_is_not_loaded(
    clauses: str, names: list[str], said: str, found: str, is_logged: bool, kind: str, tmp_path: Path
) -> None:
    """Whether the log has the statement, or only rows with other columns."""
    lake, paths = tmp_path / "lake", changed_log(clauses, names, tmp_path, is_logged=is_logged)
    what = said if is_logged else found
    place = r"binlog\.000001, position \d+: the columns of s\.t change: "
    with pytest.raises(UsageError, match=f"{place}{what}; .*run once with --on-schema-change evolve"):
        fill(lake, paths, 60, format=kind, keeps_columns=True, keeps_state=True)
    assert table(opened(lake, kind), "changes/s.t").column("x").to_pylist() == [10]
    assert table(opened(lake, kind), "state/s.t").column_names == ["id", "x"]
    with pytest.raises(UsageError, match=what):  # as often as it is tried
        fill(lake, paths, 60, format=kind, keeps_columns=True, keeps_state=True)
    fill(lake, paths, 60, format=kind, keeps_state=True)
    # Without the statement, a column that rows lack from now on is still one of the table.
    missing = [] if is_logged else [name for name in ("id", "x") if name not in names]
    assert sorted(table(opened(lake, kind), "state/s.t").column_names) == sorted([*names, *missing])
    assert not fill(lake, paths, 60, format=kind, keeps_columns=True, keeps_state=True)
    evolved = tmp_path / "evolved"
    fill(evolved, paths, 60, format=kind, keeps_state=True)
    assert contents(opened(lake, kind)) == contents(opened(evolved, kind))


def test_a_statement_that_was_accepted_is_so_for_the_rows_after_it(tmp_path: Path) -> None:
    log = TableLog(["id", "x"], ["id"])
    log.insert(1, 10)
    log.alter("ADD y TINYINT", ["id", "x", "y"], ["id"])
    fill(tmp_path / "lake", [log.write(tmp_path)])
    log.insert(2, 20, 21)
    assert fill(tmp_path / "lake", [log.write(tmp_path)], keeps_columns=True)
    log.insert(3, 30, 31)
    log.alter("", ["id", "x"], ["id"])
    log.insert(4, 40)
    with pytest.raises(UsageError, match="drops y"):
        fill(tmp_path / "lake", [log.write(tmp_path)], keeps_columns=True)


def test_changes_of_columns_that_the_lake_does_not_have(tmp_path: Path) -> None:
    paths = changed_log("ADD y TINYINT", ["id", "x", "y"], tmp_path)
    rules = Rules(Masks.of((), ("*.t.y",), (), None))
    fill(tmp_path / "lake", paths, 60, rules=rules, keeps_columns=True)
    assert table(opened(tmp_path / "lake"), "changes/s.t").column_names[-2:] == ["id", "x"]


def test_a_lake_without_definitions_of_its_tables(tmp_path: Path) -> None:
    """As when another source has written a table: what is added to it is seen."""
    first, second = (tmp_path / name for name in "ab")
    for folder in first, second:
        folder.mkdir()
    log = TableLog(["id"], ["id"])
    log.insert(1)
    shared: dict[str, Any] = {"is_shared": True, "keeps_columns": True}
    fill(tmp_path / "lake", [log.write(first)], source="a", **shared)
    fill(tmp_path / "lake", [log.write(second)], source="b", **shared)
    log = TableLog(["id", "x"], ["id"])
    log.insert(1, 10)
    (tmp_path / "c").mkdir()
    with pytest.raises(UsageError, match=r"the columns of s\.t change: adds x"):
        fill(tmp_path / "lake", [log.write(tmp_path / "c")], source="c", **shared)


def test_a_column_of_another_type(tmp_path: Path) -> None:
    log = TableLog(["id"], ["id"])
    log.insert(1)
    fill(tmp_path / "lake", [log.write(tmp_path)])
    effect = Effect(1234, EffectKind.KEYED, "s", "t", key=("id",), columns=(("ID", "string"),))
    with pytest.raises(UsageError, match=r"log\.000002, position 1234: .* ID was int64 and is string;"):
        check_columns(opened(tmp_path / "lake"), [Piece("log.000002", 4, 2000, effects=[effect])])


def test_the_option(tmp_path: Path) -> None:
    (path,) = changed_log("ADD y TINYINT", ["id", "x", "y"], tmp_path)
    options = ["--engine", "local", "--to", str(tmp_path / "lake"), str(path)]
    done = CliRunner().invoke(app, ["pipeline", "--on-schema-change", "fail", *options])
    assert isinstance(done.exception, UsageError)
    assert "the columns of s.t change: adds y" in str(done.exception)
    assert CliRunner().invoke(app, ["pipeline", *options]).exit_code == 0
    assert table(opened(tmp_path / "lake"), "changes/s.t").num_rows == 2
