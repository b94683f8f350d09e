"""Commands for whole logs, damaged ones, and parts of logs: `logs`, `verify`, `repair` and `slice`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from binlog_kaitai.cli import shared_options as options
from binlog_kaitai.cli.console import print_json, progress_over, say, text_output, warn
from binlog_kaitai.sources.source import Source
from binlog_kaitai.text.output_text import to_json

if TYPE_CHECKING:
    from binlog_kaitai.check.verify_report import Report


@click.command()
@options.sources
@options.formats("text", "json")
@options.jobs
@options.flag("--thorough", "Check every body and row, even if its checksum is correct.")
def verify(sources: tuple[str, ...], output: str, jobs: int | None, thorough: bool) -> None:
    """Check logs for damage.

    Checks event boundaries, positions, checksums, bodies, rows, and whether each log continues the one before
    it in its series (folder, name, server). Prints a summary and lists all damage. Exits 1 if a log is
    damaged; else 2 if a file could not be checked: its key is missing, or it is not a binary log; else 3 if
    logs are missing between the given ones, or one is a half copy. GTID gaps within a log are reported but do
    not count as damage. With --format json, each line is one file's report.

    In logs without checksums, every body and row is checked; in logs with checksums, all bodies of rare event
    types and the first ones of common types. --thorough checks every body and row, and finds everything that
    another command would reject.

    \b
    Examples:
      binlog-kaitai verify /var/lib/mysql/binlog.index
      binlog-kaitai verify --format json binlog.0000* | jq 'select(.ok | not)'
    """
    from binlog_kaitai.render.check_reports import report_lines, report_object
    from binlog_kaitai.sources.source import resolve

    def write(report: Report) -> None:
        if output == "json":
            print_json(to_json(report_object(report)))
            return
        for line in report_lines(report):
            say(line)

    _check(resolve(sources), write, jobs=jobs, is_thorough=thorough)


@click.command()
@options.sources
@options.zone
@options.formats("table", "json", "csv")
@options.jobs
def logs(sources: tuple[str, ...], output: str, jobs: int | None) -> None:
    """List logs, one per line, and what is missing between them.

    Each line has the log, its server's ID and version, the times when it was begun and closed, its size, the
    number of its transactions, its state (closed; active: in use; half copy; truncated; encrypted; DAMAGED)
    and its GTIDs. The logs of a server follow each other, and a line before a log says what is missing
    between it and the one before. Reads and checks all logs, as `verify` does, with the same exit codes.

    With --format json, each line is an object with some of the fields of verify's reports.

    \b
    Examples:
      binlog-kaitai logs /var/lib/mysql/binlog.index
      binlog-kaitai logs /backup/db1 /backup/db2
      binlog-kaitai logs --format json binlog.* | jq 'select(.gap_before)'
    """
    from binlog_kaitai.lines.listings import log_writer
    from binlog_kaitai.log.series import by_series
    from binlog_kaitai.render.check_reports import report_object
    from binlog_kaitai.sources.source import resolve

    in_order = [log for series in by_series(resolve(sources)) for log in series]
    stdout = text_output(is_table=output == "table")
    has_folders = len({os.path.dirname(log.name) for log in in_order}) > 1
    write = log_writer(output, stdout, has_folders=has_folders)
    _check(in_order, lambda report: write(report_object(report)), jobs=jobs)
    stdout.flush()


def _check(
    logs: list[Source], write: Callable[[Report], object], *, jobs: int | None, is_thorough: bool = False
) -> None:
    """Check logs, write the report on each, and exit with the code of what was found."""
    from binlog_kaitai.check.damage_scan import verify
    from binlog_kaitai.render.check_reports import counted

    damage_count = not_checked = incomplete = 0

    def advance(source: Source, position: int) -> None:
        show(source, position)

    reports = verify(logs, thorough=is_thorough, threads=jobs, progress=advance)
    for _ in logs:
        with progress_over() as show:  # closed before the report is written
            report = next(reports)
        damage_count += report.damage_count
        not_checked += report.not_checked is not None
        incomplete += report.lacks_transactions
        write(report)
    if not_checked:
        warn(f"not checked: {counted(not_checked, 'file')}")
    if damage_count:
        warn(f"damage in {counted(damage_count, 'place')}")
    if incomplete:
        warn(f"not all transactions of the series are there: see {counted(incomplete, 'log')}")
    if damage_count or not_checked or incomplete:
        sys.exit(1 if damage_count else 2 if not_checked else 3)


@click.command()
@click.argument("source", metavar="SOURCE")
@options.keys
@options.new_file("--to target", "The new log.", required=True)
@options.flag("--keep-partial", "Also keep intact events of incomplete transactions.")
@options.option("--format-from", "Use the format description of this log, from the same server.", "LOG")
@options.flag("--overwrite", "Overwrite an existing file.")
@options.formats("text", "json")
def repair(source: str, target: str, output: str, **chosen: Any) -> None:
    """Recover the intact transactions of a damaged log.

    Writes a new log with every intact event, except those of transactions that lost a part. Rewrites
    positions and checksums, and marks the new log as closed. Reports what was lost or dropped, and verifies
    the new log before it exits. Exits 1 if the layout of the events cannot be established, or if nothing
    could be kept.

    \b
    Examples:
      binlog-kaitai repair binlog.000066 --to repaired.000066
      binlog-kaitai repair --format json binlog.000066 --to new.log | jq .dropped
    """
    from binlog_kaitai.check.repair import repair
    from binlog_kaitai.render.check_reports import repair_lines, repair_object

    options.refuse_inputs(target, [source, chosen["format_from"]])
    with progress_over() as progress:
        done = repair(source, target, progress=progress, **chosen)
    if output == "json":
        print_json(to_json(repair_object(done)))
    else:
        for line in repair_lines(done):
            say(line)
    if done.is_empty or done.lacks_format:
        reason = "nothing could be recovered" if done.is_empty else "complete transactions had to be dropped"
        hint = "; --format-from LOG may help" if done.is_empty else ""
        warn(f"{source}: {reason}{hint}")
        sys.exit(1)


@click.command()
@options.sources
@options.new_file(
    "--to target", "The new log; for several logs, a directory.", metavar="FILE|DIR", required=True
)
@options.flag("--overwrite", "Overwrite existing files.")
@options.changes
@options.columns
@options.ddl
@options.filters
def slice(
    sources: tuple[str, ...],
    target: str,
    **chosen: Any,
) -> None:
    """Copy selected transactions into a new log.

    A transaction is copied in full if it matches all filters: by its start (position, time, GTID, server), or
    by any of its events (schema, table, type), or by any of its row changes (--operation, --where, --column).
    With several logs, DIR receives one log of the same name for each.

    With --mask COLUMNS=null, or columns that are left out, the new log has NULL in their place, and no text
    of statements: a log to send to others. All its columns: --mask '*.*.*=null'.

    \b
    Examples:
      binlog-kaitai slice binlog.000066 --to incident.000066 --table shop.orders
      binlog-kaitai slice binlog.0000* --to incident/ --start-datetime -2h
      binlog-kaitai slice binlog.000066 --to row.66 -t shop.orders --where id=42
      binlog-kaitai slice binlog.000066 --to masked.000066 --mask '*.*.email=null'
    """
    from binlog_kaitai.check.slices import slice
    from binlog_kaitai.render.check_reports import slice_line

    options.refuse_inputs(target, sources)
    with progress_over() as progress:
        done = slice(sources, target, progress=progress, **chosen)
    for part in done:
        say(slice_line(part))
