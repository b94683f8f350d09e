"""Parts of a snapshot that are complete on disk, and survive an interruption.

Each has a record, which is written after its files. A file without a record does not count.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from binlog_kaitai.sources.disk import replace_file, sync

_FOLDER = "chunks"


@dataclass(frozen=True)
class View:
    """The moment at which tables were read: a position of a server's log, and which log that is.

    Attributes
    ----------
    log_id : int or None
        `LogHeader.log_id`; None if it could not be determined.
    """

    log: str
    position: int
    log_id: int | None


@dataclass(frozen=True)
class Chunk:
    """One range of a table, as it was at one moment.

    Attributes
    ----------
    settings : str
        What else determines the files: masks, types.
    statement : str
        The definition of the table.
    bounds, number
        As for `Range`.
    files : dict of str to int
        Paths relative to the folder, with row counts.
    """

    schema_name: str
    table_name: str
    statement: str
    bounds: tuple[int, ...]
    number: int
    view: View
    settings: str
    files: dict[str, int]

    @property
    def key(self) -> tuple[str, str]:
        return self.schema_name, self.table_name

    @property
    def rows(self) -> int:
        return sum(self.files.values())


class Chunks:
    """The records of a snapshot's chunks, by number, in ascending order.

    Parameters
    ----------
    settings
        Chunks with other settings are not used.
    """

    def __init__(self, folder: Path, settings: str) -> None:
        self._folder = folder
        self._records = folder / _FOLDER
        self._settings = settings
        self._next = 1
        self._known: dict[int, Chunk] = {}

    def load(self) -> list[Chunk]:
        """The usable chunks of earlier attempts, at most one for each range; all other files are removed."""
        found: dict[tuple[tuple[str, str], int], int] = {}
        for path in sorted(self._records.glob("[0-9]*.json")):
            read = json.loads(path.read_text(encoding="utf-8", errors="surrogateescape"))
            read |= {"bounds": tuple(read["bounds"]), "view": View(**read["view"])}
            one, number = Chunk(**read), int(path.stem)
            self._next = number + 1
            self._known[number] = one
            if one.settings == self._settings:
                if (older := found.get((one.key, one.number))) is not None:
                    self.remove(older)
                found[one.key, one.number] = number
            else:
                self.remove(number)
        kept = {self._folder / name for one in self._known.values() for name in one.files}
        for path in self._folder.rglob("*.parquet"):
            if path not in kept:
                path.unlink()
        return list(self._known.values())

    def add(self, chunk: Chunk, source: Path) -> None:
        """Move the files of a new chunk to the snapshot's folder, and record it; replaces an older one."""
        number, moved, folders = self._next, dict[str, int](), {self._folder}
        self._next += 1
        for name, rows in chunk.files.items():
            path = Path(name)
            target = self._folder / path.parent / f"{number:06}-{path.name}"
            target.parent.mkdir(parents=True, exist_ok=True)
            sync(source / name)
            (source / name).rename(target)
            moved[target.relative_to(self._folder).as_posix()] = rows
            folders.update(one for one in target.parents if one.is_relative_to(self._folder))
        for folder in folders:
            sync(folder)
        self._records.mkdir(exist_ok=True)
        found = asdict(chunk) | {"files": moved}
        replace_file(self._records / f"{number:06}.json", json.dumps(found))
        sync(self._records)
        same = [at for at, one in self._known.items() if (one.key, one.number) == (chunk.key, chunk.number)]
        self._known[number] = Chunk(**{**vars(chunk), "files": moved})
        self.drop(same)

    def drop(self, numbers: Iterable[int]) -> None:
        """Remove chunks, and their files."""
        for number in list(numbers):
            one = self._known[number]
            self.remove(number)
            for name in one.files:
                (self._folder / name).unlink()

    def keep_only(self, chunks: Iterable[Chunk]) -> None:
        """Remove all chunks but these."""
        wanted = list(chunks)
        self.drop([number for number, one in self._known.items() if not any(one is it for it in wanted)])

    def remove(self, number: int) -> None:
        """Remove the record of a chunk, so that its files no longer count."""
        del self._known[number]
        with suppress(FileNotFoundError):
            (self._records / f"{number:06}.json").unlink()
        sync(self._records)

    @property
    def files(self) -> dict[str, int]:
        """The files of all chunks, with row counts."""
        return {name: rows for one in self._known.values() for name, rows in one.files.items()}
