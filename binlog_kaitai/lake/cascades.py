"""Tables that a foreign key changes, without any of their rows being logged (CASCADE, SET NULL).

MySQL logs these changes since 9.6, which a flag of rows events shows; MariaDB does not. Whether a row refers
to one that was deleted is not looked at. Foreign keys are known from definitions only.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

import numpy as np

from binlog_kaitai.core.grammar import ROWS_TYPES
from binlog_kaitai.ddl import Definitions
from binlog_kaitai.following.effects import Effect, unclear
from binlog_kaitai.kernels.arrays import Bools, Ints
from binlog_kaitai.log.statements import statement_body, statements_in
from binlog_kaitai.rows.column_cells import Cells
from binlog_kaitai.rows.image_walk import ABSENT, BEFORE, DELETE, MismatchError, walk
from binlog_kaitai.rows.log_pages import RowsPage
from binlog_kaitai.rows.table_maps import Table
from binlog_kaitai.values.table_definition import ForeignKey, TableDefinition

#: A table, and one of its foreign keys.
Reference = tuple[TableDefinition, ForeignKey]

#: The foreign keys by the tables to which they refer.
Children = defaultdict[tuple[str, str], list[Reference]]

_FLAGS = ("is_sql_foreign_key", "has_no_foreign_key_checks")


class Cascades:
    """Finds the tables whose contents are not known after changes, selected or not.

    `definitions`: those before the first page, which the statements of all pages change.
    `statements`: the positions of statements that change definitions are appended to it.
    """

    def __init__(self, definitions: Definitions, statements: list[int]) -> None:
        self._definitions, self._statements = definitions, statements
        self._children = _children_of(definitions)

    def of(self, page: RowsPage) -> Iterator[Effect]:
        """What follows from the changes of the next page."""
        block, begin = page.block, 0
        for row in statements_in(block):
            if self._definitions.observe_query(statement_body(block, row)):
                yield from self._between(page, begin, row)
                self._children = _children_of(self._definitions)
                self._statements.append(int(block.positions[row]))
                begin = row
        yield from self._between(page, begin, len(block))

    def _between(self, page: RowsPage, begin: int, end: int) -> Iterator[Effect]:
        """What follows from the changes in a range of events, with the foreign keys there."""
        if self._children:
            yield from _cascades(page, self._children, (page.images.rows >= begin) & (page.images.rows < end))


def _children_of(definitions: Definitions) -> Children:
    children: Children = defaultdict(list)
    for table, key in definitions.foreign_keys():
        if key.on_delete or key.on_update:
            children[_folded(key.parent)].append((table, key))
    return children


def _cascades(page: RowsPage, children: Children, is_between: Bools) -> Iterator[Effect]:
    """The tables whose contents are not known after some of the changes of a page."""
    has_cascades = is_between & page.wanted[page.images.rows] & _leaves_out(page)[page.images.rows]
    for number, parent in enumerate(page.images.tables):
        if isinstance(parent, Table) and (own := children.get(_folded(parent.key))):
            events = np.flatnonzero(has_cascades & (page.images.table_of == number))
            names = {name.casefold() for _, key in own for name in key.columns}
            deleted, changed = _last_changes(page, parent, events, names)
            for table, key in own:
                last = max(deleted if key.on_delete else -1, changed if key.on_update else -1)
                if last >= 0:
                    yield from _refused(page.position(last), parent.schema.full_name, table, children)


def _folded(key: Iterable[str]) -> tuple[str, str]:
    schema, table = key
    return schema.casefold(), table.casefold()


def _leaves_out(page: RowsPage) -> Bools:
    """Which events of the block do not log what foreign keys change, as a bool array."""
    block = page.block
    leaves_out = np.ones(len(block), dtype=np.bool_)
    for kind in filter(ROWS_TYPES.__contains__, block.kinds):
        body = block.body(kind)
        for flag in filter(body.__contains__, _FLAGS):
            leaves_out[block.rows_of(kind)] &= ~body.numbers(flag).astype(np.bool_)
    return leaves_out


def _last_changes(page: RowsPage, table: Table, events: Ints, names: set[str]) -> tuple[int, int]:
    """The last event that deletes rows, and the last one that changes some columns of a row; -1 for none."""
    columns = [column for column in table.schema.columns if column.name.casefold() in names]
    deleted = changed = -1
    try:
        for located in walk(page.images, events, len(table.schema.columns)):
            deleted = int(located.events[located.changes == DELETE].max(initial=deleted))
            first = np.flatnonzero(located.changes == BEFORE)
            is_changed = np.full(len(first), len(columns) < len(names))
            for column in columns:
                cells = Cells.of(table, column, located)
                before, after = cells.part(first), cells.part(first + 1)
                is_changed |= (after.starts != ABSENT) & before.differs(after)
            changed = int(located.events[first[is_changed]].max(initial=changed))
    except MismatchError as mismatch:  # the reader of the rows raises the error, if there is one
        return mismatch.index, mismatch.index
    return deleted, changed


def _refused(position: int, parent: str, table: TableDefinition, children: Children) -> Iterator[Effect]:
    """The table, and those whose foreign keys refer to it."""
    reason = f"a foreign key changes its rows with those of {parent}, and the server does not log it"
    waiting, known = [table], set[tuple[str, str]]()
    while waiting:
        child = waiting.pop()
        if (key := (child.schema_name, child.table_name)) not in known:
            known.add(key)
            yield unclear(position, *key, reason)
            waiting += (child for child, _ in children.get(_folded(key), ()))
