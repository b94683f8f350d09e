"""Common parts of both output variants: state, header lines, and events that print alike."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from binlog_kaitai.core.grammar import EventType, IntvarEvent, TableMapEvent
from binlog_kaitai.dump.client_values import encode, identifier, pretty, timestamp
from binlog_kaitai.dump.dump_options import DumpOptions
from binlog_kaitai.dump.dump_output import MYSQL_STYLE, LoadFiles, Output, Write
from binlog_kaitai.dump.printed_event import PrintedEvent
from binlog_kaitai.dump.row_comments import RowsHeaders
from binlog_kaitai.dump.row_printer import RowPrinter
from binlog_kaitai.errors import BinlogError, GrammarError, UsageError, out_of_memory

if TYPE_CHECKING:
    from binlog_kaitai.core.bodies import (
        AppendBlockEvent,
        DeleteFileEvent,
        IncidentEvent,
        RandEvent,
        RotateEvent,
        StatementBody,
        StopEvent,
        XidEvent,
    )


@dataclass
class PrinterState:
    """Everything that printing an event depends on and may change, besides waiting text.

    Session values are those printed last; None for those not printed so far.

    `charset`: numbers of client, connection and server.
    `flags2`: the grammar's object of the status variable.
    `ignored_maps`: IDs of the statement's tables whose rows are left out.
    `is_in_transaction`: MySQL: between BEGIN and COMMIT.
    `has_seen_gtid`: MySQL: a GTID was set, and nothing that consumes it was printed.
    `has_left_out`: MySQL: `--database` left something out, and no end of a transaction was printed since.
    `server_version`: MySQL: version of the server that wrote the transaction, by its GTID event; 0 if
    unknown.
    `is_annotated`: MariaDB: the statement of a rows event waits for its table map.
    `ends_unknown`: MariaDB: the last rows of a statement belong to a table that is not printed, or have no
    columns.
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

    def key(self) -> tuple[object, ...]:
        """A key that is equal for states that print the same."""
        return tuple(getattr(value, "flags", value) for value in vars(self).values())

    def copy(self) -> PrinterState:
        """An independent copy."""
        copy = PrinterState()
        vars(copy).update(vars(self))
        return copy


_OF_SESSION = [field.name for field in fields(PrinterState)].index("ignored_maps")


PrintEvent = Callable[[PrintedEvent, Any], None]

Version = tuple[int, int, int]

DELIMITER = b"/*!*/;"
#: Exceptions that lazily parsed fields of generated code may raise on hostile bytes.
UNREADABLE = (ArithmeticError, AttributeError, EOFError, LookupError, TypeError, ValueError)

#: The common lines of all events, from the fields of their headers.
POSITION = b"# at %(position)d\n"
FRONT = b"#%(time)s server id %(server_id)d  end_log_pos %(end_position)d "
CHECKSUM = b"CRC32 0x%(checksum)s "

DISABLE_LOG_BIN = b"/*!32316 SET @OLD_SQL_LOG_BIN=@@SQL_LOG_BIN, SQL_LOG_BIN=0*/;\n"
ENABLE_LOG_BIN = b"/*!32316 SET SQL_LOG_BIN=@OLD_SQL_LOG_BIN*/;\n"
COMPLETION_TYPE = b"/*!50003 SET @OLD_COMPLETION_TYPE=@@COMPLETION_TYPE,COMPLETION_TYPE=0*/;\n"
OLD_COMPLETION_TYPE = b"/*!50003 SET COMPLETION_TYPE=@OLD_COMPLETION_TYPE*/;\n"


class Printer:
    """Prints events; for each type, defines the text and the change of state.

    The same functions print blocks of events, using one event for each combination of shape and state:
    everything they read from an event, except for the fields of templates, must be part of its shape
    (`event_shapes`).

    `is_mariadb`: whether it imitates `mariadb-binlog`.
    `state`: the state that the next event depends on.
    `out`: the destination of the text.
    `version`: version of the imitated client.
    `log_version`: server version in the newest format description.
    `waiting`: events that the next statement depends on.
    `is_broken`: a log could not be read to its end.
    """

    is_mariadb = False
    hexdump_style = MYSQL_STYLE

    def __init__(self, options: DumpOptions, write: Write, loads: LoadFiles) -> None:
        self.options = options
        self.write = write
        self.loads = loads
        self.delimiter = DELIMITER
        self.is_broken = False
        self.waiting: list[PrintedEvent] = []
        #: Events of LOAD DATA before 5.0 whose file is incomplete.
        self._begun_loads: dict[int, PrintedEvent] = {}
        self.state = PrinterState()
        self.rows_headers = RowsHeaders()
        self.row_printer = RowPrinter(options.shown_rows, is_mariadb=self.is_mariadb)
        self.out = Output(write, self.delimiter, self.hexdump_style, self.row_printer)
        self.version: Version = (0, 0, 0)
        self.log_version = self.version
        self.rewritten = {encode(old): encode(new) for old, new in options.rewrite_databases.items()}
        self.printers: dict[int, PrintEvent] = {
            EventType.start_event_v3: self.print_start,
            EventType.stop_event: self.print_stop,
            EventType.rotate_event: self.print_rotate,
            EventType.intvar_event: self.print_intvar,
            EventType.rand_event: self.print_rand,
            EventType.xid_event: self.print_xid,
            EventType.incident_event: self.print_incident,
            EventType.append_block_event: self.print_block,
            EventType.begin_load_query_event: self.print_block,
            EventType.delete_file_event: self.print_delete_file,
            EventType.load_event: self.print_load,
            EventType.new_load_event: self.print_load,
            EventType.create_file_event: self.print_create_file,
            EventType.exec_load_event: self.print_exec_load,
        }

    def process(self, printed: PrintedEvent) -> None:
        """Print one event.

        Raises `BinlogError`: the event cannot be parsed.
        """
        try:
            self.take(printed)
        except BinlogError as error:
            raise printed.event.locate(error) from error.__cause__
        except MemoryError as error:
            raise printed.event.locate(out_of_memory(error)) from error
        except UNREADABLE as error:
            raise printed.event.locate(GrammarError(f"cannot be printed: {error!r}")) from error

    def start_all(self) -> bytes:
        """Print the text before the first log."""
        raise NotImplementedError

    def start_log(self) -> None:
        """Print the text before each log."""

    def end_log(self) -> None:
        """Print the text after each log, even a damaged one."""
        raise NotImplementedError

    def end_all(self) -> bytes:
        """Print the text after the last log."""
        raise NotImplementedError

    def end_payload(self) -> None:
        """Print the text after the events of a transaction payload."""

    def check(self, printed: PrintedEvent) -> None:
        """Reject an event that the options forbid, whether it is selected or not."""
        if self.options.force_if_open or printed.kind != EventType.format_description_event:
            return
        if printed.event.header.is_in_use:
            reason = "the log is in use or was not closed; use --force-if-open to print it anyway"
            raise printed.event.locate(UsageError(reason))

    def take(self, printed: PrintedEvent) -> None:
        """Process an event; defined by each variant."""
        raise NotImplementedError

    def pass_over(self, printed: PrintedEvent) -> None:
        """Skip an event, printing only its position."""
        self.put_position(printed)

    def put_position(self, printed: PrintedEvent) -> None:
        """Write the position of an event."""
        if not self.options.short_form:
            self.out.now.fill(POSITION, printed)

    def put_header(self, printed: PrintedEvent) -> None:
        """Add the header line of an event, with its hexdump if requested."""
        self.out.head.fill(FRONT, printed)
        if printed.checksum is not None:
            self.out.head.fill(CHECKSUM, printed)
        if self.options.hexdump:
            self.out.add_hexdump(printed)

    def put(self, printed: PrintedEvent, line: bytes, more: bytes = b"") -> None:
        """Add a header line, if these are printed, and the text after it; both are templates."""
        if not self.options.short_form:
            self.put_header(printed)
            self.out.head.fill(line, printed)
        self.out.head.fill(more, printed)

    def put_comment(self, printed: PrintedEvent, line: bytes) -> None:
        """Add text that the short form omits."""
        if not self.options.short_form:
            self.put_header(printed)
            self.out.head.append(line)

    def add_base64(self, printed: PrintedEvent) -> None:
        """Add an event to the BINLOG statement."""
        if self.options.prints_base64:
            self.out.add_base64(printed.raw)

    def skips_database(self, database: bytes) -> bool:
        """Whether events of a database are left out."""
        wanted = self.options.database
        return bool(wanted) and self.rewritten.get(database, database) != encode(wanted or "")

    def new_name(self, body: TableMapEvent | StatementBody | None) -> bytes | None:
        """The new name of the database of a table or statement; None if it is not renamed."""
        if not self.rewritten or body is None:
            return None
        return self.rewritten.get(encode(body.schema_name))

    def skips_table(self, body: TableMapEvent) -> bool:
        """Whether the rows after a table map are left out."""
        return self.skips_database(encode(body.schema_name))

    def put_statement(self, text: bytes) -> None:
        """Add a statement with its delimiter."""
        self.out.head.append(text + self.delimiter + b"\n")

    def put_start(self, printed: PrintedEvent, body: Any) -> None:
        """Add the start of a log: the version of its server."""
        names = (body.binlog_version, encode(body.server_version), timestamp(printed.timestamp))
        startup = b" at startup\n" if body.create_timestamp else b"\n"
        self.put_comment(printed, b"\tStart: binlog v %d, server v %s created %s" % names + startup)

    def put_unknown(self, printed: PrintedEvent) -> None:
        """Add an event of a type unknown to the client, or reject it without `--force-read`."""
        if not self.options.force_read:
            reason = f"unknown event type {printed.kind}; use --force-read to continue after it"
            raise UsageError(reason, field="header.type_code")
        self.put_comment(printed, b"\n# Unknown event\n")

    def print_start(self, printed: PrintedEvent, body: Any) -> None:
        """The first event of a log before version 4."""
        self.put_start(printed, body)
        if body.create_timestamp:
            self.put_statement(b"ROLLBACK")

    def print_stop(self, printed: PrintedEvent, body: StopEvent) -> None:
        self.put_comment(printed, b"\tStop\n")

    def print_rotate(self, printed: PrintedEvent, body: RotateEvent) -> None:
        position = 4 if body.position is None else body.position
        self.put_comment(printed, b"\tRotate to %s  pos: %d\n" % (encode(body.next_log), position))

    def print_intvar(self, printed: PrintedEvent, body: IntvarEvent) -> None:
        name = _INTEGER_VARIABLES[int(body.variable)]
        number = body.value - (1 << 64) if body.value >> 63 else body.value
        self.put(printed, b"\tIntvar\n", b"SET %s=%d%s\n" % (name, number, self.delimiter))

    def print_rand(self, printed: PrintedEvent, body: RandEvent) -> None:
        seeds = b"SET @@RAND_SEED1=%d, @@RAND_SEED2=%d%s\n" % (body.seed1, body.seed2, self.delimiter)
        self.put(printed, b"\tRand\n", seeds)

    def print_xid(self, printed: PrintedEvent, body: XidEvent) -> None:
        self.put(printed, b"\tXid = %(xid)d\n", b"COMMIT" + self.delimiter + b"\n")

    def print_incident(self, printed: PrintedEvent, body: IncidentEvent) -> None:
        name = getattr(body.incident, "name", "unknown").upper().encode()
        line = b"\n# Incident: " + name + b"\nRELOAD DATABASE; # Shall generate syntax error\n"
        self.put_comment(printed, line)

    def print_block(self, printed: PrintedEvent, body: AppendBlockEvent) -> None:
        name = b"Begin_load_query" if printed.kind == EventType.begin_load_query_event else b"Append_block"
        line = b"\n#%s: file_id: %d  block_len: %d\n" % (name, body.file_id, len(body.block))
        self.put_comment(printed, line)
        if printed.kind == EventType.begin_load_query_event:
            self.loads.begin(body.file_id, body.block)
        else:
            self.loads.append(body.file_id, body.block)

    def print_delete_file(self, printed: PrintedEvent, body: DeleteFileEvent) -> None:
        self.put_comment(printed, b"\n#Delete_file: file_id=%d\n" % body.file_id)

    def print_load(self, printed: PrintedEvent, body: Any) -> None:
        """Print a statement whose file the server read itself."""
        self._print_load(printed, body, encode(body.file_name))

    def print_create_file(self, printed: PrintedEvent, body: Any) -> None:
        """Print a statement with the first part of its file, as a comment: it runs once that is complete."""
        self._print_load(printed, body, encode(body.file_name), comment=b"# ")
        self._put_block(body)
        self._begun_loads[body.file_id] = printed
        self.loads.begin(body.file_id, body.block, os.path.basename(body.file_name))

    def print_exec_load(self, printed: PrintedEvent, body: Any) -> None:
        """Print the statement of a complete file, with the name of the file written."""
        self.put_comment(printed, b"\n#Exec_load: file_id=%d\n" % body.file_id)
        begun, name = self._begun_loads.pop(body.file_id, None), self.loads.take(body.file_id)
        if begun is not None and name is not None:
            self._print_load(begun, begun.event.body, name, local=b"LOCAL ")
            self._put_block(begun.event.body)

    def _put_block(self, body: Any) -> None:
        if not self.options.short_form:
            self.out.head.append(b"# file_id: %d  block_len: %d\n" % (body.file_id, len(body.block)))

    def _print_load(
        self, printed: PrintedEvent, body: Any, file_name: bytes, *, comment: bytes = b"", local: bytes = b""
    ) -> None:
        target = body.target
        self.put_comment(
            printed, b"\tQuery\tthread_id=%d\texec_time=%d\n" % (body.thread_id, body.execution_time)
        )
        database = encode(target.schema_name)
        if database and database != self.state.database:
            self.put_statement(comment + b"use " + identifier(database))
            if not comment:
                self.state.database = database
        duplicates = b"REPLACE " if target.is_replace else b"IGNORE " if target.is_ignore else b""
        texts = [pretty(separator) for separator in _separators(target)]
        optionally = b" OPTIONALLY " if target.is_optionally_enclosed else b""
        text = comment + b"LOAD DATA " + local + b"INFILE '" + file_name + b"' " + duplicates
        text += b"INTO TABLE `" + encode(target.table_name) + b"` FIELDS TERMINATED BY " + texts[0]
        text += optionally + b" ENCLOSED BY " + texts[1] + b" ESCAPED BY " + texts[4]
        text += b" LINES TERMINATED BY " + texts[2] + b" STARTING BY " + texts[3]
        if body.skipped_lines:
            text += b" IGNORE %d LINES" % body.skipped_lines
        if target.field_names:
            text += b" (" + b",".join(identifier(encode(field.name)) for field in target.field_names) + b")"
        self.put_statement(text)


_INTEGER_VARIABLES = {1: b"LAST_INSERT_ID", 2: b"INSERT_ID"}


_SET_NAMES = (
    b"\n/*!40101 SET @OLD_CHARACTER_SET_CLIENT=@@CHARACTER_SET_CLIENT */;\n"
    b"/*!40101 SET @OLD_CHARACTER_SET_RESULTS=@@CHARACTER_SET_RESULTS */;\n"
    b"/*!40101 SET @OLD_COLLATION_CONNECTION=@@COLLATION_CONNECTION */;\n"
    b"/*!40101 SET NAMES %s */;\n"
)
_UNSET_NAMES = (
    b"/*!40101 SET CHARACTER_SET_CLIENT=@OLD_CHARACTER_SET_CLIENT */;\n"
    b"/*!40101 SET CHARACTER_SET_RESULTS=@OLD_CHARACTER_SET_RESULTS */;\n"
    b"/*!40101 SET COLLATION_CONNECTION=@OLD_COLLATION_CONNECTION */;\n"
)


def names_set_and_unset(options: DumpOptions) -> tuple[bytes, bytes]:
    """The statements of `--set-charset`, and those that undo them; empty without it."""
    return (_SET_NAMES % encode(options.set_charset), _UNSET_NAMES) if options.set_charset else (b"", b"")


#: The types of events that contain a statement to execute.
OLD_LOADS = frozenset((EventType.load_event, EventType.new_load_event, EventType.exec_load_event))
_SEPARATORS = ("field_terminator", "enclosure", "line_terminator", "line_start", "escape")


def _separators(target: Any) -> list[bytes]:
    """The separators in the order of the event; single-byte ones may be flagged as empty."""
    if target.has_long_separators:
        return [bytes(getattr(target.long_separators, name).value) for name in _SEPARATORS]
    short = target.short_separators
    values = [getattr(short, name) for name in _SEPARATORS]
    plain = [bytes([value]) if isinstance(value, int) else bytes(value) for value in values]
    is_empty = [getattr(short, f"is_{name}_empty") for name in _SEPARATORS]
    return [b"" if empty else text for empty, text in zip(is_empty, plain, strict=True)]
