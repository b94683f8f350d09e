"""The options of a script."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from binlog_kaitai.errors import UsageError
from binlog_kaitai.render.sql.choice import Wanted
from binlog_kaitai.render.sql.today import Today


@dataclass(frozen=True)
class SqlOptions:
    """Options of a script.

    Attributes
    ----------
    undo : bool
        Undo changes, last one first.
    wanted : Wanted
        Only row changes that match; if it has any criterion, logged statements are excluded.
    allow_unnamed : bool
        Name columns c1, c2 … if their names are unknown.
    is_extended : bool
        Merge consecutive INSERTs into a table, up to about a megabyte.
    today : Today or None
        Current definitions, to which statements are adapted; None for the tables as they were.
    """

    undo: bool = False
    wanted: Wanted = field(default_factory=Wanted)
    allow_unnamed: bool = False
    is_extended: bool = False
    today: Today | None = None

    @classmethod
    def of(
        cls,
        *,
        undo: bool = False,
        operation: Iterable[str] = (),
        where: str | None = None,
        column: Iterable[str] = (),
        allow_unnamed: bool = False,
        extended_insert: bool = False,
        for_table: str | None = None,
        renamed: Sequence[str] = (),
    ) -> SqlOptions:
        """Parse the options from user input.

        Raises
        ------
        UsageError
            A value is invalid.
        """
        if for_table is not None and not undo:
            raise UsageError("--for-table requires --undo: replayed changes apply to the tables as they were")
        if renamed and for_table is None:
            raise UsageError("--renamed requires --for-table")
        wanted = Wanted.of(operation=operation, where=where, column=column)
        today = None if for_table is None else Today(for_table, renamed)
        return cls(undo, wanted, allow_unnamed, extended_insert, today)
