"""Writes measurements as Markdown tables, and inserts them into a document."""

from __future__ import annotations

import os
import platform
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

#: Descriptions of the tasks in the table.
NAMES = {
    "crc32": "CRC32 alone",
    "verify": "`verify`",
    "events": "`events --format json`",
    "batches": "`read_events`",
    "changes": "`read_changes`, typed columns of one table",
    "rows": "`rows --format json`",
    "export": "`export --view changes`, Parquet with zstd",
    "dump": "`dump -vv`",
    "sql": "`sql`",
    "undo": "`sql --undo`",
    "stats": "`stats`",
    "mysqlbinlog -vv": "`mysqlbinlog -vv`",
    "mariadb-binlog -vv": "`mariadb-binlog -vv`",
    "mariadb-binlog -v": "`mariadb-binlog -v`",
}

#: Spark jobs, by their name in `tools.bench.spark`.
SPARK_JOBS = {
    "process": "`pipeline --view changes`, the whole process",
    "pipeline": "`pipeline --view changes`, without the start of Spark",
    "table": "a table, `write.parquet`",
    "count": "a table, `groupBy.count`",
    "ready": "batches in memory, `write.parquet`",
}

#: The reference for the other figures.
_BASE, _CLIENTS = "crc32", ("mysqlbinlog -vv", "mariadb-binlog -v")


class Figure(NamedTuple):
    """One measurement: seconds of the clock and of processors, peak of memory in bytes, rows.

    `start` is what a log without events takes of the processor seconds.
    """

    name: str
    seconds: float
    cpu: float
    peak: int | None
    rows: int | None
    start: float | None = None


def machine() -> str:
    """The machine and its software, in one line."""
    processor = platform.processor() or platform.machine()
    with suppress(OSError), open("/proc/cpuinfo") as lines:
        names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
        processor = names[0] if names else processor
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / (1 << 30)
    system, python = platform.system(), platform.python_version()
    return f"{processor}, {os.cpu_count()} cores, {memory:.0f} GiB, {system}, Python {python}"


def table(figures: list[Figure], size: int) -> str:
    """The measurements on a log whose events have a given size in bytes."""
    cpu = {figure.name: figure.cpu for figure in figures}
    clients = [name for name in _CLIENTS if name in cpu]
    headings = ["", "CPU s", "start, CPU s", "seconds", "MB/s", "MB/s after the start"]
    headings += ["M rows/s", "CRC32 passes"]
    headings += [f"times {NAMES[name]}" for name in clients] + ["peak MB"]
    lines = ["| " + " | ".join(headings) + " |", "|---|" + "---:|" * (len(headings) - 1)]
    for figure in figures:
        slope = None if figure.start is None else (figure.cpu - figure.start) / size
        cells = [NAMES.get(figure.name, figure.name), f"{figure.cpu:.1f}", _cell(figure.start, 2)]
        cells += [f"{figure.seconds:.1f}", f"{size / figure.cpu / 1e6:.0f}", _cell(slope and 1e-6 / slope, 0)]
        cells.append(_cell(figure.rows and figure.rows / figure.cpu / 1e6, 2))
        cells.append(f"{figure.cpu / cpu[_BASE]:.1f}")
        cells += [f"{cpu[name] / figure.cpu:.1f}" for name in clients]
        cells.append(f"{figure.peak / 1e6:.0f}" if figure.peak else "")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _cell(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"


def of_cores(figures: list[Figure]) -> str:
    """Spark's jobs compared with `export`, and with one and two cores."""
    by_name = {figure.name: figure for figure in figures}
    lines = []
    for job, title in SPARK_JOBS.items():
        one, two = (by_name.get(spark_name(job, cores)) for cores in (1, 2))
        if one is None or two is None:
            continue
        line = f"- {title}: {one.seconds / two.seconds:.2f} times as fast on two cores as on one"
        if (base := by_name.get("export")) is not None and job != "count":
            line += f"; {base.cpu / two.cpu:.0%} of the throughput of `export` per core"
        lines.append(f"{line}.\n")
    return "".join(["\n", *lines]) if lines else ""


def spark_name(job: str, cores: int) -> str:
    """The title of a Spark measurement."""
    return f"Spark local[{cores}], {SPARK_JOBS[job]}"


def put_between(path: Path, text: str, name: str = "bench") -> None:
    """Replace the text between the markers of a document, `<!-- name: begin -->` and `<!-- name: end -->`.

    Raises
    ------
    ValueError
        It has no markers.
    """
    whole = path.read_text()
    first, last = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    begin, end = whole.find(first), whole.find(last)
    if not 0 <= begin < end:
        raise ValueError(f"{path} has no {first} followed by {last}")
    path.write_text(f"{whole[: begin + len(first)]}\n\n{text.rstrip()}\n\n{whole[end:]}")
