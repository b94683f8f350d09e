"""`binlog-kaitai sql`."""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

import click

from binlog_kaitai.cli import shared_options as options
from binlog_kaitai.cli.console import text_output, warn
from binlog_kaitai.cli.followed import followed, follows

#: Exit code if a selected change is a comment in the script, not a statement.
EXIT_INCOMPLETE = 3


@click.command()
@options.sources
@options.flag("--redo", "Replay the changes in log order (default).")
@options.flag("--undo", "Revert the changes, last one first.")
@options.changes
@options.filters
@options.columns
@options.ddl
@options.jobs
@follows
@options.for_table
@options.option(
    "--renamed", "With --for-table: a column's name in the log and its current name. *", "OLD=NEW"
)
@options.rewrite_db
@options.flag("--replace", "Write REPLACE instead of INSERT: overwrite existing rows.")
@options.flag("--insert-ignore", "Write INSERT IGNORE: keep existing rows.")
@options.flag("--check", "With --undo: revert only rows that are as the log left them, else stop.")
@options.flag("--extended-insert", "Combine consecutive INSERTs into the same table.")
@options.flag("--allow-unnamed", "Write c1, c2 … for unknown column names.")
def sql(
    sources: tuple[str, ...],
    redo: bool,
    undo: bool,
    ddl: str | None,
    jobs: int | None,
    follow: bool,
    from_now: bool,
    **chosen: Any,
) -> None:
    """Generate SQL that replays changes, or reverts them.

    Row changes become INSERT, UPDATE and DELETE statements in their original transactions. Rows are matched
    by primary key if the log or a definition gives one, otherwise by all columns. With --undo, the last
    change comes first, and nothing is printed if a log is damaged.

    Logged statements (DDL, and changes in statement format) are printed with the session settings they ran
    under. --undo cannot revert them and prints them as comments, like row changes whose images lack columns
    (binlog_row_image). It warns about each, and the exit code is 3.

    --rewrite-db renames a database in row changes and in USE. It does not change the text of statements: one
    that names the database is printed as a comment, too. Filters take the names in the log.

    --replace and --insert-ignore allow INSERTs of rows that exist; DELETE and UPDATE stay as they are.

    --undo does not revert changes that are not selected: it warns about rows that the logs change again later
    (exit code 3). With --check, the script stops at the first row that is not as the log left it, and reverts
    nothing of that transaction.

    With --for-table, --undo reverts changes on a table whose columns have changed since. Columns are matched
    by name or by --renamed. Values of dropped columns are omitted, with a warning.

    With --mask COLUMNS=null, or columns that are left out, the script has none of their values, and no text
    of statements. INSERTs have NULL for masked columns. Changes of rows that only such columns identify
    become comments, like statements (exit code 3).

    --where takes an SQL condition. A change matches if its row before or after the change does.

    With --follow, transactions are written as they commit, including those in logs the server starts later;
    Ctrl-C ends the script after a transaction.

    \b
    Examples:
      binlog-kaitai sql binlog.000024 | mysql --binary-mode
      binlog-kaitai sql --undo --for-table orders.sql binlog.000024 > undo.sql
      binlog-kaitai sql --rewrite-db 'shop->shop2' --replace -d shop binlog.000024
      binlog-kaitai sql --undo --operation delete --where "id = 7" binlog.000024
      binlog-kaitai sql --follow --from-now binlog.index | mysql --binary-mode
    """
    from binlog_kaitai.core.filters import FilterOptions, Filters
    from binlog_kaitai.core.options import part_of
    from binlog_kaitai.errors import UsageError
    from binlog_kaitai.following.span_pages import FollowedPages
    from binlog_kaitai.render.sql import OmissionReport, SqlOptions, write_followed, write_sql

    if redo and undo:
        raise UsageError("--redo and --undo cannot be used together")
    filters = part_of(chosen, FilterOptions)
    others = {name: value for name, value in chosen.items() if name not in filters}
    wanted = SqlOptions(undo=undo, **others)
    report = OmissionReport(lambda warning: warn(f"warning: {warning}"))
    stdout = text_output()
    if follow:
        with followed(sources, filters, from_now=from_now, ddl=ddl, ends_between=True) as spans:
            pages = FollowedPages(spans, ddl, wanted.masks)
            for lines in write_followed(pages, Filters.of(**filters), wanted, report):
                stdout.write(lines)
        stdout.flush()
    else:
        script = partial(write_sql, sources, Filters.of(**filters), wanted, report, ddl=ddl, threads=jobs)
        options.print_lines(script, stdout.write, stdout)
    if not report.is_complete:
        sys.exit(EXIT_INCOMPLETE)
