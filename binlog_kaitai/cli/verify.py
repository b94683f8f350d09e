"""`binlog-kaitai verify`."""

from __future__ import annotations

import sys

import click

from binlog_kaitai.cli import options
from binlog_kaitai.cli.messages import print_json, say, warn
from binlog_kaitai.cli.progress import progress_over
from binlog_kaitai.render.output_text import to_json


@click.command()
@options.sources
@options.formats("text", "json")
@options.jobs
@click.option("--thorough", is_flag=True, help="Check every body and row, even if its checksum is correct.")
def command(sources: tuple[str, ...], output: str, jobs: int | None, thorough: bool) -> None:
    """Check logs for damage.

    Checks event boundaries, positions, checksums, bodies, rows and the continuity of GTIDs. Prints a summary
    and lists all damage. Exits 1 if a log is damaged, else 2 if a file could not be
    checked: its key is missing, or it is not a binary log. GTID gaps within a log and between the given logs
    are reported but do not count as damage. With --format json, each line is one
    file's report.

    In logs without checksums, every body and row is checked. In logs with checksums, every body of the rare
    event types and the first ones of the common types; --thorough checks every body and row, and finds
    everything that another command would reject.

    \b
    Examples:
      binlog-kaitai verify /var/lib/mysql/binlog.index
      binlog-kaitai verify --format json binlog.0000* | jq 'select(.ok | not)'
    """
    from binlog_kaitai.check.damage_scan import scan
    from binlog_kaitai.check.verify_logs import Coverage
    from binlog_kaitai.ddl.definitions import SeriesDefinitions
    from binlog_kaitai.render.check_reports import counted, report_lines, report_object
    from binlog_kaitai.sources.source import resolve

    damage_count = not_checked = 0
    definitions = SeriesDefinitions()
    coverage = Coverage()
    for source in resolve(sources):
        with progress_over(source) as advance:
            report = scan(source, advance, is_thorough=thorough, definitions=definitions, threads=jobs)
        damage_count += report.damage_count
        not_checked += report.not_checked is not None
        coverage.take(report)
        if output == "json":
            print_json(to_json(report_object(report)))
            continue
        for line in report_lines(report):
            say(line)
    if not_checked:
        warn(f"not checked: {counted(not_checked, 'file')}")
    if damage_count:
        warn(f"damage in {counted(damage_count, 'place')}")
    if damage_count or not_checked:
        sys.exit(1 if damage_count else 2)
