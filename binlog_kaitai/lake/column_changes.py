"""Refuses batches that give a table of a lake other columns (`--on-schema-change fail`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from binlog_kaitai.errors import UsageError
from binlog_kaitai.following.effects import EffectKind
from binlog_kaitai.lake.batches import Lake, Piece
from binlog_kaitai.lake.lineage import Entry, Key, in_order
from binlog_kaitai.lake.storage import table_name
from binlog_kaitai.lake.types import merge_columns
from binlog_kaitai.rows.change_schemas import ABSENT_FIELD
from binlog_kaitai.rows.row_masks import Method

_REMEDY = "nothing of this batch is loaded; to accept the change, run once with --on-schema-change evolve"


def check_columns(lake: Lake, pieces: Iterable[Piece]) -> None:
    """Look for the first change that has other columns than the one before, or statement that moves columns.

    Raises `UsageError`: there is one; names the table, the columns and the place in the log.
    """
    assert lake.plan is not None
    known = {table: dict(entry.columns) if entry else {} for table, entry in lake.lineage.defined.items()}
    loaded = {*lake.lineage.tables()}
    for piece in pieces:
        for entry in in_order(piece.entries(lake.plan.format)):
            what = ""
            if entry.kind is EffectKind.KEYED:
                before = known.get(entry.table) if entry.columns else None
                if before is None:
                    what = ", ".join(f"adds {name}" for name in _added(lake, piece, entry.table))
                elif before:
                    what = ", ".join(_differences(before, dict(entry.columns)))
                known[entry.table] = dict(entry.columns)
                loaded.add(entry.table)
            elif entry.kind is EffectKind.COLUMNS_MOVED and entry.table in loaded:
                what = ", ".join(_moved(lake, entry))
            elif entry.kind is EffectKind.RENAMED and entry.table in loaded:
                loaded.add((entry.new_schema_name, entry.new_table_name))
            if what:
                reason = f"the columns of {'.'.join(entry.table)} change: {what}; {_REMEDY}"
                raise UsageError(reason, file=piece.log, position=entry.position)


def _added(lake: Lake, piece: Piece, table: Key) -> list[str]:
    """The columns that files of a piece add to a table of which no definition is recorded."""
    assert lake.plan is not None
    folder = f"changes/{table_name(lake.plan.rules.name_of(table))}"
    opened = lake.tables.open(folder)
    if opened is None:
        return []
    before = opened.columns
    after = dict(before)
    for file in piece.files:
        if file.table == folder:
            merge_columns(after, file.columns, lake.plan.format)
    return [name for name in after if name not in before and name != ABSENT_FIELD.name]


def _differences(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[str]:
    old = {name.lower(): kind for name, kind in before.items()}
    for name, kind in after.items():
        former = old.pop(name.lower(), None)
        if former is None:
            yield f"adds {name} ({kind})"
        elif former != kind:
            yield f"{name} was {former} and is {kind}"
    yield from (f"drops {name}" for name in before if name.lower() in old)


def _moved(lake: Lake, entry: Entry) -> Iterator[str]:
    """What a statement does to the columns that the lake has, or would get."""
    assert lake.plan is not None
    table, masks = ".".join(entry.table), lake.plan.rules.masks
    for old, new in entry.columns:
        if masks.treatment(table, old or new).method < Method.LEFT_OUT:
            yield f"renames {old} to {new}" if old and new else f"drops {old}" if old else f"adds {new}"
