"""`binlog-kaitai verify`."""

from __future__ import annotations

import sys

import click

from binlog_kaitai.cli import options
from binlog_kaitai.cli.messages import say, warn
from binlog_kaitai.cli.progress import progress_over
from binlog_kaitai.render.json_text import to_json


@click.command()
@options.sources
@options.formats("text", "json")
@click.option("--thorough", is_flag=True, help="Check all bodies and rows, also under checksums that fit.")
def command(sources: tuple[str, ...], output: str, thorough: bool) -> None:
    """Check logs for damage.

    Checks frames, positions, checksums, bodies, rows and the continuity of GTIDs. Says what is fine and names
    each damage; exits 1 if there is any, 2 if a file is not a binary log. Gaps between GTIDs are reported,
    inside a log and between logs that are named together, but are no damage by themselves. With --format json
    a line is an object for each file.

    In logs without checksums all bodies and rows are checked. In logs with checksums, all bodies of rare
    types and a part of the common ones, unless --thorough is given: it checks every body and every row, and
    names whatever any other command refuses.

    \b
    Examples:
      binlog-kaitai verify /var/lib/mysql/binlog.index
      binlog-kaitai verify --format json binlog.0000* | jq 'select(.ok | not)'
    """
    from binlog_kaitai.columns.verify.logs import Coverage
    from binlog_kaitai.columns.verify.scan import scan
    from binlog_kaitai.ddl.series import SeriesDefinitions
    from binlog_kaitai.render.report import counted, report_lines, report_object
    from binlog_kaitai.sources.source import resolve

    damage_count = not_logs = 0
    definitions = SeriesDefinitions()
    coverage = Coverage()
    for source in resolve(sources):
        with progress_over(source) as advance:
            report = scan(source, advance, is_thorough=thorough, definitions=definitions)
        damage_count += report.damage_count
        not_logs += not report.is_log
        coverage.take(report)
        if output == "json":
            click.echo(to_json(report_object(report)))
            continue
        for line in report_lines(report):
            say(line)
    if damage_count and damage_count == not_logs:
        warn(f"{counted(not_logs, 'file')} not a binary log")
        sys.exit(2)
    if damage_count:
        warn(counted(damage_count, "damage"))
        sys.exit(1)
