"""The commands, and their common behavior: exit codes, broken pipes, messages."""

from __future__ import annotations

import atexit
import gc
import io
import os
import stat
import sys
import warnings
from contextlib import suppress
from functools import lru_cache, partial
from importlib import import_module
from importlib.util import find_spec
from typing import NoReturn

import click

import binlog_kaitai
from binlog_kaitai.cli.console import say, warn
from binlog_kaitai.errors import (
    BinlogError,
    ChecksumError,
    DamagedError,
    EncryptedError,
    NotABinlogError,
    SourceError,
    TruncatedError,
    UsageError,
    out_of_memory,
)
from binlog_kaitai.text.output_text import ENCODING_ERRORS

EXIT_DAMAGED = 1
EXIT_USAGE = 2

#: The module of each command, and the first line of its help, so that listing them imports none.
_ALL_COMMANDS = {
    "dump": ("dump.dump_command", "Print a log exactly as mysqlbinlog or mariadb-binlog does."),
    "events": ("cli.listing_commands", "List events, one per line."),
    "explain": ("cli.explain_command", "Show each byte of an event, with its field and its meaning."),
    "export": ("cli.export_command", "Export logs to Parquet files."),
    "fetch": ("live.fetch_command", "Archive a running server's binary logs, byte for byte."),
    "find": (
        "cli.gtids_command",
        "Find the log and position of a time or a GTID, or the transaction at a position.",
    ),
    "gtids": ("cli.gtids_command", "Show the GTIDs in logs; combine and compare GTID sets."),
    "lake": ("lake.lake_command", "Maintain the Delta tables of a pipeline's lake."),
    "logs": ("cli.check_commands", "List logs, one per line, and what is missing between them."),
    "pipeline": (
        "pipeline.pipeline_command",
        "Load new changes into Delta or Iceberg tables, with Spark or without.",
    ),
    "repair": ("cli.check_commands", "Recover the intact transactions of a damaged log."),
    "rows": ("cli.listing_commands", "List changed rows, one per line."),
    "slice": ("cli.check_commands", "Copy selected transactions into a new log."),
    "sql": ("cli.sql_command", "Generate SQL that replays changes, or reverts them."),
    "stats": ("statistics.stats_command", "Summarize what happened, when, and to which tables."),
    "transactions": ("cli.listing_commands", "List transactions, one per line."),
    "verify": ("cli.check_commands", "Check logs for damage."),
}

#: The help of the commands whose folder is there: each leaf of the package can be left out.
_COMMANDS = {
    name: text
    for name, (module, text) in _ALL_COMMANDS.items()
    if find_spec(f"binlog_kaitai.{module.partition('.')[0]}")
}


class _Commands(click.Group):
    """Loads a command's module on first use."""

    def invoke(self, ctx: click.Context) -> object:
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
            return result
        except BrokenPipeError:
            # The reader closed the pipe; without this, Python prints another error on exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise click.exceptions.Exit(0) from None

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in _COMMANDS:
            return None
        module = import_module(f"binlog_kaitai.{_ALL_COMMANDS[name][0]}")
        command: click.Command = getattr(module, name)
        if not isinstance(command, click.Group):
            from binlog_kaitai.cli.shared_options import format_options

            command.format_options = partial(format_options, command)  # type: ignore[method-assign]
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in _COMMANDS and not args[0].startswith("-"):
            from difflib import get_close_matches

            near = get_close_matches(args[0], _COMMANDS, 1)
            ctx.fail(f"No such command {args[0]!r}." + (f" Did you mean {near[0]!r}?" if near else ""))
        return super().resolve_command(ctx, args)


_SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


@click.group(cls=_Commands, context_settings=_SETTINGS)
@click.version_option(binlog_kaitai.__version__, "-V", "--version")
def app() -> None:
    """Read, verify, explain and archive MySQL and MariaDB binary logs.

    SOURCE is a file, a glob pattern, a directory of logs, a server's .index file, - for stdin, or a running
    server: mysql://USER@HOST/.

    Exit codes: 0 success; 1 the log is damaged (details on stderr); 2 usage error, or a file is
    missing or is not a binary log; 3 the script of sql is incomplete, or verify misses logs of a
    series; 4 (fetch) the server cannot be reached.
    """


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the tool and exit."""
    # Matrix multiplication is not used: do not start NumPy's threads for it, which delay the exit.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Arrow's own allocator keeps what it has freed, beside what the C library keeps.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    # The objects of modules are permanent; repeatedly scanning them takes a tenth of the start.
    # What survives one scan is scanned again soon: bodies of table maps may take megabytes each.
    gc.set_threshold(100_000, 3)
    # Skip the interpreter's final search for cycles, which takes as long.
    atexit.register(gc.freeze)
    # Like a server's, the files that are written are not for everybody.
    os.umask(os.umask(stat.S_IRWXO) | stat.S_IRWXO | stat.S_IWGRP)
    _open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=ENCODING_ERRORS)
    # Several passes over the same logs repeat warnings: print each of them once.
    warn_once = lru_cache(maxsize=None)(lambda text: warn(f"warning: {text}"))
    warnings.showwarning = lambda message, *_: warn_once(str(message))
    try:
        app.main(arguments, prog_name="binlog-kaitai", standalone_mode=False)
        code = 0
    except click.exceptions.Exit as request:
        code = request.exit_code
    except click.ClickException as error:
        text = io.StringIO()
        error.show(file=text)
        for line in text.getvalue().rstrip("\n").split("\n"):
            say(line, err=True)
        code = EXIT_USAGE
    except NotABinlogError as error:
        code = _complain(error, EXIT_DAMAGED if isinstance(error, DamagedError) else EXIT_USAGE)
    except (UsageError, SourceError, EncryptedError) as error:
        code = _complain(error, EXIT_USAGE)
    except BinlogError as error:
        code = _complain(error, EXIT_DAMAGED)
        if isinstance(error, (ChecksumError, TruncatedError)):
            warn("to save what is intact, write a new log: binlog-kaitai repair --to NEW LOG")
    except OSError as error:
        # Errors in writing files are handled where the files are opened (`writing_to`).
        name = "stdout" if error.filename is None else os.fsdecode(error.filename)
        code = _complain(SourceError(f"cannot write: {error.strerror or error}", file=name), EXIT_USAGE)
    except MemoryError as error:
        code = _complain(out_of_memory(error), EXIT_USAGE)
    except (KeyboardInterrupt, click.Abort):
        code = 130
    sys.exit(code)


def _open_closed_streams() -> None:
    """Open the standard streams that are closed, so that no other file gets their numbers.

    Text for stdout is an error then, and messages are lost.
    """
    for number, mode in enumerate((os.O_RDONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, mode)
    # Without a buffer, whose content would fail once more at exit.
    sys.stdout = sys.stdout or io.TextIOWrapper(io.FileIO(1, "w", closefd=False), write_through=True)
    sys.stderr = sys.stderr or io.TextIOWrapper(io.FileIO(2, "w", closefd=False), write_through=True)


def _complain(error: BinlogError, code: int) -> int:
    with suppress(OSError):
        sys.stdout.flush()
    warn(error)
    return code
