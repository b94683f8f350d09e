"""What a snapshot leaves out, masks and renames: the rules of its lake, applied before it is written."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from binlog_kaitai.arrow import pa
from binlog_kaitai.ddl.store import TableKey
from binlog_kaitai.errors import ServerError, UsageError
from binlog_kaitai.following.effects import Effect, EffectKind
from binlog_kaitai.lake import DATE, ORIGIN
from binlog_kaitai.lake.batches import Piece
from binlog_kaitai.lake.described import definition_facts
from binlog_kaitai.lake.files import TableFiles, moved_in
from binlog_kaitai.lake.rules import NO_RULES, Rules
from binlog_kaitai.lake.storage import Storage, table_name
from binlog_kaitai.lake.types import view_names
from binlog_kaitai.rows.arrow_types import cast
from binlog_kaitai.rows.change_schemas import CHANGE_TYPE, META_FIELDS, SEQUENCE, TIME, own_columns
from binlog_kaitai.rows.row_masks import Method
from binlog_kaitai.rows.sequences import sequences
from binlog_kaitai.sources.disk import replace_file, sync
from binlog_kaitai.values.schema import Column, Schema
from binlog_kaitai.views.change_batches import one_name

RECORD = "snapshot.json"

_LISTS = ("keys", "incomplete", "tables")

#: The change type of the rows of a snapshot.
SNAPSHOT = "snapshot"


@dataclass(frozen=True)
class Snapshot:
    """A complete snapshot.

    `log`, `position`: where the log continues it.
    `log_id`, `era`: which log that is, see `Checkpoint`; None if not known.
    `tables`: schema and name of the tables that were read, and their definitions, as the server has them.
    `files`: paths relative to the folder, with row counts.
    `keys`: the tables that have rows, with facts as of `lake.described.definition_facts`.
    `incomplete`: tables whose contents cannot be derived from their changes, with reasons.
    `rules`: what was left out, masked and renamed.
    `first_row`: the number of the first row of each table, greater than those of an earlier snapshot, which
    may have the same position.
    """

    log: str
    position: int
    ddl: str
    files: dict[str, int] = field(default_factory=dict)
    keys: list[tuple[str, str, dict[str, Any]]] = field(default_factory=list)
    incomplete: list[tuple[str, str, str]] = field(default_factory=list)
    rules: Rules = NO_RULES
    log_id: int | None = None
    era: int = 0
    tables: list[tuple[str, str, str]] = field(default_factory=list)
    first_row: int = 0

    @classmethod
    def load(cls, folder: Path) -> Snapshot | None:
        """The snapshot in a folder; None if it is not complete."""
        path = folder / RECORD
        if not path.exists():
            return None
        record = json.loads(path.read_text(encoding="utf-8"))
        tuples = {name: [tuple(entry) for entry in record.get(name, [])] for name in _LISTS}
        return cls(**record | tuples | {"rules": Rules.of_dict(record["rules"])})

    def check_rules(self, rules: Rules) -> None:
        """Refuse to use it with other rules than it was taken with."""
        if self.rules != rules:
            reason = "the snapshot was taken with other masks or renames"
            raise UsageError(f"{reason}; repeat them, or use another lake")

    def piece(
        self, folder: Path, storage: Storage, source: str, *, has_dates: bool, restores: bool = False
    ) -> Piece:
        """The snapshot as a piece of a lake's batch, its files copied to the folders of their tables.

        `source`: its name in a lake of several sources, or "".
        `has_dates`: the lake's tables are partitioned by date.
        `restores`: what the lake had of the tables until then no longer counts.
        """
        piece = Piece(self.log, self.position, self.position, self.era)
        for name in self.files:
            table, _, rest = name.partition(f"/{DATE}=")
            day = rest.partition("/")[0] if has_dates else ""
            piece.files.append(moved_in(storage, table, folder / name, day, source))
        effect = partial(Effect, self.position)
        effects = []
        for schema, table_name_there, facts in self.keys:
            facts = facts | {"key": tuple(facts["key"]), "columns": tuple(map(tuple, facts["columns"]))}
            effects.append(effect(EffectKind.KEYED, schema, table_name_there, **facts))
        effects += [effect(EffectKind.UNCLEAR, *entry[:2], reason=entry[2]) for entry in self.incomplete]
        for entry in self.tables if restores else ():
            effects.append(effect(EffectKind.UNNAMED, *entry[:2]))
            effects.append(effect(EffectKind.RESTORED, *entry[:2], start=self.first_row))
        piece.effects = effects
        return piece


def rows_by_path(files: TableFiles) -> dict[str, int]:
    """The complete files by their paths, with row counts."""
    return {f"{file.table}/{file.path}": file.rows for file in files.files}


def completed(folder: Path, rules: Rules, take: Callable[[], Snapshot], *, resumes: bool = False) -> Snapshot:
    """The complete snapshot in a folder, or else the one that a function writes to it.

    `resumes`: the function uses what an earlier attempt left in the folder, or removes it.
    Raises `UsageError`: the complete snapshot was taken with other rules.
    """
    known = Snapshot.load(folder)
    if known is not None:
        known.check_rules(rules)
        return known
    if not resumes:
        shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    snapshot = take()
    for path in (folder, *folder.rglob("*")):
        sync(path)
    replace_file(folder / RECORD, json.dumps(asdict(snapshot), indent=1) + "\n")
    return snapshot


class SnapshotFiles:
    """The files of a snapshot.

    `log`, `position`, `server_id`, `time`: where the log continues the snapshot, whose log that is, and when.
    `log_id`, `era`, `tables`, `first_row`: as of `Snapshot`.
    `rules`: what is left out, masked and renamed.
    `incomplete`: tables whose contents cannot be derived from their changes, with reasons.
    """

    def __init__(self, folder: Path, kind: str, rules: Rules) -> None:
        self.log, self.position, self.server_id = "", 0, 0
        self.log_id: int | None = None
        self.era = self.first_row = 0
        self.tables: list[tuple[str, str, str]] = []
        self.time = datetime.now(UTC)
        self.rules = rules
        self.incomplete: dict[TableKey, str] = {}
        self._kind = kind
        self._files = TableFiles(Storage(str(folder)), kind)
        self._counts: dict[TableKey, int] = {}
        self._keys: dict[TableKey, dict[str, Any]] = {}

    def snapshot(self, ddl: str) -> Snapshot:
        """What was written."""
        keys = [(*table, key) for table, key in self._keys.items()]
        incomplete = [(*table, reason) for table, reason in self.incomplete.items()]
        facts = self.log_id, self.era, self.tables, self.first_row
        return Snapshot(self.log, self.position, ddl, self.rows, keys, incomplete, self.rules, *facts)

    @property
    def rows(self) -> dict[str, int]:
        """The files, with row counts, once they are closed."""
        return rows_by_path(self._files)

    def close(self) -> None:
        self._files.close()

    def withheld(self, schema: Schema) -> frozenset[str]:
        """The columns of which no value is needed, so that the server need not send any."""
        treatments = self.rules.masks.treatments(schema)
        return frozenset(name for name, mask in treatments.items() if mask.method >= Method.NULL)

    def note(self, schema: Schema, columns: pa.Schema) -> None:
        """Note what follows for a table that has rows, with these columns."""
        masks = self.rules.masks
        facts = definition_facts(schema, columns, has_texts=not masks)
        self._keys[schema.schema_name, schema.table_name] = json.loads(json.dumps(facts))  # as it is read
        if masks and (reason := masks.why_no_key(schema)) is not None:
            self.incomplete[schema.schema_name, schema.table_name] = reason

    def error(self, schema: Schema, column: Column, error: Exception) -> ServerError:
        """The error for a value that cannot be converted; with masks, it does not quote the value."""
        text = type(error).__name__ if self.rules.masks else str(error)
        refused = ServerError(f"{schema.full_name}, column {column.name}: {text}")
        refused.__cause__ = None if self.rules.masks else error
        return refused

    def write(self, schema: Schema, arrays: list[pa.Array]) -> None:
        """Write rows of a table, as arrays for its columns."""
        self.put(self._files, schema, self.batch(schema, arrays))

    def put(self, files: TableFiles, schema: Schema, batch: pa.RecordBatch) -> None:
        """Write a batch of a table."""
        key = schema.schema_name, schema.table_name
        files.write(f"changes/{table_name(self.rules.name_of(key))}", self.rules.with_origin(batch, key))

    def batch(self, schema: Schema, arrays: list[pa.Array]) -> pa.RecordBatch:
        """Rows of a table as its files have them, from arrays for its columns."""
        own = own_columns(schema)
        meta = self._next_meta(schema, len(arrays[0]))
        columns = [*meta.values(), *(arrays[column.index] for column in own.values())]
        fields = [*META_FIELDS, *(pa.field(name, arrays[column.index].type) for name, column in own.items())]
        batch = pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields))
        if masks := self.rules.masks:
            batch = masks.applied(schema, batch, masks.schema([schema], batch.schema))
        for name, column in own.items() if self.rules.bit1_as_boolean else ():
            index = batch.schema.get_field_index(name)
            if column.bits == 1 and index >= 0 and pa.types.is_uint64(batch.schema.field(index).type):
                batch = batch.set_column(index, name, cast(batch.column(index), pa.bool_()))
        self.note(schema, batch.schema)
        return batch

    def stamped(self, schema: Schema, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Rows of a file of an earlier attempt, with the position and the time of this one."""
        if self.rules.is_shared((schema.schema_name, schema.table_name)):
            batch = batch.drop_columns(list(ORIGIN))
        batch = view_names(batch, self._kind)
        self.note(schema, batch.schema)
        for name, array in self._next_meta(schema, batch.num_rows).items():
            index = batch.schema.get_field_index(name)
            batch = batch.set_column(index, batch.schema.field(index).with_type(array.type), array)
        return batch

    def _next_meta(self, schema: Schema, count: int) -> dict[str, pa.Array]:
        """The columns before those of the table: the rows come at the position, before all of the log."""
        key = schema.schema_name, schema.table_name
        first = self._counts.get(key, self.first_row)
        self._counts[key] = first + count
        numbers = np.arange(first, first + count, dtype=np.int64)
        place = np.full(count, self.position, dtype=np.int64)
        era, is_last = np.full(1, self.era, np.int64), np.ones(count, np.bool_)

        def repeated(value: object, kind: pa.DataType) -> pa.Array:
            return pa.repeat(pa.scalar(value, kind), count)

        return {  # in the order of META_FIELDS
            CHANGE_TYPE: one_name(SNAPSHOT, count),
            "_commit_timestamp": repeated(self.time, TIME),
            "_file": one_name(self.log, count),
            "_position": repeated(self.position, pa.int64()),
            "_row": pa.array(numbers),
            "_gtid": one_name(None, count),
            "_server_id": repeated(self.server_id, pa.int64()),
            "_timestamp": repeated(self.time, TIME),
            SEQUENCE: sequences(era, self.log, place, numbers, is_last),
        }
