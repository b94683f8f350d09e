"""`binlog-kaitai repair`."""

from __future__ import annotations

import sys

import click

from binlog_kaitai.cli import options
from binlog_kaitai.cli.messages import print_json, say, warn
from binlog_kaitai.cli.progress import progress_over
from binlog_kaitai.errors import UsageError
from binlog_kaitai.render.output_text import to_json


@click.command()
@click.argument("source", metavar="SOURCE")
@options.keys
@click.option("--to", "target", type=options.LocalPath(), metavar="FILE", required=True, help="The new log.")
@click.option("--keep-partial", is_flag=True, help="Also keep intact events of incomplete transactions.")
@click.option(
    "--format-from", metavar="LOG", help="Use the format description of this log, from the same server."
)
@click.option("--overwrite", is_flag=True, help="Overwrite an existing file.")
@options.formats("text", "json")
def command(
    source: str, target: str, keep_partial: bool, format_from: str | None, overwrite: bool, output: str
) -> None:
    """Recover the intact transactions of a damaged log into a new log.

    Keeps every intact event, except those of transactions that lost a part. Rewrites positions and
    checksums, and marks the new log as closed. Reports what was lost or dropped, and verifies the new log
    before it exits. Exits 1 if the layout of the events cannot be established, or if nothing could be kept.

    \b
    Examples:
      binlog-kaitai repair binlog.000066 --to repaired.000066
      binlog-kaitai repair binlog.000066 --to repaired.000066 --format json | jq .dropped
    """
    from binlog_kaitai.check import repair
    from binlog_kaitai.render.check_reports import repair_lines, repair_object
    from binlog_kaitai.sources.source import resolve

    sources = resolve(source)
    if len(sources) != 1:
        raise UsageError("matches several logs; repair one at a time", file=source)
    format_logs = resolve(format_from) if format_from else []
    options.refuse_inputs(target, [source, format_from])
    with progress_over(sources[0]) as advance:
        done = repair(
            sources[0],
            target,
            keep_partial=keep_partial,
            format_from=format_logs[0] if format_logs else None,
            overwrite=overwrite,
            progress=advance,
        )
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
