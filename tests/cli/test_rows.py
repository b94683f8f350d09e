"""`rows` and `export`."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pyarrow.dataset as ds
import pytest

from binlog_kaitai.errors import UsageError
from binlog_kaitai.lines.row_listing import Fields, first_records, last_records
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
        (("--where", "id ="), "the condition 'id =' ends where a value is expected"),
        (("--where", "nosuch = 1"), "no table in the log has a column named nosuch"),
    ):
        done = run("rows", *arguments, MIXED.logs[0])
        assert done.returncode == 2
        assert reason in done.stderr
        assert not done.stdout


def test_rows_of_several_logs_name_the_file(run: Run) -> None:
    logs = case("mysql-9.7", "rotate").logs
    lines = run("rows", *logs).stdout.splitlines()
    assert lines[0].split()[:2] == ["file", "position"]
    assert {line.split()[0] for line in lines[1:]} == {log.name for log in logs}
    assert run("rows", logs[0]).stdout.startswith("position")


SHAPES = [
    [],
    ["--format", "json"],
    ["--format", "csv", "--show", "statement"],
    ["--format", "csv", "-t", "t.s", "--operation", "insert"],
    ["-G"],
]


@pytest.mark.parametrize("shape", SHAPES, ids=" ".join)
def test_the_first_and_the_last_rows(shape: list[str], run: Run) -> None:
    log = MIXED.logs[0]
    everything = run("rows", *shape, log).stdout
    first, last = (run("rows", *shape, option, 3, log).stdout for option in ("--limit", "--tail"))
    if shape == ["-G"]:
        every, three, others = (
            re.sub(r"\*+ \d+\. row \*+", "row", text) for text in (everything, first, last)
        )
        assert three.splitlines().count("row") == others.splitlines().count("row") == 3
        assert (every.startswith(three), every.endswith(others)) == (True, True)
        return
    whole, *parts = (
        list(csv.reader(io.StringIO(text))) if "csv" in shape else text.splitlines()
        for text in (everything, first, last)
    )
    headings = 0 if "json" in shape else 1
    assert parts[0] == whole[: 3 + headings]
    assert parts[1] == whole[:headings] + whole[-3:]


@pytest.mark.parametrize("size", [1, 2, 5, 1000])
@pytest.mark.parametrize("number", [1, 2, 3, 9])
def test_records_are_counted_in_pieces_of_any_size(number: int, size: int) -> None:
    records = [b'1,"two\nlines"\n', b'2,"""\n"""\n', b"3,\n", b'4,"a"\n']
    text = b"".join(records)
    pieces = [text[start : start + size] for start in range(0, len(text), size)]
    assert b"".join(first_records(iter(pieces), number, is_csv=True)) == b"".join(records[:number])
    assert b"".join(last_records(iter(pieces), number, is_csv=True)) == b"".join(records[-number:])


def test_columns_without_names_are_said_with_the_logs_that_may_have_them(run: Run, tmp_path: Path) -> None:
    logs = case("mariadb-11.8", "rotate").logs
    first, last = logs[0], logs[-1]
    done = run("rows", last)
    assert "c1=" in done.stdout
    assert f"CREATE TABLE ({first.name} to {logs[-2].name}, beside these)" in done.stderr
    assert "do not name" not in run("rows", *logs).stderr
    alone = tmp_path / last.name
    alone.write_bytes(last.read_bytes())
    assert "has CREATE TABLE, or use --ddl FILE" in run("rows", alone).stderr
    assert "do not name" not in run("rows", "--operation", "delete", last).stderr


def test_a_limit_ends_reading(run: Run, tmp_path: Path) -> None:
    log = tmp_path / "cut"
    log.write_bytes(MIXED.logs[0].read_bytes()[:-10])
    assert run("rows", log).returncode == 1
    assert run("rows", "--limit", 1, log).returncode == 0


def test_a_line_for_each_column(run: Run) -> None:
    done = run("rows", "-G", "-t", "t.texts", case("mysql-9.7", "metadata").logs[0])
    assert done.stdout.splitlines()[0] == f"{'*' * 27} 1. row {'*' * 27}"
    place, gtid, change = done.stdout.splitlines()[1:4]
    assert place.startswith("binlog.000001 position ")
    assert (gtid[:5], change) == ("gtid ", "insert t.texts")
    update = done.stdout.split("*\n")[-1]
    rows = run("rows", "--format", "json", "-t", "t.texts", case("mysql-9.7", "metadata").logs[0]).stdout
    row = json.loads(rows.splitlines()[-1])
    for name, value in row["before"].items():
        assert f"{name}: " in update
        assert (
            " → " in next(line for line in update.splitlines() if line.lstrip().startswith(f"{name}: "))
        ) == (value != row["after"][name])


def test_csv_of_one_table_has_a_field_for_each_column(run: Run) -> None:
    log = case("mysql-9.7", "types_minimal").logs[0]
    records = list(csv.DictReader(io.StringIO(run("rows", "--format", "csv", "-t", "t.ints", log).stdout)))
    lines = run("rows", "--format", "json", "-t", "t.ints", log).stdout.splitlines()
    images = [
        (kinds[key], row[key])
        for row in map(json.loads, lines)
        for kinds in (
            {"before": "update_preimage", "after": "update_postimage"}
            if row["change"] == "update"
            else {"before": "delete", "after": "insert"},
        )
        for key in ("before", "after")
        if row[key] is not None
    ]
    assert [record["_change_type"] for record in records] == [kind for kind, _ in images]
    for record, (_, image) in zip(records, images, strict=True):
        own = {name: value for name, value in record.items() if not name.startswith("_")}
        assert own == {name: "" if image.get(name) is None else str(image[name]) for name in own}
        assert set(image) <= set(own)


def test_csv_of_one_table_tells_null_from_an_empty_string() -> None:
    line = json.dumps(
        {**dict.fromkeys(KEYS, "1"), "change": "insert", "before": None, "after": {"a": None, "b": ""}}
    )
    assert b"".join(Fields(())([line.encode() + b"\n"])).splitlines()[1].endswith(b',,""')


def test_csv_of_one_table_ends_where_it_gets_a_column(run: Run) -> None:
    columns = [{"a": 1}, {"a": 1, "b": 2}]
    lines = [
        json.dumps({**dict.fromkeys(KEYS, "1"), "change": "insert", "before": None, "after": image})
        for image in columns
    ]
    with pytest.raises(UsageError, match=r"1\.1 has a new column b from here on"):
        list(Fields(())([f"{line}\n".encode() for line in lines]))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--limit", "1", "--tail", "1"], "--limit and --tail"),
        (["--tail", "1", "--follow"], "--tail cannot be used with --follow"),
        (["-G", "--format", "csv"], "--vertical cannot be used with --format csv"),
    ],
)
def test_options_of_rows_that_contradict_each_other(options: list[str], words: str, run: Run) -> None:
    done = run("rows", *options, MIXED.logs[0])
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
