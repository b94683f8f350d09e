"""Common parts of both output variants: buffers, header lines, and events that print alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from binlog_kaitai.core.grammar import EventType
from binlog_kaitai.errors import BinlogError, GrammarError, UsageError
from binlog_kaitai.render.dump.hexdump import MYSQL_STYLE
from binlog_kaitai.render.dump.item import Item
from binlog_kaitai.render.dump.loads import LoadFiles
from binlog_kaitai.render.dump.options import DumpOptions
from binlog_kaitai.render.dump.output import Output, Write
from binlog_kaitai.render.dump.quick import QuickRows
from binlog_kaitai.render.dump.row_comments import Style
from binlog_kaitai.render.dump.state import State
from binlog_kaitai.render.dump.text import encode, timestamp

if TYPE_CHECKING:
    from binlog_kaitai.core.bodies import (
        AppendBlockEvent,
        DeleteFileEvent,
        IncidentEvent,
        RandEvent,
        RotateEvent,
        StopEvent,
        XidEvent,
    )
    from binlog_kaitai.core.grammar import IntvarEvent, TableMapEvent


PrintEvent = Callable[[Item, Any], None]

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
    (`blocks.shapes`).

    Attributes
    ----------
    state : State
        The state that the next event depends on.
    out : Output
        The destination of the text.
    version : tuple of int
        Version of the imitated client.
    log_version : tuple of int
        Server version in the newest format description.
    waiting : list of Item
        Events that the next statement depends on.
    is_broken : bool
        A log could not be read to its end.
    """

    style: Style
    quick: QuickRows
    #: Whether `--rewrite-db` rewrites the bytes of all events, with checksums, or only those of table maps.
    rewrites_all = True
    hexdump_style = MYSQL_STYLE
    #: Whether the client supports transaction payloads.
    opens_payloads = False

    def __init__(self, options: DumpOptions, write: Write, loads: LoadFiles) -> None:
        self.options = options
        self.write = write
        self.loads = loads
        self.delimiter = DELIMITER
        self.is_broken = False
        self.waiting: list[Item] = []
        self.state = State()
        self.out = Output(write, self.delimiter, self.hexdump_style)
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
        }

    def process(self, item: Item) -> None:
        """Print one event.

        Raises
        ------
        BinlogError
            The event cannot be parsed.
        """
        try:
            if item.kind == EventType.table_map_event:
                self.quick.note_table(item.event)
            self.take(item)
        except BinlogError as error:
            raise item.event.locate(error) from error.__cause__
        except UNREADABLE as error:
            raise item.event.locate(GrammarError(f"cannot be printed: {error!r}")) from error

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

    def check(self, item: Item) -> None:
        """Reject an event that the options forbid, whether it is selected or not."""
        if self.options.force_if_open or item.kind != EventType.format_description_event:
            return
        if item.event.header.is_in_use:
            reason = "the log is in use or was not closed; use --force-if-open to print it anyway"
            raise item.event.locate(UsageError(reason))

    def take(self, item: Item) -> None:
        """Process an event; defined by each variant."""
        raise NotImplementedError

    def pass_over(self, item: Item) -> None:
        """Skip an event, printing only its position."""
        self.put_position(item)

    def put_position(self, item: Item) -> None:
        """Write the position of an event."""
        if not self.options.short_form:
            self.out.now.fill(POSITION, item)

    def put_header(self, item: Item) -> None:
        """Add the header line of an event, with its hexdump if requested."""
        self.out.head.fill(FRONT, item)
        if item.checksum is not None:
            self.out.head.fill(CHECKSUM, item)
        if self.options.hexdump:
            self.out.head.hexdump(item)

    def put(self, item: Item, line: bytes, more: bytes = b"") -> None:
        """Add a header line, if these are printed, and the text after it; both are templates."""
        if not self.options.short_form:
            self.put_header(item)
            self.out.head.fill(line, item)
        self.out.head.fill(more, item)

    def put_comment(self, item: Item, line: bytes) -> None:
        """Add text that the short form omits."""
        if not self.options.short_form:
            self.put_header(item)
            self.out.head.append(line)

    def add_base64(self, item: Item) -> None:
        """Add an event to the BINLOG statement."""
        if self.options.prints_base64:
            self.out.add_base64(item.raw)

    def skips_database(self, database: bytes) -> bool:
        """Whether events of a database are left out."""
        wanted = self.options.database
        return bool(wanted) and self.rewritten.get(database, database) != encode(wanted or "")

    def new_name(self, table_map: Any) -> bytes | None:
        """The new name of a table's database; None if it is not renamed."""
        if not self.rewritten or table_map is None:
            return None
        return self.rewritten.get(encode(table_map.schema_name))

    def skips_table(self, body: TableMapEvent) -> bool:
        """Whether the rows after a table map are left out."""
        return self.skips_database(encode(body.schema_name))

    def put_statement(self, text: bytes) -> None:
        """Add a statement with its delimiter."""
        self.out.head.append(text + self.delimiter + b"\n")

    def put_start(self, item: Item, body: Any) -> None:
        """Add the start of a log: the version of its server."""
        names = (body.binlog_version, encode(body.server_version), timestamp(item.timestamp))
        startup = b" at startup\n" if body.create_timestamp else b"\n"
        self.put_comment(item, b"\tStart: binlog v %d, server v %s created %s" % names + startup)

    def put_unknown(self, item: Item) -> None:
        """Add an event of a type unknown to the client, or reject it without `--force-read`."""
        if not self.options.force_read:
            reason = f"unknown event type {item.kind}; use --force-read to continue after it"
            raise UsageError(reason, field="header.type_code")
        self.put_comment(item, b"\n# Unknown event\n")

    def print_start(self, item: Item, body: Any) -> None:
        """The first event of a log before version 4."""
        self.put_start(item, body)
        if body.create_timestamp:
            self.put_statement(b"ROLLBACK")

    def print_stop(self, item: Item, body: StopEvent) -> None:
        self.put_comment(item, b"\tStop\n")

    def print_rotate(self, item: Item, body: RotateEvent) -> None:
        position = 4 if body.position is None else body.position
        self.put_comment(item, b"\tRotate to %s  pos: %d\n" % (encode(body.next_log), position))

    def print_intvar(self, item: Item, body: IntvarEvent) -> None:
        name = _INTEGER_VARIABLES[int(body.variable)]
        number = body.value - (1 << 64) if body.value >> 63 else body.value
        self.put(item, b"\tIntvar\n", b"SET %s=%d%s\n" % (name, number, self.delimiter))

    def print_rand(self, item: Item, body: RandEvent) -> None:
        seeds = b"SET @@RAND_SEED1=%d, @@RAND_SEED2=%d%s\n" % (body.seed1, body.seed2, self.delimiter)
        self.put(item, b"\tRand\n", seeds)

    def print_xid(self, item: Item, body: XidEvent) -> None:
        self.put(item, b"\tXid = %(xid)d\n", b"COMMIT" + self.delimiter + b"\n")

    def print_incident(self, item: Item, body: IncidentEvent) -> None:
        name = getattr(body.incident, "name", "unknown").upper().encode()
        line = b"\n# Incident: " + name + b"\nRELOAD DATABASE; # Shall generate syntax error\n"
        self.put_comment(item, line)

    def print_block(self, item: Item, body: AppendBlockEvent) -> None:
        name = b"Begin_load_query" if item.kind == EventType.begin_load_query_event else b"Append_block"
        line = b"\n#%s: file_id: %d  block_len: %d\n" % (name, body.file_id, len(body.block))
        self.put_comment(item, line)
        if item.kind == EventType.begin_load_query_event:
            self.loads.begin(body.file_id, body.block)
        else:
            self.loads.append(body.file_id, body.block)

    def print_delete_file(self, item: Item, body: DeleteFileEvent) -> None:
        self.put_comment(item, b"\n#Delete_file: file_id=%d\n" % body.file_id)


_INTEGER_VARIABLES = {1: b"LAST_INSERT_ID", 2: b"INSERT_ID"}


def set_names(options: DumpOptions) -> bytes:
    """The statements of `--set-charset`."""
    if not options.set_charset:
        return b""
    lines = [
        "",
        "/*!40101 SET @OLD_CHARACTER_SET_CLIENT=@@CHARACTER_SET_CLIENT */;",
        "/*!40101 SET @OLD_CHARACTER_SET_RESULTS=@@CHARACTER_SET_RESULTS */;",
        "/*!40101 SET @OLD_COLLATION_CONNECTION=@@COLLATION_CONNECTION */;",
        f"/*!40101 SET NAMES {options.set_charset} */;",
        "",
    ]
    return encode("\n".join(lines))


def unset_names(options: DumpOptions) -> bytes:
    """The statements that undo those of :func:`set_names`."""
    if not options.set_charset:
        return b""
    return (
        b"/*!40101 SET CHARACTER_SET_CLIENT=@OLD_CHARACTER_SET_CLIENT */;\n"
        b"/*!40101 SET CHARACTER_SET_RESULTS=@OLD_CHARACTER_SET_RESULTS */;\n"
        b"/*!40101 SET COLLATION_CONNECTION=@OLD_COLLATION_CONNECTION */;\n"
    )
