"""`binlog-kaitai verify`."""

from __future__ import annotations

import sys

import click

from binlog_kaitai.cli import options
from binlog_kaitai.cli.progress import progress_over
from binlog_kaitai.render.json_text import to_json


@click.command()
@options.sources
@options.formats("text", "json")
def command(sources: tuple[str, ...], output: str) -> None:
    """Check logs for damage: frames, positions, checksums, bodies, continuity of GTIDs.

    Says what is fine and names each damage; exits 1 if there is any. A gap between GTIDs is told, but is no
    damage by itself. With --format json a line is an object for each file.

    \b
    Examples:
      binlog-kaitai verify /var/lib/mysql/binlog.index
      binlog-kaitai verify --format json binlog.0000* | jq 'select(.ok | not)'
    """
    from binlog_kaitai.columns.verify import scan
    from binlog_kaitai.render.report import report_lines, report_object
    from binlog_kaitai.sources import resolve

    damage_count = 0
    for source in resolve(sources):
        with progress_over(source) as advance:
            report = scan(source, advance)
        damage_count += report.damage_count
        lines = [to_json(report_object(report))] if output == "json" else report_lines(report)
        for line in lines:
            click.echo(line)
    if damage_count:
        click.echo(f"binlog-kaitai: damaged in {damage_count} places", err=True)
        sys.exit(1)
