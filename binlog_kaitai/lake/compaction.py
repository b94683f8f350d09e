"""Joins small files of a lake, without a moment at which a reader could miss a row or find one twice.

The rule
--------
1. Small files of a folder ``log_date=...`` that have the same columns are joined into new files, which state
   where their rows come from (`origins`). Only files of complete batches are taken.
2. A new folder gets these files, and links to all others of the old one.
3. The two folders are exchanged: this decides the compaction. The old one is then removed.

A reader sees the old files or the new ones. If it has listed the old ones but not opened them, it fails: no
file ever has the name of another. A process killed before step 3 leaves a draft, killed after it the old
folder; the next compaction or pipeline removes either. A pipeline may run in the meantime; it adds no files
during steps 2 and 3.
"""

from __future__ import annotations

import datetime
import os
import shutil
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

from binlog_kaitai.arrow import pa, pq
from binlog_kaitai.errors import SourceError, UsageError, writing_to
from binlog_kaitai.lake import DATE
from binlog_kaitai.lake.commits import PRIVATE, Lake
from binlog_kaitai.lake.origins import (
    ORIGINS,
    Origin,
    batch_of,
    compacted_name,
    footer_of,
    is_compacted,
    opened_parquet,
    origins_of,
)
from binlog_kaitai.sources.disk import exchange, sync
from binlog_kaitai.views.parquet_folder import PartWriter

#: Target size of files in bytes, and minimum number of files to join.
TARGET_SIZE, MIN_FILES = 256 << 20, 5

#: The share of the target size at which a file is large enough.
_ENOUGH = 0.75

_OTHER_TOOLS = {
    "delta": "use OPTIMIZE of Delta Lake",
    "iceberg": "use rewrite_data_files of Iceberg",
}


@dataclass(frozen=True)
class Compacted:
    """What was done in one folder, or would be.

    Attributes
    ----------
    folder : str
        Relative to the lake.
    files : int
        Number of small files that were joined.
    new_files : int
        Number of files that replace them.
    rows : int
        Number of rows in them.
    bytes : int
        Size of the small files.
    """

    folder: str
    files: int
    new_files: int
    rows: int
    bytes: int

    @classmethod
    def of(cls, folder: str, groups: Sequence[_Group]) -> Compacted:
        """What is done with groups of files of a folder."""
        return cls(
            folder,
            sum(len(group.files) for group in groups),
            len(groups),
            sum(origin.rows for group in groups for origin in group.origins),
            sum(group.bytes for group in groups),
        )


@dataclass
class _Group:
    """Files to join, in the order of their rows."""

    schema: pa.Schema
    files: list[Path] = field(default_factory=list)
    origins: list[Origin] = field(default_factory=list)
    bytes: int = 0
    #: Without the footers, since the new file has only one.
    bytes_of_rows: int = 0

    def add(self, path: Path, footer: Any) -> None:
        size = path.stat().st_size
        self.files.append(path)
        self.origins += origins_of(path, footer)
        self.bytes += size
        self.bytes_of_rows += size - footer.serialized_size


def compact(
    folder: str | os.PathLike[str],
    *,
    target_size: int = TARGET_SIZE,
    min_files: int = MIN_FILES,
    before: datetime.date | None = None,
    dry_run: bool = False,
) -> Iterator[Compacted]:
    """Join small Parquet files of a lake; a pipeline may be running.

    Parameters
    ----------
    folder
        The lake.
    target_size
        Target size of files in bytes; files of three quarters of it or more are left as they are.
    min_files
        Minimum number of files to join, unless fewer reach the target size.
    before
        Only folders of earlier dates.
    dry_run
        Change nothing.

    Yields
    ------
    What was done, folder by folder, or would be.

    Raises
    ------
    UsageError
        The folder is not a lake, or has Delta or Iceberg tables; another process is compacting it; or the
        file system cannot exchange folders.
    SourceError
        A file cannot be read or written, or disappears.
    """
    lake = Lake(Path(folder))
    if not (lake.folder / PRIVATE).is_dir():
        raise UsageError(f"{lake.folder} is not a pipeline's lake")
    if (how := _OTHER_TOOLS.get(lake.kind())) is not None:
        raise UsageError(f"{lake.folder} is a lake in {lake.kind()} format; {how}")
    with ExitStack() as stack:
        drafts = None if dry_run else stack.enter_context(lake.compacting())
        if drafts is not None:
            _check_exchange(drafts)
        completed = lake.completed()
        for partition in _partitions(lake.folder, before):
            groups = _groups(partition, completed, target_size, min_files)
            if not groups:
                continue
            found = Compacted.of(partition.relative_to(lake.folder).as_posix(), groups)
            if drafts is not None:
                _replace(lake, partition, groups, drafts / uuid4().hex)
            yield found


def _partitions(folder: Path, before: datetime.date | None) -> Iterator[Path]:
    """The folders of dates. A link is left alone: it would be replaced, not what it leads to."""
    for table in ("events", "transactions", "damage", "changes/*"):
        for path in sorted(folder.glob(f"{table}/{DATE}=*")):
            is_early = before is None or path.name.partition("=")[2] < before.isoformat()
            if is_early and path.is_dir() and not path.is_symlink():
                yield path


def _groups(partition: Path, completed: Collection[int], target_size: int, min_files: int) -> list[_Group]:
    """The files of a folder that are to be joined."""
    enough = target_size * _ENOUGH
    small = [
        path
        for path in sorted(partition.glob("part-*.parquet"))
        if (is_compacted(path.name) or batch_of(path.name) in completed) and path.stat().st_size < enough
    ]
    if len(small) < 2:
        return []
    open_groups: dict[bytes, _Group] = {}
    found: list[_Group] = []
    for path in small:
        with opened_parquet(path) as file:
            footer, schema = file.metadata, _without_origins(file.schema_arrow)
        if not footer.num_rows:
            continue
        key = schema.serialize().to_pybytes()
        group = open_groups.get(key)
        if group is None or group.bytes_of_rows + path.stat().st_size > target_size:
            group = open_groups[key] = _Group(schema)
            found.append(group)
        group.add(path, footer)
    return [
        group
        for group in found
        if len(group.files) >= min_files or (len(group.files) > 1 and group.bytes_of_rows >= enough)
    ]


def _without_origins(schema: pa.Schema) -> pa.Schema:
    entries = {name: value for name, value in (schema.metadata or {}).items() if name != ORIGINS}
    return schema.with_metadata(entries or None)


def _check_exchange(drafts: Path) -> None:
    """Refuse a file system that cannot do what is needed, before any work."""
    one, other = drafts / "one", drafts / "other"
    one.mkdir()
    other.mkdir()
    try:
        (one / "file").touch()
        os.link(one / "file", one / "link")
        exchange(one, other)
    except OSError as error:
        needed = "lake compact needs a file system with hard links and atomic exchange of directories"
        raise UsageError(f"{needed}, such as ext4, XFS or Btrfs on Linux: {error.strerror}") from error


def _replace(lake: Lake, partition: Path, groups: Sequence[_Group], draft: Path) -> None:
    """Put joined files in the place of small ones."""
    with writing_to(str(draft)):
        draft.mkdir()
    for group in groups:
        _join(group, draft)
    replaced = {path.name for group in groups for path in group.files}
    with writing_to(str(partition)):
        _take_owner(draft, partition)
        with lake.replacing_files():
            names = {path.name for path in partition.iterdir()}
            if not replaced <= names:
                raise SourceError(
                    "files disappeared while they were joined; nothing was changed", file=str(partition)
                )
            for name in sorted(names - replaced):
                os.link(partition / name, draft / name)
            sync(draft)
            exchange(draft, partition)
        sync(partition.parent)
        sync(draft.parent)
    shutil.rmtree(draft, ignore_errors=True)


def _join(group: _Group, draft: Path) -> None:
    """Write the rows of a group to one file."""
    folder = draft.with_name(f"{draft.name}.new")
    writer = PartWriter(folder, footer=footer_of(group.origins))
    try:
        for path in group.files:
            with opened_parquet(path) as file:
                for batch in file.iter_batches():
                    writer.write(batch.replace_schema_metadata(group.schema.metadata))
    finally:
        writer.close()
    (made,) = folder.iterdir()
    rows = pq.read_metadata(made).num_rows
    if rows != sum(origin.rows for origin in group.origins):
        raise SourceError(f"has {rows} rows; the files it joins have others", file=str(made))
    with writing_to(str(draft)):
        _take_owner(made, group.files[0])
        sync(made)
        made.rename(
            draft / compacted_name(group.files[0].name, max(origin.batch for origin in group.origins))
        )
        folder.rmdir()


def _take_owner(path: Path, example: Path) -> None:
    """Give a file or folder the mode and the owner of another, which a pipeline of another user needs."""
    wanted, own = example.stat(), path.stat()
    if (wanted.st_uid, wanted.st_gid) != (own.st_uid, own.st_gid):
        os.chown(path, wanted.st_uid, wanted.st_gid)
    shutil.copymode(example, path)
