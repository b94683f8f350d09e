"""What a command spends on an input: a process of its own, with limits."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

#: Limits of a measured process: CPU seconds, and bytes of address space.
MOST_SECONDS, MOST_SPACE = 12, 8 << 30

#: By name: the words after `binlog-kaitai`, where FILE is the input and OUT a folder.
COMMANDS: dict[str, tuple[str, ...]] = {
    "verify": ("verify", "FILE"),
    "verify --thorough": ("verify", "--thorough", "FILE"),
    "events": ("events", "--format", "json", "FILE"),
    "transactions": ("transactions", "--format", "json", "FILE"),
    "rows": ("rows", "--format", "json", "FILE"),
    "rows, table": ("rows", "FILE"),
    "rows, Debezium": ("rows", "--format", "debezium", "FILE"),
    "dump": ("dump", "FILE"),
    "dump -vv": ("dump", "-vv", "FILE"),
    "dump --hexdump": ("dump", "--hexdump", "FILE"),
    "dump --flashback": ("dump", "--flashback", "FILE"),
    "sql": ("sql", "--allow-unnamed", "FILE"),
    "sql --undo": ("sql", "--undo", "--allow-unnamed", "FILE"),
    "stats": ("stats", "FILE"),
    "stats --html": ("stats", "--html", "OUT/page.html", "FILE"),
    "explain": ("explain", "FILE"),
    "explain --html": ("explain", "--html", "OUT/page.html", "FILE"),
    "slice": ("slice", "FILE", "--to", "OUT/slice.000001"),
    "repair": ("repair", "FILE", "--to", "OUT/repaired.000001"),
    "gtids": ("gtids", "FILE"),
    "export": ("export", "--to", "OUT/lake", "FILE"),
}

#: Programs with the library's functions; the input is their argument.
PROGRAMS: dict[str, str] = {
    "open": "import sys, binlog_kaitai as bk\nfor event in bk.open(sys.argv[1]): event.body",
    "read_rows": "import sys, binlog_kaitai as bk\nfor row in bk.read_rows(sys.argv[1]): pass",
    "read_changes": "import sys, binlog_kaitai as bk\nfor batch in bk.read_changes(sys.argv[1]): pass",
    "read_changes, typed": (
        "import sys, binlog_kaitai as bk\nfor batch in bk.read_changes(sys.argv[1], table='d.t'): pass"
    ),
}


class Cost(NamedTuple):
    """CPU seconds, peak memory in bytes, exit code (negative: a signal), and the last line on stderr."""

    seconds: float
    memory: int
    code: int
    said: str


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS + 1))
    resource.setrlimit(resource.RLIMIT_AS, (MOST_SPACE, MOST_SPACE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def cost(name: str, path: Path, folder: Path) -> Cost:
    """Run a command on an input; its output is counted nowhere."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    if name in PROGRAMS:
        words = [sys.executable, "-c", PROGRAMS[name], str(path)]
    else:
        words = [sys.executable, "-m", "binlog_kaitai"]
        words += [word.replace("FILE", str(path)).replace("OUT", str(folder)) for word in COMMANDS[name]]
    errors = folder / "stderr"
    with errors.open("wb") as stderr, open(os.devnull, "wb") as null:
        process = subprocess.Popen(words, stdout=null, stderr=stderr, cwd=folder, preexec_fn=_limit)
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    lines = errors.read_text(errors="replace").splitlines()
    said = next((line for line in reversed(lines) if line.strip()), "")
    shutil.rmtree(folder, ignore_errors=True)
    return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss << 10, process.returncode, said[:200])
