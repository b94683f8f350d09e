"""`python -m tools.bench.threads`: how much faster several threads are, by the clock, and what limits them.

Each measurement is a process of its own, which first reads a short log, so that imports do not count. Of
several runs, the one with the least elapsed time is reported. `CPU s` are those of all threads. The next
columns are processor seconds of work that only one thread does at a time: reading and framing (in a thread of
its own if there are more than two), what threads do in turn (the state of the log; with two threads, also
reading), encoding (of a table for `export`), and the caller's (which writes, and works alone on the first
blocks). With any number of processors, the clock cannot show less than the largest of these: `at most` is
that bound.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from binlog_kaitai.log import threads as columns_threads
from tools.bench.__main__ import SHAPES, folder_of
from tools.bench.make_log import shape_of, write

TASKS = ("changes", "untyped", "rows", "export", "verify", "events", "transactions", "stats", "sql", "dump")

_SHAPES = ("bulk rows", "orders", "one-row transactions", "wide rows")

_STAGES = "reading", "in turn", "encoding", "caller"

#: The stages that have threads of their own, by the beginnings of these threads' names.
_OF_THREADS = {"binlog-kaitai-prefetch": "reading", "binlog-kaitai-encode": "encoding"}

_COLUMNS = ("", "threads", "seconds", "CPU s", "times as fast", *_STAGES, "at most")

_WARM_UP = 20_000_000


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.bench.threads", description=__doc__)
    parser.add_argument(
        "--size", type=int, default=1000, metavar="MB", help="size of each log (default 1000)"
    )
    parser.add_argument("--runs", type=int, default=3, metavar="N", help="runs of each task (default 3)")
    parser.add_argument("--threads", type=int, action="append", metavar="N", help="1 and 2 by default")
    parser.add_argument("--shape", action="append", choices=SHAPES, help="only this shape; may be repeated")
    parser.add_argument("--task", action="append", choices=TASKS, help="only this task; may be repeated")
    parser.add_argument("--logs", type=Path, metavar="FOLDER", help="folder in which to keep the logs")
    options = parser.parse_args()
    counts = options.threads or [1, 2]
    for name in options.shape or _SHAPES:
        recipe = SHAPES[name]
        shape = shape_of(name, recipe.log, event_size=recipe.size, repeat=recipe.repeat)
        with folder_of(options.logs) as folder:
            path, small = (folder / f"threads-{name.split()[0]}.{end}" for end in ("000001", "small"))
            if not path.exists():
                write(shape, path, options.size * 1_000_000)
            write(shape, small, _WARM_UP, chunk=1 << 20)
            print(f"### {name}\n\n| {' | '.join(_COLUMNS)} |\n|---{'|---:' * (len(_COLUMNS) - 1)}|")
            for task in options.task or TASKS:
                print_task(task, path, small, counts, options.runs)
        print()


def print_task(task: str, path: Path, small: Path, counts: list[int], runs: int) -> None:
    """Print the rows of the table for one task."""
    first = 0.0
    for threads in counts:
        given = "--measure", task, path, small, threads
        command = [sys.executable, "-m", "tools.bench.threads", *map(str, given)]
        best = min(
            (
                json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
                for _ in range(runs)
            ),
            key=lambda run: run["seconds"],
        )
        first = first or best["seconds"]
        stages = [best["stages"][stage] for stage in _STAGES]
        cells = [
            task,
            threads,
            f"{best['seconds']:.2f}",
            f"{best['cpu']:.2f}",
            f"{first / best['seconds']:.2f}",
        ]
        bound = f"{first / max(stages):.1f}" if threads > 1 and max(stages) else ""
        print(f"| {' | '.join(map(str, [*cells, *(f'{part:.2f}' for part in stages), bound]))} |", flush=True)


def measure(task: str, path: str, small: str, threads: int) -> dict[str, Any]:
    """Elapsed and processor seconds of a task, in all and of its stages."""
    work(task, small, threads)
    stages = dict.fromkeys(_STAGES, 0.0)
    run, side_by_side = threading.Thread.run, columns_threads.side_by_side

    def timed(self: threading.Thread) -> None:
        run(self)
        for begin, stage in _OF_THREADS.items():
            if self.name.startswith(begin):
                stages[stage] += time.thread_time()

    def timed_items(items: Any) -> Any:
        while True:
            begun = time.thread_time()
            try:
                item = next(items)
            except StopIteration:
                return
            finally:
                stages["in turn"] += time.thread_time() - begun
            yield item

    def timed_side_by_side(items: Any, *rest: Any) -> Any:
        return side_by_side(timed_items(items), *rest)

    threading.Thread.run = timed  # type: ignore[method-assign]
    module: Any = columns_threads
    module.side_by_side = timed_side_by_side
    begun, used, own = time.perf_counter(), time.process_time(), time.thread_time()
    work(task, path, threads)
    stages["caller"] = time.thread_time() - own
    seconds, cpu = time.perf_counter() - begun, time.process_time() - used
    return {"seconds": seconds, "cpu": cpu, "stages": stages}


def work(task: str, path: str, threads: int) -> None:
    """Do a task, without keeping the results."""
    import binlog_kaitai as bk
    from tools.bench.measure import first_table

    results: Any = ()
    if task == "changes":
        results = bk.read_changes(path, table=first_table(path), threads=threads)
    elif task == "untyped":
        results = bk.read_changes(path, threads=threads)
    elif task == "rows":
        from binlog_kaitai.lines.row_texts import write_rows

        results = write_rows(path, threads=threads)
    elif task == "export":
        _export(path, threads)
    elif task == "dump":
        from binlog_kaitai.dump.dump_logs import dump
        from binlog_kaitai.dump.dump_options import Base64Output, DumpOptions

        options = DumpOptions(verbose=2, base64_output=Base64Output.DECODE_ROWS)
        dump(path, lambda text: None, options, threads=threads)
    elif task == "sql":
        results = bk.sql_script(path, allow_unnamed=True, threads=threads)
    elif task == "stats":
        bk.stats(path, threads=threads)
    elif task == "verify":
        results = bk.verify(path, threads=threads)
    else:
        results = (bk.read_events if task == "events" else bk.read_transactions)(path, threads=threads)
    for _ in results:
        pass


def _export(path: str, threads: int) -> None:
    import tempfile

    from binlog_kaitai.core.filters import Filters
    from binlog_kaitai.rows.log_pages import RowsPages
    from binlog_kaitai.views.parquet_folder import write_changes

    with tempfile.TemporaryDirectory(prefix="binlog-bench-") as folder:
        write_changes(RowsPages(path, Filters(), threads=threads), Path(folder))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        print(json.dumps(measure(sys.argv[2], sys.argv[3], sys.argv[4], int(sys.argv[5]))))
    else:
        main()
