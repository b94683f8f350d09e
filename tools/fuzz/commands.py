"""Entry points of the command line, in this process."""

from __future__ import annotations

import io
import shutil
import sys

import click
from click.testing import CliRunner

from binlog_kaitai.cli.app import app
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.text.output_text import ENCODING_ERRORS
from tools.fuzz.outcome import Outcome
from tools.fuzz.run import Run

_COMMANDS = (
    ("events",),
    ("events", "--format", "csv"),
    ("rows",),
    ("rows", "--format", "csv"),
    ("stats",),
    ("stats", "--part", "event_types", "--format", "csv"),
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
    """A command writes its output or exits with an error of this package."""
    words = run.chance.choice(_COMMANDS)
    arguments = [word.replace("{folder}", str(run.folder)) for word in words]
    try:
        with CliRunner().isolation():
            for stream in (sys.stdout, sys.stderr):
                assert isinstance(stream, io.TextIOWrapper)
                stream.reconfigure(errors=ENCODING_ERRORS)  # as in `main`
            app.main([*arguments, str(run.path)], standalone_mode=False)
    except BinlogError as error:
        run.keep(f"command {words[0]}", Outcome(None, error))
    except (SystemExit, click.exceptions.Exit):
        pass
    finally:
        shutil.rmtree(run.folder / "lake", ignore_errors=True)
