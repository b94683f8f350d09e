"""Writes part of a log to files of a lake's tables."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

import numpy as np

from binlog_kaitai.arrow import pa
from binlog_kaitai.core.filters import Filters
from binlog_kaitai.core.spans import Span
from binlog_kaitai.ddl import Definitions
from binlog_kaitai.ddl.lexer import may_replace
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.following.effects import Effect, EffectKind, Statements, take_statement, unclear
from binlog_kaitai.lake import STATEMENTS
from binlog_kaitai.lake.cascades import Cascades
from binlog_kaitai.lake.described import definition_facts
from binlog_kaitai.lake.files import TableFiles
from binlog_kaitai.lake.rules import NO_RULES, Rules
from binlog_kaitai.lake.storage import table_name
from binlog_kaitai.lines.row_forms import RowShape
from binlog_kaitai.log.gaps import Gap
from binlog_kaitai.rows.change_schemas import ABSENT_FIELD, TIME, table_schema
from binlog_kaitai.rows.event_metadata import STATEMENT, texts_of
from binlog_kaitai.rows.log_pages import RowsPage, RowsPages
from binlog_kaitai.rows.row_images import ImageProgram
from binlog_kaitai.rows.table_maps import Table
from binlog_kaitai.sources.source import Source
from binlog_kaitai.values.schema import NameSource, is_mariadb
from binlog_kaitai.views import VIEWS
from binlog_kaitai.views.change_batches import page_batches, table_batches_of
from binlog_kaitai.views.ddl_view import ddl_batches
from binlog_kaitai.views.skip_damage import read_around
from binlog_kaitai.views.splits import opened, read_span

#: Ranges of a log that are missing or damaged: offsets, reason, and when the log was created.
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
_SEQUENCE = "it is a sequence, whose only row is logged as if it were new each time"
_MAY_BE_REPLACED = (
    "images of an update lack {}, and may be those of a REPLACE, which MariaDB logs without columns that get "
    "their default: its statement is not known (binlog_annotate_row_events), or a table has triggers"
)
_MAY_BE_COMPUTED = (
    "images of updates lack {}; whether the server computes these columns is not known without a definition "
    "of the table (--ddl)"
)


@dataclass
class Written:
    """What was found while writing part of a log, by schema and name of a table.

    `facts`: the primary keys and columns of each table, and why these have no names, as far as the log or its
    definitions show, at the first change with each.
    `effects`: tables whose content cannot be derived from their changes, and columns that are not in all.
    `damages`: the damage that was skipped, by position.
    """

    facts: list[Effect] = field(default_factory=list)
    effects: list[Effect] = field(default_factory=list)
    damages: list[Gap] = field(default_factory=list)
    _last: dict[tuple[EffectKind, tuple[str, str]], Effect] = field(default_factory=dict)

    def note(self, facts: Iterable[Effect]) -> None:
        """Add facts about a table, unless they are its last ones."""
        for fact in facts:
            last = self._last.get((fact.kind, fact.table))
            if last is None or replace(last, position=fact.position) != fact:
                self._last[fact.kind, fact.table] = fact
                self.facts.append(fact)


def write_lake(
    source: Source,
    files: TableFiles,
    *,
    views: Collection[str] = VIEWS,
    definitions_at: Callable[[Span], Definitions] = lambda span: Definitions(),
    zero_dates: str = "null",
    tables: Iterable[str] = (),
    rules: Rules = NO_RULES,
    skips_damage: bool = False,
) -> Written:
    """Write the events, transactions and changes of a log, or part of one, and its statements.

    `definitions_at`: returns the table definitions before a span, for the caller to update.
    `tables`: write changes of these tables only.
    `rules`: what the lake leaves out, masks or renames.
    `skips_damage`: write what is intact of a damaged log, which needs its `state`; each view may find some of
    the damage.
    Raises `BinlogError`: the log is damaged; the files must be discarded.
    """
    written, damages, statements = Written(), dict[int, Gap](), list[int]()
    batches_of = page_batches if skips_damage else table_batches_of  # damage is skipped in log order

    def changes_and_statements(
        source: Source, span: Span, **options: Any
    ) -> Iterator[tuple[str, pa.RecordBatch]]:
        chosen, all_tables = Filters.of(table=list(tables), **options), Filters.of(**options)
        pages = RowsPages(
            source,
            chosen,
            definitions=definitions_at(span),
            era=span.era,
            every_block=True,
            origins=[STATEMENT],
        )
        cascades = Cascades(definitions_at(span), statements)
        definitions, lacking = definitions_at(span), set[tuple[str, str]]()
        for page in pages:
            written.effects += (*statements_in_payloads(page), *cascades.of(page))
            error = None
            try:
                yield from _changes(page, batches_of, written, lacking, zero_dates, rules)
            except BinlogError as caught:
                error = caught
                before = int(np.searchsorted(page.block.positions, error.position or 0))
                page.limit = min(page.limit, before)
            for batch in ddl_batches([page], all_tables, definitions):
                yield STATEMENTS, rules.without_texts(batch)
            if error is not None:
                raise error

    def read(source: Source, view: str, **options: Any) -> Iterator[tuple[str, pa.RecordBatch]]:
        if view == "changes":
            return changes_and_statements(source, source.span or Span(), **options)
        kind = "ddl" if view == STATEMENTS else view
        batches = read_span(source, kind, definitions_at=definitions_at, **options)
        return ((view, rules.without_texts(batch)) for batch in batches)

    gtids = (source.span or Span()).restrict({})
    read_all = partial(read_around, read=read) if skips_damage else read
    for view in views if "changes" in views else (*views, STATEMENTS):
        for item in read_all(source, view, **gtids):
            if isinstance(item, Gap):
                damages.setdefault(item.start, item)
            else:
                files.write(*item)
    # The last ones before a statement, which may rename or empty a table.
    number = partial(bisect, statements)
    last = {(replace(effect, position=0), number(effect.position)): effect for effect in written.effects}
    written.effects = [*last.values()]
    written.damages = [damages[start] for start in sorted(damages)]
    return written


def write_damage(damages: Sequence[Gap], split: Source, files: TableFiles, rules: Rules = NO_RULES) -> None:
    """Write damage found in a log to the table ``damage``."""
    ranges = ((gap.start, gap.stop_in(split.size), rules.masks.reason_of(gap.error)) for gap in damages)
    _write_ranges("damage", ranges, split, files)


def write_gap(reason: str, position: int, split: Source, files: TableFiles) -> None:
    """Write that logs are missing before a position of a log to the table ``gaps``."""
    _write_ranges("gaps", [(None, position, reason)], split, files)


def _write_ranges(
    table: str, ranges: Iterable[tuple[int | None, int, str]], split: Source, files: TableFiles
) -> None:
    with opened(split) as log:
        begun = datetime.fromtimestamp(log.log_header.begun, UTC)
    rows = [dict(zip(DAMAGE_SCHEMA.names, (split.name, *bounds, begun), strict=True)) for bounds in ranges]
    files.write(table, pa.RecordBatch.from_pylist(rows, schema=DAMAGE_SCHEMA))


def _changes(
    page: RowsPage,
    batches: Callable[..., Iterator[tuple[Table, pa.RecordBatch]]],
    written: Written,
    lacking: set[tuple[str, str]],
    zero_dates: str,
    rules: Rules,
) -> Iterator[tuple[str, pa.RecordBatch]]:
    """The changes of a page, each batch with the folder of its table.

    Updates `written`, and `lacking`: the tables of which images lacked columns so far.
    """
    masks = rules.masks

    def schema_of(table: Table) -> pa.Schema:
        whole = table_schema(table, zero_dates, bit1_as_boolean=rules.bit1_as_boolean)
        schema = masks.schema([table.schema], whole)
        return schema.append(ABSENT_FIELD) if table.key in lacking else schema

    def readable(table: Table) -> pa.Schema:
        return masks.readable(table.schema, schema_of(table), zero_dates) if masks else schema_of(table)

    for last, table, program in programs_of(page):
        if lacking_columns(table, program):
            lacking.add(table.key)
        written.effects += effects_of(page, last, table, program)
        if masks and (reason := masks.why_no_key(table.schema)) is not None:
            written.effects.append(unclear(page.position(last), *table.key, reason))
    for table, batch in batches(page, readable, zero_dates):
        if batch.num_rows:
            written.note(
                facts_of(table, batch.column("_position")[0].as_py(), schema_of(table), has_texts=not masks)
            )
        if masks:
            batch = masks.applied(table.schema, batch, schema_of(table))
        yield f"changes/{table_name(rules.name_of(table.key))}", rules.with_origin(batch, table.key)


def statements_in_payloads(page: RowsPage) -> list[Effect]:
    """Tables that statements inside compressed transactions change; others are found without opening these.

    With an empty name: all tables of a schema, or of all schemas.
    """
    block = page.block
    if block.holders is None:
        return []
    is_inside = {int(block.positions[row]) for row in np.flatnonzero(block.holders >= 0)}
    known: list[Effect] = []
    for position, body in Statements().of(block, np.zeros(1, dtype=np.int64)):
        if position in is_inside:
            for effect in take_statement(position, body, Definitions()):
                if effect.kind != EffectKind.CREATED:
                    reason = (
                        effect.reason or "a statement inside a compressed transaction changed the whole table"
                    )
                    known.append(unclear(position, effect.schema_name, effect.table_name, reason))
                    if effect.kind == EffectKind.RENAMED:
                        known.append(unclear(position, effect.new_schema_name, effect.new_table_name, reason))
    return known


def facts_of(
    table: Table, position: int, schema: Iterable[pa.Field] = (), *, has_texts: bool = True
) -> Iterator[Effect]:
    """The key and columns of a table with a change at a position, and why these have no names, or "".

    `schema`: that of its changes.
    `has_texts`: give the comments of columns, too.
    """
    is_unnamed = table.schema.names_from is NameSource.NONE
    reason = table.mismatch or "its definition is unknown" if is_unnamed else ""
    yield Effect(position, EffectKind.UNNAMED, *table.key, reason=reason)
    facts = definition_facts(table.schema, schema, has_texts=has_texts)
    yield Effect(position, EffectKind.KEYED, *table.key, **facts)


def lacking_columns(table: Table, program: ImageProgram) -> set[int]:
    """The columns that one of the images with a program lacks."""
    columns = range(len(table.schema.columns))
    images = (image for image in RowShape.of(program)[1:3] if image is not None)
    return {column for image in images for column in {*columns}.difference(image)}


def effects_of(page: RowsPage, last: int, table: Table, program: ImageProgram) -> Iterator[Effect]:
    """What changes with these image columns mean for the contents of a table; `last`: the last event.

    In MySQL, a column that the after image of an update lacks is unchanged. In MariaDB, it may be a generated
    one, or the statement is a REPLACE, which gives it its default, and is logged as an update.
    """
    position = page.position(last)
    if (reason := _why_untold(table, program)) is not None:
        yield unclear(position, *table.key, reason)
    if not is_mariadb(page.block.layout):
        return
    _, before, after, _ = RowShape.of(program)
    columns = table.schema.columns
    # A key finds the row whatever else a before image lacks.
    needed = after if after is not None or table.schema.primary_key else before
    wanted = range(len(columns)) if needed is None else needed
    if computed := tuple(
        (column.name, column.name) for column in columns if column.is_generated and column.index not in wanted
    ):
        yield Effect(position, EffectKind.COMPUTED, *table.key, columns=computed)
    if before is None or after is None:
        return
    others = [column for column in columns if not column.is_generated]
    lacking = [other for other in others if other.index not in after]
    names = ", ".join(column.name for column in lacking)
    if any(column.is_generated is None for column in lacking):
        yield unclear(position, *table.key, _MAY_BE_COMPUTED.format(names))
    # With FULL_NODUP, before images have all columns, and so have the after images of a REPLACE.
    elif lacking and any(other.index not in before for other in others) and _may_replace(page, last):
        yield unclear(position, *table.key, _MAY_BE_REPLACED.format(names))


def _may_replace(page: RowsPage, last: int) -> bool:
    """Whether events of one program may be of a REPLACE, or of a trigger, whose statement is not logged."""
    if any(isinstance(table, Table) and table.has_triggers for table in page.images.tables):
        return True
    _, program_of = page.images.programs()
    rows = page.images.rows[page.chosen[program_of[page.chosen] == program_of[last]]]
    return any(map(may_replace, texts_of(page.block, page.pool, page.origins[STATEMENT], rows)))


def _why_untold(table: Table, program: ImageProgram) -> str | None:
    """Why changes with these image columns do not determine a table's content; None if they do."""
    if any(column.is_row_period for column in table.schema.columns):
        return _VERSIONED
    names = [column.name for column in table.schema.columns]
    if names[:1] + names[-1:] == ["next_not_cached_value", "cycle_count"]:
        return _SEQUENCE
    before, after = program.columns()
    has_parts = program.partial >= 0 and {*table.json_columns} & {*after} - {*before}
    return _JSON_PARTS if has_parts else None


def programs_of(page: RowsPage) -> Iterator[tuple[int, Table, ImageProgram]]:
    """The distinct row image layouts of a page, with the number of the last event, and their tables."""
    programs, program_of = page.images.programs()
    backwards = page.chosen[::-1]
    numbers, last = np.unique(program_of[backwards], return_index=True)
    for number, index in zip(numbers.tolist(), backwards[last].tolist(), strict=True):
        program, table = programs[number], page.images.table(index)
        if program is not None and isinstance(table, Table):
            yield index, table, program
