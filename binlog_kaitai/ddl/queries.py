"""Statements of query events, with the session state they ran in."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

from binlog_kaitai.ddl.charset_options import charset_of_number
from binlog_kaitai.ddl.lexer import UnreadableError
from binlog_kaitai.ddl.statements import Statement, read_statement
from binlog_kaitai.ddl.store import Session
from binlog_kaitai.values.charsets import decoder_of
from binlog_kaitai.values.charsets.collations import max_bytes_of

if TYPE_CHECKING:
    from binlog_kaitai.core.bodies import QueryBody


#: Variables that MySQL logs with CREATE TABLE and CREATE DATABASE since 8.0.13 and 8.0.16.
_OF_MYSQL_8 = ("sql_require_primary_key", "default_table_encryption")
#: Variables that only MySQL logs, the first since 5.6 with nearly all DDL, the second since 8.0 with all.
_OF_MYSQL = ("updated_schema_names", "default_collation_for_utf8mb4")


def statement_of(body: Any) -> Statement | None:
    """The parsed statement of a QUERY_EVENT if it affects definitions or a whole table; None if it does not,
    or not yet.

    Raises
    ------
    UnreadableError
        The statement may affect them, but cannot be parsed.
    """
    try:
        sql = None if is_half_done(body) else text_of(body)
    except zlib.error as error:
        raise UnreadableError(str(error)) from error
    return None if sql is None else read_statement(sql, session_of(body))


def is_half_done(body: QueryBody) -> bool:
    """Whether a QUERY_EVENT is the unfinished or failed half of a two-phase ALTER of MariaDB.

    Only the COMMIT of a two-phase ALTER changes the table.
    """
    flags = _variables(body).get("mariadb_gtid_flags3")
    return flags is not None and (flags.is_start_alter or flags.is_rollback_alter)


def session_of(body: QueryBody) -> Session:
    """The session of a QUERY_EVENT, from its body."""
    variables = _variables(body)
    charset, modes = variables.get("charset"), variables.get("sql_mode")
    database = variables.get("charset_database")
    client = charset_of_number(charset.client if charset is not None else None).charset
    # MySQL since 8.0 and MariaDB since 10.6 log the transaction of DDL that changed something.
    has_changed: bool | None = "ddl_xid" in variables or "mariadb_xid" in variables or None
    if has_changed is None and not variables.keys().isdisjoint(_OF_MYSQL_8):
        has_changed = False
    return Session(
        body.thread_id,
        modes.modes if modes is not None else 0,
        charset_of_number(charset.server if charset is not None else None),
        charset_of_number(database.collation_id if database is not None else None),
        has_changed,
        is_single_byte=client is not None and max_bytes_of(client) == 1,
        is_mysql=not variables.keys().isdisjoint(_OF_MYSQL),
    )


def text_of(body: QueryBody) -> str | None:
    """The statement of a QUERY_EVENT, from its body; None if its character set is unknown."""
    query: bytes = body.query
    if query.isascii():
        return query.decode("ascii")
    charset = _variables(body).get("charset")
    name = charset_of_number(charset.client if charset is not None else None).charset
    decode = decoder_of(name or "utf8mb4")
    try:
        return decode(query) if decode is not None else query.decode("utf-8", "surrogateescape")
    except UnicodeDecodeError:
        return None if name not in (None, "utf8mb3", "utf8mb4") else query.decode("utf-8", "surrogateescape")


def _variables(body: QueryBody) -> dict[Any, Any]:
    found = [] if body.status_vars is None else body.status_vars.variables
    return {getattr(one.key, "name", one.key): one.value for one in found}
