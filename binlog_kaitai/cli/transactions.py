"""`binlog-kaitai transactions`."""

from __future__ import annotations

from typing import Any

import click

from binlog_kaitai.cli import options
from binlog_kaitai.cli.messages import text_output
from binlog_kaitai.cli.progress import progress_over_all


@click.command()
@options.sources
@click.option(
    "--sort",
    type=click.Choice(("size", "duration", "rows", "events")),
    help="Sort in descending order; default: log order.",
)
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Print at most N transactions.")
@options.filters
@options.formats("table", "json", "csv")
@options.ddl
def command(
    sources: tuple[str, ...],
    sort: str | None,
    limit: int | None,
    output: str,
    ddl: str | None,
    **filters: Any,
) -> None:
    """List transactions, one per line.

    Each line has file and position, commit time, GTID, how the transaction ended (commit, rollback,
    xa_prepare, ddl, implicit, or open if its end is not in the file), duration, size in the file, number of
    events and changed rows, connection ID, and the tables it changed or its DDL statement.

    With --format json, each line is an object with the columns of the transactions view; times are seconds
    since 1970 UTC.

    Filters select whole transactions: positions and times are those of the start; any event may match
    --table, --database or --event-type. With --sort, nothing is printed if a log is damaged.

    Options marked * may be repeated.

    \b
    Examples:
      binlog-kaitai transactions --sort size --limit 10 binlog.*
      binlog-kaitai transactions --sort duration --limit 10 -t shop.orders binlog.000024
      binlog-kaitai transactions --format json binlog.000024 | jq 'select(.thread_id == 42) | .gtid'
    """
    from binlog_kaitai.core.filters import Filters
    from binlog_kaitai.render.listings import transaction_writer
    from binlog_kaitai.views.transaction_lines import write_transactions

    stdout = text_output()
    write = transaction_writer(output, stdout)
    ends: list[Any] = []
    try:
        with progress_over_all(beside_output=sort is None) as progress:
            chosen = Filters.of(**filters)
            for lines in write_transactions(
                sources, chosen, ddl=ddl, sort=sort, limit=limit, ends=ends, progress=progress
            ):
                write(lines)
    finally:
        stdout.flush()
    options.say_ends(ends)
