"""Joins small files of a lake's tables, and removes files that no reader needs any more.

A person does it for all Delta tables of a lake, and a pipeline for tables to which its batches add files.
"""

from __future__ import annotations

import math
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date

from binlog_kaitai.errors import SourceError, UsageError
from binlog_kaitai.lake import DATE, LINEAGE, PLACE, SOURCES, STATE, STATEMENTS
from binlog_kaitai.lake.batches import Lake, Piece, Table
from binlog_kaitai.lake.delta import DeltaTable
from binlog_kaitai.lake.files import SmallFile
from binlog_kaitai.lake.place import PlanTable, private_name
from binlog_kaitai.lake.storage import ConflictError, Storage

#: How often files are joined anew because a pipeline replaced them meanwhile.
_ATTEMPTS = 5

#: Bytes of the files that a pipeline joins small files into: a file of less than half is small.
_SIZE = 32 << 20

#: Seconds after which a pipeline joins and removes no further files before its next batch.
_SECONDS = 1.0

#: Seconds after which a pipeline removes files of a table again.
_DAY = 86400.0


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
    `dry_run`: change nothing.
    """
    for name, _, table in tables_of(url, storage_options):
        if before is not None and DATE not in table.handle.metadata().partition_columns:
            continue
        counts = _joined(table, target_size, before, dry_run=dry_run)
        if counts is None:
            yield Upkeep(name, 0, is_busy=True)
        elif counts[0]:
            yield Upkeep(name, *counts)


def _joined(
    table: DeltaTable, target_size: int, before: date | None, *, dry_run: bool
) -> tuple[int, int] | None:
    """Join the small files of a table; returns their number and that of new files, None if it is busy."""
    joined = new = 0
    for _ in range(_ATTEMPTS):
        try:
            for day, small in table.small_files(target_size).items():
                if before is None or (day is not None and day < before):
                    for files in _parts(small, target_size):
                        new += 1 if dry_run else table.compact(files, day)
                        joined += len(files)
            return joined, new
        except ConflictError:  # the pipeline merged into the table, or gave it columns
            table.handle.update_incremental()
    return None


def _parts(files: Iterable[SmallFile], size: int) -> Iterator[list[SmallFile]]:
    """Consecutive files that have at most this size together; a file that would be alone stays."""
    part: list[SmallFile] = []
    total = 0
    for file in files:
        if total + file.size > size:
            if len(part) > 1:
                yield part
            part, total = [], 0
        part.append(file)
        total += file.size
    if len(part) > 1:
        yield part


def vacuum(
    url: str, *, hours: int, dry_run: bool = False, storage_options: Mapping[str, str] | None = None
) -> Iterator[Upkeep]:
    """Remove files that are in no version of the last hours: joined ones, and those of failed attempts.

    Raises `SourceError`: fewer hours than Delta's default of a week: a reader, or the batch of a pipeline,
    may need the files.
    """
    for name, _, table in tables_of(url, storage_options):
        if removed := table.vacuum(hours, dry_run=dry_run):
            yield Upkeep(name, removed)


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


class Tidying:
    """Upkeep of a lake between the batches of its pipeline.

    `max_files`: how many small files a table may have; a few more if it is changed by another process, or if
    many tables are due at once.
    `vacuums`: once a day, remove files that no version of a Delta table has had for a week, or for as long as
    the table says.
    """

    def __init__(self, lake: Lake, max_files: int, *, vacuums: bool) -> None:
        self._lake, self._max_files, self._vacuums = lake, max_files, vacuums
        #: How many small files each table may have, and when it was vacuumed last.
        self._files: dict[str, int] = {}
        self._vacuumed: dict[str, float] = {}
        self._private = [private_name(name, lake.source) for name in (LINEAGE, PLACE)]

    def after(self, pieces: Iterable[Piece]) -> None:
        """Tidy tables for a short time, after a batch that added files to some of them.

        What fails is left for the next batch or day: it must not end the pipeline.
        """
        new_files = Counter([*self._private, *(file.table for piece in pieces for file in piece.files)])
        new_files.update([f"{STATE}/{name[8:]}" for name in new_files if name.startswith("changes/")])
        for name, count in new_files.items():
            self._files[name] = self._files.get(name, self._max_files) + count
        end = time.monotonic() + _SECONDS
        due = [name for name, count in self._files.items() if count > self._max_files]
        for name in sorted(due, key=lambda name: -self._files[name]):
            self._tidy(name, end, self._join)
        end = time.monotonic() + _SECONDS
        if self._vacuums:
            for name in self._files:
                if time.monotonic() - self._vacuumed.get(name, -math.inf) > _DAY:
                    self._tidy(name, end, self._vacuum)

    def _tidy(self, name: str, end: float, change: Callable[[str, Table, float], None]) -> None:
        if time.monotonic() > end:
            return
        lake, is_state = self._lake, name.startswith(f"{STATE}/")
        tables = lake.private if name in self._private else lake.tables
        with lake.shared.lock(lake.storage.delta_url(STATE if is_state else name)):
            try:
                if (table := tables.open(name)) is None:
                    self._files[name] = 0
                else:
                    change(name, table, end)
            except ConflictError:
                pass
            except SourceError as error:
                self._files[name] = 0
                warnings.warn(f"files are not joined or removed: {error}", stacklevel=1)

    def _join(self, name: str, table: Table, end: float) -> None:
        small = table.small_files(_SIZE // 2)
        count = sum(map(len, small.values()))
        for partition in sorted(small, key=lambda day: -len(small[day])):
            for files in _parts(small[partition], _SIZE):
                if count > self._max_files and time.monotonic() < end:
                    table.compact(files, partition)
                    count -= len(files) - 1
        self._files[name] = count

    def _vacuum(self, name: str, table: Table, _: float) -> None:
        self._vacuumed[name] = time.monotonic()
        if isinstance(table, DeltaTable):
            table.vacuum()
