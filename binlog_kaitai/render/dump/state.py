"""State between events: session settings, and the position in a transaction."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any


@dataclass
class State:
    """Everything that printing an event depends on and may change, besides waiting text.

    Session values are those printed last; None for those not printed so far.

    Attributes
    ----------
    charset : tuple of int or None
        Numbers of client, connection and server.
    flags2 : object
        The grammar's object of the status variable.
    ignored_maps : frozenset of int
        IDs of the statement's tables whose rows are left out.
    is_in_transaction : bool
        MySQL: between BEGIN and COMMIT.
    has_seen_gtid : bool
        MySQL: a GTID was set, and nothing that consumes it was printed.
    has_left_out : bool
        MySQL: `--database` left something out, and no end of a transaction was printed since.
    server_version : int
        MySQL: version of the server that wrote the transaction, by its GTID event; 0 if unknown.
    is_annotated : bool
        MariaDB: the statement of a rows event waits for its table map.
    ends_unknown : bool
        MariaDB: the last rows of a statement belong to a table that is not printed.
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
    # Not of the session:
    ignored_maps: frozenset[int] = frozenset()
    is_in_transaction: bool = False
    has_seen_gtid: bool = False
    has_left_out: bool = False
    server_version: int = 0
    is_annotated: bool = False
    ends_unknown: bool = False

    def begin_session(self) -> None:
        """Reset the session settings."""
        for field in fields(self)[:_OF_SESSION]:
            setattr(self, field.name, field.default)

    def key(self) -> tuple[Any, ...]:
        """A key that is equal for states that print the same."""
        return tuple(getattr(value, "flags", value) for value in vars(self).values())

    def copy(self) -> State:
        """An independent copy."""
        copy = State()
        vars(copy).update(vars(self))
        return copy


_OF_SESSION = [field.name for field in fields(State)].index("ignored_maps")
