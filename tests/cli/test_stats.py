"""Output of `stats`, and the contents of its page."""

from __future__ import annotations

import csv
import io
import json
import re
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import binlog_kaitai as bk
from binlog_kaitai.statistics.stats_model import local_steps
from tests.cli.conftest import Run
from tests.corpus_files import case

MIXED = case("mysql-9.7", "mixed").logs[0]


def test_json_is_one_object_with_totals_and_parts(run: Run) -> None:
    done = run("stats", "--format", "json", MIXED)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["files"] == [str(MIXED)]
    assert found["totals"]["transactions"] == 49
    assert found["tables"][0]["table"] == "s"
    few = json.loads(run("stats", "--format", "json", "--part", "servers", MIXED).stdout)
    assert set(few) == {"files", "totals", "step_seconds", "servers"}


def test_csv_is_one_table(run: Run) -> None:
    inserts = (event for event in bk.open(MIXED) if event.type == "WRITE_ROWS_EVENT")
    tables = ((event.table_map, len(event.raw)) for event in inserts)
    size = sum(length for table, length in tables if table is not None and table.table_name == "s")
    rows = list(csv.DictReader(io.StringIO(run("stats", "--format", "csv", MIXED).stdout)))
    assert rows[0] == {
        "schema": "t",
        "table": "s",
        "operation": "insert",
        "rows": "704",
        "events": "7",
        "bytes": str(size),
        "transactions": "3",
    }
    by_day = run("stats", "--format", "csv", "--part", "timeline", "--by", "day", MIXED).stdout
    (day,) = csv.DictReader(io.StringIO(by_day))
    assert "T00:00:00" in day["start"]
    assert day["transactions"] == "49"
    assert run("stats", "--format", "csv", "--part", "tables", "--part", "gaps", MIXED).returncode == 2


def test_the_table_shows_totals_a_chart_and_parts(run: Run) -> None:
    text = run("stats", MIXED).stdout
    assert "1 file, 49.4 KiB, 210 events, 49 transactions" in text
    assert "█" in text
    assert "CREATE TRIGGER" in text
    assert "\x1b" not in text


def test_damage_is_reported_after_what_was_counted(run: Run, tmp_path: Path) -> None:
    data = bytearray(MIXED.read_bytes())
    data[-40] ^= 0xFF
    (tmp_path / "log").write_bytes(data)
    done = run("stats", "--format", "json", tmp_path / "log")
    assert done.returncode == 1
    assert json.loads(done.stdout)["totals"]["transactions"] == 49
    assert "checksum" in done.stderr


def test_the_page_is_one_file_that_names_no_other(run: Run, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    done = run("stats", "--html", page, MIXED)
    assert (done.returncode, done.stdout) == (0, "")
    text = page.read_text("utf-8")
    assert not re.search(r"""(src|href)\s*=\s*["'](?!#)""", text)
    assert "@import" not in text
    assert "url(" not in text
    assert "default-src 'none'" in text
    data = re.search(r'<script id="data" type="application/json">(.*?)</script>', text, re.DOTALL)
    assert data is not None
    found = json.loads(data[1])
    events = found["transactions"][f"{MIXED}:7288"]["events"]
    assert [event["type"] for event in events][-1] == "XID_EVENT"
    leaves = events[-1]["leaves"]
    assert sum(leaf[1] for leaf in leaves) == events[-1]["size"] == len(events[-1]["hex"]) // 2


def test_stdin_makes_a_page_without_events(run: Run, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert run("stats", "--html", page, "-", data=MIXED.read_bytes()).returncode == 0
    assert "a stream cannot be read twice" in page.read_text("utf-8")


def test_tables_over_time_add_up_to_the_tables(run: Run) -> None:
    log = case("mysql-9.7", "orders").logs[0]
    done = json.loads(run("stats", "--by", "table,second", "--format", "json", log).stdout)
    tables = json.loads(run("stats", "--part", "tables", "--format", "json", log).stdout)["tables"]
    assert done["step_seconds"] == 1
    by_table: Counter[tuple[str, str]] = Counter()
    for row in done["table_times"]:
        for operation in ("insert", "update", "delete"):
            name = f"rows_{operation.removesuffix('e')}ed"
            by_table[row["table"], operation] += row[name]
        by_table[row["table"], "bytes"] += row["bytes"]
    for table in tables:
        assert by_table.pop((f"{table['schema']}.{table['table']}", table["operation"])) == table["rows"]
    assert sum(table["bytes"] for table in tables) == by_table.pop(("t.orders", "bytes"))
    assert not any(by_table.values())


def test_tables_over_time_are_a_table_of_their_own(run: Run) -> None:
    text = run("stats", "--by", "table,hour", MIXED).stdout
    assert "Tables over time, in steps of 1 h" in text
    assert re.search(r"2026-11-20 19:00:00 +t.s +704 +3 +0", text)
    assert "Biggest" not in text
    for by in ("table", "hour,day", "table,hour,day"):
        assert run("stats", "--by", by, MIXED).returncode == 2
    assert run("stats", "--by", "table,hour", "--part", "gaps", MIXED).returncode == 2


@pytest.mark.parametrize(("zone", "hour"), [("Asia/Kolkata", 18.5), ("UTC", 0), ("America/New_York", 5)])
def test_days_are_local(zone: str, hour: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        starts = local_steps(np.array([1795419544, 1795419544 + 86400]), 86400)
    finally:
        monkeypatch.undo()
        time.tzset()
    assert [start % 86400 / 3600 for start in starts.tolist()] == [hour, hour]
    assert (np.diff(starts) == 86400).all()


@pytest.mark.parametrize("logs", [[MIXED], case("mysql-9.7", "rotate").logs], ids=["one", "several"])
@pytest.mark.parametrize("width", [80, 100])
def test_tables_fit_the_terminal(
    width: int, logs: list[Path], run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "1000")
    wide = run("stats", *logs).stdout
    monkeypatch.setenv("COLUMNS", str(width))
    text = run("stats", *logs).stdout
    assert max(map(len, text.splitlines())) <= width
    assert text.count("…") == wide.count("…")
    heading, _, first, beside = text.partition("Biggest transactions\n")[2].splitlines()[:4]
    assert ("file" in heading.split()) == (len(logs) > 1)
    assert re.search(r" 2026-11-20 19:\d\d:\d\d +0 s +[0-9.]+ KiB +\d+ ", first)
    assert re.match(r"    [0-9a-f-]{36}:\d+  ", beside)


def test_a_file_gets_lines_of_any_length(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    logs = [tmp_path / f"{'long-' * 35}{number}.bin" for number in range(2)]
    for log in logs:
        log.write_bytes(MIXED.read_bytes())
    lines = run("stats", "--part", "biggest", *logs).stdout.splitlines()
    assert sum(line.startswith(tuple(log.name for log in logs)) for line in lines) == 10
