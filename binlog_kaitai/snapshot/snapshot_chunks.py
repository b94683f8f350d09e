"""Parts of a server's tables, as files: what a query reads, and what of an interrupted attempt is still true.

Each chunk on disk has a record, which is written after its files. A file without a record does not count.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import NoneType

from binlog_kaitai.arrow import pa, pc, pq
from binlog_kaitai.ddl.store import TableKey
from binlog_kaitai.lake.files import TableFiles
from binlog_kaitai.lake.rules import Rules
from binlog_kaitai.lake.storage import Storage
from binlog_kaitai.lake.types import TAKEN
from binlog_kaitai.live.server_session import ServerSession
from binlog_kaitai.live.server_tables import quoted
from binlog_kaitai.rows.change_schemas import own_columns, untaken_name
from binlog_kaitai.snapshot.snapshot_files import SnapshotFiles, rows_by_path
from binlog_kaitai.snapshot.snapshot_values import selected
from binlog_kaitai.sources.disk import replace_file, sync
from binlog_kaitai.values.column_kinds import Kind
from binlog_kaitai.values.schema import Column, Schema


@dataclass(frozen=True)
class SnapshotChunk:
    """One range of a table, as it was at a position of a server's log.

    `log_id`: which log that is: `LogHeader.log_id`; None if it could not be determined.
    `settings`: what else determines the files: masks, types.
    `bounds`, `number`: as for `TableRange`.
    `files`: paths relative to the folder, with row counts.
    """

    schema_name: str
    table_name: str
    statement: str
    bounds: tuple[int, ...]
    number: int
    log: str
    position: int
    log_id: int | None
    settings: str
    files: dict[str, int]

    @property
    def key(self) -> TableKey:
        return self.schema_name, self.table_name


#: About how many rows are in a range of the primary key.
_RANGE_ROWS = 1 << 18

#: Maximum number of keys in a query.
_QUERY_KEYS = 1000


@dataclass(frozen=True)
class ServerTable:
    """A table of the server, and roughly how many rows it has.

    `withheld`: columns that the server does not send.
    `statement`: its definition, as the server prints it.
    """

    schema: Schema
    is_transactional: bool
    rows: int
    withheld: frozenset[str] = frozenset()
    statement: str = ""

    @property
    def key(self) -> TableKey:
        return self.schema.schema_name, self.schema.table_name

    @property
    def integer_key(self) -> Column | None:
        """The column that alone is the primary key, if it is an integer."""
        key = [self.schema.columns[index] for index in self.schema.primary_key]
        return key[0] if len(key) == 1 and key[0].kind == Kind.INTEGER else None


@dataclass(frozen=True)
class TableRange:
    """A part of a table: all rows, or a range of its integer key.

    `bounds`: where the second and later ranges of the table begin. The first and the last range have no
    limit, so that together they contain every key.
    `number`: which of these ranges this is, from 0.
    `base`: the range as an earlier attempt read it.
    `keys`: with `base`: the rows to read again.
    """

    table: ServerTable
    bounds: tuple[int, ...] = ()
    number: int = 0
    base: SnapshotChunk | None = None
    keys: tuple[int, ...] = ()

    @property
    def lower(self) -> int | None:
        return self.bounds[self.number - 1] if self.number else None

    @property
    def upper(self) -> int | None:
        return self.bounds[self.number] if self.number < len(self.bounds) else None

    def contains(self, key: int) -> bool:
        """Whether a row with this key is in the range."""
        return (self.lower is None or key >= self.lower) and (self.upper is None or key < self.upper)

    @property
    def queries(self) -> Iterator[str]:
        schema, withheld = self.table.schema, self.table.withheld
        columns = ", ".join(
            "NULL" if column.name in withheld else selected(column) for column in schema.columns
        )
        query = f"SELECT {columns} FROM {quoted(*self.table.key)}"
        key = self.table.integer_key
        name = quoted(key.name) if key is not None else ""
        if self.base is None:
            limits = [f"{name} >= {self.lower}"] if self.lower is not None else []
            limits += [f"{name} < {self.upper}"] if self.upper is not None else []
            yield query + (f" WHERE {' AND '.join(limits)}" if limits else "")
        for begin in range(0, len(self.keys), _QUERY_KEYS):
            keys = ", ".join(map(str, self.keys[begin : begin + _QUERY_KEYS]))
            yield f"{query} WHERE {name} IN ({keys})"


def bounds_of(session: ServerSession, table: ServerTable) -> tuple[int, ...]:
    """The bounds of a large table with an integer as its primary key; another one is read as a whole."""
    key, parts = table.integer_key, table.rows // _RANGE_ROWS
    if parts < 2 or key is None:
        return ()
    name = quoted(key.name)
    statement = f"SELECT MIN({name}), MAX({name}) FROM {quoted(*table.key)}"
    least, most = session.ask_one(statement, (int, NoneType), (int, NoneType))
    if least is None or most is None:
        return ()
    return tuple(sorted({least + (most + 1 - least) * part // parts for part in range(1, parts)} - {least}))


#: The folder of the records.
_RECORDS = "chunks"

#: Increased when chunks of earlier versions cannot be used.
_FORMAT = 3

#: A range is read again as a whole if more of its rows changed: one in so many, and at least so many.
_SHARE_CHANGED, _FEW_CHANGED = 4, 1000

#: Rows that a chunk is copied in at a time.
_COPIED_ROWS = 1 << 16

_COUNTER = re.compile(r" AUTO_INCREMENT=\d+")

#: Foreign keys by which a server changes rows that the log does not have.
_CASCADES = re.compile(r"\bON (?:DELETE|UPDATE) (?:CASCADE|SET)\b")

#: Maximum number of keys to remember, of all tables together.
_MOST_KEYS = 1 << 20


@dataclass
class Touched:
    """Tables and rows that have changed.

    `reason`: why all tables count as changed; empty if they do not.
    `keys`: by table, in lower case: the integer keys of changed rows, or None if they are not known.
    """

    reason: str = ""
    keys: dict[TableKey, set[int] | None] = field(default_factory=dict)

    def of(self, key: TableKey) -> set[int] | None:
        """The keys of the rows of a table that may have changed; None if they are not known."""
        return None if self.reason else self.keys.get(lower(key), set())

    def all_of(self, key: TableKey) -> None:
        self.keys[lower(key)] = None

    def add(self, key: TableKey, changed: Iterable[int]) -> None:
        known = self.keys.setdefault(lower(key), set())
        if known is None:
            return
        known.update(changed)
        if sum(len(keys) for keys in self.keys.values() if keys) > _MOST_KEYS:
            self.keys[max(self.keys, key=lambda table: len(self.keys[table] or ()))] = None


def lower(key: TableKey) -> TableKey:
    """A table's name as the keys of `Touched` have it."""
    return key[0].lower(), key[1].lower()


class ChunkFiles(SnapshotFiles):
    """The files of a snapshot that is read in ranges, side by side: its chunks.

    `earlier`: what earlier attempts left: the usable chunks, at most one for each range.
    """

    def __init__(self, folder: Path, kind: str, rules: Rules, zero_dates: str) -> None:
        super().__init__(folder, kind, rules)
        self._folder = folder
        self._settings = json.dumps([_FORMAT, rules.as_dict(), kind, zero_dates])
        self._drafts = folder / "drafts"
        shutil.rmtree(self._drafts, ignore_errors=True)
        self._open: dict[tuple[TableKey, int], tuple[TableFiles, Path]] = {}
        self._begun = 0
        self._chunks: dict[int, SnapshotChunk] = {}  # by the number of their record
        self._next_record = 1
        self._load()
        self.earlier = list(self._chunks.values())

    @property
    def rows(self) -> dict[str, int]:
        return {name: rows for chunk in self._chunks.values() for name, rows in chunk.files.items()}

    def close(self) -> None:
        """Close what is open; the files do not count."""
        for files, _ in self._open.values():
            files.close()
        shutil.rmtree(self._drafts, ignore_errors=True)

    # -- writing

    def begin(self, part: TableRange) -> None:
        """Begin a range, with the rows of its base that are still true."""
        self._begun += 1
        draft = self._drafts / str(self._begun)
        files = TableFiles(Storage(str(draft)), self._kind)
        self._open[part.table.key, part.number] = files, draft
        if part.base is None:
            return
        for name in part.base.files:
            with pq.ParquetFile(self._folder / name) as file:
                for batch in file.iter_batches(_COPIED_ROWS):
                    left = self._without(batch, part)
                    if left.num_rows:
                        self.put(files, part.table.schema, self.stamped(part.table.schema, left))

    def add(self, part: TableRange, arrays: list[pa.Array]) -> None:
        """Write rows of a range, as arrays for the columns of its table."""
        files, _ = self._open[part.table.key, part.number]
        self.put(files, part.table.schema, self.batch(part.table.schema, arrays))

    def end(self, part: TableRange) -> None:
        """Make a range durable."""
        files, draft = self._open.pop((part.table.key, part.number))
        files.close()
        chunk = SnapshotChunk(
            *part.table.key,
            _without_counter(part.table.statement),
            part.bounds,
            part.number,
            self.log,
            self.position,
            self.log_id,
            self._settings,
            self._moved(rows_by_path(files), draft),
        )
        shutil.rmtree(draft, ignore_errors=True)
        self._records.mkdir(exist_ok=True)
        replace_file(self._record(self._next_record), json.dumps(asdict(chunk)))
        sync(self._records)
        key = chunk.key, chunk.number
        same = [number for number, known in self._chunks.items() if (known.key, known.number) == key]
        self._chunks[self._next_record] = chunk
        self._next_record += 1
        self._drop(same)

    def _moved(self, files: dict[str, int], draft: Path) -> dict[str, int]:
        """The files of the next chunk, which are moved to the snapshot's folder."""
        moved, folders = dict[str, int](), {self._folder}
        for name, rows in files.items():
            path = Path(name)
            target = self._folder / path.parent / f"{self._next_record:06}-{path.name}"
            target.parent.mkdir(parents=True, exist_ok=True)
            sync(draft / name)
            (draft / name).rename(target)
            moved[target.relative_to(self._folder).as_posix()] = rows
            folders.update(folder for folder in target.parents if folder.is_relative_to(self._folder))
        for folder in folders:
            sync(folder)
        return moved

    def _without(self, batch: pa.RecordBatch, part: TableRange) -> pa.RecordBatch:
        """The rows of a batch that did not change."""
        if not part.keys:
            return batch
        (index,) = part.table.schema.primary_key
        own = own_columns(part.table.schema).items()
        name = next(name for name, column in own if column.index == index)
        column = batch.column(untaken_name(name, TAKEN[self._kind]))
        return batch.filter(pc.invert(pc.is_in(column, pa.array(part.keys, column.type))))

    # -- records

    @property
    def _records(self) -> Path:
        return self._folder / _RECORDS

    def _record(self, number: int) -> Path:
        return self._records / f"{number:06}.json"

    def _load(self) -> None:
        """Find the chunks of earlier attempts; all files but theirs are removed."""
        newest: dict[tuple[TableKey, int], int] = {}
        for path in sorted(self._records.glob("[0-9]*.json")):
            number = int(path.stem)
            self._next_record = number + 1
            record = json.loads(path.read_text(encoding="utf-8", errors="surrogateescape"))
            if record["settings"] != self._settings:
                self._remove_record(number)
                continue
            chunk = SnapshotChunk(**record | {"bounds": tuple(record["bounds"])})
            if (older := newest.get((chunk.key, chunk.number))) is not None:
                self._remove_record(older)
            newest[chunk.key, chunk.number] = number
            self._chunks[number] = chunk
        kept = {self._folder / name for name in self.rows}
        for path in self._folder.rglob("*.parquet"):
            if path not in kept:
                path.unlink()

    def _remove_record(self, number: int) -> None:
        """Remove the record of a chunk, so that its files no longer count."""
        self._chunks.pop(number, None)
        self._record(number).unlink(missing_ok=True)
        sync(self._records)

    def _drop(self, numbers: Iterable[int]) -> None:
        """Remove chunks, and their files."""
        for number in numbers:
            files = self._chunks[number].files
            self._remove_record(number)
            for name in files:
                (self._folder / name).unlink()

    def keep(
        self, chunks: Iterable[SnapshotChunk], tables: Iterable[ServerTable], touched: Touched
    ) -> dict[TableKey, list[TableRange]]:
        """The ranges of chunks that need not be read again, except for some rows; forgets all others.

        The chunks are of tables that `can_be_kept`.
        """
        by_table: dict[TableKey, list[SnapshotChunk]] = {}
        for chunk in chunks:
            by_table.setdefault(chunk.key, []).append(chunk)
        kept: dict[TableKey, list[TableRange]] = {}
        for table in tables:
            mine, keys = by_table.get(table.key, []), touched.of(table.key)
            statements, bounds = {chunk.statement for chunk in mine}, {chunk.bounds for chunk in mine}
            is_same = statements == {_without_counter(table.statement)} and len(bounds) == 1
            if is_same and keys is not None:
                parts = (TableRange(table, chunk.bounds, chunk.number, chunk) for chunk in mine)
                kept[table.key] = [part for part in (self._kept(part, keys) for part in parts) if part]
        bases = {id(part.base) for parts in kept.values() for part in parts}
        self._drop([number for number, chunk in self._chunks.items() if id(chunk) not in bases])
        return kept

    def _kept(self, part: TableRange, touched: set[int]) -> TableRange | None:
        keys = tuple(sorted(key for key in touched if part.contains(key)))
        column, base = part.table.integer_key, part.base
        assert base is not None
        if keys and (column is None or column.name in self.rules.masks.treatments(part.table.schema)):
            return None
        if len(keys) > max(_FEW_CHANGED, sum(base.files.values()) // _SHARE_CHANGED):
            return None
        return TableRange(part.table, part.bounds, part.number, base, keys)


def can_be_kept(table: ServerTable) -> bool:
    """Whether the log has all changes of a table."""
    return table.is_transactional and _CASCADES.search(table.statement) is None


def _without_counter(statement: str) -> str:
    return _COUNTER.sub("", statement)
