"""What of a log the script is to do, and how."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from binlog_kaitai.render.sql.choice import Wanted


@dataclass(frozen=True)
class SqlOptions:
    """Options of a script.

    Attributes
    ----------
    undo : bool
        Take changes back, the last one first.
    wanted : Wanted
        Only row changes like this; if it asks for anything, no statement of the log is like it.
    allow_unnamed : bool
        Call columns c1, c2 … where nothing tells their names.
    """

    undo: bool = False
    wanted: Wanted = field(default_factory=Wanted)
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
        return cls(undo, Wanted.of(operation=operation, where=where, column=column), allow_unnamed)
