"""`binlog-kaitai sql`."""

from __future__ import annotations

import sys
from typing import Any

import click

from binlog_kaitai.cli import options
from binlog_kaitai.cli.messages import warn
from binlog_kaitai.cli.progress import progress_over_all

#: Something that was chosen is a comment in the script, not a statement.
EXIT_INCOMPLETE = 3


@click.command()
@options.sources
@click.option(
    "--redo", is_flag=True, help="Make the changes again, in the order of the log. This is the default."
)
@click.option("--undo", is_flag=True, help="Take the changes back, the last one first.")
@options.changes
@options.filters
@options.ddl
@options.for_table
@click.option(
    "--renamed",
    metavar="OLD=NEW",
    multiple=True,
    help="With --for-table: a column's name in the log, and today's. *",
)
@click.option(
    "--extended-insert", is_flag=True, help="Put INSERTs of a table that follow each other into one."
)
@click.option("--allow-unnamed", is_flag=True, help="Write c1, c2 … where nothing tells the columns' names.")
def command(
    sources: tuple[str, ...],
    redo: bool,
    undo: bool,
    operation: tuple[str, ...],
    where: str | None,
    column: tuple[str, ...],
    ddl: str | None,
    for_table: str | None,
    renamed: tuple[str, ...],
    extended_insert: bool,
    allow_unnamed: bool,
    **filters: Any,
) -> None:
    """Statements that make changes again, or take them back.

    Row changes become INSERT, UPDATE and DELETE, in their transactions. Rows are found by the primary key,
    where log or definition tell it, else by all columns. With --undo the last change comes first, and
    nothing is printed of a log that is damaged.

    Statements that the log has as text (definitions; changes in statement format) are printed with the
    settings that they ran with; --undo leaves them out, as comments. So it does with what the log's images
    do not have (binlog_row_image). Warnings say so, and the exit code is 3.

    With --for-table, changes of a table that has other columns by now are taken back in today's: those of the
    same name, and those that --renamed names. What was dropped is left out, and warnings say so.

    The condition of --where has the form of SQL's, and a change fits if its row before or after does.

    Options marked * may be repeated.

    \b
    Examples:
      binlog-kaitai sql binlog.000024 | mysql --binary-mode
      binlog-kaitai sql --undo --for-table orders.sql --renamed note=remark binlog.000024 > undo.sql
      binlog-kaitai sql --undo -t shop.orders --operation delete --where "customer = 7" binlog.000024
    """
    from binlog_kaitai.core.filters import Filters
    from binlog_kaitai.errors import UsageError
    from binlog_kaitai.render.sql import Report, SqlOptions, write_sql

    if redo and undo:
        raise UsageError("--redo and --undo contradict each other: choose one")
    wanted = SqlOptions.of(
        undo=undo,
        operation=operation,
        where=where,
        column=column,
        allow_unnamed=allow_unnamed,
        extended_insert=extended_insert,
        for_table=for_table,
        renamed=renamed,
    )
    report = Report(lambda warning: warn(f"warning: {warning}"))
    ends: list[Any] = []
    write = sys.stdout.buffer.write
    try:
        with progress_over_all(beside_output=True) as progress:
            chosen = Filters.of(**filters)
            for part in write_sql(sources, chosen, wanted, report, ddl=ddl, ends=ends, progress=progress):
                write(part)
    finally:
        sys.stdout.buffer.flush()
    options.say_ends(ends)
    if not report.is_complete:
        sys.exit(EXIT_INCOMPLETE)
