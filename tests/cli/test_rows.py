"""`rows` and `export`."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pyarrow.dataset as ds

from tests.cli.conftest import Run
from tests.corpus_files import case

MIXED = case("mysql-9.7", "mixed")
KEYS = ["file", "position", "row", "timestamp", "gtid", "server_id", "schema", "table", "change"]


def test_rows_as_json_are_objects_with_the_documented_keys(run: Run) -> None:
    done = run("rows", "--format", "json", *MIXED.logs)
    found = [json.loads(line) for line in done.stdout.split("\n") if line]
    assert done.returncode == 0
    assert found
    assert all(list(one) == [*KEYS, "before", "after"] for one in found)


def test_rows_as_csv_and_table_have_a_line_each(run: Run) -> None:
    count = run("rows", "--format", "json", *MIXED.logs).stdout.count("\n")
    rows = list(csv.DictReader(io.StringIO(run("rows", "--format", "csv", *MIXED.logs).stdout)))
    assert len(rows) == count
    assert run("rows", *MIXED.logs).stdout.count("\n") == count + 1


def test_rows_of_one_table(run: Run) -> None:
    done = run("rows", "--format", "json", "-t", "t.s", *MIXED.logs)
    tables = {json.loads(line)["table"] for line in done.stdout.split("\n") if line}
    assert tables == {"s"}


def test_export_writes_parquet(run: Run, tmp_path: Path) -> None:
    target = tmp_path / "lake"
    done = run("export", "--to", target, *MIXED.logs)
    assert done.returncode == 0, done.stderr
    assert ds.dataset(target / "events").count_rows() > ds.dataset(target / "transactions").count_rows() > 0
    assert ds.dataset(target / "changes" / "t.s").count_rows() > 0
    assert "changes/t.s: " in done.stdout
    again = run("export", "--to", target, *MIXED.logs)
    assert again.returncode == 2
    assert "not empty" in again.stderr


def test_export_of_damage_writes_every_view_up_to_it(run: Run, tmp_path: Path) -> None:
    log = tmp_path / "binlog.000001"
    whole = MIXED.logs[0].read_bytes()
    log.write_bytes(whole[: len(whole) * 3 // 4])
    target = tmp_path / "lake"
    done = run("export", "--to", target, log)
    assert done.returncode == 1
    assert "ends inside an event" in done.stderr
    for view in ("events", "transactions", "changes/t.s"):
        rows = ds.dataset(target / view).count_rows()
        assert rows > 0
        assert f"{view}: {rows} rows" in done.stdout


def test_rows_of_xa_transactions_that_are_rolled_back_are_named(run: Run) -> None:
    log = case("mysql-9.7", "xa").logs[0]
    done = run("rows", log)
    assert done.returncode == 0
    assert "rows of XA transaction X'00ff27',X'622771',1, which is rolled back at" in done.stderr
    assert "is rolled back at" not in run("sql", log).stderr


def test_a_table_that_is_not_there_is_named_by_every_command(run: Run, tmp_path: Path) -> None:
    for command in ("events", "rows", "sql", "stats", "export", "slice"):
        target = ["--to", tmp_path / command] if command in ("export", "slice") else []
        done = run(command, "-t", "t.nosuch", *target, *MIXED.logs)
        assert done.returncode == 0
        warning = "binlog-kaitai: warning: table t.nosuch: not found in these logs; found: t.my, t.s\n"
        assert done.stderr.count(warning) == 1, command


def test_the_history_of_one_row_in_one_command(run: Run) -> None:
    log = case("mysql-9.7", "types_full").logs[0]
    shown = ("--show", "gtid,thread,statement", "--format", "json")
    done = run("rows", *shown, "-t", "t.ints", "--where", "id = 2", log)
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [one["change"] for one in found] == ["insert", "update", "delete"]
    assert all(2 in ((one["before"] or {}).get("id"), (one["after"] or {}).get("id")) for one in found)
    assert all(one["gtid"] and one["thread"] and one["statement"] for one in found)
    assert list(found[0]) == [*KEYS[:6], "thread", "statement", *KEYS[6:], "before", "after"]
    one = run("rows", *shown, "-t", "t.ints", "--where", "id = 2", "--operation", "delete", log).stdout
    assert [json.loads(line) for line in one.splitlines()] == found[2:]


def test_what_is_shown_on_request_is_in_every_format(run: Run) -> None:
    log = MIXED.logs[0]
    lines = run("rows", "--format", "csv", "--show", "thread,statement", log).stdout
    rows = list(csv.DictReader(io.StringIO(lines)))
    assert rows[0]["thread"].isdigit()
    assert rows[0]["statement"].startswith("INSERT INTO s")
    table = run("rows", "--show", "gtid", log).stdout.splitlines()
    assert table[0].split()[:5] == ["position", "time", "(UTC)", "gtid", "table"]
    assert rows[0]["gtid"] in table[1]


def test_names_of_what_to_show_and_conditions_are_checked(run: Run) -> None:
    for arguments, reason in (
        (("--show", "gtid,user"), "'user' is not one of gtid, thread, statement"),
        (("--where", "id ="), "the condition 'id =' has the end where a value is expected"),
        (("--where", "nosuch = 1"), "no table in the log has a column named nosuch"),
    ):
        done = run("rows", *arguments, MIXED.logs[0])
        assert done.returncode == 2
        assert reason in done.stderr
        assert not done.stdout
