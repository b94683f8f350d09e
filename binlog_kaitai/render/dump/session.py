"""What is set in the session of whoever runs the text, so that only changes are printed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

#: What statements set; the rest is set by GTIDs and flags of headers.
STATEMENT_FIELDS = (
    "database",
    "thread_id",
    "flags2",
    "sql_mode",
    "auto_increment",
    "charset",
    "time_zone",
    "lc_time_names",
    "charset_database",
    "default_collation",
)


@dataclass
class Session:
    """The values that were printed last; None for those that were not printed yet.

    Attributes
    ----------
    charset : tuple of int or None
        Numbers of client, connection and server.
    flags2 : object
        The grammar's object of the status variable.
    """

    database: bytes = b""
    thread_id: int | None = None
    flags2: Any = None
    sql_mode: int | None = None
    auto_increment: tuple[int, int] = (0, 0)
    charset: tuple[int, int, int] | None = None
    time_zone: bytes = b""
    lc_time_names: int | None = None
    charset_database: int | None = None
    default_collation: int | None = None
    # MariaDB's:
    domain_id: int | None = None
    server_id: int | None = None
    is_parallel_allowed: bool | None = None
    is_replication_skipped: bool = False
