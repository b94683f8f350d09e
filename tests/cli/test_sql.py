"""`sql`: its output, warnings and exit codes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import binlog_kaitai as bk
from tests.cli.conftest import Run
from tests.corpus_files import case

MIXED = case("mysql-9.7", "mixed").logs[0]


def test_all_that_was_chosen_is_there(run: Run) -> None:
    done = run("sql", "--undo", "-t", "t.s", "--operation", "insert", "--where", "id = 12", MIXED)
    assert done.returncode == 0
    assert done.stderr == ""
    assert "DELETE FROM `t`.`s` WHERE `id` = 12;\nSET foreign_key_checks = 1;\nCOMMIT;\n" in done.stdout
    assert done.stdout.count("DELETE") == 1


def test_what_is_left_out_is_reported_and_exits_with_3(run: Run) -> None:
    done = run("sql", "--undo", MIXED)
    assert done.returncode == 3
    assert "warning: " in done.stderr
    assert "logged statements cannot be reverted" in done.stderr


def test_damage_exits_with_1(run: Run, tmp_path: Path) -> None:
    log = tmp_path / "binlog.000001"
    log.write_bytes(MIXED.read_bytes()[:5000])
    redo, undo = run("sql", log), run("sql", "--undo", log)
    assert (redo.returncode, undo.returncode) == (1, 1)
    assert redo.stdout.endswith("COMMIT;\n") or redo.stdout.endswith("ROLLBACK;\n")
    assert undo.stdout == ""


def test_a_condition_that_makes_no_sense_exits_with_2(run: Run) -> None:
    done = run("sql", "--where", "id =", MIXED)
    assert done.returncode == 2
    assert "ends where a value is expected" in done.stderr


def test_a_log_from_stdin(run: Run) -> None:
    done = run("sql", "-", data=MIXED.read_bytes())
    assert done.returncode == 0
    assert "INSERT INTO `t`.`s` (`id`, `v`, `d`) VALUES (11, " in done.stdout


def test_redo_and_undo_contradict_each_other(run: Run) -> None:
    done = run("sql", "--redo", "--undo", MIXED)
    assert (done.returncode, done.stdout) == (2, "")
    assert "--redo and --undo cannot be combined" in done.stderr
    assert run("sql", "--redo", MIXED).stdout == run("sql", MIXED).stdout


@pytest.mark.parametrize("log", ["mysql-5.6/rotate", "mysql-9.7/partitions", "mysql-9.7/payloads"])
def test_a_stop_position_inside_a_transaction_means_the_same_to_all(log: str, run: Run) -> None:
    """`rows` has the changes before it; `sql` rolls the transaction back, and `--undo` leaves it out."""
    path = case(*log.split("/")).logs[0]
    rows = bk.read_changes(path).read_all().to_pylist()
    commits = bk.read_transactions(path).read_all().to_pylist()
    only_rows = [word for one in ("insert", "update", "delete") for word in ("--operation", one)]
    incomplete = 0
    for stop in sorted({event.end_position for event in bk.open(path)})[:40]:
        before = [row for row in rows if row["_position"] < stop]
        ended = [one for one in commits if one["end_position"] <= stop]
        whole = [
            row
            for row in before
            if any(one["position"] <= row["_position"] < one["end_position"] for one in ended)
        ]
        incomplete += before != whole
        assert bk.read_changes(path, stop_position=stop).read_all().to_pylist() == before
        options = path, "--stop-position", stop
        assert len(run("rows", *options, "--format", "json").stdout.splitlines()) == len(before)
        for script, expected in (("--allow-unnamed", before), ("--undo", whole)):
            done = run("sql", *options, *only_rows, "--allow-unnamed", script)
            statements = re.findall(r"^(?:INSERT INTO|UPDATE|DELETE FROM) `", done.stdout, re.MULTILINE)
            assert len(statements) == len(expected)
            assert done.returncode == (0 if before == whole else 3)
            assert ("an incomplete transaction is not" in done.stderr) is (before != whole)
    assert incomplete or "payloads" in log  # a compressed transaction is one event
