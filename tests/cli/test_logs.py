"""`logs`: a line for each log, in the order of servers, and what is missing between two."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import pytest

import binlog_kaitai as bk
from binlog_kaitai.views.transactions_view import read_transactions
from tests.cli.conftest import Run
from tests.corpus_files import CORPUS, LogFile, case, logs
from tests.extent import sample


def lines_of(run: Run, *arguments: object) -> list[list[str]]:
    """The lines of the table as lists of words, without that of the headings."""
    return [line.split() for line in run("logs", "--utc", *arguments).stdout.splitlines()][1:]


@pytest.mark.parametrize("log", sample(logs(), 12, 60), ids=lambda log: log.id)
def test_a_line_says_what_the_events_say(run: Run, log: LogFile) -> None:
    (line,) = run("logs", "--format", "json", log.path).stdout.splitlines()
    found, events = json.loads(line), list(bk.open(log.path))
    versions = [getattr(event.body, "server_version", None) for event in events]
    assert found["server_id"] == events[0].header.server_id
    assert found["server_version"] == next(filter(None, versions), None)
    assert found["first_time"] == (events[0].header.timestamp or None)
    assert found["last_time"] == (events[-1].header.timestamp or found["first_time"])
    assert found["bytes"] == log.path.stat().st_size
    assert found["transactions"] == len(read_transactions(log.path).read_all())


def test_logs_of_a_server_follow_each_other_and_gaps_are_named(run: Run, tmp_path: Path) -> None:
    one, other = case("mysql-9.7", "rotate").logs, case("mariadb-11.8", "rotate").logs
    for name, copied in (("x", one[:4]), ("y", other[:2])):
        for log in copied:
            shutil.copy(log, tmp_path / f"{name}.{log.name[-6:]}")
    paths = sorted(tmp_path.iterdir(), key=lambda path: path.name[::-1])
    (tmp_path / "x.000002").unlink()
    paths.remove(tmp_path / "x.000002")
    lines = lines_of(run, *paths)
    names = [line[0] for line in lines if line[0] != "--"]
    assert names in (["x.000001", "x.000003", "x.000004", "y.000001", "y.000002"], names[3:] + names[:3])
    (gap,) = [number for number, line in enumerate(lines) if line[0] == "--"]
    assert lines[gap][1] == lines[gap + 1][0] == "x.000003"
    assert "binlog.000002 is missing" in " ".join(lines[gap])
    assert run("logs", *paths).returncode == 3


def test_logs_of_several_folders_are_told_apart(run: Run) -> None:
    one, other = case("mysql-9.7", "rotate").logs[0], case("mariadb-11.8", "rotate").logs[0]
    done = run("logs", one, other)
    assert [line for line in done.stdout.splitlines() if line.startswith("--")] == [
        f"-- {one.parent}",
        f"-- {other.parent}",
    ]
    assert done.returncode == 0


@pytest.mark.parametrize(
    ("path", "state", "code"),
    [
        ("mysql-9.7/rotate/binlog.000001", "closed", 0),
        ("damaged/mysql-9.7-in_use/binlog.000001", "active", 0),
        ("damaged/mysql-9.7-in_use_cut_in_body/binlog.000001", "active", 0),
        ("damaged/mariadb-10.11-flipped_bit/binlog.000001", "DAMAGED", 1),
        ("damaged/mysql-9.7-cut_in_body/binlog.000001", "DAMAGED", 1),
        ("encrypted/mysql-9.7/binlog.000001", "encrypted", 2),
        ("encrypted/mariadb-11.8/binlog.000001", "encrypted", 2),
        ("README.md", "not a log", 2),
    ],
)
def test_states(run: Run, path: str, state: str, code: int) -> None:
    done = run("logs", CORPUS / path)
    assert f"  {state}" in done.stdout
    assert done.returncode == code


def test_a_half_copy(run: Run, tmp_path: Path) -> None:
    first, second, *_ = case("mysql-9.7", "rotate").logs
    data = bytearray(first.read_bytes())
    (described, *_, rotate) = list(bk.open(first))
    data[described.position + 17] |= 1
    (tmp_path / first.name).write_bytes(data[: rotate.position])
    shutil.copy(second, tmp_path)
    half, whole = [line for line in lines_of(run, tmp_path) if line[0] != "--"]
    assert half[-3:-1] == ["half", "copy"]
    assert whole[-2] == "closed"


def test_csv_has_times_in_iso_8601(run: Run) -> None:
    (log, *_) = case("mysql-9.7", "rotate").logs
    (found,) = csv.DictReader(run("logs", "--utc", "--format", "csv", log).stdout.splitlines())
    (report,) = bk.verify(log)
    assert found["first_time"].endswith("+00:00")
    assert found["gtids"] == str(report.gtids)
