"""`binlog-kaitai slice`."""

from __future__ import annotations

import os
from typing import Any

import click

from binlog_kaitai.cli import options
from binlog_kaitai.cli.messages import say
from binlog_kaitai.cli.progress import watched
from binlog_kaitai.errors import UsageError, writing_to
from binlog_kaitai.sources.source import Source


@click.command()
@options.sources
@click.option(
    "--to",
    "target",
    type=options.LocalPath(),
    metavar="FILE|DIR",
    required=True,
    help="The new log; for several logs, a directory.",
)
@click.option("--overwrite", is_flag=True, help="Overwrite existing files.")
@options.filters
def command(sources: tuple[str, ...], target: str, overwrite: bool, **filters: Any) -> None:
    """Copy selected transactions into a new log.

    A transaction is copied in full if it matches all filters: by its start (position, time, GTID, server),
    or by any of its events (schema, table, type). With several logs, FILE is a directory that receives one
    log of the same name for each.

    Options marked * may be repeated.

    \b
    Examples:
      binlog-kaitai slice binlog.000066 --to incident.000066 --table shop.orders
      binlog-kaitai slice binlog.0000* --to incident/ --start-datetime '2026-11-20 03:00'
    """
    from binlog_kaitai.check import slice_log
    from binlog_kaitai.render.check_reports import slice_line
    from binlog_kaitai.sources.source import resolve

    logs = resolve(sources)
    targets = _targets(logs, target)
    for path in targets:
        options.refuse_inputs(path, sources)
    with watched(logs, beside_output=True) as watched_logs:
        for done in slice_log(watched_logs, targets, overwrite=overwrite, **filters):
            say(slice_line(done))


def _targets(logs: list[Source], target: str) -> list[str]:
    """The output path for each log."""
    if len(logs) == 1 and not os.path.isdir(target) and not target.endswith(os.sep):
        return [target]
    if os.path.isfile(target):
        raise UsageError(f"cannot write {len(logs)} logs to one file; use a directory", file=target)
    names = [os.path.basename(log.name) for log in logs]
    if len(set(names)) < len(names):
        raise UsageError("several logs have the same name; slice them one at a time", file=target)
    with writing_to(target):
        os.makedirs(target, exist_ok=True)
    return [os.path.join(target, name) for name in names]
