"""`binlog-kaitai rows`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from binlog_kaitai.cli import options
from binlog_kaitai.cli.following import check_follow, follows, write_followed
from binlog_kaitai.cli.messages import text_output
from binlog_kaitai.cli.progress import progress_over_all

if TYPE_CHECKING:
    from binlog_kaitai.following import Span

#: Optional columns.
SHOWN = ("gtid", "thread", "statement")


@click.command()
@options.sources
@options.filters
@options.formats("table", "json", "csv")
@options.several(
    "--show",
    SHOWN,
    metavar="NAMES",
    help="Extra columns: a comma-separated list of gtid, thread, statement.",
)
@options.changes
@options.ddl
@options.jobs
@follows
def command(
    sources: tuple[str, ...],
    output: str,
    show: tuple[str, ...],
    operation: tuple[str, ...],
    where: str | None,
    column: tuple[str, ...],
    ddl: str | None,
    jobs: int | None,
    follow: bool,
    from_now: bool,
    **filters: Any,
) -> None:
    """List changed rows, one per line.

    With --format json, each line is an object with file, position, row (its number in the event), timestamp,
    gtid, server_id, schema, table, change ("insert", "update", "delete"), and before and after: objects by
    column name, or null. Integers are numbers, DECIMAL and temporal values are text as MySQL prints them,
    bytes are {"hex": …}, JSON columns are JSON. Columns missing from a row image are omitted.
    `diffs` holds partial updates of JSON columns. --show adds `thread` (the connection ID) and `statement`,
    which the server must log (binlog_rows_query_log_events, binlog_annotate_row_events); both are null if
    the log does not have them.

    --where takes an SQL condition. A change matches if its row before or after the change does.

    Column names come from the log (binlog_row_metadata=FULL), else from DDL statements in the log, else
    from --ddl; otherwise columns are named c1, c2 …

    With --follow, rows are printed as their transactions commit, including those in logs the server starts
    later; Ctrl-C stops it.

    Options marked * may be repeated.

    \b
    Examples:
      binlog-kaitai rows -t shop.orders binlog.000024
      binlog-kaitai rows -t shop.orders --where "id = 42" --show gtid,thread,statement binlog.*
      binlog-kaitai rows --format json --ddl schema.sql /var/lib/mysql/binlog.index | jq .after
    """
    from binlog_kaitai.core.filters import Filters
    from binlog_kaitai.render.row_listing import form_of
    from binlog_kaitai.rows.row_pages import RowsPages
    from binlog_kaitai.views.row_objects import page_lines, write_rows

    choice = None
    if operation or column or where is not None:
        from binlog_kaitai.render.sql import RowChoice, Wanted

        choice = RowChoice(Wanted.of(operation=operation, where=where, column=column))
    origins = [name for name in show if name != "gtid"]
    form, heading = form_of(output, show)
    stdout = text_output()

    def write(lines: Any) -> None:
        nonlocal heading
        stdout.write(heading)
        heading = b""
        stdout.write(lines)

    check_follow(follow, from_now)
    if follow:
        from binlog_kaitai.ddl.definitions import restore
        from binlog_kaitai.following.spans import source_of

        def write_span(span: Span, chosen: Filters) -> None:
            known = restore(span.definitions, ddl)
            for page in RowsPages(source_of(span), chosen, definitions=known, origins=origins):
                for lines in page_lines(page, choice, form):
                    write(lines)

        write_followed(sources, filters, write_span, from_now=from_now, ddl=ddl)
        return
    ends: list[Any] = []
    try:
        with progress_over_all(beside_output=True) as progress:
            chosen = Filters.of(**filters)
            for lines in write_rows(
                sources,
                chosen,
                form=form,
                ddl=ddl,
                origins=origins,
                choice=choice,
                ends=ends,
                progress=progress,
                threads=jobs,
            ):
                write(lines)
    finally:
        stdout.flush()
    options.say_ends(ends)
    if choice is not None:
        choice.check()
