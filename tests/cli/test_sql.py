"""`sql`: its output, warnings and exit codes."""

from __future__ import annotations

from pathlib import Path

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
    assert "the end where a value is expected" in done.stderr


def test_a_log_from_stdin(run: Run) -> None:
    done = run("sql", "-", data=MIXED.read_bytes())
    assert done.returncode == 0
    assert "INSERT INTO `t`.`s` (`id`, `v`, `d`) VALUES (11, " in done.stdout


def test_redo_and_undo_contradict_each_other(run: Run) -> None:
    done = run("sql", "--redo", "--undo", MIXED)
    assert (done.returncode, done.stdout) == (2, "")
    assert "--redo and --undo cannot be combined" in done.stderr
    assert run("sql", "--redo", MIXED).stdout == run("sql", MIXED).stdout
