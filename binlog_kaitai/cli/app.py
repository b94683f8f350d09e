"""The commands, and what is the same for all of them: exit codes, broken pipes, messages."""

from __future__ import annotations

import gc
import io
import os
import sys
import warnings
from contextlib import suppress
from functools import lru_cache
from importlib import import_module
from typing import NoReturn

import click

import binlog_kaitai
from binlog_kaitai.cli.messages import say, warn
from binlog_kaitai.errors import (
    BinlogError,
    DamagedError,
    NotABinlogError,
    SourceError,
    UsageError,
    out_of_memory,
)
from binlog_kaitai.render.json_text import ENCODING_ERRORS

EXIT_DAMAGED = 1
EXIT_USAGE = 2

#: The commands, as their help begins; a list of them does without loading their modules.
_COMMANDS = {
    "dump": "What mysqlbinlog and mariadb-binlog print, byte for byte.",
    "events": "One line for each event.",
    "explain": "Every byte of an event: offset, hex, field, value, meaning.",
    "export": "Write logs as Parquet files.",
    "fetch": "Keep an archive of a running server's binary logs, byte for byte.",
    "gtids": "Sets of GTIDs: what logs have, and what one has and another does not.",
    "pipeline": "Keep a lake of Parquet files up to date, by Spark.",
    "repair": "Write what is whole in a damaged log as a log without damage.",
    "rows": "One line for each changed row.",
    "slice": "Write the wanted transactions as a log of their own.",
    "sql": "Statements that make changes again, or take them back.",
    "stats": "What happened, when, and to which tables.",
    "transactions": "One line for each transaction.",
    "verify": "Check logs for damage.",
}


class _Commands(click.Group):
    """Loads a command's module when the command is asked for."""

    def invoke(self, ctx: click.Context) -> object:
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
            return result
        except BrokenPipeError:
            # Whoever read the output has had enough; without this, Python complains once more on exit.
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
        command: click.Command = import_module(f"binlog_kaitai.cli.{name}").command
        return command


_SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


@click.group(cls=_Commands, context_settings=_SETTINGS)
@click.version_option(binlog_kaitai.__version__, "-V", "--version")
def app() -> None:
    """See, verify, explain and archive binary logs of MySQL and MariaDB.

    SOURCE is a file, a glob pattern, a directory of logs, a server's .index file, or - for stdin.

    Exit codes: 0 fine; 1 the data is damaged, what and where is on stderr; 2 wrong usage, or a
    file that is not there or is not a binary log; 3, of sql, some of the script is comments only;
    4, of fetch, the server cannot be reached.
    """


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the tool and exit."""
    # Nothing here multiplies matrices: the threads that NumPy starts for that would be waited for.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # What modules are made of stays; looking through it again and again takes a tenth of the start.
    gc.set_threshold(20_000)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=ENCODING_ERRORS)
    # Several passes over the same logs find the same: each warning is printed once.
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
    except (UsageError, SourceError) as error:
        code = _complain(error, EXIT_USAGE)
    except BinlogError as error:
        code = _complain(error, EXIT_DAMAGED)
    except OSError as error:
        # What goes to files is written by those that name them (`writing_to`).
        code = _complain(
            SourceError(f"cannot write: {error.strerror or error}", file=_name_of(error)), EXIT_USAGE
        )
    except MemoryError as error:
        code = _complain(out_of_memory(error), EXIT_USAGE)
    except (KeyboardInterrupt, click.Abort):
        code = 130
    sys.exit(code)


def _name_of(error: OSError) -> str:
    return "stdout" if error.filename is None else os.fsdecode(error.filename)


def _complain(error: BinlogError, code: int) -> int:
    with suppress(OSError):
        sys.stdout.flush()
    warn(error)
    return code
