"""`sql`: its output, warnings and exit codes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import binlog_kaitai as bk
from binlog_kaitai.render.sql.logged_statements import mention
from tests.cli.conftest import Run
from tests.corpus_files import case
from tests.extent import sample

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
    # A transaction with logged statements is committed, or rolled back, by a prepared one.
    ends = ("COMMIT;", "ROLLBACK;", "DEALLOCATE PREPARE binlog_kaitai_statement;")
    assert redo.stdout.splitlines()[-1] in ends
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
    assert "--redo and --undo cannot be used together" in done.stderr
    assert run("sql", "--redo", MIXED).stdout == run("sql", MIXED).stdout


@pytest.mark.parametrize("log", ["mysql-5.6/rotate", "mysql-9.7/partitions", "mysql-9.7/payloads"])
def test_a_stop_position_inside_a_transaction_means_the_same_to_all(log: str, run: Run) -> None:
    """`rows` has the changes before it; `sql` rolls the transaction back, and `--undo` leaves it out."""
    path = case(*log.split("/")).logs[0]
    rows = bk.read_changes(path).read_all().to_pylist()
    commits = bk.read_transactions(path).read_all().to_pylist()
    only_rows = [word for one in ("insert", "update", "delete") for word in ("--operation", one)]
    incomplete = 0
    for stop in sample(sorted({event.end_position for event in bk.open(path)})[:40], 15):
        before = [row for row in rows if row["_position"] < stop]
        ended = [commit for commit in commits if commit["end_position"] <= stop]
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
            is_complete = before == whole and "rows were changed again" not in done.stderr
            assert done.returncode == (0 if is_complete else 3)
            assert ("an incomplete transaction is not" in done.stderr) is (before != whole)
    assert incomplete or "payloads" in log  # a compressed transaction is one event


def test_rows_and_use_are_in_renamed_databases_but_statements_stay(run: Run) -> None:
    before, done = run("sql", MIXED), run("sql", "--rewrite-db", "t->other", MIXED)
    assert (before.returncode, done.returncode) == (0, 3)
    assert "names the database t, which --rewrite-db renames" in done.stderr
    assert "\n-- CREATE DATABASE `t` CHARACTER SET utf8mb4\n" in done.stdout
    script = [line for line in done.stdout.splitlines() if not line.startswith("-- ")]
    assert not [line for line in script if "`t`" in line]
    assert "USE `other`;" in script
    changes = re.findall(r"(?:INSERT|UPDATE|DELETE) .*`t`\..*", before.stdout)
    assert [line.replace("`t`.", "`other`.") for line in changes] == [
        line for line in script if "`other`." in line
    ]


@pytest.mark.parametrize(
    ("statement", "is_named"),
    [
        ("DROP TABLE `shop`.`orders`", True),
        ("DELETE FROM Shop . orders", True),
        ("CREATE DATABASE IF NOT EXISTS shop", True),
        ('INSERT INTO "shop".orders VALUES (1)', True),
        ("DROP TABLE orders", False),
        ("DROP TABLE workshop.orders, shop2.orders", False),
        ("CREATE DATABASE shop2", False),
    ],
)
def test_names_of_databases_in_statements(statement: str, is_named: bool) -> None:
    assert bool(mention("shop").search(statement.encode())) == is_named


@pytest.mark.parametrize("option", ["--replace", "--insert-ignore"])
@pytest.mark.parametrize("extended", [(), ("--extended-insert",)])
def test_other_words_insert_rows(option: str, extended: tuple[str, ...], run: Run) -> None:
    words = {"--replace": "REPLACE", "--insert-ignore": "INSERT IGNORE"}[option]
    only_rows = *extended, "--operation", "insert", MIXED
    plain, done = run("sql", *only_rows), run("sql", option, *only_rows)
    assert done.returncode == 0
    assert done.stdout == plain.stdout.replace("INSERT INTO", f"{words} INTO") != plain.stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--replace", "--insert-ignore"), "cannot be used together"),
        (("--replace", "--operation", "delete"), "--operation leaves none; add insert"),
        (("--undo", "--insert-ignore", "--operation", "insert"), "--operation leaves none; add delete"),
        (("--rewrite-db", "t"), "'t' is not a valid rename; use 'old->new'"),
    ],
)
def test_options_that_contradict_each_other(options: tuple[str, ...], message: str, run: Run) -> None:
    done = run("sql", *options, MIXED)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
