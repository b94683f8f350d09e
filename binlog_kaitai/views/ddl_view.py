"""The view `ddl`: statements that change definitions, one row per affected table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from binlog_kaitai.arrow import pa
from binlog_kaitai.core.filters import Filters
from binlog_kaitai.core.options import takes
from binlog_kaitai.ddl import Definitions
from binlog_kaitai.ddl.definition_changes import DdlKind, DefinitionChange, changes_of
from binlog_kaitai.ddl.lexer import may_affect_tables
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.log.read_options import Reading, RowOptions
from binlog_kaitai.log.series import SeriesDefinitions
from binlog_kaitai.log.statements import statement_body, statement_of, statements_in
from binlog_kaitai.rows.change_schemas import META_FIELDS
from binlog_kaitai.rows.log_pages import RowsPage, RowsPages
from binlog_kaitai.rows.sequences import BY_COMMIT, sequences
from binlog_kaitai.sources.source import SourceLike
from binlog_kaitai.text.line_arrays import plain
from binlog_kaitai.values.table_definition import TableDefinition
from binlog_kaitai.views.notebook_readers import shown_in_notebooks

if TYPE_CHECKING:
    from binlog_kaitai.core.bodies import QueryBody

_COLUMNS = pa.list_(
    pa.struct(
        [
            pa.field("name", pa.string()),
            pa.field("type", pa.string()),
            pa.field("is_nullable", pa.bool_()),
            pa.field("is_primary_key", pa.bool_()),
        ]
    )
)
_RENAMES = pa.list_(pa.struct([pa.field("old", pa.string()), pa.field("new", pa.string())]))

#: One row per table of a statement; `_row` counts them. The first columns are those of changes, so that
#: statements and changes can be sorted together by `_sequence`.
DDL_SCHEMA = pa.schema(
    [
        *(
            field.with_type(pa.string()) if pa.types.is_dictionary(field.type) else field
            for field in META_FIELDS[1:]
        ),
        pa.field("schema", pa.string(), nullable=False),
        pa.field("table", pa.string()),
        pa.field("kind", pa.string(), nullable=False),
        pa.field("statement", pa.string()),
        pa.field("new_schema", pa.string()),
        pa.field("new_table", pa.string()),
        pa.field("columns_before", _COLUMNS),
        pa.field("columns_after", _COLUMNS),
        pa.field("renamed_columns", _RENAMES),
    ]
)

_SECOND = 1_000_000


@shown_in_notebooks
@takes(RowOptions)
def read_ddl(
    source: SourceLike | Iterable[SourceLike], **options: Unpack[RowOptions]
) -> pa.RecordBatchReader:
    """Read the statements that change definitions, as record batches of :data:`DDL_SCHEMA`.

    A renamed table matches filters by its old or its new name.

    Parameters
    ----------
    source
        Whatever :func:`binlog_kaitai.open` accepts.
    **options
        See :class:`RowOptions`.

    Raises
    ------
    SourceError, UsageError
        Immediately: no log was found, or an argument is invalid.
    BinlogError
        During iteration, after the statements before the damage.
    """
    reading = Reading.of(source, options)
    pages = pages_of_ddl(reading.sources, reading.filters, **reading.pages)
    batches = ddl_batches(pages, reading.filters, SeriesDefinitions(pages.sources, options["ddl"]))
    return pa.RecordBatchReader.from_batches(DDL_SCHEMA, batches)


def pages_of_ddl(source: SourceLike | Iterable[SourceLike], filters: Filters, **options: Any) -> RowsPages:
    """The pages for `ddl_batches`."""
    options |= {"follows_xa": False, "has_rolled_back": True, "every_block": True}
    return RowsPages(source, filters, definitions=_NoDefinitions(), **options)


class _NoDefinitions(Definitions):
    """For pages whose rows are not read."""

    def observe_query(self, body: QueryBody | BinlogError) -> bool:
        return False


def ddl_batches(
    pages: Iterable[RowsPage], filters: Filters, definitions: SeriesDefinitions | Definitions
) -> Iterator[pa.RecordBatch]:
    """The rows of pages; there must be a page for every block.

    `definitions`: the definitions before the pages; updated by them.
    """
    series = SeriesDefinitions(of_all=definitions) if isinstance(definitions, Definitions) else definitions
    file, own = None, Definitions()
    for page in pages:
        if page.block.file != file:
            file = page.block.file
            own = series.of(file, page.block.fixed_header(0).server_id)
        rows: list[dict[str, object]] = []
        for row in statements_in(page.block, may_affect_tables):
            if row >= page.limit:
                break
            body = statement_body(page.block, row)
            changes = changes_of(body, own)
            own.reach(page.block.file, int(page.block.positions[row]))
            if page.wanted[row]:
                done = filter(_is_done, changes)
                chosen = [change for change in enumerate(done) if change[1].is_taken_by(filters)]
                rows += [_row(page, row, number, body, change) for number, change in chosen]
        if rows:
            yield pa.RecordBatch.from_pylist(rows, schema=DDL_SCHEMA)


def _is_done(change: DefinitionChange) -> bool:
    """Whether a statement did something, as far as the log shows it: IF NOT EXISTS may find the table."""
    if change.is_done is None and change.kind is DdlKind.CREATE_TABLE:
        return change.before is None
    return bool(change.is_done)


def _row(
    page: RowsPage, row: int, number: int, body: QueryBody | BinlogError, change: DefinitionChange
) -> dict[str, object]:
    header, position = page.block.fixed_header(row), int(page.block.positions[row])
    commit = int(page.commit_times(np.array([row]))[0])
    era = commit if page.era == BY_COMMIT else page.era
    eras, positions, numbers = np.array([[era], [position], [number]])
    sequence = sequences(eras, page.block.file, positions, numbers, np.ones(1, dtype=np.bool_))
    return {
        "_commit_timestamp": commit,
        "_file": plain(page.block.file),
        "_position": position,
        "_row": number,
        "_gtid": page.gtid(row),
        "_server_id": header.server_id,
        "_timestamp": header.timestamp * _SECOND,
        "_sequence": sequence[0],
        "schema": plain(change.schema_name),
        "table": _plain(change.table_name),
        "kind": str(change.kind),
        "statement": statement_of(body),
        "new_schema": _plain(change.new_schema_name),
        "new_table": _plain(change.new_table_name),
        "columns_before": _columns(change.before),
        "columns_after": _columns(change.after),
        "renamed_columns": [{"old": plain(old), "new": plain(new)} for old, new in change.renamed] or None,
    }


def _plain(name: str | None) -> str | None:
    return None if name is None else plain(name)


def _columns(table: TableDefinition | None) -> list[dict[str, object]] | None:
    if table is None:
        return None
    return [
        {
            "name": plain(column.name),
            "type": plain(column.type_name),
            "is_nullable": column.is_nullable,
            "is_primary_key": column.is_primary_key,
        }
        for column in table.columns
    ]
