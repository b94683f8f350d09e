"""Partial updates of JSON documents (PARTIAL_JSON): the documents that result from them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from binlog_kaitai.arrow import pa, pc
from binlog_kaitai.core.grammar import parse_cell
from binlog_kaitai.errors import GrammarError
from binlog_kaitai.kernels.arrays import Ints
from binlog_kaitai.rows.column_cells import CellError, Cells
from binlog_kaitai.rows.image_walk import ABSENT, BEFORE, MAX_ROWS, LocatedRows, MismatchError, walk
from binlog_kaitai.rows.row_images import Images
from binlog_kaitai.rows.table_maps import Table
from binlog_kaitai.text.line_arrays import plain
from binlog_kaitai.values.decoders import is_partial
from binlog_kaitai.values.json_documents import JsonDiff, JsonText, diff_of


def walk_rows(images: Images, chosen: Ints, table: Table, max_rows: int = MAX_ROWS) -> Iterator[LocatedRows]:
    """The rows of some events of a table, as `walk` gives them, with the results of partial updates.

    Raises `MismatchError`: an event contradicts its table map, or has an invalid partial update.
    """
    for rows in walk(images, chosen, len(table.schema.columns), max_rows):
        try:
            yield with_results(table, rows)
        except CellError as error:
            before = rows.before(error.row)
            if len(before.events):
                yield with_results(table, before)
            raise MismatchError(int(rows.events[error.row]), error.error) from error


def with_results(table: Table, rows: LocatedRows) -> LocatedRows:
    """The rows with the results of their partial updates, see `LocatedRows.updates`.

    What an update leaves as it is has the offset of the document before. The last row of `starts` is added:
    the updates of a row, by the names of the columns.

    Raises `CellError`: an update is invalid.
    """
    if not table.json_columns or not (rows.options >= 0).any():
        return rows
    starts, size = np.vstack((rows.starts, np.full(len(rows.events), ABSENT))), len(rows.data)
    updates, of_rows = list[object](), dict[int, dict[str, JsonDiff]]()
    for ordinal, index in enumerate(table.json_columns):
        cells, line = Cells.of(table, table.schema.columns[index], rows), rows.lines[index]
        changed = np.flatnonzero((rows.options >= 0) & cells.valid)
        changed = changed[is_partial(rows.data, rows.options[changed], ordinal)]
        for row, raw in zip(changed.tolist(), cells.raw(changed), strict=True):
            has_document = row > 0 and rows.changes[row - 1] == BEFORE and cells.valid[row - 1]
            try:
                diff = diff_of(parse_cell(table.table_map, index, raw or b"", is_partial=True))
                document = cells.by_reader(np.array([row - 1]))[0] if has_document else None
                result = diff if document is None else diff.apply(document)
            except GrammarError as error:
                raise CellError(row, error) from error
            except CellError:
                raise
            except Exception as error:  # generated code raises various errors on invalid bytes
                raise CellError(row, GrammarError(f"cannot be read: {error}")) from error
            of_rows.setdefault(row, {})[cells.column.name] = diff
            if document is not None and result == document:
                starts[line, row] = starts[line, row - 1]
            else:
                updates.append(result)
                starts[line, row] = size + len(updates)
    for row, diffs in of_rows.items():
        updates.append(diffs)
        starts[-1, row] = size + len(updates)
    return rows._replace(starts=starts, updates=updates)


def with_documents(array: pa.Array, rows: LocatedRows, column: int) -> pa.Array:
    """The values of a column, with the documents that result from partial updates, null if unknown."""
    if not rows.updates:
        return array
    results = [rows.update(column, row) for row in range(len(array))]
    documents = [plain(result) if isinstance(result, JsonText) else None for result in results]
    return pc.coalesce(pa.array(documents, array.type), array)
