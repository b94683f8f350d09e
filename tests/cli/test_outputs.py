"""Which files commands write to, whose they are, and what happens if they cannot write."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from binlog_kaitai.check.repair import repair
from binlog_kaitai.check.slices import slice as slice_log
from binlog_kaitai.sources.disk import create, replacing
from binlog_kaitai.sources.source import resolve
from binlog_kaitai.views.parquet_folder import folder_name
from tests.cli.conftest import Run
from tests.corpus_files import case

TOOL = [sys.executable, "-m", "binlog_kaitai"]

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
    first, log = (folder / log.name for log in LOGS)
    link, before = tmp_path / "link", log.read_bytes()
    NAMES[name](link, log)
    target = {"the same path": str(log), "another path": f"{link}/../logs/{log.name}"}.get(name, str(link))
    words = {"TARGET": target, "SOURCE": log, "FIRST": first, "LAKE": tmp_path / "lake", "FOLDER": folder}
    done = run(*(words.get(word, word) for word in command.split()))
    assert done.returncode == 2
    assert f"{target}: is an input, too" in done.stderr
    assert log.read_bytes() == before
    assert sorted(os.listdir(folder)) == [log.name for log in LOGS]


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


def test_a_new_log_has_a_name_of_its_own_until_it_is_complete(folder: Path) -> None:
    """Not that of a file beside it, which somebody else may need, or have put there."""
    log = folder / LOGS[0].name
    part = log.rename(f"{log}.part")
    content = part.read_bytes()
    (source,) = resolve(part)
    repair(source, str(log))
    assert part.read_bytes() == log.read_bytes() == content
    assert slice_log(source, str(log), overwrite=True)
    assert part.read_bytes() == content
    assert {path.name for path in folder.iterdir()} >= {log.name, part.name}
    assert not list(folder.glob(".*"))


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
@pytest.mark.parametrize(
    "command",
    [
        "slice --to NEW SOURCE",
        "repair --to NEW SOURCE",
        "stats --html NEW SOURCE",
        "explain --html NEW SOURCE",
        "export --to NEW SOURCE",
        "dump -r NEW SOURCE",
        "dump --local-load NEW LOADED",
    ],
)
def test_files_with_data_are_not_for_everybody(
    command: str, umask: int, folder: Path, tmp_path: Path
) -> None:
    """Files have the permissions of a server's logs, or fewer."""
    new = tmp_path / "new"
    if "--local-load" in command:
        new.mkdir()
    words = {"NEW": new, "SOURCE": folder / LOGS[0].name, "LOADED": case("mysql-9.7", "statement").logs[0]}
    done = subprocess.run(
        [*TOOL, *(words.get(word, word) for word in command.split())], capture_output=True, umask=umask
    )
    assert done.returncode == 0, done.stderr
    files = [path for path in (new, *new.rglob("*")) if path.is_file()]
    assert files
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o640 & ~umask}


def test_a_draft_is_new_and_leaves_nothing(tmp_path: Path) -> None:
    target = tmp_path / "file"
    target.write_text("before")
    with replacing(target) as first, replacing(target) as second:
        first.write(b"first")
        second.write(b"second")
    assert target.read_text() == "first"  # whose block ended last
    with pytest.raises(TypeError), replacing(target) as file:
        file.writelines([b"half", None])  # type: ignore[list-item]
    assert [target] == list(tmp_path.iterdir())
    assert target.read_text() == "first"


def test_a_link_is_replaced_and_not_followed(tmp_path: Path) -> None:
    victim, link = tmp_path / "victim", tmp_path / "link"
    victim.write_text("of somebody else")
    link.symlink_to(victim)
    with replacing(link) as file:
        file.write(b"new")
    assert (victim.read_text(), link.read_text()) == ("of somebody else", "new")
    link.unlink()
    link.symlink_to(victim)
    with pytest.raises(FileExistsError):
        create(link)


SOUND = case("mysql-9.7", "ddl").logs[0]


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize(
    ("command", "status"),
    [(f"verify {SOUND}", 0), (f"rows {SOUND}", 0), (f"events {SOUND}", 0), ("rows nothing", 2)],
)
def test_closed_streams(command: str, status: int, closed: str) -> None:
    """Text that cannot be written is an error of usage; messages are lost without one."""
    words = [*TOOL, *command.split()]
    done = subprocess.run(["sh", "-c", f'"$@" {closed}', "sh", *words], capture_output=True, text=True)
    assert done.returncode == (2 if closed != "2>&-" else status)
    if closed == ">&-" and not status:
        assert done.stderr == "binlog-kaitai: stdout: cannot write: Bad file descriptor\n"


def test_folders_of_tables() -> None:
    """Each is one folder below the given one, whatever a hostile log calls its tables."""
    parts = ["", ".", "..", "/", "a", "%", "%00", "\0", "a.b"]
    names = [folder_name((schema, table)) for schema in parts for table in parts]
    assert len({*names}) == len(names)
    for name in names:
        assert not name.startswith(".")
        assert Path("changes", name).parent == Path("changes")
