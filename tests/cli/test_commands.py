"""Output and exit code of each command."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

import binlog_kaitai as bk
from binlog_kaitai.cli import app
from tests.cli.conftest import Run
from tests.corpus_files import CORPUS, Case, case, cases, special_cases
from tests.extent import sample

ROTATE = case("mysql-9.7", "rotate")
FIRST_KEYS = ["file", "position", "end_position", "timestamp", "type", "type_code"]
KEYS = [*FIRST_KEYS, "server_id", "size", "flags", "checksum", "gtid", "info"]


_OF_LAKES = [["lake", "compact"], ["lake", "vacuum"]]


def test_the_list_of_commands_says_what_their_own_help_does() -> None:
    context = click.Context(app.app)
    for name, text in app._COMMANDS.items():
        command = app.app.get_command(context, name)
        assert command is not None
        assert command.get_short_help_str(limit=200) == text


def listed(run: Run, *arguments: object) -> list[dict[str, object]]:
    done = run("events", "--format", "json", *arguments)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.split("\n") if line]


def test_events_as_json_are_objects_with_the_documented_keys(run: Run) -> None:
    log = ROTATE.logs[0]
    found = listed(run, log)
    assert all(list(one) == KEYS for one in found)
    assert [(one["position"], one["type_code"], one["size"]) for one in found] == [
        (one.position, one.type_code, one.size) for one in ROTATE.oracle(log)
    ]
    assert found[0]["type"] == "FORMAT_DESCRIPTION_EVENT"
    assert found[0]["gtid"] is None
    assert found[2]["type"] == "GTID_LOG_EVENT"
    assert found[2]["gtid"] == found[3]["gtid"] != found[0]["gtid"]


def test_events_as_csv_and_table_have_a_line_each(run: Run) -> None:
    log = ROTATE.logs[0]
    count = len(ROTATE.oracle(log))
    rows = list(csv.DictReader(io.StringIO(run("events", "--format", "csv", log).stdout)))
    assert len(rows) == count
    assert list(rows[0]) == KEYS
    assert json.loads(rows[-1]["info"])["next_log"]
    table = run("events", log).stdout.splitlines()
    assert len(table) == count + 1
    assert "ROTATE_EVENT" in table[-1]


def test_several_files_and_a_directory_and_stdin(run: Run) -> None:
    by_names = listed(run, *ROTATE.logs)
    assert listed(run, ROTATE.folder) == by_names
    done = run("events", "--format", "json", "-", data=ROTATE.logs[0].read_bytes())
    first = [json.loads(line) for line in done.stdout.split("\n") if line]
    assert [one["position"] for one in first] == [
        one["position"] for one in by_names if one["file"] == str(ROTATE.logs[0])
    ]
    assert {one["file"] for one in first} == {"-"}


def test_filters_of_events(run: Run) -> None:
    log = ROTATE.logs[0]
    everything = listed(run, log)
    queries = listed(run, log, "--event-type", "query")
    assert queries == [one for one in everything if one["type"] == "QUERY_EVENT"]
    start, stop = everything[4]["position"], everything[9]["position"]
    assert listed(run, log, "--start-position", start, "--stop-position", stop) == everything[4:9]
    gtid = everything[4]["gtid"]
    assert listed(run, log, "--include-gtids", gtid) == [one for one in everything if one["gtid"] == gtid]
    without = listed(run, log, "--exclude-gtids", gtid)
    assert without == [one for one in everything if one["gtid"] != gtid]
    assert listed(run, log, "--server-id", 12345) == []
    assert listed(run, log, "--stop-datetime", "2001-01-01") == []
    assert listed(run, log, "--start-datetime", "2001-01-01") == everything


ORDERS = case("mysql-9.7", "orders").logs[0]


@pytest.mark.parametrize("change", ["insert", "update", "delete"])
@pytest.mark.parametrize("server", ["mysql-9.7/orders", "mariadb-11.4/types_compressed"])
def test_a_kind_of_change_is_all_its_event_types(change: str, server: str, run: Run) -> None:
    log = case(*server.split("/")).logs[0]
    word = {"insert": "WRITE_ROWS", "update": "UPDATE_ROWS", "delete": "DELETE_ROWS"}[change]
    expected = [one for one in listed(run, log) if word in str(one["type"])]
    assert expected
    assert listed(run, log, "--event-type", change) == expected


def test_a_kind_of_change_that_is_not_there_is_one_warning(run: Run) -> None:
    (line,) = run("events", "--event-type", "delete", ROTATE.logs[0]).stderr.splitlines()
    assert "event type delete: not found in these logs" in line
    assert run("events", "--event-type", "insert", ROTATE.logs[0]).stderr == ""


def test_a_table_without_schema_is_the_one_of_that_name(run: Run) -> None:
    done = run("rows", "-t", "orders", ORDERS)
    assert done.stderr == "table orders: t.orders\n"
    assert done.stdout == run("rows", "-t", "t.orders", ORDERS).stdout
    both = run("rows", "-t", "orders", "-t", "t.a", ORDERS, *ROTATE.logs).stdout
    assert both == run("rows", "-t", "t.orders", "-t", "t.a", ORDERS, *ROTATE.logs).stdout


def test_a_table_without_schema_that_is_nowhere_or_in_several_is_an_error(run: Run, tmp_path: Path) -> None:
    done = run("rows", "-t", "order", ORDERS)
    assert (done.returncode, done.stdout) == (2, "")
    assert "table order: no schema has it; use schema.table" in done.stderr
    log, copy = case("mysql-9.7", "no_checksum").logs[0], tmp_path / "binlog.000002"
    copy.write_bytes(log.read_bytes().replace(b"\1t\0", b"\1u\0"))
    table = json.loads(run("rows", "--format", "json", log).stdout.splitlines()[0])["table"]
    done = run("rows", "-t", table, log, copy)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"table {table}: it is in several schemas: t.{table}, u.{table}; use schema.table" in done.stderr


@pytest.mark.parametrize("text", ["\u0661\u0662", "\u00b2", "1_000", "9" * 5000])
@pytest.mark.parametrize("option", ["--start-position", "--stop-position", "--server-id"])
def test_numbers_are_of_ascii_digits(option: str, text: str, run: Run) -> None:
    done = run("events", option, text, ROTATE.logs[0])
    assert (done.returncode, done.stdout) == (2, "")
    assert "is not a valid integer" in done.stderr
    assert len(done.stderr) < 400


def test_positions_that_make_no_sense(run: Run) -> None:
    """Negative positions are a usage error; after the end, nothing is printed, with a warning."""
    log = ROTATE.logs[0]
    for option in ("--start-position", "--stop-position"):
        done = run("events", option, -5, log)
        assert (done.returncode, done.stdout) == (2, "")
        assert "-5" in done.stderr
    size = log.stat().st_size
    done = run("events", "--start-position", size + 1, log)
    assert (done.returncode, done.stdout.count("_EVENT")) == (0, 0)
    ends = f"{log} ends at {size}, before the start position {size + 1}"
    assert done.stderr == f"binlog-kaitai: warning: {ends}\n"
    assert run("events", "--start-position", size, log).stderr == ""
    assert run("rows", "--start-position", size + 1, log).stderr == done.stderr


def test_filters_by_table_and_database_take_the_events_that_name_them(run: Run) -> None:
    folder = case("mysql-9.7", "mixed")
    everything = listed(run, *folder.logs)
    names = {
        (info["schema_name"], info["table_name"])
        for one in everything
        if isinstance(info := one["info"], dict) and info.get("table_name")
    }
    schema, table = sorted(names)[0]
    of_table = listed(run, *folder.logs, "--table", f"{schema}.{table}")
    assert of_table
    for one in of_table:
        assert isinstance(one["info"], dict)
        if one["type"] == "QUERY_EVENT":
            assert table in one["info"]["query_text"] or "DATABASE" in one["info"]["query_text"]
        else:
            assert (one["info"]["schema_name"], one["info"]["table_name"]) == (schema, table)
    of_schema = listed(run, *folder.logs, "--database", schema)
    assert len(of_schema) >= len(of_table)
    for one in of_schema:
        assert isinstance(one["info"], dict)
        assert one["info"]["schema_name"] == schema or f"DATABASE {schema}" in one["info"]["query_text"]


def test_explain_at_a_position_tiles_the_event(run: Run) -> None:
    log = ROTATE.logs[0]
    for event in sample(ROTATE.oracle(log), 6):
        done = run("explain", "--format", "json", "--at", event.position, log)
        leaves = json.loads(done.stdout)
        at = event.position
        for leaf in leaves:
            assert list(leaf) == ["offset", "size", "path", "value"]
            assert leaf["offset"] == at
            at += leaf["size"]
        assert at == event.position + event.size


def test_explain_shows_offset_bytes_field_value_and_meaning(run: Run) -> None:
    text = run("explain", "--at", 4, ROTATE.logs[0]).stdout
    assert "at 4  FORMAT_DESCRIPTION_EVENT" in text
    line = next(line for line in text.splitlines() if "header.type_code" in line)
    assert line.split()[:2] == ["8", "0f"]
    assert "decides how its body reads" in line


def test_explain_at_a_position_where_no_event_begins_is_wrong_usage(run: Run) -> None:
    done = run("explain", "--at", 5, ROTATE.logs[0])
    assert done.returncode == 2
    assert "no event begins at 5; the nearest begin at 4 and 127" in done.stderr


def test_verify_says_what_is_fine(run: Run) -> None:
    done = run("verify", "--format", "json", *ROTATE.logs)
    assert done.returncode == 0
    reports = [json.loads(line) for line in done.stdout.splitlines()]
    assert [report["file"] for report in reports] == [str(log) for log in ROTATE.logs]
    for report, log in zip(reports, ROTATE.logs, strict=True):
        events = ROTATE.oracle(log)
        assert report["ok"]
        assert report["bytes"] == log.stat().st_size
        assert report["events"] == len(events)
        assert report["checksums"] == {"none": 0, "ok": len(events), "bad": 0}
        assert report["transactions"] == sum(event.type_code == 33 for event in events)
        assert report["damages"] == []
    assert reports[1]["previous_gtids"] == reports[0]["gtids"]


def test_verify_reports_what_a_missing_log_contained(run: Run) -> None:
    first, _, third = ROTATE.logs[:3]
    done = run("verify", "--format", "json", first, third)
    assert done.returncode == 3
    reports = [json.loads(line) for line in done.stdout.splitlines()]
    (between,) = run("verify", "--format", "json", ROTATE.logs[1]).stdout.splitlines()
    assert reports[1]["missing_before"] == json.loads(between)["gtids"] != ""
    assert reports[0]["missing_before"] == ""


def test_an_encrypted_log_is_not_called_damaged(run: Run) -> None:
    log = special_cases("encrypted")[0].logs[0]
    done = run("verify", log)
    assert done.returncode == 2
    assert "NOT CHECKED: encrypted" in done.stdout
    assert "damage" not in (done.stdout + done.stderr).lower()
    assert run("events", log).returncode == 2


def test_output_that_cannot_be_written_is_reported(run: Run) -> None:
    tool = f"{sys.executable} -m binlog_kaitai events {ROTATE.logs[0]} > /dev/full"
    done = subprocess.run(["bash", "-c", tool], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert done.stderr == "binlog-kaitai: stdout: cannot write: No space left on device\n"


def test_insufficient_memory_is_reported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*arguments: object, **options: object) -> None:
        raise MemoryError("Unable to allocate 1.00 GiB")

    monkeypatch.setattr(app.app, "main", fail)
    with pytest.raises(SystemExit) as ended:
        app.main(["verify", "binlog.000001"])
    assert ended.value.code == app.EXIT_USAGE
    assert capsys.readouterr().err.endswith("must fit: Unable to allocate 1.00 GiB\n")


@pytest.mark.parametrize("server", sorted({case.server for case in cases()}))
def test_verify_finds_nothing_wrong_with_undamaged_logs(run: Run, server: str) -> None:
    logs = [log for case in cases(server) for log in case.logs]
    done = run("verify", *logs)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr


def damaged() -> list[Case]:
    harmless = ("in_use", "magic_only", "not_a_log")  # the last is no damage, but wrong usage
    return [one for one in special_cases("damaged") if not any(word in one.folder.name for word in harmless)]


@pytest.mark.parametrize("folder", [pytest.param(one, id=one.id) for one in sample(damaged(), 8)])
def test_verify_exits_1_and_names_each_damage(run: Run, folder: Case) -> None:
    done = run("verify", folder.logs[0])
    assert done.returncode == 1
    assert "DAMAGED" in done.stdout
    assert "damage: position" in done.stdout


def test_a_file_in_use_is_valid_and_reported_as_such(run: Run) -> None:
    log = next(case for case in special_cases("damaged") if "in_use_cut_in_body" in case.folder.name).logs[0]
    assert run("verify", log).returncode == 0
    done = run("events", log)
    assert done.returncode == 0
    assert "in use, read up to position" in done.stderr


def test_damage_exits_1_and_names_file_and_position(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "binlog.000001"
    path.write_bytes(ROTATE.logs[0].read_bytes()[:-3])
    done = run("events", "--format", "json", path)
    assert done.returncode == 1
    last = ROTATE.oracle(ROTATE.logs[0])[-1]
    assert f"{path}, position {last.position}" in done.stderr
    assert len(done.stdout.splitlines()) == len(ROTATE.oracle(ROTATE.logs[0])) - 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("events",),
        ("events", "/no/such/file"),
        ("nonsense",),
        ("events", "--event-type", "nonsense", ROTATE.logs[0]),
        ("events", "--start-datetime", "yesterday noon", ROTATE.logs[0]),
        ("verify", "--no-such-option"),
    ],
)
def test_wrong_usage_exits_2(run: Run, arguments: tuple[object, ...]) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert done.stderr
    assert "Traceback" not in done.stderr


def test_a_reader_that_has_had_enough_is_no_error() -> None:
    tool = f"{sys.executable} -m binlog_kaitai events --format json {case('mysql-9.7', 'charsets').logs[0]}"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {tool} | head -1"], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_version(run: Run) -> None:
    assert run("--version").stdout.strip().endswith(bk.__version__)


@pytest.mark.parametrize(
    ("word", "near"),
    [("evnts", "events"), ("transaction", "transactions"), ("stat", "stats"), ("xyzzy", None)],
)
def test_a_mistyped_command_gets_a_suggestion(word: str, near: str | None, run: Run) -> None:
    done = run(word, ROTATE.logs[0])
    assert done.returncode == 2
    assert f"No such command {word!r}." in done.stderr
    assert ("Did you mean" in done.stderr) == (near is not None)
    assert near is None or f"Did you mean {near!r}?" in done.stderr


@pytest.mark.parametrize("command", [[], *([name] for name in app._COMMANDS), *_OF_LAKES], ids=" ".join)
def test_help_fits_80_columns(command: list[str], run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert [line for line in run(*command, "--help").stdout.splitlines() if len(line) > 80] == []


_HEADINGS = {
    "rows": "Options Filters Columns Encrypted_logs",
    "sql": "Options Filters Columns Encrypted_logs",
    "slice": "Options Filters Columns Encrypted_logs",
    "dump": "Options Filters Encrypted_logs",
    "verify": "Options Encrypted_logs",
    "pipeline": "Options Columns State Snapshots Engine",
}


@pytest.mark.parametrize("command", _HEADINGS)
def test_help_has_options_of_the_command_first_and_keys_last(command: str, run: Run) -> None:
    text = run(command, "--help").stdout
    sections = dict(re.findall(r"^([A-Z][a-z ]+):\n((?:  +\S.*\n)+)", text, re.MULTILINE))
    sections.pop("Examples", None)
    assert " ".join(name.replace(" ", "_") for name in sections) == _HEADINGS[command]
    names = {
        name: re.findall(r"^  (?:-\w, )?(--[a-z0-9-]+)", section, re.MULTILINE)
        for name, section in sections.items()
    }
    assert names["Options"][-1] in ("--help", "--version")
    if "Filters" in names and command != "dump":
        assert names["Filters"][:2] == ["--start-position", "--stop-position"]
        assert ("--where" in names["Filters"]) == (command in ("rows", "sql", "slice"))
    if "Encrypted logs" in names:
        assert names["Encrypted logs"][0] == "--keyring"


@pytest.mark.parametrize("damage", ["flipped_bit", "cut_in_body"])
def test_damage_to_an_event_mentions_repair(damage: str, run: Run) -> None:
    (log,) = (path for path in (CORPUS / f"damaged/mysql-9.7-{damage}").iterdir() if path.suffix == ".000001")
    done = run("rows", log)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].endswith("binlog-kaitai repair --to NEW LOG")
