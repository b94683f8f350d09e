"""`python -m tools.bench`: make logs of a gigabyte, measure on them, print a table.

Every measurement is a fresh process, its start included; of several runs the fastest counts, so that neither
a cold disk cache nor the first compilation of the kernels, which happens once a machine, is in the numbers.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tools.bench.make_log import shape_of, write
from tools.bench.measure import TASKS
from tools.bench.peers import clients, library_speed

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "tests/corpus"

#: A log of the corpus, the rows event to repeat, by its size in bytes, and how often in a transaction.
SHAPES = {
    "one-row transactions": (CORPUS / "mysql-9.7/types_metadata/binlog.000001", 60, 1),
    "one-row, MariaDB": (CORPUS / "mariadb-11.8/types_metadata/binlog.000001", 60, 1),
    "wide rows": (CORPUS / "mysql-9.7/json_partial/binlog.000001", 600, 50),
    "bulk rows": (CORPUS / "mysql-9.7/mixed/binlog.000001", 8192, 100),
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.bench", description=__doc__)
    parser.add_argument(
        "--size", type=int, default=1000, metavar="MB", help="size of each log (default 1000)"
    )
    parser.add_argument("--runs", type=int, default=3, metavar="N", help="runs of each task (default 3)")
    parser.add_argument("--shape", action="append", choices=SHAPES, help="only this shape; may be repeated")
    options = parser.parse_args()
    print(f"{platform.platform()}, {os.cpu_count()} processors, Python {platform.python_version()}")
    for name in options.shape or SHAPES:
        measure_shape(name, options.size * 1_000_000, options.runs)


def measure_shape(name: str, size: int, runs: int) -> None:
    """Print the table of one shape of log."""
    log, rows_size, repeat = SHAPES[name]
    with tempfile.TemporaryDirectory(prefix="binlog-bench-") as folder:
        path = Path(folder) / "binlog.000001"
        shape = shape_of(name, log, rows_size=rows_size, repeat=repeat)
        events = write(shape, path, size)
        size = path.stat().st_size
        print(f"\n{name}: {size / 1e6:.0f} MB, {events} events of {size / events:.0f} bytes")
        heads = "seconds", "MB/s", "M events/s", "M rows/s", "x crc32", "CPU s", "peak MB"
        print(f"{'':20}" + "".join(f"{head:>11}" for head in heads))
        base = rows = 0.0
        for task in TASKS:
            best = min((run(task, path) for _ in range(runs)), key=lambda result: result["seconds"])
            base = base or best["seconds"]
            rows = best["rows"] or rows
            print_line(task, size, events, best["rows"] or 0, base, best)
        for peer, arguments in clients(path).items():
            if found := run_client(arguments):
                print_line(peer, size, events, rows, base, found)
        if speed := library_speed(path):
            print(f"{'mysql-replication':20}{'':11}{speed[0] / 1e6:11.1f}{'':11}{speed[1] / 1e6:11.3f}")


def print_line(name: str, size: int, events: int, rows: float, base: float, result: dict[str, Any]) -> None:
    """Print one line of the table."""
    seconds = result["seconds"]
    numbers = [
        f"{seconds:.2f}",
        f"{size / seconds / 1e6:.0f}",
        f"{events / seconds / 1e6:.2f}",
        f"{rows / seconds / 1e6:.2f}" if rows else "",
        f"{seconds / base:.1f}",
        f"{result['cpu']:.2f}",
        f"{result['peak'] / 1e6:.0f}",
    ]
    print(f"{name:20}" + "".join(f"{number:>11}" for number in numbers), flush=True)


def run_client(arguments: list[str]) -> dict[str, Any] | None:
    """One run of a server's client, its output thrown away; None if it stops with an error."""
    begun, used = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    seconds, now = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        return None
    cpu = now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime
    return {"seconds": seconds, "cpu": cpu, "peak": 0}


def run(task: str, path: Path) -> dict[str, Any]:
    """One measurement. `seconds` is from the start of the process to its end."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "generated")])}
    command = [sys.executable, "-m", "tools.bench.measure", task, str(path)]
    begun = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment, cwd=ROOT)
    result: dict[str, Any] = json.loads(done.stdout)
    result["seconds"] = time.perf_counter() - begun
    return result


if __name__ == "__main__":
    main()
