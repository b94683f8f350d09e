"""What is used of the system is there on Windows and macOS, too, or done without."""

from __future__ import annotations

import errno
import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from binlog_kaitai.sources import disk
from tests.corpus_files import case

#: Modules, and functions of `os` and `select`, that Windows does not have; macOS lacks some.
MODULES = ("fcntl", "grp", "pwd", "resource", "termios", "pty", "syslog")
FUNCTIONS = (
    *("fork", "fchmod", "pread", "pwrite", "geteuid", "getuid", "sysconf", "statvfs", "mkfifo"),
    *("posix_fallocate", "sched_getaffinity"),
)

PROGRAM = """
import os, select, sys
for name in {modules}:
    sys.modules[name] = None
for name in {functions}:
    delattr(os, name)
del select.poll
import binlog_kaitai as bk
from binlog_kaitai.cli.app import main
print(bk.read_changes(sys.argv[1], table="t.my").read_all().num_rows)
main(["verify", sys.argv[1]])
"""


def test_logs_are_read_without_what_other_systems_lack() -> None:
    log = case("mysql-9.7", "mixed").logs[0]
    program = PROGRAM.format(modules=MODULES, functions=FUNCTIONS)
    done = subprocess.run(
        [sys.executable, "-c", program, str(log)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    count, verdict, *_ = done.stdout.splitlines()
    assert int(count) > 0
    assert verdict.endswith(": ok")


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_a_lock_has_one_holder(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "lock" if kind == "file" else tmp_path
    first = disk.try_lock(path)
    assert first is not None
    assert disk.try_lock(path) is None
    os.close(first)
    second = disk.try_lock(path)
    assert second is not None
    os.close(second)


@pytest.mark.parametrize("number", [errno.EACCES, errno.ENOLCK, errno.ENOTSUP])
def test_a_file_system_that_refuses_locks_is_no_other_holder(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*given: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(OSError, match=os.strerror(number)):
        disk.try_lock(tmp_path)
    with pytest.raises(OSError, match=os.strerror(number)), disk.locked(tmp_path / "lock"):
        pass


def test_files_are_read_and_written_at_offsets(tmp_path: Path) -> None:
    number = disk.open_for_writing(tmp_path / "file")
    assert disk.write_at(number, b"abcdef\n\r\n", 2) == 9
    assert disk.write_at(number, memoryview(b"XY"), 0) == 2
    assert disk.read_at(number, 100, 1) == b"Yabcdef\n\r\n"
    os.close(number)
