"""Records calls of kernels, which `player.c` repeats with a library that is made for another system.

`python -m tools.kernels.recorded_calls FILE LOG...` writes the first calls of each kernel while commands read
logs.
"""

from __future__ import annotations

import ctypes
import struct
import sys
from collections import Counter
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

import binlog_kaitai as bk
from binlog_kaitai.cli.app import main as command
from binlog_kaitai.kernels import library

COMMANDS = [
    ["verify", "--thorough"],
    ["events", "--format", "json"],
    ["transactions"],
    ["rows", "--format", "json"],
    ["rows", "--format", "debezium"],
    ["rows"],
    ["sql"],
    ["sql", "--undo"],
    ["dump", "-vv"],
    ["stats"],
]

#: Calls of a kernel, and bytes of the arrays of a call, at most.
_CALLS, _BYTES = 3, 12 << 20


def _number(value: Any) -> bytes:
    """An argument as it stands in a record."""
    if isinstance(value, bool | np.bool_):
        return struct.pack("?7x", value)
    if isinstance(value, float | np.floating):
        return struct.pack("d", value)
    return struct.pack("q" if value < 1 << 63 else "Q", value)


def _filled(data: bytes) -> bytes:
    return data + bytes(-len(data) % 8)


class Recorder:
    """Writes calls to a file while it is in use."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._counts: Counter[str] = Counter()
        self._call = library.MachineCode.__call__

    def __enter__(self) -> Counter[str]:
        self._file = self._path.open("wb")

        def call(kernel: library.MachineCode, *arguments: Any) -> object:
            return self._record(kernel, arguments)

        library.MachineCode.__call__ = call  # type: ignore[assignment, method-assign]
        return self._counts

    def __exit__(self, *error: object) -> None:
        library.MachineCode.__call__ = self._call  # type: ignore[method-assign]
        self._file.close()

    def _record(self, kernel: library.MachineCode, arguments: tuple[Any, ...]) -> object:
        row = kernel._row
        flat = list(chain.from_iterable(item if isinstance(item, tuple) else (item,) for item in arguments))
        arrays = [item for item in flat if isinstance(item, np.ndarray)]
        is_small = sum(array.nbytes for array in arrays) <= _BYTES
        if not (is_small and self._counts[row.name] < _CALLS and all(map(_is_plain, arrays))):
            return self._call(kernel, *arguments)
        regions = _regions(arrays)
        before = [ctypes.string_at(*region) for region in regions]
        result = self._call(kernel, *arguments)
        self._counts[row.name] += 1
        parts = [_numbers(len(row.entry)), _filled(row.entry.encode()), _numbers(len(regions))]
        for region, content in zip(regions, before, strict=True):
            parts += [_numbers(len(content)), _filled(content), _filled(ctypes.string_at(*region))]
        parts.append(_numbers(len(flat)))
        for argument in flat:
            if isinstance(argument, np.ndarray):
                address = argument.ctypes.data
                number, start = next(
                    (number, start)
                    for number, (start, size) in enumerate(regions)
                    if start <= address <= start + size
                )
                parts.append(_numbers(1 + argument.ndim, number, address - start, *argument.shape))
            else:
                parts += [_numbers(0), _number(argument)]
        given = (result,) if row.result.startswith("1") else result
        packed = struct.pack("@" + row.result.removeprefix("1"), *given) if row.result else b""  # type: ignore[misc]
        parts += [_numbers(len(packed)), _filled(packed)]
        self._file.writelines(parts)
        return result


def _regions(arrays: list[np.ndarray[Any, Any]]) -> list[tuple[int, int]]:
    """The memory of arrays, as addresses and sizes: arrays that share memory are in one region."""
    joined: list[tuple[int, int]] = []
    for start, size in sorted((array.ctypes.data, array.nbytes) for array in arrays):
        if joined and start <= sum(joined[-1]):
            joined[-1] = joined[-1][0], max(sum(joined[-1]), start + size) - joined[-1][0]
        else:
            joined.append((start, size))
    return joined


def _numbers(*values: int) -> bytes:
    return struct.pack(f"{len(values)}q", *values)


def _is_plain(array: np.ndarray[Any, Any]) -> bool:
    return array.flags.c_contiguous and array.flags.aligned


def main(path: str, *logs: str) -> None:
    """Record, and print how many calls there are of how many kernels."""
    with Recorder(Path(path)) as counts:
        for log in logs:
            for words in COMMANDS:
                with suppress(SystemExit):
                    command([*words, log])
            for table in {(row.schema.schema_name, row.schema.table_name) for row in bk.read_rows(log)}:
                bk.read_changes(log, table=".".join(table)).read_all()
    print(f"{counts.total()} calls of {len(counts)} kernels", file=sys.stderr)


if __name__ == "__main__":
    main(*sys.argv[1:])
