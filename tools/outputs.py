"""Digests of everything that the commands print and the functions return, log by log.

Two runs, before and after a change, show whether it changes any output::

    python -m tools.outputs /tmp/before.txt --every 10
    python -m tools.outputs /tmp/after.txt --every 10
    diff /tmp/before.txt /tmp/after.txt
"""

from __future__ import annotations

import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path

import click
import pyarrow as pa

import binlog_kaitai as bk
from binlog_kaitai.cli import main as run_command
from tests.corpus_files import SPECIAL, logs, special_cases

#: Commands with their options. LOG is replaced by the path of the log, NEW by that of a new file or
#: folder, FOLDER by that of its folder.
COMMANDS = (
    "dump -l FOLDER LOG",
    "dump -l FOLDER -vv LOG",
    "dump -l FOLDER -vv --base64-output decode-rows --print-table-metadata LOG",
    "dump -l FOLDER -H LOG",
    "dump -l FOLDER -s LOG",
    "dump -l FOLDER --flashback LOG",
    "events LOG",
    "events --format json LOG",
    "events --format csv LOG",
    "explain LOG",
    "explain --format json LOG",
    "gtids LOG",
    "gtids --format json LOG",
    "rows LOG",
    "rows --format json LOG",
    "rows --format csv LOG",
    "rows --format debezium LOG",
    "sql LOG",
    "sql --undo --allow-unnamed LOG",
    "stats LOG",
    "stats --format json LOG",
    "stats --part tables --format csv LOG",
    "transactions LOG",
    "transactions --format json LOG",
    "transactions --format csv LOG",
    "verify LOG",
    "verify --format json LOG",
    "export --view changes --to NEW LOG",
    "export --view events --to NEW LOG",
    "export --view transactions --to NEW LOG",
    "repair --format json --to NEW LOG",
    "slice --to NEW LOG",
)

FUNCTIONS: dict[str, Callable[[str], object]] = {
    "read_changes": lambda log: _table(bk.read_changes(log)),
    "read_ddl": lambda log: _table(bk.read_ddl(log)),
    "read_events": lambda log: _table(bk.read_events(log)),
    "read_rows": lambda log: list(bk.read_rows(log)),
    "read_transactions": lambda log: _table(bk.read_transactions(log)),
    "sql_script": lambda log: list(bk.sql_script(log, allow_unnamed=True)),
    "verify": lambda log: list(bk.verify(log)),
    "open": lambda log: [(event.position, event.type, event.raw) for event in bk.open(log)],
}


def _table(batches: pa.RecordBatchReader) -> tuple[str, list[dict[str, object]]]:
    table = batches.read_all()
    return table.schema.to_string(), table.to_pylist()


def outputs_of(log: Path) -> Iterator[tuple[str, bytes]]:
    """What each command and function gives for a log: its name, and the output as bytes."""
    for command in COMMANDS:
        with tempfile.TemporaryDirectory() as folder:
            new = Path(folder, "new")
            words = {"LOG": str(log), "NEW": str(new), "FOLDER": folder}
            printed = _printed([words.get(word, word) for word in command.split()])
            printed += b"".join(_contents(path) for path in sorted(Path(folder).rglob("*")))
            yield command, printed.replace(folder.encode(), b"")
    for name, function in FUNCTIONS.items():
        with warnings.catch_warnings(record=True) as messages:
            warnings.simplefilter("always")
            try:
                returned = repr(function(str(log)))
            except bk.BinlogError as error:
                returned = repr(error)
        yield f"{name}()", f"{returned} {[str(said.message) for said in messages]}".encode(errors="replace")


def _contents(path: Path) -> bytes:
    return path.name.encode() + path.read_bytes() if path.is_file() else b""


def _printed(arguments: list[str]) -> bytes:
    """Exit code, standard output and standard error of a command."""
    saved = [os.dup(number) for number in (1, 2)]
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as messages:
        try:
            os.dup2(output.fileno(), 1)
            os.dup2(messages.fileno(), 2)
            with warnings.catch_warnings():
                try:
                    run_command(arguments)
                except SystemExit as request:
                    code = request.code
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            for number, copy in enumerate(saved, 1):
                os.dup2(copy, number)
                os.close(copy)
        for file in (output, messages):
            file.seek(0)
        return f"exit code {code}\n".encode() + output.read() + messages.read()


@click.command(help=(__doc__ or "").partition("\n")[0])
@click.argument("result", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--every", type=click.IntRange(1), default=1, help="Only every Nth log.")
def main(result: Path, every: int) -> None:
    special = (log for kind in SPECIAL for case in special_cases(kind) for log in case.logs)
    corpus = [*(log.path for log in logs()), *special]
    root = Path(__file__).resolve().parents[1]
    os.chdir(root)
    with result.open("w") as file:
        for log in corpus[::every]:
            name = log.relative_to(root)
            for output, data in outputs_of(name):
                file.write(f"{name}  {output}  {sha256(data).hexdigest()[:20]}\n")


if __name__ == "__main__":
    main()
