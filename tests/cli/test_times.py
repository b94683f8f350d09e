"""Times: one zone for filters and output, relative times, and where a time or a GTID is."""

from __future__ import annotations

import csv
import io
import json
import re
import time
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import binlog_kaitai as bk
from binlog_kaitai.core.filters import Filters, moment_of
from binlog_kaitai.errors import UsageError
from tests.cli.conftest import Run
from tests.corpus_files import case

ROTATE = case("mysql-9.7", "rotate").logs

#: The time of the first event in UTC.
FIRST = "2026-11-20 19:29:23"


@pytest.fixture
def in_berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("in_berlin")
@pytest.mark.parametrize("command", ["events", "rows", "transactions"])
@pytest.mark.parametrize(
    ("options", "zone", "hour"), [([], "CET/CEST", 20), (["--utc"], "UTC", 19), (["--local"], "CET/CEST", 20)]
)
def test_the_heading_names_the_zone_of_times(
    command: str, options: list[str], zone: str, hour: int, run: Run
) -> None:
    heading, first, *_ = run(command, *options, ROTATE[0]).stdout.splitlines()
    assert f"  time ({zone})  " in heading
    assert f"  2026-11-20 {hour}:29:23  " in first


@pytest.mark.usefixtures("in_berlin")
@pytest.mark.parametrize("options", [[], ["--utc"]])
def test_a_printed_time_is_one_that_filters_take(options: list[str], run: Run) -> None:
    lines = run("rows", *options, *ROTATE).stdout.splitlines()
    heading, *_, last = lines
    begin = heading.index("time (")
    printed = last[begin : begin + 19]
    assert run("rows", *options, "--start-datetime", printed, *ROTATE).stdout.splitlines()[1:] == [last]
    assert printed.endswith(":29:25")


@pytest.mark.usefixtures("in_berlin")
def test_the_environment_chooses_the_zone_and_options_override_it(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BINLOG_KAITAI_UTC", "1")
    assert "time (UTC)" in run("events", ROTATE[0]).stdout
    assert "time (CET/CEST)" in run("events", "--local", ROTATE[0]).stdout
    assert time.tzname == ("CET", "CEST")


@pytest.mark.usefixtures("in_berlin")
@pytest.mark.parametrize("command", ["stats", "explain"])
def test_other_reports_name_their_zone(command: str, run: Run) -> None:
    assert "2026-11-20 20:29:23 CET/CEST" in run(command, ROTATE[0]).stdout
    assert f"{FIRST} UTC" in run(command, "--utc", ROTATE[0]).stdout


@pytest.mark.usefixtures("in_berlin")
@pytest.mark.parametrize(
    ("command", "column"),
    [("events", "timestamp"), ("rows", "timestamp"), ("transactions", "start"), ("stats", "time")],
)
def test_csv_has_times_in_iso_8601(command: str, column: str, run: Run) -> None:
    options = ["--part", "biggest"] if command == "stats" else []
    text = run(command, *options, "--format", "csv", ROTATE[0]).stdout
    for row in csv.DictReader(io.StringIO(text)):
        assert row[column] == "2026-11-20T20:29:23+01:00"


@pytest.mark.parametrize(
    ("text", "ago"),
    [
        ("-2h", timedelta(hours=2)),
        ("-1d12h", timedelta(hours=36)),
        ("90s ago", timedelta(seconds=90)),
        ("1 hour ago", timedelta(hours=1)),
        ("2 days 3 min ago", timedelta(days=2, minutes=3)),
        ("-1 week", timedelta(weeks=1)),
        ("10 minutes 5 secs ago", timedelta(minutes=10, seconds=5)),
    ],
)
def test_times_relative_to_now(text: str, ago: timedelta) -> None:
    assert abs(datetime.now(UTC) - ago - moment_of(text)) < timedelta(minutes=1)


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-20 03:00Z",
        "2026-11-20 3:0:0 UTC",
        "2026-11-20T03+00:00",
        "20261120T030000Z",
        "26-11-20 03:00:00.0 -0000",
        "2026/11/20 04:00 +01",
    ],
)
def test_times_have_the_forms_that_conditions_have(text: str) -> None:
    assert moment_of(text) == datetime(2026, 11, 20, 3, tzinfo=UTC)


@pytest.mark.parametrize(
    "value", [0, 1.5, True, (), "0000-00-00", "2026-11-00", "2026-02-30", "4_2", "٢٠٢٦-١١-٢٠"]
)
@pytest.mark.parametrize("name", ["start_datetime", "stop_datetime"])
def test_what_is_no_time(name: str, value: Any) -> None:
    of_type = "is not a time; use YYYY-MM-DD" if isinstance(value, str) else f"{name} must be datetime"
    with pytest.raises(UsageError, match=of_type):
        Filters.of(**{name: value})


def test_a_date_is_its_first_moment() -> None:
    assert moment_of(date(2026, 11, 20)) == moment_of("2026-11-20")


def test_times_of_today_and_yesterday() -> None:
    today = datetime.now().date()
    assert moment_of("15:29") == moment_of("today 15:29") == moment_of("15:29:00")
    assert moment_of("9:05:30 Z") == moment_of("today 09:05:30Z")
    assert moment_of("yesterday 03:00") == moment_of(f"{today - timedelta(days=1)} 03:00")
    assert moment_of("today") == moment_of(str(today))


def found_by(run: Run, target: str, *logs: object) -> tuple[str, int]:
    done = run("find", "--format", "json", target, *logs)
    assert done.returncode == 0, done.stderr
    (line,) = done.stdout.splitlines()
    transaction = json.loads(line)
    return transaction["file"], transaction["position"]


def test_find_gives_the_first_transaction_from_a_time_on(run: Run) -> None:
    assert found_by(run, f"{FIRST}Z", *ROTATE) == (str(ROTATE[0]), 158)
    assert found_by(run, "2026-11-20T19:29:24Z", *ROTATE) == (str(ROTATE[-1]), 198)


def test_find_gives_the_transaction_of_each_gtid(run: Run) -> None:
    lines = run("transactions", "--format", "json", *ROTATE).stdout.splitlines()
    for transaction in map(json.loads, lines):
        place = transaction["file"], transaction["position"]
        assert found_by(run, transaction["gtid"], *ROTATE) == place


def test_find_reads_no_other_log_than_the_one_with_the_gtid(run: Run, tmp_path: Path) -> None:
    """The others are cut after their headers, which would be an error in reading them."""
    gtid = json.loads(run("transactions", "--format", "json", ROTATE[1]).stdout.splitlines()[0])["gtid"]
    logs = [tmp_path / log.name for log in ROTATE]
    for log, copy in zip(ROTATE, logs, strict=True):
        copy.write_bytes(log.read_bytes()[: None if log == ROTATE[1] else -10])
    assert found_by(run, gtid, *logs)[0] == str(logs[1])


def test_find_gives_the_transaction_that_contains_a_position_or_the_next_one(run: Run) -> None:
    for log in ROTATE:
        transactions = bk.read_transactions(log).read_all().to_pylist()
        start = 0
        for each in transactions:
            for position in (start, each["position"], each["end_position"] - 1):
                (found,) = bk.find(f"{log.name}:{position}", ROTATE).to_pylist()
                assert found == each
            start = each["end_position"]
        with pytest.raises(bk.UsageError, match="no transaction at or after position"):
            bk.find(f"{log.name}:{start}", ROTATE)
    place = str(ROTATE[1]), bk.read_transactions(ROTATE[1]).read_all()["position"][0].as_py()
    assert found_by(run, f"{ROTATE[1]}:{place[1] + 1}", *ROTATE) == place


@pytest.mark.parametrize(
    "target",
    ["2024-02-30 10:00:00", "2024-02-30", "2024-13-01", "2024-11-31T10:00", "2024-11-20 25:00", "25:71"],
)
def test_find_calls_a_date_a_date(target: str) -> None:
    """Although dates look like GTIDs of MariaDB, which have no leading zeros."""
    with pytest.raises(UsageError, match="is not a time; use YYYY-MM-DD"):
        bk.find(target, ROTATE)


def test_the_function_find_takes_what_filters_take() -> None:
    first = bk.read_transactions(ROTATE).read_all().slice(0, 1)
    start = first["start"][0].as_py()
    for target in (start, start.isoformat(), bk.GtidSet.parse(first["gtid"][0].as_py())):
        assert bk.find(target, ROTATE) == first
    with pytest.raises(bk.UsageError, match="'nonsense' is not a time"):
        bk.find("nonsense", ROTATE)


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("2030-01-01", "no transaction at or after 2030-01-01: "),
        ("2030-01-01", f"{ROTATE[-1]}: events from 2026-11-20 19:29:2"),
        ("a40b4242-e518-11f1-9090-02fc00000001:1", "are in logs before the first one"),
        (
            "a40b4242-e518-11f1-9090-02fc00000001:999",
            "GTIDs executed by then: a40b4242-e518-11f1-9090-02fc00000001:1-",
        ),
        (f"{ROTATE[1].name}:9999999", f"{ROTATE[1]} ends at {ROTATE[1].stat().st_size}"),
        ("binlog.000099:4", f"{ROTATE[1]} to {ROTATE[-1]}: events from"),
        ("nonsense", "'nonsense' is not a time"),
        ("99:00", " 99:00' is not a time"),
    ],
)
def test_find_says_what_is_not_there(target: str, words: str, run: Run) -> None:
    done = run("find", target, *ROTATE[1:])
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr


@pytest.mark.usefixtures("in_berlin")
@pytest.mark.parametrize(
    ("options", "zone", "clock"), [((), "CET/CEST", "20:29:23"), (("--utc",), "UTC", "19:29:23")]
)
@pytest.mark.parametrize("way", [(), ("--undo",)])
def test_comments_of_scripts_are_in_the_zone_that_they_name(
    options: tuple[str, ...], zone: str, clock: str, way: tuple[str, ...], run: Run
) -> None:
    heading, *lines = run("sql", *options, *way, ROTATE[0]).stdout.splitlines()
    assert heading.endswith(f"; times are {zone}")
    assert [line for line in lines if line.startswith("-- ") and f", 2026-11-20 {clock}" in line]


@pytest.mark.usefixtures("in_berlin")
@pytest.mark.parametrize(("options", "zone", "hours"), [((), "CET/CEST", 1), (("--utc",), "UTC", 0)])
def test_the_page_of_statistics_is_in_the_zone_that_it_names(
    options: tuple[str, ...], zone: str, hours: int, run: Run, tmp_path: Path
) -> None:
    assert run("stats", *options, "--html", tmp_path / "page.html", ROTATE[0]).returncode == 0
    (text,) = re.findall(r'<script [^>]*id="data"[^>]*>(.*?)</script>', (tmp_path / "page.html").read_text())
    data = json.loads(text)
    first = datetime.fromisoformat(FIRST).replace(tzinfo=UTC).timestamp() + 3600 * hours
    assert (data["zone"], data["totals"]["first_time"]) == (zone, first)
    parts = {part["name"]: part for part in data["parts"]}
    assert parts["timeline"]["rows"][0][0] == first
    assert {event["time"] for one in data["transactions"].values() for event in one["events"]} >= {first}


def test_a_relative_time_is_no_option_of_find(run: Run) -> None:
    dashed, words = run("find", "-99999d", ROTATE[0]), run("find", "99999d ago", ROTATE[0])
    assert dashed.returncode == 0, dashed.stderr
    assert dashed.stdout == words.stdout != ""
    assert run("find", "-5s", ROTATE[0]).returncode == 2
    assert run("find", "-2x", ROTATE[0]).stderr.startswith("Usage: ")
