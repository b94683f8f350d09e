"""What both dresses share: buffers, header lines, and the events that read alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from binlog_kaitai.errors import BinlogError, GrammarError, UsageError
from binlog_kaitai.grammar import EventType
from binlog_kaitai.render.dump.base64 import Base64
from binlog_kaitai.render.dump.hexdump import MYSQL_STYLE, mysql_hexdump
from binlog_kaitai.render.dump.item import Item
from binlog_kaitai.render.dump.loads import LoadFiles
from binlog_kaitai.render.dump.options import DumpOptions
from binlog_kaitai.render.dump.rows import Style
from binlog_kaitai.render.dump.session import Session
from binlog_kaitai.render.dump.spool import Spool
from binlog_kaitai.render.dump.text import encode, timestamp

#: Takes the text as it comes.
Write = Callable[[bytes], object]
PrintEvent = Callable[[Item, Any], None]

Version = tuple[int, int, int]

DELIMITER = b"/*!*/;"
#: What fields that the generated code reads when they are asked for may raise on hostile bytes.
UNREADABLE = (ArithmeticError, AttributeError, EOFError, LookupError, TypeError, ValueError)

#: The lines of all events, by the fields of their headers.
PLACE = b"# at %(position)d\n"
FRONT = b"#%(time)s server id %(server_id)d  end_log_pos %(end_position)d "
CHECKSUM = b"CRC32 0x%(checksum)s "

#: What stands before the base64 of a statement's events.
BINLOG = b"\nBINLOG '\n"

XID_LINE, XID_STATEMENT = b"\tXid = %(xid)d\n", b"COMMIT"
QUERY_LINE = b"\t%(name)s\tthread_id=%(thread_id)d\texec_time=%(execution_time)d\terror_code=%(error_code)d"

DISABLE_LOG_BIN = b"/*!32316 SET @OLD_SQL_LOG_BIN=@@SQL_LOG_BIN, SQL_LOG_BIN=0*/;\n"
ENABLE_LOG_BIN = b"/*!32316 SET SQL_LOG_BIN=@OLD_SQL_LOG_BIN*/;\n"
COMPLETION_TYPE = b"/*!50003 SET @OLD_COMPLETION_TYPE=@@COMPLETION_TYPE,COMPLETION_TYPE=0*/;\n"
OLD_COMPLETION_TYPE = b"/*!50003 SET COMPLETION_TYPE=@OLD_COMPLETION_TYPE*/;\n"


class Printer:
    """Prints events.

    The text of the rows events of a statement is put together: their header lines (`head`), one BINLOG
    statement of all of them (`body`), and the rows (`tail`).

    Attributes
    ----------
    session : Session
        What has been printed of the session's settings.
    rows : int
        How many of the statement's were counted.
    ignored_maps : set of int
        Ids of the statement's tables whose rows are left out.
    version : tuple of int
        Of the client that prints so.
    log_version : tuple of int
        Of the server by the newest format description.
    is_broken : bool
        A log could not be read to its end.
    """

    style: Style
    #: Whether `--rewrite-db` writes the bytes of all events anew, with checksums, or of table maps only.
    rewrites_all = True
    hexdump: Callable[[bytes, int, int], bytes] = staticmethod(mysql_hexdump)
    hexdump_style = MYSQL_STYLE

    def __init__(self, options: DumpOptions, write: Write, loads: LoadFiles) -> None:
        self.options = options
        self.write = write
        self.loads = loads
        self.delimiter = DELIMITER
        self.is_broken = False
        self.session = Session()
        self.head: list[bytes] = []
        self.body = Spool()
        self.tail = Spool()
        self.rows = 0
        self.ignored_maps: set[int] = set()
        self._base64 = Base64()
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
            It cannot be read.
        """
        try:
            self.take(item)
        except BinlogError as error:
            raise item.event.locate(error) from error.__cause__
        except UNREADABLE as error:
            raise item.event.locate(GrammarError(f"cannot be printed: {error!r}")) from error

    def start_all(self) -> bytes:
        """What stands before the first log."""
        raise NotImplementedError

    def start_log(self) -> None:
        """Print what stands before each log."""

    def end_log(self) -> None:
        """Print what stands behind each log, a damaged one, too."""
        raise NotImplementedError

    def end_all(self) -> bytes:
        """What stands behind the last log."""
        raise NotImplementedError

    def end_payload(self) -> None:
        """All events of a transaction payload were printed."""

    def check(self, item: Item) -> None:
        """Refuse an event that the options forbid, wanted or not."""
        if self.options.force_if_open or item.kind != EventType.format_description_event:
            return
        if item.event.header.is_in_use:
            reason = "the log is in use or was not closed; --force-if-open prints it all the same"
            raise item.event.locate(UsageError(reason))

    def take(self, item: Item) -> None:
        """What a dress does with an event."""
        raise NotImplementedError

    def pass_over(self, item: Item) -> None:
        """Leave an event out, but for its place."""
        self.put_place(item)

    def put_place(self, item: Item) -> None:
        """Write where an event is."""
        if not self.options.short_form:
            self.write(PLACE % {b"position": item.position})

    def end_statement(self) -> None:
        """Write out what was kept of a statement's rows events."""
        self.flush_head()
        if self.body:
            self.write(BINLOG)
            self.body.flush(self.write)
            self.write(b"'" + self.delimiter + b"\n")
        self.tail.flush(self.write)

    def flush_head(self) -> None:
        """Write the header lines out."""
        if self.head:
            self.write(b"".join(self.head))
            self.head.clear()

    def header(self, item: Item) -> bytes:
        """The line of an event's header, with its bytes in hexadecimal if wanted."""
        fixed = item.event.fixed_header
        text = self.front(fixed.timestamp, fixed.server_id, item.end_position)
        if item.checksum is not None:
            text += CHECKSUM % {b"checksum": b"%08x" % item.checksum}
        if self.options.hexdump and item.position:
            header_length = item.event.layout.header_length_of(item.event.type_code)
            text += self.hexdump(item.raw, item.position, header_length)
        return text

    @staticmethod
    def front(seconds: int, server_id: int, end_position: int) -> bytes:
        """How the line of an event's header begins."""
        fields = {b"time": timestamp(seconds), b"server_id": server_id, b"end_position": end_position}
        return FRONT % fields

    def put(self, item: Item, line: bytes, *more: bytes) -> None:
        """Add a header line, if they are wanted, and what follows it."""
        if not self.options.short_form:
            self.head.append(self.header(item) + line)
        self.head.extend(more)

    def put_comment(self, item: Item, line: bytes) -> None:
        """Add what the short form leaves out altogether."""
        if not self.options.short_form:
            self.head.append(self.header(item) + line)

    def base64(self, item: Item) -> bytes:
        """The event as lines of a BINLOG statement."""
        return self._base64.lines(item.raw)

    def skips_database(self, database: bytes) -> bool:
        """Whether events of a database are left out."""
        wanted = self.options.database
        return bool(wanted) and self.rewritten.get(database, database) != encode(wanted or "")

    def new_name(self, table_map: Any) -> bytes | None:
        """The new name of a table's database; None if it keeps its own."""
        if not self.rewritten or table_map is None:
            return None
        return self.rewritten.get(encode(table_map.schema_name))

    def ahead_of_statement(self, item: Item, body: Any) -> bytes:
        """What stands between the place of a statement and its header line."""
        return b""

    def skips_table(self, body: Any) -> bool:
        """Whether the rows behind a table map are left out."""
        return self.skips_database(encode(body.schema_name))

    def put_statement(self, text: bytes) -> None:
        """Add a statement with its end."""
        self.head.append(text + self.delimiter + b"\n")

    def put_start(self, item: Item, body: Any) -> None:
        """Add what begins a log: the version of its server."""
        names = (body.binlog_version, encode(body.server_version), timestamp(item.timestamp))
        startup = b" at startup\n" if body.create_timestamp else b"\n"
        self.put_comment(item, b"\tStart: binlog v %d, server v %s created %s" % names + startup)

    def put_unknown(self, item: Item) -> None:
        """Add an event of a type that the client does not know, or refuse it without `--force-read`."""
        if not self.options.force_read:
            reason = f"the client does not know events of type {item.kind}; --force-read goes on after it"
            raise UsageError(reason, field="header.type_code")
        self.put_comment(item, b"\n# Unknown event\n")

    def print_start(self, item: Item, body: Any) -> None:
        """The first event of a log before version 4."""
        self.put_start(item, body)
        if body.create_timestamp:
            self.put_statement(b"ROLLBACK")

    def print_stop(self, item: Item, body: Any) -> None:
        self.put_comment(item, b"\tStop\n")

    def print_rotate(self, item: Item, body: Any) -> None:
        position = 4 if body.position is None else body.position
        self.put_comment(item, b"\tRotate to %s  pos: %d\n" % (encode(body.next_log), position))

    def print_intvar(self, item: Item, body: Any) -> None:
        name = _INTEGER_VARIABLES.get(int(body.variable), b"INVALID_INT")
        number = body.value - (1 << 64) if body.value >> 63 else body.value
        self.put(item, b"\tIntvar\n", b"SET %s=%d%s\n" % (name, number, self.delimiter))

    def print_rand(self, item: Item, body: Any) -> None:
        seeds = b"SET @@RAND_SEED1=%d, @@RAND_SEED2=%d%s\n" % (body.seed1, body.seed2, self.delimiter)
        self.put(item, b"\tRand\n", seeds)

    def print_xid(self, item: Item, body: Any) -> None:
        self.put(item, XID_LINE % {b"xid": body.xid}, XID_STATEMENT + self.delimiter + b"\n")

    def print_incident(self, item: Item, body: Any) -> None:
        name = getattr(body.incident, "name", "unknown").upper().encode()
        line = b"\n# Incident: " + name + b"\nRELOAD DATABASE; # Shall generate syntax error\n"
        self.put_comment(item, line)

    def print_block(self, item: Item, body: Any) -> None:
        name = b"Begin_load_query" if item.kind == EventType.begin_load_query_event else b"Append_block"
        line = b"\n#%s: file_id: %d  block_len: %d\n" % (name, body.file_id, len(body.block))
        self.put_comment(item, line)
        if item.kind == EventType.begin_load_query_event:
            self.loads.begin(body.file_id, body.block)
        else:
            self.loads.append(body.file_id, body.block)

    def print_delete_file(self, item: Item, body: Any) -> None:
        self.put_comment(item, b"\n#Delete_file: file_id=%d\n" % body.file_id)


def query_line(name: bytes, body: Any) -> bytes:
    """What both clients print behind the header of a statement."""
    fields = {
        b"name": name,
        b"thread_id": body.thread_id,
        b"execution_time": body.execution_time,
        b"error_code": body.error_code,
    }
    return QUERY_LINE % fields


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
    """The statements that take back those of :func:`set_names`."""
    if not options.set_charset:
        return b""
    return (
        b"/*!40101 SET CHARACTER_SET_CLIENT=@OLD_CHARACTER_SET_CLIENT */;\n"
        b"/*!40101 SET CHARACTER_SET_RESULTS=@OLD_CHARACTER_SET_RESULTS */;\n"
        b"/*!40101 SET COLLATION_CONNECTION=@OLD_COLLATION_CONNECTION */;\n"
    )
