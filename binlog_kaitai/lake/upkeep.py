"""Joins small files of a lake's Delta tables, and removes files that no reader needs any more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from binlog_kaitai.arrow import pa
from binlog_kaitai.errors import SourceError, UsageError
from binlog_kaitai.lake import DATE, LINEAGE, PLACE, SOURCES, STATE, STATEMENTS
from binlog_kaitai.lake.batches import Lake
from binlog_kaitai.lake.place import private_name
from binlog_kaitai.lake.storage import Storage


@dataclass(frozen=True)
class Upkeep:
    """What was done to one table, or would be.

    Attributes
    ----------
    table : str
        Its folder in the lake.
    files : int
        Files that were joined or removed.
    new_files : int
        Files that they were joined into.
    """

    table: str
    files: int
    new_files: int = 0


def compact(
    url: str,
    *,
    target_size: int,
    before: date | None = None,
    dry_run: bool = False,
    storage_options: Mapping[str, str] | None = None,
) -> Iterator[Upkeep]:
    """Join small files, table by table; the rows stay the same, and a pipeline may go on meanwhile.

    State tables are left out: a merge into one would fail if its files were joined meanwhile.

    Parameters
    ----------
    target_size
        In bytes; files of at least this size stay.
    before
        Only partitions of earlier dates; tables without partitions stay.
    dry_run
        Change nothing; each partition would then have one new file for every `target_size` bytes.
    """
    storage = Storage(url, storage_options)
    for name, handle in _tables(url, storage_options):
        if before is not None and DATE not in handle.metadata().partition_columns:
            continue
        filters = None if before is None else [(DATE, "<", str(before))]
        if dry_run:
            found = _small_files(handle, target_size, before)
        else:
            try:
                done = handle.optimize.compact(partition_filters=filters, target_size=target_size)
            except Exception as error:  # deltalake raises its own, and those of its store
                raise SourceError(f"Delta: {storage.text_of(error)}", file=name) from error
            found = done["numFilesRemoved"], done["numFilesAdded"]
        if found[0]:
            yield Upkeep(name, *found)


def vacuum(
    url: str, *, hours: int, dry_run: bool = False, storage_options: Mapping[str, str] | None = None
) -> Iterator[Upkeep]:
    """Remove files that are in no version of the last hours: joined ones, and those of failed attempts.

    Raises
    ------
    SourceError
        Fewer hours than Delta's default of a week: a reader, or the batch of a pipeline, may need the files.
    """
    storage = Storage(url, storage_options)
    for name, handle in _tables(url, storage_options, with_state=True):
        try:
            removed = handle.vacuum(hours, dry_run, full=True)
        except Exception as error:
            raise SourceError(f"Delta: {storage.text_of(error)}", file=name) from error
        if removed:
            yield Upkeep(name, len(removed))


def _tables(
    url: str, storage_options: Mapping[str, str] | None, *, with_state: bool = False
) -> Iterator[tuple[str, Any]]:
    """The Delta tables of a lake, by their folders."""
    sources = Storage(url, storage_options).names(SOURCES) or [""]
    lake = Lake(url, source=sources[0], storage_options=storage_options)
    lake.check()
    if lake.plan is None:
        raise UsageError(f"{lake.storage.name} is not a lake")
    folders = ["changes", STATE] if with_state else ["changes"]
    tables = [f"{folder}/{name}" for folder in folders for name in lake.storage.names(folder)]
    private = [private_name(name, source) for source in sources for name in (LINEAGE, PLACE)]
    for name in ("events", "transactions", STATEMENTS, "damage", *tables, *private):
        if (table := lake.private.open(name)) is not None:
            yield name, table.handle


def _small_files(handle: Any, target_size: int, before: date | None) -> tuple[int, int]:
    """The number of small files that share a partition with others, and of files that they would become."""
    files, sizes = Counter[Any](), Counter[Any]()
    for one in pa.table(handle.get_add_actions(flatten=True)).to_pylist():
        day = one.get(f"partition.{DATE}")
        if one["size_bytes"] < target_size and (before is None or (day is not None and day < before)):
            files[day] += 1
            sizes[day] += one["size_bytes"]
    joined = [day for day, count in files.items() if count > 1]
    return sum(files[day] for day in joined), sum(-(-sizes[day] // target_size) for day in joined)
