"""`--follow` of `events`, `rows` and `sql`: logs that grow and rotate, and Ctrl-C."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from binlog_kaitai.following import feed
from tests.cli.conftest import Run
from tests.corpus_files import case
from tests.follow.logs import ends_of_transactions, grow

LOGS = case("mysql-9.7", "rotate").logs
MIXED = case("mysql-9.7", "mixed").logs[0]

_PATIENCE = 60


class Following:
    """A running command, and its output so far."""

    def __init__(self, process: subprocess.Popen[bytes], output: Path) -> None:
        self.process, self._output = process, output

    def lines(self, count: int) -> list[str]:
        """Its lines, once there are so many."""
        until = time.monotonic() + _PATIENCE
        while time.monotonic() < until and self.process.poll() is None:
            lines = self._output.read_text().splitlines()
            if len(lines) >= count:
                return lines
            time.sleep(0.05)
        raise AssertionError(f"not {count} lines but {self._output.read_text()}")

    def interrupt(self) -> tuple[int, str]:
        """Exit code and errors after Ctrl-C."""
        self.process.send_signal(signal.SIGINT)
        errors = self.process.communicate(timeout=_PATIENCE)[1]
        return self.process.returncode, errors.decode()


@contextmanager
def following(tmp_path: Path, *arguments: object) -> Iterator[Following]:
    output = tmp_path / "output"
    words = [sys.executable, "-m", "binlog_kaitai", *map(str, arguments)]
    with output.open("wb") as file, subprocess.Popen(words, stdout=file, stderr=subprocess.PIPE) as process:
        try:
            yield Following(process, output)
        finally:
            process.kill()


def append(source: Path, target: Path, size: int | None = None) -> None:
    """Let a copy of a log grow to some length, or its whole one."""
    with target.open("ab") as file:
        file.write(source.read_bytes()[file.tell() : size])


@pytest.mark.parametrize("command", ["events", "rows"])
def test_a_log_that_grows_and_rotates(run: Run, tmp_path: Path, command: str) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    first, others = folder / LOGS[0].name, LOGS[1:]
    ends = ends_of_transactions(LOGS[0])
    # The half of a transaction stands at the end.
    grow(LOGS[0], first, ends[len(ends) // 2] + 30)
    arguments = (command, "--format", "json", "--follow")
    with following(tmp_path, *arguments, first) as tail:
        whole = run(command, "--format", "json", first).stdout.splitlines()
        expected = [line for line in whole if f'"position":{ends[len(ends) // 2]},' not in line]
        lines = tail.lines(len(expected))
        assert lines == expected[: len(lines)]
        append(LOGS[0], first)
        for log in others:
            shutil.copy(log, folder)
        expected = run(command, "--format", "json", folder).stdout.splitlines()
        # The flag of a log that is in use stands in the first line.
        assert tail.lines(len(expected))[1:] == expected[1:]
        assert tail.interrupt() == (0, "")


def test_from_now_leaves_out_what_is_there(run: Run, tmp_path: Path) -> None:
    log, output = tmp_path / MIXED.name, tmp_path / "output"
    ends = iter(ends_of_transactions(MIXED)[10:])
    grow(MIXED, log, next(ends))
    with following(tmp_path, "events", "--follow", "--from-now", "--format", "json", log) as tail:
        # When it has begun to look is not known: the log grows until it has seen something.
        while not output.read_bytes():
            append(MIXED, log, next(ends))
            time.sleep(1)
        append(MIXED, log)
        everything = run("events", "--format", "json", log).stdout.splitlines()
        before = [tail.lines(1)[0] == line for line in everything].index(True)
        assert before > 10
        assert tail.lines(len(everything) - before) == everything[before:]
        assert tail.interrupt()[0] == 0


def test_names_of_columns_come_from_statements_long_before(run: Run, tmp_path: Path) -> None:
    log = tmp_path / MIXED.name
    ends = ends_of_transactions(MIXED)
    grow(MIXED, log, ends[-20])
    with following(tmp_path, "rows", "--follow", "--format", "json", "-t", "t.my", log) as tail:
        tail.lines(2)
        append(MIXED, log)
        expected = run("rows", "--format", "json", "-t", "t.my", log).stdout.splitlines()
        assert tail.lines(len(expected)) == expected


def test_options_that_contradict_it(run: Run) -> None:
    for arguments, reason in (
        (("--follow", "--stop-position", "500"), "--stop-position cannot be used with --follow"),
        (("--from-now",), "--from-now requires --follow"),
    ):
        done = run("events", *arguments, MIXED)
        assert done.returncode == 2
        assert reason in done.stderr


def test_damage_ends_it_after_what_comes_before(tmp_path: Path) -> None:
    data = bytearray(MIXED.read_bytes())
    data[ends_of_transactions(MIXED)[12] + 40] ^= 0xFF
    log = tmp_path / MIXED.name
    log.write_bytes(data)
    with following(tmp_path, "events", "--follow", log) as tail:
        errors = tail.process.communicate(timeout=_PATIENCE)[1].decode()
        assert tail.process.returncode == 1
        assert f"{log}, position {ends_of_transactions(MIXED)[12]}" in errors


def test_a_script_ends_between_transactions(run: Run, tmp_path: Path) -> None:
    log = tmp_path / MIXED.name
    ends = ends_of_transactions(MIXED)
    grow(MIXED, log, ends[20])
    with following(tmp_path, "sql", "--follow", log) as tail:
        half = run("sql", log).stdout.splitlines()
        tail.lines(len(half) - 10)  # without the settings that are restored at the end
        append(MIXED, log)
        whole = run("sql", log).stdout.splitlines()
        tail.lines(len(whole) - 10)
        assert tail.interrupt() == (0, "")
    assert (tmp_path / "output").read_text().splitlines() == whole
    done = run("sql", "--follow", "--undo", log)
    assert (done.returncode, "--undo cannot be used with --follow" in done.stderr) == (2, True)


@pytest.mark.parametrize("command", ["events", "rows", "sql"])
def test_ctrl_c_means_after_a_command_what_it_meant_before(
    command: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> Iterator[None]:
        signal.raise_signal(signal.SIGINT)
        yield from ()

    monkeypatch.setattr(feed.FeedFollower, "follow", interrupted)
    before = signal.getsignal(signal.SIGINT)
    assert run(command, "--follow", MIXED).returncode == 0
    assert signal.getsignal(signal.SIGINT) is before
