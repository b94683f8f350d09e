"""`binlog-kaitai export`."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import click

from binlog_kaitai.cli import shared_options as options
from binlog_kaitai.cli.console import progress_over, say
from binlog_kaitai.errors import BinlogError, SourceError, UsageError, writing_to
from binlog_kaitai.views import VIEWS

if TYPE_CHECKING:
    from binlog_kaitai.core.filters import FilterOptions
    from binlog_kaitai.rows.row_masks import Masks


@click.command()
@options.sources
@options.target("A new or empty directory.")
@options.filters
@options.views
@options.rules
@options.zero_dates
@options.bit1_as_boolean
@options.ddl
@options.jobs
def export(
    sources: tuple[str, ...],
    target: str,
    views: tuple[str, ...],
    zero_dates: str,
    bit1_as_boolean: bool,
    ddl: str | None,
    jobs: int | None,
    rules: Masks,
    **filters: Unpack[FilterOptions],
) -> None:
    """Export logs to Parquet files.

    Writes the directories events, transactions and changes to DIR. changes has a subdirectory SCHEMA.TABLE
    for each table, whose files have the table's typed columns. A new file starts where the table's definition
    changes; Parquet readers can merge the files by column name.

    \b
    Examples:
      binlog-kaitai export --to lake /var/lib/mysql/binlog.index
      binlog-kaitai export --to lake --view changes -t shop.orders binlog.*
      binlog-kaitai export --to lake --view changes --mask 'a.b.c=hash' binlog.*
    """
    from binlog_kaitai.core.filters import Filters
    from binlog_kaitai.log.threads import default_threads
    from binlog_kaitai.rows.log_pages import RowsPages
    from binlog_kaitai.views.events_view import read_events
    from binlog_kaitai.views.parquet_folder import write_changes, write_view
    from binlog_kaitai.views.transactions_view import read_transactions

    wanted = views or VIEWS
    if rules and {*wanted} != {"changes"}:
        raise UsageError("statements may contain what is masked or left out; choose --view changes alone")
    with writing_to(target):
        os.makedirs(target, exist_ok=True)
        if os.listdir(target):
            raise UsageError("the directory is not empty; choose a new one", file=target)
    if "-" in sources and len(views) != 1:
        raise UsageError("stdin can be read only once; choose one --view")
    damage: list[BinlogError] = []
    counts: dict[str, int] = {}
    for view in dict.fromkeys(wanted):
        of_tables: dict[str, int] = {}
        with progress_over(view) as progress, _to_the_end(damage):
            if view != "changes":
                read = read_events if view == "events" else partial(read_transactions, ddl=ddl)
                reader = read(sources, progress=progress, threads=jobs, **filters)
                write_view(reader, Path(target, view), counts, threads=jobs or 1)
            else:
                chosen = Filters.of(**filters)
                own: dict[str, Any] = {"threads": default_threads(jobs), "masks": rules}
                pages = RowsPages(sources, chosen, ddl=ddl, progress=progress, **own)
                folder = Path(target, view)
                write_changes(
                    pages,
                    folder,
                    zero_dates=zero_dates,
                    bit1_as_boolean=bit1_as_boolean,
                    masks=rules,
                    counts=of_tables,
                )
                options.say_ends(pages.ends)
        counts |= {f"{view}/{name}": count for name, count in sorted(of_tables.items())}
    for name, count in counts.items():
        say(f"{name}: {count} rows")
    if damage:
        raise damage[0]


@contextmanager
def _to_the_end(damage: list[BinlogError]) -> Iterator[None]:
    """Hold back damage until all views are written up to it."""
    try:
        yield
    except (UsageError, SourceError):
        raise
    except BinlogError as error:
        damage.append(error.alone())
        gc.collect()  # what was read is held in cycles
