"""The options of a script."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from binlog_kaitai.check.masked_blocks import null_masks
from binlog_kaitai.errors import UsageError
from binlog_kaitai.log.event_rows import Change
from binlog_kaitai.render.sql.altered_tables import CurrentDefinitions
from binlog_kaitai.rows.row_criteria import RowCriteria


@dataclass
class SqlOptions:
    """Options of a script, as the user gives them.

    `undo`: undo changes, last one first.
    `operation`, `where`, `column`: see `RowCriteria.of`; with any of them, logged statements are excluded.
    `allow_unnamed`: name columns c1, c2 … if their names are unknown.
    `extended_insert`: merge consecutive INSERTs into a table, up to about a megabyte.
    `for_table`, `renamed`: see `CurrentDefinitions`; None for the tables as they were.
    `rewrite_db`: new names of databases.
    `replace`, `insert_ignore`: REPLACE or INSERT IGNORE instead of INSERT.
    `check`: the script reverts nothing of a transaction, and stops, unless all rows are as the log left them.
    `include_columns`, `exclude_columns`, `mask`: see `MaskOptions`; with any of them, no text of statements.
    Raises `UsageError`: a value is invalid, or contradicts another one.
    """

    undo: bool = False
    operation: str | Iterable[str] = ()
    where: str | None = None
    column: str | Iterable[str] = ()
    allow_unnamed: bool = False
    extended_insert: bool = False
    for_table: str | None = None
    renamed: Sequence[str] = ()
    rewrite_db: Mapping[str, str] = field(default_factory=dict)
    replace: bool = False
    insert_ignore: bool = False
    check: bool = False
    include_columns: str | Iterable[str] = ()
    exclude_columns: str | Iterable[str] = ()
    mask: str | Iterable[str] = ()

    def __post_init__(self) -> None:
        if self.for_table is not None and not self.undo:
            raise UsageError("--for-table requires --undo: replayed changes apply to the tables as they were")
        if self.renamed and self.for_table is None:
            raise UsageError("--renamed requires --for-table")
        if self.replace and self.insert_ignore:
            raise UsageError("--replace and --insert-ignore cannot be used together")
        if self.check and not self.undo:
            raise UsageError("--check requires --undo")
        if self.check and (self.extended_insert or self.replace or self.insert_ignore):
            raise UsageError("--check cannot be used with --extended-insert, --replace or --insert-ignore")
        self.masks = null_masks(self.include_columns, self.exclude_columns, self.mask)
        if self.check and self.masks:
            raise UsageError("--check compares all values; it cannot be used with masks")
        self.wanted = RowCriteria.of(operation=self.operation, where=self.where, column=self.column)
        inserted, operations = Change.DELETE if self.undo else Change.INSERT, self.wanted.operations
        if (self.replace or self.insert_ignore) and operations and inserted not in operations:
            option = "--replace" if self.replace else "--insert-ignore"
            raise UsageError(f"{option} is about INSERTs, but --operation leaves none; add {inserted.value}")
        self.today = None if self.for_table is None else CurrentDefinitions(self.for_table, self.renamed)
        #: The words before INTO that insert rows.
        self.insertion = b"REPLACE" if self.replace else b"INSERT IGNORE" if self.insert_ignore else b"INSERT"
