"""Writes a snapshot chunk by chunk, and keeps chunks of an interrupted attempt that are still true."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from binlog_kaitai.arrow import pa, pc, pq
from binlog_kaitai.lake.files import TableFiles
from binlog_kaitai.lake.storage import Storage
from binlog_kaitai.snapshot.chunks import Chunk, Chunks, View
from binlog_kaitai.snapshot.snapshot_files import SnapshotFiles, rows_by_path
from binlog_kaitai.snapshot.snapshot_rules import SnapshotRules
from binlog_kaitai.snapshot.table_ranges import Range, Table
from binlog_kaitai.snapshot.touched import Touched
from binlog_kaitai.values.schema import Schema
from binlog_kaitai.views.change_schemas import own_columns

#: Increased when chunks of earlier versions cannot be used.
_FORMAT = 2

#: A range is read again as a whole if more of its rows changed: a share of all, and at least so many.
_MOST_CHANGED, _FEW = 4, 1000

#: Rows that a chunk is copied in at a time.
_COPIED_ROWS = 1 << 16

_COUNTER = re.compile(r" AUTO_INCREMENT=\d+")

#: Foreign keys by which a server changes rows that the log does not have.
_CASCADES = re.compile(r"\bON (?:DELETE|UPDATE) (?:CASCADE|SET)\b")


class ChunkFiles(SnapshotFiles):
    """The files of a snapshot that is read in ranges, side by side.

    Attributes
    ----------
    log_id : int or None
        Identifies the log in which the snapshot is taken.
    earlier : list of Chunk
        What earlier attempts left.
    """

    def __init__(self, folder: Path, kind: str, rules: SnapshotRules, zero_dates: str) -> None:
        super().__init__(folder, kind, rules)
        settings = json.dumps([_FORMAT, rules.rules.as_dict(), kind, zero_dates])
        self.log_id: int | None = None
        self._folder = folder
        self._settings = settings
        self._drafts = folder / "drafts"
        shutil.rmtree(self._drafts, ignore_errors=True)
        self._open: dict[tuple[tuple[str, str], int], tuple[TableFiles, Path]] = {}
        self._begun = 0
        self._chunks = Chunks(folder, settings)
        self.earlier = self._chunks.load()

    @property
    def rows(self) -> dict[str, int]:
        return self._chunks.files

    def close(self) -> None:
        """Close what is open; the files do not count."""
        for files, _ in self._open.values():
            files.close()
        shutil.rmtree(self._drafts, ignore_errors=True)

    # -- writing

    def begin(self, part: Range) -> None:
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
                        self.put(files, part.schema, self.stamped(part.schema, left))

    def add(self, part: Range, arrays: list[Any]) -> None:
        """Write rows of a range, as arrays for the columns of its table."""
        files, _ = self._open[part.table.key, part.number]
        self.put(files, part.schema, self.batch(part.schema, arrays))

    def end(self, part: Range) -> None:
        """Make a range durable."""
        files, draft = self._open.pop((part.table.key, part.number))
        files.close()
        view = View(self.log, self.position, self.log_id)
        statement = _without_counter(part.table.statement)
        rows = rows_by_path(files)
        chunk = Chunk(*part.table.key, statement, part.bounds, part.number, view, self._settings, rows)
        self._chunks.add(chunk, draft)
        shutil.rmtree(draft, ignore_errors=True)

    def _without(self, batch: pa.RecordBatch, part: Range) -> pa.RecordBatch:
        """The rows of a batch that did not change."""
        if not part.keys:
            return batch
        column = batch.column(self._key_name(part.schema))
        return batch.filter(pc.invert(pc.is_in(column, pa.array(part.keys, column.type))))

    def _key_name(self, schema: Schema) -> str:
        (index,) = schema.primary_key
        own = own_columns(schema).items()
        return self.name_of(next(name for name, one in own if one.index == index))

    # -- keeping

    def forget(self) -> None:
        """Remove what earlier attempts left."""
        self._chunks.keep_only(())

    def keep(
        self, chunks: Iterable[Chunk], tables: Iterable[Table], touched: Touched
    ) -> dict[tuple[str, str], list[Range]]:
        """The ranges of chunks that need not be read again, except for some rows; forgets all others.

        The chunks are of tables that `can_be_kept`.
        """
        by_table: dict[tuple[str, str], list[Chunk]] = {}
        for one in chunks:
            by_table.setdefault(one.key, []).append(one)
        found: dict[tuple[str, str], list[Range]] = {}
        for table in tables:
            mine, keys = by_table.get(table.key, []), touched.of(table.key)
            statements, bounds = {one.statement for one in mine}, {one.bounds for one in mine}
            is_same = statements == {_without_counter(table.statement)} and len(bounds) == 1
            if not is_same or keys is None:
                continue
            ranges = [self._kept(Range(table, one.bounds, one.number, one), keys) for one in mine]
            found[table.key] = [one for one in ranges if one is not None]
        self._chunks.keep_only(one.base for ranges in found.values() for one in ranges if one.base)
        return found

    def _kept(self, part: Range, touched: set[int]) -> Range | None:
        keys = tuple(sorted(key for key in touched if part.contains(key)))
        column, base = part.table.integer_key, part.base
        assert base is not None
        if keys and (column is None or not self.rules.shows(part.schema, column)):
            return None
        if len(keys) > max(_FEW, base.rows // _MOST_CHANGED):
            return None
        return Range(part.table, part.bounds, part.number, base, keys)


def can_be_kept(table: Table) -> bool:
    """Whether the log has all changes of a table."""
    return table.is_transactional and _CASCADES.search(table.statement) is None


def _without_counter(statement: str) -> str:
    return _COUNTER.sub("", statement)
