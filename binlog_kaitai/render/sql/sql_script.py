"""The SQL script of logs, for programs."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from typing import Literal, Unpack

from binlog_kaitai.core.filters import FilterOptions, Filters
from binlog_kaitai.errors import IncompleteScriptWarning
from binlog_kaitai.render.sql.omissions import Report
from binlog_kaitai.render.sql.script import write_sql
from binlog_kaitai.render.sql.script_options import SqlOptions
from binlog_kaitai.sources.keys import Keys
from binlog_kaitai.sources.source import SourceLike

Operation = Literal["insert", "update", "delete"]


def sql_script(
    source: SourceLike | Iterable[SourceLike],
    *,
    undo: bool = False,
    operation: Operation | Iterable[Operation] = (),
    where: str | None = None,
    column: str | Iterable[str] = (),
    allow_unnamed: bool = False,
    ddl: str | None = None,
    keys: Keys | None = None,
    threads: int | None = None,
    **filters: Unpack[FilterOptions],
) -> Iterator[bytes]:
    """Generate statements that repeat the changes of logs, or undo them, like the command ``sql``.

    Parameters
    ----------
    source
        Any source that :func:`binlog_kaitai.open` accepts.
    undo
        Undo the changes, last one first.
    operation
        Only these operations; all by default.
    where
        Only changes whose row before or after matches an SQL condition: ``"id = 42"``.
    column
        Only updates that change one of these columns, and inserts and deletes of tables that have one.
    allow_unnamed
        Write c1, c2 … for unknown column names, which are otherwise an error.
    ddl
        Text of CREATE TABLE statements, as written by mysqldump, for logs that do not name columns.
    keys
        Where to look for the keys of encrypted logs; see :class:`Keys`.
    threads
        Number of threads: by default, one. The script does not depend on it.
    filters
        As for :meth:`Filters.of`.

    Returns
    -------
    iterator of bytes
        The script in pieces, for ``mysql --binary-mode``. The bytes of a piece are a copy.

    Raises
    ------
    UsageError
        Immediately: an argument is invalid.
    BinlogError
        During iteration: no log was found, or a log is damaged; with `undo`, before the first piece.

    Warns
    -----
    IncompleteScriptWarning
        A selected change cannot be written as a statement; a comment in the script names it.
    """
    options = SqlOptions.of(
        undo=undo,
        operation=[operation] if isinstance(operation, str) else operation,
        where=where,
        column=[column] if isinstance(column, str) else column,
        allow_unnamed=allow_unnamed,
    )
    report = Report(lambda text: warnings.warn(text, IncompleteScriptWarning, stacklevel=2))
    chosen = Filters.of(**filters)
    return map(bytes, write_sql(source, chosen, options, report, ddl=ddl, keys=keys, threads=threads))
