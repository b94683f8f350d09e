"""What of a log the script is to do, and how."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from binlog_kaitai.errors import UsageError
from binlog_kaitai.reader.rows import Change
from binlog_kaitai.render.sql.where import Where, parse_where

#: So many tables are named whose columns are not known.
_MOST_NAMES = 5


@dataclass(frozen=True)
class SqlOptions:
    """Options of a script.

    Attributes
    ----------
    undo : bool
        Take changes back, the last one first.
    operations : frozenset of Change
        Only these; all where empty.
    where : Where or None
        Only changes whose image before or after fits.
    touching : frozenset of str
        Only updates that change one of these columns, and inserts and deletes of tables that have one.
    allow_unnamed : bool
        Call columns c1, c2 … where nothing tells their names.
    """

    undo: bool = False
    operations: frozenset[Change] = frozenset()
    where: Where | None = None
    touching: frozenset[str] = frozenset()
    allow_unnamed: bool = False

    @classmethod
    def of(
        cls,
        *,
        undo: bool = False,
        operation: Iterable[str] = (),
        where: str | None = None,
        column: Iterable[str] = (),
        allow_unnamed: bool = False,
    ) -> SqlOptions:
        """The options as a person writes them.

        Raises
        ------
        UsageError
            A value makes no sense.
        """
        known = {one.value: one for one in Change}
        words = [one.lower() for one in operation]
        if unknown := [one for one in words if one not in known]:
            raise UsageError(f"{unknown[0]!r} is no operation; there are {', '.join(known)}")
        operations = frozenset(known[one] for one in words)
        condition = parse_where(where) if where is not None else None
        return cls(undo, operations, condition, frozenset(column), allow_unnamed)

    @property
    def columns(self) -> frozenset[str]:
        """Columns that the options are about."""
        return self.touching | (self.where.columns if self.where is not None else frozenset())

    @property
    def rows_only(self) -> bool:
        """Whether the options choose among row changes, so that no statement of the log fits them."""
        return bool(self.operations or self.where is not None or self.touching)


def no_column(names: frozenset[str], nameless: list[str]) -> str:
    """Why options that are about some columns choose nothing."""
    reason = f"no table in the log has a column {', '.join(sorted(names))}"
    if not nameless:
        return reason
    shown = ", ".join(nameless[:_MOST_NAMES]) + (" …" if len(nameless) > _MOST_NAMES else "")
    return (
        f"{reason}, but the log does not name the columns of {shown}: give --ddl FILE with CREATE "
        "TABLE, or have the server log names (binlog_row_metadata=FULL)"
    )
