"""What `binlog-kaitai pipeline` reports: before a run, after each batch, and at the end."""

from __future__ import annotations

import os
import re
import traceback
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from binlog_kaitai.cli.console import say, warn
from binlog_kaitai.errors import BinlogError, UsageError
from binlog_kaitai.following.checkpoints import Checkpoint
from binlog_kaitai.following.follower import Follower
from binlog_kaitai.lake.batches import Lake
from binlog_kaitai.lake.place import WORK
from binlog_kaitai.lake.preview import PlannedTable, Preview, preview
from binlog_kaitai.lake.rules import Rules
from binlog_kaitai.lake.state_tables import Updated
from binlog_kaitai.lake.storage import Storage
from binlog_kaitai.pipeline.fleet import PAUSE
from binlog_kaitai.pipeline.followed_logs import checkpoint_of
from binlog_kaitai.pipeline.progress import Progress, ProgressFiles, size_text
from binlog_kaitai.rows.change_schemas import META_FIELDS
from binlog_kaitai.sources import is_server

if TYPE_CHECKING:
    from binlog_kaitai.pipeline.pipeline import Job


def work_of(lake: str) -> str:
    """The directory for what only the driver needs: in a lake on this machine, or else the user's."""
    storage = Storage(lake)
    if storage.is_local:
        return os.path.join(storage.url, WORK)
    base = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
    return os.path.join(base, "binlog-kaitai", "lakes", re.sub(r"[^A-Za-z0-9.-]+", "_", storage.name))


def spool_of(paths: Sequence[str], spool: str | None, lake: str, work: str, rules: Rules) -> str | None:
    """Where to keep the logs of a server: in the directory for work; None for the default outside the lake.

    Raises `UsageError`: the spool would be in a lake with masks, and has all values.
    """
    if not any(map(is_server, paths)):
        return spool
    storage = Storage(lake)
    if not rules.masks or not storage.is_local:
        return os.path.join(work, "spool") if spool is None else spool
    if spool is not None and Path(spool).resolve().is_relative_to(Path(storage.url).resolve()):
        raise UsageError("--spool: a lake with masks cannot contain the logs; use a directory outside it")
    return spool


#: Columns that every table of changes has.
_EVERY = frozenset(field.name for field in META_FIELDS)


class Reports:
    """Reports the batches of a job on stdout and in files, and at the end what the user should know.

    `outdated`: tables that have no state now.
    """

    def __init__(self, job: Job, files: ProgressFiles) -> None:
        self.job = job
        self._prefix = f"{job.source}: " if job.source else ""
        self._masks = job.rules.masks
        self._files = files
        self._tables: set[str] = set()
        self._refused: set[tuple[str, str]] = set()
        self.outdated: set[str] = set()
        if self._masks and set(job.views) & {"events", "transactions"}:
            masked = "columns are masked: the text of statements, which may contain their values, is left out"
            warn(f"{self._prefix}{masked}")

    def take(self, progress: Progress) -> None:
        say(progress.line())
        for text in progress.warnings:
            warnings.warn(f"{self._prefix}{text}", stacklevel=1)
        self._tables |= progress.tables
        self._files.take(progress)

    def take_snapshot(self, line: str) -> None:
        say(f"{self._prefix}{line}", err=True)

    def take_failure(self, error: Exception, *, retries: bool) -> None:
        """Report why the source cannot be loaded, while others are."""
        if not isinstance(error, BinlogError):
            say("".join(traceback.format_exception(error)), err=True)
        warn(f"{self._prefix}{error}{f'; another try in {PAUSE:.0f} s' if retries else ''}")
        self._files.take_failure(self.job.source)

    def take_state(self, table: Updated) -> None:
        """Name a table that has no state, or not all columns in it, once."""
        (self.outdated.add if table.reason else self.outdated.discard)(f"{self._prefix}state/{table.name}")
        text = table.reason or table.note
        if text and (table.name, text) not in self._refused:
            self._refused.add((table.name, text))
            warn(f"{self._prefix}state/{table.name}: {text}")

    def end(self) -> None:
        """Name rules for columns of tables that no batch had: they may be misspelt."""
        if self._masks and self._tables:
            for rule in self._masks.unseen(self._tables):
                warn(f"warning: {self._prefix}no table of this run has columns {rule}")


def show_preview(job: Job) -> None:
    """Print what a run would load.

    Raises `BinlogError`: the logs cannot be read, or the rules do not fit a table.
    """
    following = job.following
    if following.server is not None:
        raise UsageError("--dry-run reads logs, not a running server; fetch its logs and name them")
    lake = Lake(job.lake, job.format, job.source_in_lake, storage_options=job.storage_options)
    lake.check()
    ddl = following.ddl or (None if lake.plan is None else lake.plan.ddl)
    follower = Follower(
        following.paths,
        fails_on_loss=following.fails_on_data_loss,
        follows_definitions=True,
        ddl=ddl,
        split_size=following.split_size,
    )
    plan = preview(
        follower,
        _start_of(lake, job, follower),
        max_bytes=following.max_bytes,
        kind=job.format,
        rules=job.rules,
        tables=job.tables,
        ddl=ddl,
        zero_dates=job.zero_dates,
    )
    if job.source:
        say(f"== {job.source}")
    _show(plan, has_changes="changes" in job.views)


def _start_of(lake: Lake, job: Job, follower: Follower) -> Checkpoint:
    """Where a run would begin: after the last batch of the lake."""
    if lake.plan is not None and lake.plan.end is not None:
        offset = lake.plan.end if lake.is_complete else lake.plan.start
        assert offset is not None
        return checkpoint_of(offset)
    starting = job.following.starting
    if not isinstance(starting, str):
        return follower.place(starting)
    return follower.latest() if starting == "latest" else follower.earliest()


def _show(plan: Preview, *, has_changes: bool) -> None:
    if not plan.batches:
        say("nothing to load")
        return
    logs, batches, tasks = (
        _count(*pair) for pair in ((plan.logs, "log"), (plan.batches, "batch"), (plan.tasks, "task"))
    )
    say(f"{size_text(plan.bytes)} of {logs}, {batches}, {tasks}")
    say(f"from {plan.start.file}, position {plan.start.position}")
    say(f"to {plan.end.file}, position {plan.end.position}")
    for name, table in plan.tables.items() if has_changes else ():
        _show_table(name, table)


def _show_table(name: str, table: PlannedTable) -> None:
    server = f" ({table.name} on the server)" if table.name != name else ""
    say("")
    say(f"changes/{name}{server}: {_count(table.rows, 'row')}, {size_text(table.bytes)}")
    for column, kind in table.columns.items():
        if column in _EVERY:
            continue
        how = table.masked.get(column)
        say(f"  {column}: {kind}{f', {how}' if how else ''}")
    for column, how in table.masked.items():
        if column not in table.columns:
            say(f"  {column}: {how}")


def _count(number: int, noun: str) -> str:
    plural = noun if number == 1 else f"{noun}es" if noun.endswith("ch") else f"{noun}s"
    return f"{number:,} {plural}"
