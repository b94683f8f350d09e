"""Options of a dump, by the names of mysqlbinlog's options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from binlog_kaitai.core.gtids import GtidSet


class Base64Output(Enum):
    """When to print events as BINLOG statements."""

    AUTO = "auto"
    NEVER = "never"
    DECODE_ROWS = "decode-rows"


@dataclass(frozen=True)
class DumpOptions:
    """Options of a dump.

    `verbose`: 0; 1 for rows as commented statements; 2 for these with column types.
    `base64_output`: when to print events as BINLOG statements.
    `hexdump`: print the bytes of each event.
    `short_form`: print only statements, without comments and rows.
    `print_table_metadata`: print the column metadata of table maps.
    `skip_gtids`: omit MySQL's GTIDs, so that transactions get new ones.
    `skip_annotate_row_events`: omit the statements of MariaDB's rows events.
    `require_row_format`: reject everything that is not logged as rows, and make the server reject it; for
    MySQL logs.
    `flashback`: print statements that undo the row changes, last one first; for MariaDB logs.
    `disable_log_bin`, `idempotent`: print statements that turn logging off, or ignore errors about missing
    rows.
    `force_if_open`: accept logs that are in use, or were not closed.
    `force_read`: continue after events of unknown types that are not flagged as ignorable.
    `verify_checksums`: reject events whose CRC32 does not match.
    `set_charset`: character set of an initial SET NAMES.
    `rewrite_databases`: new names of databases.
    `database`, `table`: only events of this database; MariaDB: only rows of this table.
    `server_ids`, `ignored_server_ids`: only events of the former servers, if any are named, and none of the
    latter.
    `domain_ids`, `ignored_domain_ids`: MariaDB: only transactions of the former domains (None for all), and
    none of the latter.
    `start_gtids`, `stop_gtids`: MariaDB: by domain, the number of the last transaction before the selected
    ones, and of the last selected one; with stops, only transactions of the domains that they name.
    `prints_row_count`, `prints_row_positions`: MariaDB: print how many rows a statement changed, and the
    positions of its rows events.
    `offset`: how many events to skip.
    `start_position`, `stop_position`: offsets, in the first and in the last file.
    `start_timestamp`, `stop_timestamp`: seconds since 1970-01-01 UTC.
    `include_gtids`, `exclude_gtids`: only these transactions, or all except them.
    `local_load`: folder for the files of LOAD DATA; by default the system's temporary folder.
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
        """Whether transactions are selected by domain, or by sequence number in it."""
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
