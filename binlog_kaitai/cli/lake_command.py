"""`binlog-kaitai lake`."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import click

from binlog_kaitai.cli import shared_options as options
from binlog_kaitai.cli.console import say
from binlog_kaitai.core.filters import at_least_one


@click.group()
def lake() -> None:
    """Maintain the Parquet lake of a pipeline."""


@lake.command()
@click.argument("lake", metavar="LAKE", type=options.LocalPath(path_type=Path))
@click.option(
    "--target-size", default="256m", show_default=True, metavar="SIZE", help="Target size of the new files."
)
@click.option(
    "--min-files",
    type=click.IntRange(2),
    default=5,
    show_default=True,
    metavar="N",
    help="Join at least so many small files, unless fewer reach the target size.",
)
@click.option(
    "--before", type=click.DateTime(("%Y-%m-%d",)), metavar="DATE", help="Only partitions of earlier dates."
)
@click.option("--dry-run", is_flag=True, help="Print what would be joined, without writing.")
def compact(lake: Path, target_size: str, min_files: int, before: datetime | None, dry_run: bool) -> None:
    """Join small Parquet files of a lake.

    LAKE is a directory written by pipeline --format parquet. The rows stay the same. A pipeline may keep
    running. A query that has listed the old files but not opened them yet fails, and can be repeated. If
    interrupted, each partition has either its old files or the new ones. Needs no Spark.

    \b
    Examples:
      binlog-kaitai lake compact /mnt/lake
      binlog-kaitai lake compact /mnt/lake --before 2026-11-20 --target-size 512m
      binlog-kaitai lake compact /mnt/lake --dry-run
    """
    from binlog_kaitai.lake.compaction import compact as compact_lake
    from binlog_kaitai.render.output_text import shown_bytes

    verb, files, new_files = "would be joined" if dry_run else "joined", 0, 0
    for one in compact_lake(
        lake,
        target_size=at_least_one("--target-size", target_size),
        min_files=min_files,
        before=before and before.date(),
        dry_run=dry_run,
    ):
        size = shown_bytes(one.bytes)
        say(f"{one.folder}: {one.files:,} files ({one.rows:,} rows, {size}) {verb} into {one.new_files:,}")
        files, new_files = files + one.files, new_files + one.new_files
    say(f"{files:,} files {verb} into {new_files:,}" if files else "nothing to compact")
