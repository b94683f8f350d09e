"""One measurement, in a process of its own: prints processor seconds and peak memory as JSON.

python -m tools.bench.measure crc32|verify|events|batches LOG
"""

from __future__ import annotations

import json
import os
import resource
import sys
import zlib
from collections.abc import Callable
from contextlib import suppress


def crc32(path: str) -> None:
    """Read the file and run zlib over all of it: what every other number is compared with."""
    crc, buffer = 0, bytearray(1 << 20)
    view = memoryview(buffer)
    with open(path, "rb", buffering=0) as file:
        while count := file.readinto(buffer):
            crc = zlib.crc32(view[:count], crc)


def verify(path: str) -> None:
    """`binlog-kaitai verify`."""
    from binlog_kaitai.columns.verify import scan
    from binlog_kaitai.sources import Source

    report = scan(Source.of_path(path))
    assert not report.damage_count, report.damages


def events(path: str) -> None:
    """`binlog-kaitai events --format json`, written to /dev/null."""
    from binlog_kaitai.columns.events import write_json

    with open(os.devnull, "wb") as sink:
        for lines in write_json(path):
            sink.write(lines)


def batches(path: str) -> None:
    """`read_events`: Arrow batches, `info` included."""
    from binlog_kaitai.columns.batches import read_events

    for _ in read_events(path):
        pass


TASKS: dict[str, Callable[[str], None]] = {task.__name__: task for task in (crc32, verify, events, batches)}


def main() -> None:
    name, path = sys.argv[1:]
    TASKS[name](path)
    usage = resource.getrusage(resource.RUSAGE_SELF)
    print(json.dumps({"cpu": usage.ru_utime + usage.ru_stime, "peak": _peak(usage.ru_maxrss)}))


def _peak(max_rss: int) -> int:
    """Peak memory in bytes; on Linux `max_rss` counts what the process was before it became this program."""
    with suppress(OSError), open("/proc/self/status") as status:
        for line in status:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return max_rss * 1024


if __name__ == "__main__":
    main()
