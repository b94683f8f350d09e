"""Entries of the command line, in this process."""

from __future__ import annotations

from click.testing import CliRunner

from binlog_kaitai.cli.app import app
from binlog_kaitai.errors import BinlogError
from tools.fuzz.outcome import Outcome, of_exception
from tools.fuzz.run import Run

_COMMANDS = (
    ("events",),
    ("events", "--format", "csv"),
    ("rows",),
    ("rows", "--format", "csv"),
    ("stats",),
    ("stats", "--part", "transactions", "--format", "csv"),
    ("explain",),
    ("explain", "--format", "json"),
    ("verify",),
    ("verify", "--format", "json", "--thorough"),
    ("dump", "-vv"),
    ("sql", "--allow-unnamed"),
    ("sql", "--undo"),
    ("stats", "--html", "{folder}/page.html"),
    ("export", "--to", "{folder}/lake", "--view", "changes"),
    ("repair", "--to", "{folder}/new.000001", "--overwrite", "--format", "json"),
    ("slice", "--to", "{folder}/new.000001", "--overwrite"),
)


def command(run: Run) -> None:
    """A command prints, or ends with an error of this package."""
    words = run.chance.choice(_COMMANDS)
    arguments = [word.replace("{folder}", str(run.folder)) for word in words]
    done = CliRunner().invoke(app, [*arguments, str(run.path)])
    name = f"command {words[0]}"
    error = done.exception
    if isinstance(error, BinlogError):
        run.keep(name, Outcome(None, error))
    elif error is not None and not isinstance(error, SystemExit):
        run.problems.append(of_exception(name.replace(" ", "-"), error))
