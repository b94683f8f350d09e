"""Queries to a server, whose answers are checked.

PyMySQL connects, authenticates and encrypts. It does not check what it parses, so whatever it raises becomes
an error of this package that names the server.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Any, Self

from binlog_kaitai.core.gtids import GtidSet
from binlog_kaitai.errors import BinlogError, ConnectionLostError, ServerError, UsageError
from binlog_kaitai.live.address import Address
from binlog_kaitai.live.causes import LOGIN, UNKNOWN_VARIABLE, refusal

_NEEDED = 'a server needs PyMySQL: pip install "binlog-kaitai[live]"'


class Queries:
    """A connection to a server, for queries.

    Parameters
    ----------
    timeout
        Seconds without a byte after which the connection is considered lost.

    Raises
    ------
    ServerError
        The server rejects the login; `ConnectionLostError` if it cannot be reached.
    UsageError
        PyMySQL is missing.
    """

    def __init__(self, address: Address, timeout: float) -> None:
        self.address = address
        self._timeout = timeout
        try:
            from binlog_kaitai.live.connection import Connection
        except ImportError as error:
            raise UsageError(_NEEDED) from error
        self._connection: Any = None
        with self._reported(LOGIN):
            self._connection = Connection(
                **address.arguments(),
                charset="utf8mb4",
                autocommit=True,
                read_timeout=timeout,
                write_timeout=timeout,
                program_name="binlog-kaitai",
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, BinlogError) and not isinstance(error, UsageError):
            error.at(file=self.address.name, position=None)
        self.close()

    def close(self) -> None:
        """Close the connection."""
        with suppress(Exception):
            self._connection._force_close()

    def ask(self, statement: str, *kinds: type | tuple[type, ...], what: str = "") -> list[tuple[Any, ...]]:
        """The rows of a query.

        Parameters
        ----------
        kinds
            The types of a row's first values. More of them are ignored: newer servers add columns.
        what
            What is asked for, and the privilege that it takes.

        Raises
        ------
        ServerError
            The server rejects it, or answers something else.
        """
        with self._reported(what):
            with self._connection.cursor() as cursor:
                cursor.execute(statement)
                rows = list(cursor.fetchall())
            for row in rows:
                if len(row) < len(kinds) or not all(map(isinstance, row, kinds)):
                    raise ServerError(f"the server's answer to {statement} has the row {row!r:.200}")
            return rows

    def ask_one(self, statement: str, *kinds: type | tuple[type, ...], what: str = "") -> tuple[Any, ...]:
        """The only row of a query.

        Raises
        ------
        ServerError
            As `ask`; or there are none, or several.
        """
        rows = self.ask(statement, *kinds, what=what)
        if len(rows) != 1:
            reason = f"the server's answer to {statement} has {len(rows)} rows"
            raise ServerError(reason, file=self.address.name)
        return rows[0][: len(kinds)]

    def run(self, statement: str, *values: Any) -> None:
        """Execute a statement without a result.

        Raises
        ------
        ServerError
            The server rejects it.
        """
        with self._reported(""), self._connection.cursor() as cursor:
            cursor.execute(statement, values or None)

    def stream(
        self, statement: str, columns: int, what: str = ""
    ) -> Iterator[tuple[str | bytes | None, ...]]:
        """The rows of a query as they arrive, with values as the server sends them: text, or bytes.

        Raises
        ------
        ServerError
            The server rejects it, or sends rows with another number of columns.
        """
        import pymysql.cursors

        with self._reported(what), self._connection.cursor(pymysql.cursors.SSCursor) as cursor:
            decoders, self._connection.decoders = self._connection.decoders, {}
            try:
                cursor.execute(statement)
                for row in cursor:
                    if len(row) != columns:
                        raise ServerError(f"the server sent a row of {len(row)} columns instead of {columns}")
                    yield row
            except BaseException:
                self._connection._force_close()  # otherwise PyMySQL would read the rest
                raise
            finally:
                self._connection.decoders = decoders

    def variable(self, name: str) -> str | None:
        """The value of a system variable; None if the server does not have it."""
        try:
            (value,) = self.ask_one(f"SELECT @@{name}", object)
        except ServerError as error:
            if f" {UNKNOWN_VARIABLE}:" in error.reason:
                return None
            raise
        return None if value is None else str(value)

    def gtids(self, name: str) -> GtidSet:
        """The GTIDs in a system variable; none if the server does not have it.

        Raises
        ------
        ServerError
            It contains something else.
        """
        try:
            return GtidSet.parse(self.variable(name) or "")
        except UsageError as error:
            raise ServerError(f"the server's {name}: {error.reason}", file=self.address.name) from error

    @contextmanager
    def _reported(self, what: str) -> Iterator[None]:
        """Convert PyMySQL's exceptions to errors of this package that name the server."""
        import pymysql

        try:
            yield
        except pymysql.MySQLError as error:
            code, message = (*error.args, "", "")[:2]
            if not isinstance(code, int):  # PyMySQL itself finds something wrong
                raise self._unreadable(error) from error
            if isinstance(getattr(error, "original_exception", None), ssl.SSLCertVerificationError):
                # Not to be tried again, though its number is that of a server which cannot be reached.
                raise ServerError(str(message), file=self.address.name) from error
            found = refusal(code, str(message), what=what)
            raise found.at(file=self.address.name, position=None) from error
        except BinlogError as error:
            raise error.at(file=self.address.name, position=None) from error.__cause__
        except OSError as error:
            reason = f"the connection broke: {error}"
            raise ConnectionLostError(reason, file=self.address.name) from error
        except Exception as error:  # PyMySQL does not check what it parses
            raise self._unreadable(error) from error

    def _unreadable(self, error: Exception) -> ServerError:
        """The error for an answer that is malformed; its rest is of no use."""
        self.close()
        reason = f"the server's answer cannot be read: {str(error) or type(error).__name__}"
        return ServerError(reason, file=self.address.name)
