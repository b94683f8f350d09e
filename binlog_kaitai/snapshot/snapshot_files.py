"""The files of a snapshot, and the record that makes it complete.

Until `snapshot.json` describes it, a snapshot does not count.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from binlog_kaitai.arrow import pa
from binlog_kaitai.errors import UsageError
from binlog_kaitai.lake import DATE, TIMES
from binlog_kaitai.lake.batches import Piece
from binlog_kaitai.lake.files import TableFiles, moved_in
from binlog_kaitai.lake.rules import NO_RULES, Rules
from binlog_kaitai.lake.storage import Storage
from binlog_kaitai.lake.types import TAKEN, view_names
from binlog_kaitai.rows.sequences import sequences
from binlog_kaitai.snapshot.snapshot_rules import SnapshotRules
from binlog_kaitai.sources.disk import replace_file, sync
from binlog_kaitai.values.schema import Schema
from binlog_kaitai.views.change_meta import named, zeros
from binlog_kaitai.views.change_schemas import CHANGE_TYPE, META_FIELDS, own_columns, untaken_name

RECORD = "snapshot.json"

#: The change type of the rows of a snapshot.
SNAPSHOT = "snapshot"


@dataclass(frozen=True)
class Snapshot:
    """A complete snapshot.

    Attributes
    ----------
    log, position
        Where the log continues it.
    files : dict of str to int
        Paths relative to the folder, with row counts.
    keys : list of (str, str, list of str)
        The primary keys of the tables that have rows.
    incomplete : list of (str, str, str)
        Tables whose contents cannot be derived from their changes, with reasons.
    rules : Rules
        What was left out, masked and renamed.
    ddl : str
        The definitions of the tables.
    """

    log: str
    position: int
    ddl: str
    files: dict[str, int] = field(default_factory=dict)
    keys: list[tuple[str, str, list[str]]] = field(default_factory=list)
    incomplete: list[tuple[str, str, str]] = field(default_factory=list)
    rules: Rules = NO_RULES

    @classmethod
    def load(cls, folder: Path) -> Snapshot | None:
        """The snapshot in a folder; None if it is not complete."""
        path = folder / RECORD
        if not path.exists():
            return None
        found = json.loads(path.read_text(encoding="utf-8"))
        found["keys"] = [tuple(one) for one in found["keys"]]
        found["incomplete"] = [tuple(one) for one in found["incomplete"]]
        return cls(**found | {"rules": Rules.of_dict(found["rules"])})

    def check_rules(self, rules: Rules) -> None:
        """Refuse to use it with other rules than it was taken with.

        Raises
        ------
        UsageError
            They differ.
        """
        if self.rules != rules:
            reason = "the snapshot was taken with other masks or renames"
            raise UsageError(f"{reason}; repeat them, or use another lake")

    def piece(self, folder: Path, storage: Storage) -> Piece:
        """The snapshot as a piece of a lake's batch, its files copied to the folders of their tables."""
        piece = Piece(self.log, self.position, self.position)
        for name in self.files:
            table, _, rest = name.partition(f"/{DATE}=")
            piece.files.append(moved_in(storage, table, folder / name, rest.partition("/")[0]))
        piece.keys = {(schema, table): key for schema, table, key in self.keys}
        piece.incomplete = {(schema, table): reason for schema, table, reason in self.incomplete}
        return piece


def rows_by_path(files: TableFiles) -> dict[str, int]:
    """The complete files by their paths, with row counts."""
    return {f"{one.table}/{one.path}": one.rows for one in files.files}


def completed(folder: Path, rules: Rules, take: Callable[[], Snapshot], *, resumes: bool = False) -> Snapshot:
    """The complete snapshot in a folder, or else the one that a function writes to it.

    Parameters
    ----------
    resumes
        The function uses what an earlier attempt left in the folder, or removes it.

    Raises
    ------
    UsageError
        The complete snapshot was taken with other rules.
    """
    known = Snapshot.load(folder)
    if known is not None:
        known.check_rules(rules)
        return known
    if not resumes:
        shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    found = take()
    for path in (folder, *folder.rglob("*")):
        sync(path)
    replace_file(folder / RECORD, json.dumps(asdict(found), indent=1) + "\n")
    return found


class SnapshotFiles:
    """The files of a snapshot.

    Attributes
    ----------
    log, position, server_id, time
        Where the log continues the snapshot, whose log that is, and when.
    rules : SnapshotRules
        What is left out, masked and renamed, and what follows from it.
    """

    def __init__(self, folder: Path, kind: str, rules: SnapshotRules) -> None:
        self.log, self.position, self.server_id = "", 0, 0
        self.time = datetime.now(UTC)
        self.rules = rules
        self._kind = kind
        self._files = TableFiles(Storage(str(folder)), kind)
        self._counts: dict[tuple[str, str], int] = {}
        self._keys: dict[tuple[str, str], list[str]] = {}

    def snapshot(self, ddl: str) -> Snapshot:
        """What was written."""
        keys = [(*table, key) for table, key in self._keys.items()]
        incomplete = [(*table, reason) for table, reason in self.rules.incomplete.items()]
        return Snapshot(self.log, self.position, ddl, self.rows, keys, incomplete, self.rules.rules)

    @property
    def rows(self) -> dict[str, int]:
        """The files, with row counts, once they are closed."""
        return rows_by_path(self._files)

    def close(self) -> None:
        self._files.close()

    def write(self, schema: Schema, arrays: list[Any]) -> None:
        """Write rows of a table, as arrays for its columns."""
        self.put(self._files, schema, self.batch(schema, arrays))

    def put(self, files: TableFiles, schema: Schema, batch: pa.RecordBatch) -> None:
        """Write a batch of a table."""
        files.write(f"changes/{self.rules.folder(schema)}", batch, TIMES["changes"])

    def batch(self, schema: Schema, arrays: list[Any]) -> pa.RecordBatch:
        """Rows of a table as its files have them, from arrays for its columns."""
        own = own_columns(schema)
        meta = self._next_meta(schema, len(arrays[0]))
        columns = [*meta.values(), *(arrays[one.index] for one in own.values())]
        fields = [*META_FIELDS, *(pa.field(name, arrays[one.index].type) for name, one in own.items())]
        batch = pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields))
        return self.rules.applied(schema, batch)

    def stamped(self, schema: Schema, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Rows of a file of an earlier attempt, with the position and the time of this one."""
        self.rules.note(schema)
        batch = view_names(batch, self._kind)
        for name, array in self._next_meta(schema, batch.num_rows).items():
            at = batch.schema.get_field_index(name)
            batch = batch.set_column(at, batch.schema.field(at).with_type(array.type), array)
        return batch

    def name_of(self, name: str) -> str:
        """The name of a column in the files."""
        return untaken_name(name, TAKEN[self._kind])

    def _next_meta(self, schema: Schema, count: int) -> dict[str, Any]:
        key = schema.schema_name, schema.table_name
        first = self._counts.get(key, 0)
        self._counts[key] = first + count
        own = own_columns(schema)
        self._keys[key] = [name for name, one in own.items() if one.is_primary_key]
        return self._meta(first, count)

    def _meta(self, first: int, count: int) -> dict[str, Any]:
        """The columns before those of the table: the rows come at the position, before all of the log."""

        def repeated(text: str | None) -> Any:
            return named(zeros(count) - (text is None), pa.array([text or ""], pa.string()))

        numbers = np.arange(first, first + count, dtype=np.int64)
        place = np.array([self.position], dtype=np.int64)
        limits = np.array([0, count], dtype=np.int64)
        sequence = sequences(
            np.zeros(1, np.int64), self.log, place, limits, numbers, np.ones(count, np.bool_)
        )
        by_name: dict[str, Callable[[pa.DataType], Any]] = {
            CHANGE_TYPE: lambda kind: repeated(SNAPSHOT),
            "_commit_timestamp": lambda kind: pa.array([self.time] * count, kind),
            "_file": lambda kind: repeated(self.log),
            "_position": lambda kind: pa.array(np.full(count, self.position), kind),
            "_row": lambda kind: pa.array(numbers, kind),
            "_gtid": lambda kind: repeated(None),
            "_server_id": lambda kind: pa.array(np.full(count, self.server_id), kind),
            "_timestamp": lambda kind: pa.array([self.time] * count, kind),
            "_sequence": lambda kind: sequence,
        }
        return {one.name: by_name[one.name](one.type) for one in META_FIELDS}
