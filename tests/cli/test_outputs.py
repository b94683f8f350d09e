"""No command writes to a file that it reads, whatever the file is called."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import binlog_kaitai as bk
from binlog_kaitai.check.repair import repair
from binlog_kaitai.check.slices import slice_log
from binlog_kaitai.errors import UsageError
from binlog_kaitai.sources.source import resolve
from tests.cli.conftest import Run
from tests.corpus_files import case

LOGS = case("mysql-9.7", "rotate").logs[:2]

#: Commands that write to the file TARGET.
COMMANDS = (
    "dump -r TARGET SOURCE",
    "dump -r TARGET --to-last-log FIRST",
    "stats --html TARGET SOURCE",
    "slice --overwrite --to TARGET SOURCE",
    "repair --overwrite --to TARGET SOURCE",
    "repair --overwrite --to TARGET --format-from SOURCE FIRST",
    "pipeline --to LAKE --progress-file TARGET SOURCE",
    "pipeline --to LAKE --metrics-file TARGET SOURCE",
    "fetch --metrics-file TARGET --to FOLDER mysql://u@127.0.0.1:1/",
)

NAMES: dict[str, Callable[[Path, Path], object]] = {
    "the same path": lambda link, log: None,
    "another path": lambda link, log: link.mkdir(),
    "a symbolic link": lambda link, log: link.symlink_to(log),
    "a hard link": lambda link, log: link.hardlink_to(log),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "logs"
    made.mkdir()
    for log in LOGS:
        (made / log.name).write_bytes(log.read_bytes())
    return made


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("command", COMMANDS)
def test_an_output_is_no_input(command: str, name: str, folder: Path, tmp_path: Path, run: Run) -> None:
    first, log = (folder / one.name for one in LOGS)
    link, before = tmp_path / "link", log.read_bytes()
    NAMES[name](link, log)
    target = {"the same path": str(log), "another path": f"{link}/../logs/{log.name}"}.get(name, str(link))
    words = {"TARGET": target, "SOURCE": log, "FIRST": first, "LAKE": tmp_path / "lake", "FOLDER": folder}
    done = run(*(words.get(word, word) for word in command.split()))
    assert done.returncode == 2
    assert f"{target}: is an input, too" in done.stderr
    assert log.read_bytes() == before
    assert sorted(os.listdir(folder)) == [one.name for one in LOGS]


@pytest.mark.parametrize("command", ["rows", "dump", "sql --allow-unnamed", "events --format json"])
def test_stdout_is_no_input(command: str, folder: Path) -> None:
    log = folder / LOGS[0].name
    with log.open("ab") as appended:
        words = [sys.executable, "-m", "binlog_kaitai", *command.split(), str(folder)]
        done = subprocess.run(words, stdout=appended, stderr=subprocess.PIPE, timeout=120)
    assert done.returncode == 2
    assert b"/dev/stdout: is an input, too" in done.stderr
    assert log.read_bytes() == LOGS[0].read_bytes()


@pytest.mark.parametrize("source", ["logs", "logs/*", "logs/binlog.index"])
def test_the_logs_of_a_source_are_inputs(source: str, folder: Path, tmp_path: Path, run: Run) -> None:
    (folder / "binlog.index").write_text("".join(f"{log.name}\n" for log in LOGS))
    log = folder / LOGS[1].name
    for options in (("dump", "-r", log), ("stats", "--html", log), ("slice", "--overwrite", "--to", folder)):
        done = run(*options, tmp_path / source)
        assert (done.returncode, "is an input, too" in done.stderr) == (2, True), done.stderr
    assert log.read_bytes() == LOGS[1].read_bytes()


@pytest.mark.parametrize(
    "command",
    [
        "slice --key-file FILE --overwrite --to FILE SOURCE",
        "dump --keyring FILE -r FILE SOURCE",
        "pipeline --to LAKE --ddl FILE --metrics-file FILE SOURCE",
    ],
)
def test_files_that_options_read_are_inputs(command: str, folder: Path, tmp_path: Path, run: Run) -> None:
    file = tmp_path / "file"
    file.write_text("1;00112233445566778899aabbccddeeff\n")
    words = {"FILE": file, "SOURCE": folder / LOGS[0].name, "LAKE": tmp_path / "lake"}
    done = run(*(words.get(word, word) for word in command.split()))
    assert (done.returncode, "is an input, too" in done.stderr) == (2, True), done.stderr
    assert file.read_text() == "1;00112233445566778899aabbccddeeff\n"


def test_a_draft_is_no_input(folder: Path) -> None:
    """A new log is written beside its name first."""
    log = folder / LOGS[0].name
    part = log.rename(f"{log}.part")
    (source,) = resolve(part)
    with pytest.raises(UsageError, match=r"\.part: is an input, too"):
        repair(source, str(log))
    with pytest.raises(UsageError, match=r"\.part: is an input, too"):
        list(slice_log([source], [str(log)]))
    assert list(bk.open(part))
