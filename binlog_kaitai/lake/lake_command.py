"""`binlog-kaitai lake`."""

from __future__ import annotations

import sys
from datetime import datetime
from typing import Any

import click

from binlog_kaitai.cli import shared_options as options
from binlog_kaitai.cli.console import say
from binlog_kaitai.core.filters import at_least_one

_LAKE = click.argument("lake", metavar="LAKE")


def _credentials(context: click.Context, parameter: click.Parameter, path: str | None) -> dict[str, str]:
    if path is None:
        return {}
    from binlog_kaitai.lake.storage import read_options

    options.files_read(context).append(path)
    return read_options(path)


#: The command gets what the file contains.
storage_options = options.existing_file(
    "--storage-options",
    "Credentials for a LAKE in S3 or Azure, in this TOML file; default: those of the environment.",
    callback=_credentials,
)


@click.group()
def lake() -> None:
    """Maintain the Delta tables of a pipeline's lake."""


@lake.command()
@_LAKE
@storage_options
@options.option("--target-size", "Target size of the new files.", "SIZE", default="256m")
@options.option("--before", "Only partitions of earlier dates.", "DATE", type=click.DateTime(("%Y-%m-%d",)))
@options.flag("--dry-run", "Print what would be joined, without writing.")
def compact(lake: str, target_size: str, before: datetime | None, dry_run: bool, **where: Any) -> None:
    """Join small files of a lake.

    LAKE is a directory or URL written by pipeline, or the folder of its lakes with --servers. The rows stay
    the same; readers and the pipeline may continue in the meantime. The old files stay until vacuum removes
    them. Needs no Spark.

    \b
    Examples:
      binlog-kaitai lake compact /mnt/lake
      binlog-kaitai lake compact s3://bucket/lake --before 2026-11-20
      binlog-kaitai lake compact /mnt/lake --dry-run
    """
    from binlog_kaitai.lake.upkeep import compact as compact_lake

    verb, size = "would be joined" if dry_run else "joined", at_least_one("--target-size", target_size)
    files = new_files = 0
    date = before and before.date()
    for done in compact_lake(lake, target_size=size, before=date, dry_run=dry_run, **where):
        did = f"{done.files:,} files {verb} into {done.new_files:,}"
        say(f"{done.table}: {'a pipeline changed it in the meantime; run again' if done.is_busy else did}")
        files, new_files = files + done.files, new_files + done.new_files
    say(f"{files:,} files {verb} into {new_files:,}" if files else "nothing to compact")


@lake.command()
@_LAKE
@storage_options
@options.option(
    "--retention",
    "Keep files that readers of a table may have listed within these hours.",
    "HOURS",
    type=click.IntRange(168),
    default=168,
)
@options.flag("--dry-run", "Print what would be removed, without removing it.")
def vacuum(lake: str, storage_options: dict[str, str], retention: int, dry_run: bool) -> None:
    """Remove files that no reader of a lake needs any more.

    These are files that compact has joined, and those that a killed pipeline has left. LAKE may be a folder
    of lakes. The pipeline may continue in the meantime if none of its batches takes longer than the
    retention. Needs no Spark.

    \b
    Examples:
      binlog-kaitai lake vacuum /mnt/lake --dry-run
      binlog-kaitai lake vacuum s3://bucket/lake
    """
    from binlog_kaitai.lake.upkeep import vacuum as vacuum_lake

    verb, files = "would be removed" if dry_run else "removed", 0
    for done in vacuum_lake(lake, hours=retention, dry_run=dry_run, storage_options=storage_options):
        say(f"{done.table}: {done.files:,} files {verb}")
        files += done.files
    say(f"{files:,} files {verb}" if files else "nothing to remove")


@lake.command()
@_LAKE
@storage_options
@options.option("--table", "The table, as its folder in changes is called.", "SCHEMA.TABLE", required=True)
@options.option("--where", "Erase rows that match this condition, as in rows.", "CONDITION", required=True)
@options.flag("--dry-run", "Count the rows without erasing them.")
def erase(lake: str, storage_options: dict[str, str], table: str, where: str, dry_run: bool) -> None:
    """Erase rows from a lake's changes and state, with all files that have them.

    Earlier versions of these tables can no longer be read. Later changes of the rows are loaded as usual, so
    erase them on the server first, and run this again once that is in the lake. Exit code 3: there may be
    further values of such rows, which are named. Needs no Spark.

    \b
    Examples:
      binlog-kaitai lake erase /mnt/lake --table shop.customers --where "id = 42" --dry-run
      binlog-kaitai lake erase s3://bucket/lake --table shop.customers --where "email = BINARY 'a@b.example'"
    """
    from binlog_kaitai.lake.erasing import erase as erase_rows
    from binlog_kaitai.values.conditions import parse_where

    verb, is_complete = "would be erased" if dry_run else "erased", True
    for done in erase_rows(lake, table, parse_where(where), dry_run=dry_run, storage_options=storage_options):
        removed = "" if dry_run else f", {done.files:,} files removed"
        say(f"{done.table}: {done.rows:,} rows {verb}{removed}")
        if done.lacking:
            say(f"{done.table}: {done.lacking:,} rows may be of them: images lack columns of the condition")
        if done.others:
            say(f"{done.table}: older values are in {', '.join(done.others)}; erase them by these columns")
        is_complete &= not (done.lacking or done.others)
    say(
        "not looked at: statements in events, transactions and statements; the spool; files of failed batches"
    )
    if not is_complete:
        sys.exit(3)
