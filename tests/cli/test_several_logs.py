"""Commands on several logs: what `verify` reports where some are missing, and logs of several servers."""

from __future__ import annotations

import json
from pathlib import Path

import binlog_kaitai as bk
from tests.cli.conftest import Run
from tests.corpus_files import case


def test_exit_codes_and_output(run: Run, tmp_path: Path) -> None:
    first, second, third, fourth, *_ = case("mysql-9.7", "rotate").logs
    done = run("verify", first, second, fourth)
    assert done.returncode == 3
    assert "binlog.000004: ok, BUT ITS SERIES IS NOT COMPLETE" in done.stdout
    assert "binlog.000003 is missing" in done.stdout
    assert run("verify", first, second, third).returncode == run("verify", fourth).returncode == 0
    done = run("verify", "--format", "json", first, third, fourth)
    assert done.returncode == 3
    shown = [json.loads(line) for line in done.stdout.splitlines()]
    assert [one["missing_logs"] for one in shown] == [[], ["binlog.000002"], []]
    assert [one["gap_before"] is None for one in shown] == [True, False, True]
    assert [one["half_copy"] for one in shown] == [False] * 3
    assert [one["ok"] for one in shown] == [True] * 3
    no_log = tmp_path / "binlog.000009"
    no_log.write_bytes(b"not a log" * 20)
    assert run("verify", first, third, no_log).returncode == 2
    damaged = bytearray(third.read_bytes())
    damaged[-1] ^= 1
    (tmp_path / third.name).write_bytes(damaged)
    assert run("verify", first, third, no_log, tmp_path / third.name).returncode == 1


def test_commands_warn_of_logs_of_several_servers(run: Run) -> None:
    one, other = case("mysql-9.7", "rotate").logs, case("mariadb-11.8", "rotate").logs
    for words in ("rows", "events", "transactions", "stats", "sql", "dump", "find 2020-01-01"):
        command = words.split()
        assert "several servers" in run(*command, *one, *other).stderr
        assert "several servers" not in run(*command, *one).stderr
    lines = run("find", "--format", "json", "2020-01-01", *one, *other).stdout.splitlines()
    assert [json.loads(line)["file"] for line in lines] == [str(one[0]), str(other[0])]
    for log in (one[2], other[2]):
        (report,) = bk.verify(log)
        lines = run("find", "--format", "json", str(report.gtids), *one, *other).stdout.splitlines()
        assert [json.loads(line)["file"] for line in lines] == [str(log)]
