"""Joins small files of a lake's Delta tables, and removes files that no reader needs any more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from binlog_kaitai.arrow import pa
from binlog_kaitai.errors import UsageError
from binlog_kaitai.lake import DATE, LINEAGE, PLACE, SOURCES, STATE, STATEMENTS
from binlog_kaitai.lake.batches import Lake
from binlog_kaitai.lake.delta import DeltaTable, delta_errors
from binlog_kaitai.lake.place import PlanTable, private_name
from binlog_kaitai.lake.storage import ConflictError, Storage

if TYPE_CHECKING:
    from deltalake import DeltaTable as Handle

#: How often files are joined anew because a pipeline replaced them meanwhile.
_ATTEMPTS = 5


@dataclass(frozen=True)
class Upkeep:
    """What was done to one table, or would be.

    `table`: its folder in the lake.
    `files`: files that were joined or removed.
    `new_files`: files that they were joined into.
    `is_busy`: its files stay: a pipeline changed the table during each attempt to join them.
    """

    table: str
    files: int
    new_files: int = 0
    is_busy: bool = False


def compact(
    url: str,
    *,
    target_size: int,
    before: date | None = None,
    dry_run: bool = False,
    storage_options: Mapping[str, str] | None = None,
) -> Iterator[Upkeep]:
    """Join small files, table by table; the rows stay the same, and a pipeline may go on meanwhile.

    `url`: of a lake, or of a folder of lakes.
    `target_size`: in bytes; files of at least this size stay.
    `before`: only partitions of earlier dates; tables without partitions stay.
    `dry_run`: change nothing; each partition would then have one new file for every `target_size` bytes.
    """
    for name, storage, table in tables_of(url, storage_options):
        if before is not None and DATE not in table.handle.metadata().partition_columns:
            continue
        found = (
            _small_files(table.handle, target_size, before)
            if dry_run
            else _joined(storage, name, table, target_size, before)
        )
        if found is None:
            yield Upkeep(name, 0, is_busy=True)
        elif found[0]:
            yield Upkeep(name, *found)


def _joined(
    storage: Storage, name: str, table: DeltaTable, target_size: int, before: date | None
) -> tuple[int, int] | None:
    """Join the small files of a table; returns their number and that of new files, None if it is busy."""
    filters = None if before is None else [(DATE, "<", str(before))]
    for _ in range(_ATTEMPTS):
        try:
            if not name.rpartition("/")[2].startswith("_"):  # those only the pipeline reads
                table.settle()
            with delta_errors(storage, name):
                done = table.handle.optimize.compact(partition_filters=filters, target_size=target_size)
            return done["numFilesRemoved"], done["numFilesAdded"]
        except ConflictError:  # the pipeline merged into the table, or gave it columns
            table.handle.update_incremental()
    return None


def vacuum(
    url: str, *, hours: int, dry_run: bool = False, storage_options: Mapping[str, str] | None = None
) -> Iterator[Upkeep]:
    """Remove files that are in no version of the last hours: joined ones, and those of failed attempts.

    Raises `SourceError`: fewer hours than Delta's default of a week: a reader, or the batch of a pipeline,
    may need the files.
    """
    for name, storage, table in tables_of(url, storage_options):
        with delta_errors(storage, name):
            removed = table.handle.vacuum(hours, dry_run, full=True)
        if removed:
            yield Upkeep(name, len(removed))


def tables_of(
    url: str, storage_options: Mapping[str, str] | None
) -> Iterator[tuple[str, Storage, DeltaTable]]:
    """The Delta tables of a lake, or of each lake in a folder, by their folders below the URL."""
    whole = Storage(url, storage_options)
    has_lakes = not {PLACE, SOURCES} & set(whole.names())
    folders = [f"{name}/" for name in whole.folders() if PLACE in whole.names(name)] if has_lakes else [""]
    if not folders:
        raise UsageError(f"{whole.name} is not a lake")
    for folder in folders:
        storage = Storage(whole.url_of(folder.rstrip("/")), storage_options)
        sources = storage.names(SOURCES) or [""]
        plan = PlanTable(storage, sources[0]).load()
        if plan is not None and plan.format == "iceberg":
            advice = "use DELETE, rewrite_data_files, expire_snapshots and remove_orphan_files of yours"
            raise UsageError(f"{storage.name}: its tables are Iceberg's, which engines maintain; {advice}")
        lake = Lake(storage.url, source=sources[0], storage_options=storage_options)
        lake.check()
        tables = [f"{kind}/{name}" for kind in ("changes", STATE) for name in storage.names(kind)]
        private = [private_name(name, source) for source in sources for name in (LINEAGE, PLACE)]
        for name in ("events", "transactions", STATEMENTS, "damage", "gaps", *tables, *private):
            if (table := lake.private.open(name)) is not None:
                yield f"{folder}{name}", storage, table


def _small_files(handle: Handle, target_size: int, before: date | None) -> tuple[int, int]:
    """The number of small files that share a partition with others, and of files that they would become."""
    files, sizes = Counter[date | None](), Counter[date | None]()
    for one in pa.table(handle.get_add_actions(flatten=True)).to_pylist():
        day = one.get(f"partition.{DATE}")
        if one["size_bytes"] < target_size and (before is None or (day is not None and day < before)):
            files[day] += 1
            sizes[day] += one["size_bytes"]
    joined = [day for day, count in files.items() if count > 1]
    return sum(files[day] for day in joined), sum(-(-sizes[day] // target_size) for day in joined)
