"""The entry point that imitates the clients' output: events one by one and by shapes give the same."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from binlog_kaitai.dump import block_printer
from binlog_kaitai.dump.dump_logs import dump as dump_log
from binlog_kaitai.dump.dump_options import Base64Output, DumpOptions
from binlog_kaitai.errors import BinlogError
from tools.fuzz.outcome import Outcome
from tools.fuzz.run import Run

_NEVER = 1 << 60


@contextmanager
def _one_by_one() -> Iterator[None]:
    with patch.object(block_printer, "KERNELS_FROM", _NEVER):
        yield


@contextmanager
def _by_shapes() -> Iterator[None]:
    with patch.object(block_printer, "_SHORTEST", 1), patch.object(block_printer, "KERNELS_FROM", 0):
        yield


def dump(of: Run) -> None:
    """Printing events one by one and by shapes gives the same output and error."""
    chance = of.chance
    options: dict[str, Any] = {"local_load": str(of.folder / "load"), "verbose": chance.choice((0, 1, 2, 2))}
    options["base64_output"] = chance.choice((Base64Output.AUTO, Base64Output.AUTO, *Base64Output))
    flags = ("hexdump", "short_form", "print_table_metadata", "skip_gtids", "verify_checksums", "flashback")
    for name in flags:
        options[name] = chance.random() < 0.1
    if chance.random() < 0.1:
        options["rewrite_databases"] = {"t": "u`"}
    if chance.random() < 0.1:
        options["start_position"] = chance.randrange(len(of.data) + 1)
    if chance.random() < 0.1:
        options["stop_position"] = chance.randrange(len(of.data) + 1)
    chosen = DumpOptions(**options)
    with _one_by_one():
        slow = _printed(of, "dump", chosen)
    with _by_shapes():
        fast = _printed(of, "dump by shapes", chosen)
    of.differ("diff-dump", slow, fast)


def _printed(of: Run, name: str, options: DumpOptions) -> Outcome:
    parts: list[bytes] = []
    error: BinlogError | None = None
    # LOAD DATA files get the first unused name.
    (of.folder / "load").mkdir()
    try:
        dump_log(of.source, lambda part: parts.append(bytes(part)), options)
    except BinlogError as caught:
        error = caught
    finally:
        shutil.rmtree(of.folder / "load")
    return of.keep(name, Outcome(b"".join(parts).split(b"\n"), error))
