"""What a dump shows, by the names of mysqlbinlog's options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from binlog_kaitai.core.gtids import GtidSet


class Base64Output(Enum):
    """When events are printed as BINLOG statements."""

    AUTO = "auto"
    NEVER = "never"
    DECODE_ROWS = "decode-rows"


@dataclass(frozen=True)
class DumpOptions:
    """Options of a dump.

    Attributes
    ----------
    verbose : int
        0; 1 for rows as commented statements; 2 with the columns' types, too.
    base64_output : Base64Output
        When events are printed as BINLOG statements.
    hexdump : bool
        The bytes of each event.
    short_form : bool
        Statements only, without comments and rows.
    print_table_metadata : bool
        What table maps say of the columns.
    skip_gtids : bool
        No GTIDs of MySQL, so that transactions get new ones.
    skip_annotate_row_events : bool
        No statements behind MariaDB's row events.
    require_row_format : bool
        Refuse what is not logged as rows, and have the server refuse it; for logs of MySQL.
    flashback : bool
        Statements that take the rows back, the last one first; for logs of MariaDB.
    disable_log_bin, idempotent : bool
        Statements that turn logging off, or make errors of missing rows pass.
    force_if_open : bool
        Print logs that are in use, or were not closed.
    force_read : bool
        Go on after events of unknown types that are not marked as ones to skip.
    verify_checksums : bool
        Refuse events whose CRC32 does not fit.
    set_charset : str or None
        Character set of a SET NAMES in front.
    rewrite_databases : mapping of str
        New names of databases.
    database, table : str or None
        Only events of this database; MariaDB: only rows of this table.
    server_ids, ignored_server_ids : frozenset of int
        Only events of these servers, if any are named, and not of those.
    domain_ids, ignored_domain_ids : frozenset of int
        MariaDB: only transactions of these domains (None for all), and not of those.
    start_gtids, stop_gtids : mapping of int
        MariaDB: by domain, the number of the last transaction before the wanted ones, and of the last wanted
        one; with stops, only transactions of the domains that they name.
    prints_row_count, prints_row_positions : bool
        MariaDB: how many rows a statement changed, and where its rows events are.
    offset : int
        How many events to skip.
    start_position, stop_position : int or None
        Offsets, in the first and in the last file.
    start_timestamp, stop_timestamp : int or None
        Seconds since 1970-01-01 UTC.
    include_gtids, exclude_gtids : GtidSet or None
        Only, or not, these transactions.
    local_load : str or None
        Folder for the files of LOAD DATA; the system's folder for temporary files by default.
    """

    verbose: int = 0
    base64_output: Base64Output = Base64Output.AUTO
    hexdump: bool = False
    short_form: bool = False
    print_table_metadata: bool = False
    skip_gtids: bool = False
    skip_annotate_row_events: bool = False
    disable_log_bin: bool = False
    idempotent: bool = False
    require_row_format: bool = False
    flashback: bool = False
    force_if_open: bool = True
    force_read: bool = False
    verify_checksums: bool = False
    set_charset: str | None = None
    rewrite_databases: Mapping[str, str] = field(default_factory=dict)
    database: str | None = None
    table: str | None = None
    server_ids: frozenset[int] = frozenset()
    ignored_server_ids: frozenset[int] = frozenset()
    domain_ids: frozenset[int] | None = None
    ignored_domain_ids: frozenset[int] = frozenset()
    start_gtids: Mapping[int, int] = field(default_factory=dict)
    stop_gtids: Mapping[int, int] = field(default_factory=dict)
    prints_row_count: bool = True
    prints_row_positions: bool = True
    offset: int = 0
    start_position: int | None = None
    stop_position: int | None = None
    start_timestamp: int | None = None
    stop_timestamp: int | None = None
    include_gtids: GtidSet | None = None
    exclude_gtids: GtidSet | None = None
    local_load: str | None = None

    @property
    def filters_domains(self) -> bool:
        """Whether transactions are left out for their domain, or their number in it."""
        return (
            self.domain_ids is not None
            or bool(self.ignored_domain_ids)
            or bool(self.start_gtids)
            or bool(self.stop_gtids)
        )

    @property
    def prints_base64(self) -> bool:
        """Whether BINLOG statements are printed."""
        return self.base64_output is Base64Output.AUTO and not self.short_form

    @property
    def shown_rows(self) -> int:
        """`verbose`, but 0 in the short form."""
        return 0 if self.short_form else self.verbose
