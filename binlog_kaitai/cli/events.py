"""`binlog-kaitai events`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from binlog_kaitai.cli import options
from binlog_kaitai.cli.following import check_follow, follows, write_followed
from binlog_kaitai.cli.messages import text_output
from binlog_kaitai.cli.progress import progress_over_all

if TYPE_CHECKING:
    from binlog_kaitai.following import Span


@click.command()
@options.sources
@options.filters
@options.formats("table", "json", "csv")
@options.jobs
@follows
def command(
    sources: tuple[str, ...], output: str, jobs: int | None, follow: bool, from_now: bool, **filters: Any
) -> None:
    """List events, one per line.

    With --format json, each line is an object with file, position, end_position, timestamp (seconds since
    1970 UTC), type, type_code, server_id, size, flags, checksum ("ok", "bad", "none"), gtid (of the event's
    transaction, or null) and info (the event's main fields). Events inside a compressed transaction follow
    the event that contains them and share its position.

    With --follow, events are printed as their transactions commit, including those in logs the server starts
    later; Ctrl-C stops it.

    Options marked * may be repeated.

    \b
    Examples:
      binlog-kaitai events binlog.000024
      binlog-kaitai events --format json --event-type query /var/lib/mysql/binlog.index
      binlog-kaitai events --follow --from-now /var/lib/mysql/binlog.index
      binlog-kaitai events --start-datetime '2026-11-20 03:00:00' -t shop.orders binlog.*
    """
    from binlog_kaitai.core.filters import Filters
    from binlog_kaitai.render.listings import event_writer
    from binlog_kaitai.views.event_lines import write_json

    check_follow(follow, from_now)
    stdout = text_output()
    write = event_writer(output, stdout)
    if follow:
        from binlog_kaitai.following.spans import source_of

        def write_span(span: Span, chosen: Filters) -> None:
            for lines in write_json(source_of(span), chosen):
                write(lines)

        write_followed(sources, filters, write_span, from_now=from_now)
        return
    ends: list[Any] = []
    try:
        with progress_over_all(beside_output=True) as progress:
            chosen = Filters.of(**filters)
            for lines in write_json(sources, chosen, ends=ends, progress=progress, threads=jobs):
                write(lines)
    finally:
        stdout.flush()
    options.say_ends(ends)
