"""`python -m tools.bench`: make logs of a gigabyte, measure on them, print a table.

Every measurement is a fresh process, its start included; of several runs the fastest counts, so that neither
a cold disk cache nor the first compilation of the kernels, which happens once a machine, is in the numbers.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tools.bench.make_log import shape_of, write
from tools.bench.measure import TASKS

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "tests/corpus"

#: A log of the corpus, the rows event to repeat, by its size in bytes, and how often in a transaction.
SHAPES = {
    "one-row transactions": (CORPUS / "mysql-9.7/types_metadata/binlog.000001", 60, 1),
    "one-row, MariaDB": (CORPUS / "mariadb-11.8/types_metadata/binlog.000001", 60, 1),
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
        print(f"{'':10}{'seconds':>9}{'MB/s':>9}{'M events/s':>12}{'x crc32':>9}{'CPU s':>8}{'peak MB':>9}")
        base = 0.0
        for task in TASKS:
            best = min((run(task, path) for _ in range(runs)), key=lambda result: result["seconds"])
            base = base or best["seconds"]
            seconds = best["seconds"]
            print(
                f"{task:10}{seconds:9.2f}{size / seconds / 1e6:9.0f}{events / seconds / 1e6:12.2f}"
                f"{seconds / base:9.1f}{best['cpu']:8.2f}{best['peak'] / 1e6:9.0f}",
                flush=True,
            )


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
