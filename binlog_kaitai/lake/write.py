"""Writes part of a log as Parquet files to a staging folder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from binlog_kaitai.arrow import pa, pc, pq
from binlog_kaitai.core.filters import Filters
from binlog_kaitai.core.spans import Span
from binlog_kaitai.ddl import Definitions
from binlog_kaitai.lake import DATE, TIMES, VIEWS
from binlog_kaitai.lake.rules import NO_RULES, Rules
from binlog_kaitai.lake.types import SPARK, Dialect, typed, with_names
from binlog_kaitai.log.gaps import Gap
from binlog_kaitai.log.groups import distinct_values
from binlog_kaitai.rows.log_pages import RowsPage, RowsPages
from binlog_kaitai.rows.row_images import ImageProgram
from binlog_kaitai.rows.table_maps import Table
from binlog_kaitai.sources.source import Source
from binlog_kaitai.views.change_batches import page_batches, table_batches_of
from binlog_kaitai.views.change_schemas import (
    ABSENT_FIELD,
    TIME,
    own_columns,
    table_schema,
    untaken_name,
)
from binlog_kaitai.views.events_view import read_events
from binlog_kaitai.views.parquet_folder import PartWriter, folder_name, write_view
from binlog_kaitai.views.skip_damage import read_around
from binlog_kaitai.views.splits import opened, read_span
from binlog_kaitai.views.transactions_view import read_transactions

#: Hive's partition name for NULL, which all readers of its layout understand.
_NO_DATE = "__HIVE_DEFAULT_PARTITION__"

_DAY = 86_400_000_000

#: Maximum number of open files, and of bytes buffered in them.
_MAX_OPEN, _MAX_WAITING = 128, 96 << 20

#: Damage to a log: offsets, reason, and when the log was created.
DAMAGE_SCHEMA = pa.schema(
    [
        pa.field("file", pa.string()),
        pa.field("from", pa.int64()),
        pa.field("to", pa.int64()),
        pa.field("reason", pa.string()),
        pa.field("begun", TIME),
    ]
)

#: Reasons why changes do not determine the content of a table.
_JSON_PARTS = "the log has only what changed in JSON documents (binlog_row_value_options, binlog_row_image)"
_VERSIONED = "it keeps its history (SYSTEM VERSIONING), which the log does not tell from what is current"


@dataclass
class Written:
    """The result of writing part of a log.

    Attributes
    ----------
    files : dict of str to int
        Paths relative to the output folder, with row counts.
    keys : dict of str to list of str
        The newest primary key of each table, as far as the log or its definitions show.
    incomplete : dict of str to str
        Tables whose content cannot be derived from their changes, with reasons.
    names : dict of str to str
        The names in the lake of tables that it renames.
    """

    files: dict[str, int] = field(default_factory=dict)
    keys: dict[str, list[str]] = field(default_factory=dict)
    incomplete: dict[str, str] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)


def write_lake(
    source: Source,
    folder: Path,
    *,
    views: Iterable[str] = VIEWS,
    definitions: Definitions | None = None,
    zero_dates: str = "null",
    filters: Mapping[str, Any] | None = None,
    dialect: Dialect = SPARK,
    era: int = 0,
    rules: Rules = NO_RULES,
) -> Written:
    """Write the events, transactions and changes of a log, or part of one, to a folder.

    Parameters
    ----------
    definitions
        Table definitions at the start.
    filters
        As for :meth:`Filters.of`.
    dialect
        The dialect of the intended readers.
    era
        The era of the changes in the column `_sequence`, see `rows.sequences`.
    rules
        What the lake leaves out, masks or renames.

    Raises
    ------
    BinlogError
        The log is damaged; the output must be discarded.
    """
    written, chosen = Written(), dict(filters or {})
    files = Files(folder, dialect)
    try:
        for view in views:
            if view == "changes":
                pages = RowsPages(source, Filters.of(**chosen), definitions=definitions, era=era)
                for name, batch in _changes(pages, table_batches_of, written, zero_dates, dialect, rules):
                    files.write(name, batch, TIMES[view])
            else:
                read: Callable[..., Any] = read_events if view == "events" else read_transactions
                for batch in read(source, **chosen):
                    files.write(view, rules.without_texts(batch), TIMES[view])
    finally:
        files.close()
    written.files = files.rows
    return written


def write_around(
    split: Source,
    folder: Path,
    *,
    views: Iterable[str] = VIEWS,
    definitions_at: Callable[[Span], Definitions],
    zero_dates: str = "null",
    tables: Iterable[str] = (),
    filters: Mapping[str, Any] | None = None,
    dialect: Dialect = SPARK,
    rules: Rules = NO_RULES,
) -> tuple[Written, list[Gap]]:
    """The same for a split that may be damaged, skipping the damage; each view may find some of it.

    Parameters
    ----------
    definitions_at
        Returns the table definitions before a span.
    tables
        Write changes of these tables only.

    Returns
    -------
    What was written, and the damage by position.
    """
    written, files, damages = Written(), Files(folder, dialect), dict[int, Gap]()

    def changes(source: Source, view: str, **options: Any) -> Iterator[Any]:
        chosen, span = Filters.of(table=list(tables), **options), source.span or Span()
        pages = RowsPages(source, chosen, definitions=definitions_at(span), era=span.era)
        # In log order: the part after damage is read again.
        return _changes(pages, page_batches, written, zero_dates, dialect, rules)

    def others(source: Source, view: str, **options: Any) -> Iterator[Any]:
        batches = read_span(source, view, definitions_at=definitions_at, **options)
        return ((view, rules.without_texts(batch)) for batch in batches)

    try:
        for view in views:
            read = changes if view == "changes" else others
            for item in read_around(split, view, read=read, **(filters or {})):
                if isinstance(item, Gap):
                    damages.setdefault(item.start, item)
                else:
                    name, batch = item
                    files.write(name, batch, TIMES[view])
    finally:
        files.close()
    written.files = files.rows
    return written, [damages[start] for start in sorted(damages)]


def write_damage(
    damages: Sequence[Gap], split: Source, folder: Path, rules: Rules = NO_RULES
) -> dict[str, int]:
    """Write damage found in a log to a file in the ``damage`` folder; returns its path and row count."""
    with opened(split) as log:
        begun = datetime.fromtimestamp(log.log_header.begun, UTC)
    rows = [
        {
            "file": split.name,
            "from": one.start,
            "to": one.stop_in(split.size),
            "reason": rules.masks.reason_of(one.error),
            "begun": begun,
        }
        for one in damages
    ]
    path = Path("damage") / f"{DATE}={begun:%Y-%m-%d}"
    write_view([pa.RecordBatch.from_pylist(rows, schema=DAMAGE_SCHEMA)], folder / path)
    return {(path / one.name).as_posix(): len(rows) for one in (folder / path).iterdir()}


def _changes(
    pages: Iterable[RowsPage],
    batches: Callable[..., Iterator[tuple[Table, pa.RecordBatch]]],
    written: Written,
    zero_dates: str,
    dialect: Dialect,
    rules: Rules,
) -> Iterator[tuple[str, pa.RecordBatch]]:
    """The changes of pages, each batch with the folder of its table; updates `written`."""
    lacking: set[tuple[str, str]] = set()
    masks = rules.masks

    def schema_of(table: Table) -> pa.Schema:
        schema = masks.schema(table.schema, table_schema(table, zero_dates))
        return schema.append(ABSENT_FIELD) if table.key in lacking else schema

    def readable(table: Table) -> pa.Schema:
        return masks.readable(table.schema, schema_of(table), zero_dates) if masks else schema_of(table)

    for page in pages:
        for table, program in programs_of(page):
            before, after = program.columns()
            images = [image for at, image in enumerate((before, after)) if program.which >> at & 1]
            if any(len(image) < len(table.schema.columns) for image in images):
                lacking.add(table.key)
            reason = why_untold(table, program) or (masks.why_no_key(table.schema) if masks else None)
            if reason is not None:
                written.incomplete[folder_name(table.key)] = reason
        for table, batch in batches(page, readable, zero_dates):
            if masks:
                batch = masks.applied(table.schema, batch, schema_of(table))
            name = folder_name(table.key)
            keys = (key for key, one in own_columns(table.schema).items() if one.is_primary_key)
            written.keys[name] = [untaken_name(key, dialect.taken) for key in keys]
            names = {one: untaken_name(one, dialect.taken) for one in batch.schema.names}
            in_lake = folder_name(rules.name_of(table.key))
            if in_lake != name:
                written.names[name] = in_lake
            yield f"changes/{in_lake}", with_names(batch, names)


def why_untold(table: Table, program: ImageProgram) -> str | None:
    """Why changes with these image columns do not determine a table's content; None if they do."""
    if any(column.is_row_period for column in table.schema.columns):
        return _VERSIONED
    before, after = program.columns()
    has_parts = program.partial >= 0 and {*table.json_columns} & {*after} - {*before}
    return _JSON_PARTS if has_parts else None


def programs_of(page: RowsPage) -> Iterator[tuple[Table, ImageProgram]]:
    """The distinct row image layouts of a page, and their tables."""
    programs, program_of = page.images.programs()
    numbers, first = np.unique(program_of[page.chosen], return_index=True)
    for number, index in zip(numbers.tolist(), page.chosen[first].tolist(), strict=True):
        program, table = programs[number], page.images.table(index)
        if program is not None and isinstance(table, Table):
            yield table, program


class Files:
    """Open files by folder, below a folder without other writers."""

    def __init__(self, folder: Path, dialect: Dialect = SPARK) -> None:
        self.rows: dict[str, int] = {}
        self._folder = folder
        self._dialect = dialect
        self._open: dict[str, PartWriter] = {}

    def write(self, name: str, batch: pa.RecordBatch, time: str) -> None:
        """Write rows to the files of their dates."""
        for date, part in by_date(batch, time):
            self.put(f"{name}/{DATE}={date}", part)

    def put(self, key: str, batch: pa.RecordBatch) -> None:
        """Write rows to the files of a folder."""
        writer = self._open.pop(key, None) or PartWriter(
            self._folder / key, stores_schema=self._dialect.stores_schema
        )
        self._open[key] = writer  # move it to the end, as the most recently used
        writer.write(typed(batch, self._dialect.type_of))
        if sum(writer.waiting for writer in self._open.values()) > _MAX_WAITING:
            for writer in self._open.values():
                writer.flush()
        while len(self._open) > _MAX_OPEN:
            self._open.pop(next(iter(self._open))).close()

    def close(self) -> None:
        """Close all files, and record their row counts."""
        for writer in self._open.values():
            writer.close()
        for path in sorted(self._folder.rglob("*.parquet")):
            self.rows[path.relative_to(self._folder).as_posix()] = pq.read_metadata(path).num_rows


def by_date(batch: pa.RecordBatch, time: str) -> Iterator[tuple[str, pa.RecordBatch]]:
    """The rows of each UTC date, in batch order; NULL has a partition of its own."""
    if not batch.num_rows:
        return
    numbers = pc.cast(batch.column(time), pa.int64())
    least, most = (one.as_py() for one in pc.min_max(numbers).values())
    if not numbers.null_count and least // _DAY == most // _DAY:
        yield _date(least // _DAY), batch
        return
    days = numbers.to_numpy(zero_copy_only=False)
    days = np.where(np.isnan(days), np.nan, days // _DAY) if days.dtype.kind == "f" else days // _DAY
    for day in distinct_values(days).tolist():
        is_of_day = np.isnan(days) if day != day else days == day
        yield _date(day), batch.filter(pa.array(is_of_day))


def _date(day: float) -> str:
    return _NO_DATE if day != day else str(np.datetime64(int(day), "D"))
