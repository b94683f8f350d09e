"""The `mariadb-binlog` variant of the output, by the version of the server that wrote the log."""

from __future__ import annotations

import re
import zlib
from typing import TYPE_CHECKING, Any

from zlib_ng.zlib_ng import crc32

from binlog_kaitai.core.framing import Frame, resized
from binlog_kaitai.core.grammar import (
    CHECKSUM_SIZE,
    ROWS_TYPES,
    EventType,
    FormatDescriptionEvent,
    TableMapEvent,
    UserVarEvent,
    header_offset,
    masks,
)
from binlog_kaitai.dump.client_values import encode, identifier, metadata_lines, xid_text
from binlog_kaitai.dump.dump_options import DumpOptions
from binlog_kaitai.dump.dump_output import MARIADB_STYLE, LoadFiles, Write
from binlog_kaitai.dump.printed_event import PrintedEvent
from binlog_kaitai.dump.printer import (
    COMPLETION_TYPE,
    DISABLE_LOG_BIN,
    ENABLE_LOG_BIN,
    OLD_COMPLETION_TYPE,
    Printer,
    Version,
    names_set_and_unset,
)
from binlog_kaitai.dump.row_comments import RowsHeader
from binlog_kaitai.dump.statement_settings import (
    MariadbPreamble,
    is_transaction_keyword,
    is_two_phase,
    user_value,
)
from binlog_kaitai.log.event_reader import ParsedEvent

if TYPE_CHECKING:
    from binlog_kaitai.core.bodies import (
        AnnotateRowsEvent,
        BinlogCheckpointEvent,
        ExecuteLoadQueryEvent,
        MariadbGtidEvent,
        MariadbGtidListEvent,
        QueryBody,
        StatementBody,
        XaPrepareEvent,
    )


#: Types that no client version knows.
_NEVER_KNOWN = frozenset(
    (
        EventType.unknown_event,
        EventType.slave_event,
        EventType.format_description_event,
        EventType.gtid_tagged_log_event,
        EventType.large_transaction_header_event,
        EventType.partial_row_data_event,
    )
)
#: The client's names of types, most of which are the grammar's.
_NAMES: dict[int, bytes] = {
    int(kind): kind.name.replace("_event", "", 1).capitalize().encode()
    for kind in EventType
    if kind not in _NEVER_KNOWN
} | {
    EventType.rand_event: b"RAND",
    EventType.user_var_event: b"User var",
    EventType.pre_ga_write_rows_event: b"Write_rows_event_old",
    EventType.pre_ga_update_rows_event: b"Update_rows_event_old",
    EventType.pre_ga_delete_rows_event: b"Delete_rows_event_old",
    EventType.heartbeat_log_event: b"Heartbeat",
    EventType.ignorable_log_event: b"Ignorable log event",
    EventType.rows_query_log_event: b"MySQL Rows_query",
    EventType.gtid_log_event: b"MySQL Gtid",
    EventType.anonymous_gtid_log_event: b"MySQL Anonymous_Gtid",
    EventType.previous_gtids_log_event: b"MySQL Previous_gtids",
    EventType.xa_prepare_log_event: b"XA_prepare",
    EventType.partial_update_rows_event: b"MySQL Update_rows_partial",
    EventType.transaction_payload_event: b"MySQL Transaction_payload",
    EventType.heartbeat_log_event_v2: b"MySQL Heartbeat",
}
#: MySQL types that the clients before 10.6 do not know.
_LATER = frozenset(
    (
        EventType.partial_update_rows_event,
        EventType.transaction_payload_event,
        EventType.heartbeat_log_event_v2,
    )
)


#: MySQL types that the client skips even if their headers do not mark them.
_SKIPPED = frozenset(
    (
        EventType.gtid_log_event,
        EventType.anonymous_gtid_log_event,
        EventType.previous_gtids_log_event,
        EventType.transaction_context_event,
        EventType.view_change_event,
    )
)


def is_skipped(kind: int, flags: int, version: Version) -> bool:
    """Whether a client version skips an event, by its type and header flags."""
    if kind == EventType.heartbeat_log_event_v2 and version >= (10, 6):
        return True
    is_ignorable = bool(flags & masks.EventHeader.IS_IGNORABLE)
    return kind in _SKIPPED or (is_ignorable and kind != EventType.format_description_event)


def ignorable_name(kind: int, version: Version) -> bytes:
    """The name of a type in a client version."""
    if kind in _LATER and version < (10, 6):
        return b"Unknown"
    return _NAMES.get(kind, b"Unknown")


def rows_line(kind: int, body: Any, *, is_end: bool) -> bytes:
    """The rest of a rows event's header line."""
    flags = b" flags: STMT_END_F" if is_end else b""
    return b"\t%s: table id %d%s\n" % (_rows_name(kind), body.table_id.value, flags)


def _rows_name(kind: int) -> bytes:
    words = EventType(kind).name.split("_")
    verb = next(word for word in ("write", "update", "delete") if word in words)
    return verb.capitalize().encode() + (b"_compressed_rows" if "compressed" in words else b"_rows")


_TYPE_AT = header_offset("type_code")


def uncompressed(printed: PrintedEvent, body: Any) -> bytes:
    """The plain rows event for a compressed one."""
    packed = body.compressed_images
    after = CHECKSUM_SIZE if printed.event.checksum_status != "none" else 0
    front = printed.raw[: len(printed.raw) - after - packed._io.size()]
    plain = getattr(EventType, EventType(printed.kind).name.replace("_compressed", ""))
    front = front[:_TYPE_AT] + bytes([plain]) + front[_TYPE_AT + 1 :]
    data = zlib.decompress(packed.deflated.data)
    raw = resized(front + data, len(front) + len(data) + after)
    return raw + crc32(raw).to_bytes(CHECKSUM_SIZE, "little") if after else raw


def event_of(event: ParsedEvent, raw: bytes) -> ParsedEvent:
    """An event with other bytes, and the type in these."""
    header = event.fixed_header._replace(type_code=raw[_TYPE_AT])
    frame = Frame(event.position, header, raw)
    return ParsedEvent(event.file, frame, event.layout, event.table_map, event.checksum_status)


#: Events before which the client does not print a change of `skip_replication`, or not first.
_IN_ANY_SESSION = frozenset(
    (
        EventType.query_event,
        EventType.query_compressed_event,
        EventType.create_file_event,
        EventType.append_block_event,
        EventType.exec_load_event,
        EventType.begin_load_query_event,
        EventType.execute_load_query_event,
        EventType.format_description_event,
        EventType.annotate_rows_event,
        EventType.table_map_event,
    )
)
_VERSION = re.compile(r"(?:5\.5\.5-)?(\d+)\.(\d+)\.(\d+)")


def version_of(server_version: str) -> Version:
    """The numbers in a server version."""
    match = _VERSION.match(server_version)
    return (int(match[1]), int(match[2]), int(match[3])) if match else (0, 0, 0)


class MariadbPrinter(Printer):
    """Prints a MariaDB log like the client of the server that wrote it."""

    hexdump_style = MARIADB_STYLE
    is_mariadb = True

    def __init__(self, options: DumpOptions, write: Write, loads: LoadFiles, version: Version) -> None:
        super().__init__(options, write, loads)
        self.version = self.log_version = version
        self.statements = MariadbPreamble(self)
        self.printers |= {
            EventType.format_description_event: self.print_format,
            EventType.user_var_event: self.print_user_var,
            EventType.query_event: self.print_query,
            EventType.query_compressed_event: self.print_query,
            EventType.execute_load_query_event: self.print_load_query,
            EventType.gtid_event: self.print_gtid,
            EventType.gtid_list_event: self.print_gtid_list,
            EventType.binlog_checkpoint_event: self.print_checkpoint,
            EventType.start_encryption_event: self.print_encryption,
            EventType.annotate_rows_event: self.keep_annotation,
            EventType.table_map_event: self.print_table_map,
            EventType.xa_prepare_log_event: self.print_xa_prepare,
        }

    def start_all(self) -> bytes:
        delayed = b"max_delayed_threads" if self.version >= (10, 6) else b"max_insert_delayed_threads"
        text = b"/*!50530 SET @@SESSION.PSEUDO_SLAVE_MODE=1*/;\n/*!40019 SET @@session.%s=0*/;\n" % delayed
        if self.options.disable_log_bin:
            text += DISABLE_LOG_BIN
        return text + COMPLETION_TYPE + names_set_and_unset(self.options)[0]

    def start_log(self) -> None:
        self.state.begin_session()
        self.write(b"DELIMITER " + self.delimiter + b"\n")

    def end_log(self) -> None:
        self.out.clear()
        self.state.is_annotated = False
        self.write(b"DELIMITER ;\n")

    def end_all(self) -> bytes:
        text = b"# End of log file\nROLLBACK /* added by mysqlbinlog */;\n" + OLD_COMPLETION_TYPE
        if self.options.disable_log_bin:
            text += ENABLE_LOG_BIN
        text += names_set_and_unset(self.options)[1] + b"/*!50530 SET @@SESSION.PSEUDO_SLAVE_MODE=0*/;\n"
        options = self.options
        is_chosen = options.server_ids or options.ignored_server_ids or options.filters_domains
        if is_chosen and self.version >= (10, 9):
            text += b"/*!100001 SET @@SESSION.SERVER_ID=@@GLOBAL.SERVER_ID */;\n"
            text += b"/*!100001 SET @@SESSION.GTID_DOMAIN_ID=@@GLOBAL.GTID_DOMAIN_ID */;\n"
        return text

    def put_position(self, printed: PrintedEvent) -> None:
        if self.options.prints_row_positions:
            super().put_position(printed)

    def take(self, printed: PrintedEvent) -> None:
        self.put_position(printed)
        if is_skipped(printed.kind, printed.event.fixed_header.flags, self.version):
            self.print_skip_replication(printed)
            self.print_ignorable(printed)
            return
        if printed.kind in ROWS_TYPES:
            self.print_rows(printed)
            return
        body = printed.event.body
        if printed.kind in self.printers:
            self.printers[printed.kind](printed, body)
        else:
            self.put_unknown(printed)
        if printed.kind not in _IN_ANY_SESSION:
            self.print_skip_replication(printed)  # before the event's own text, which waits for the flush
        if printed.kind != EventType.annotate_rows_event:
            self.flush(printed)

    def flush(self, printed: PrintedEvent) -> None:
        """Write the lines of an event."""
        self.out.flush()

    def print_skip_replication(self, printed: PrintedEvent) -> None:
        """Print a change of the session's `skip_replication`."""
        is_skipped = bool(printed.event.header.is_skipped_for_replication)
        if is_skipped != self.state.is_replication_skipped:
            self.state.is_replication_skipped = is_skipped
            self.out.now.append(b"/*!50521 SET skip_replication=%d*/%s\n" % (is_skipped, self.delimiter))

    def print_ignorable(self, printed: PrintedEvent) -> None:
        """Print an event that the client skips."""
        name = ignorable_name(printed.kind, self.version)
        self.put_comment(printed, b"\tIgnorable\n# Ignorable event type %d (%s)\n" % (printed.kind, name))
        self.flush(printed)

    def print_format(self, printed: PrintedEvent, body: FormatDescriptionEvent) -> None:
        header = printed.event.header
        self.log_version = version_of(body.server_version)
        self.put_start(printed, body)
        if header.is_in_use and not self.options.short_form:
            self.out.head.append(b"# Warning: this binlog is either in use or was not closed properly.\n")
        if body.create_timestamp and not header.is_artificial:
            self.put_statement(b"ROLLBACK")
        if self.options.prints_base64:
            self.out.head.append(b"BINLOG '\n" + self.out.base64(printed.raw) + b"'" + self.delimiter + b"\n")

    def print_query(self, printed: PrintedEvent, body: QueryBody) -> None:
        query = bytes(body.query)
        if not is_transaction_keyword(query) and self.skips_database(encode(body.schema_name)):
            return
        self._print_early_use(printed, body)
        self.print_skip_replication(printed)
        name = b"Query_compressed" if printed.kind == EventType.query_compressed_event else b"Query"
        self.statements.print(printed, body, query, name)
        self.put_query(printed, query, printed.status.get("mariadb_gtid_flags3"))

    def put_query(self, printed: PrintedEvent, query: bytes, alter: Any) -> None:
        """Add the statement itself; `alter` are the flags of a two-phase ALTER."""
        if is_two_phase(alter):
            self._put_alter(printed, query, alter)
        else:
            self.out.head.fill(b"%(query)s\n", printed)
            self.out.head.append(self.delimiter + b"\n")

    def _put_alter(self, printed: PrintedEvent, query: bytes, alter: Any) -> None:
        head = self.out.head
        if self.options.prints_base64:
            is_comment = alter.is_start_alter or alter.is_rollback_alter
            head.append(b"/*!100600 " * is_comment + b"BINLOG '\n" + self.out.base64(printed.raw))
            head.append((b"' */" if is_comment else b"'") + self.delimiter + b"\n")
        if self.options.shown_rows:
            head.append(b"### " + query + b"\n")

    def _print_early_use(self, printed: PrintedEvent, body: StatementBody) -> None:
        """Print USE for a renamed database, which the client does before the header line."""
        new = None if is_transaction_keyword(bytes(body.query)) else self.new_name(body)
        if new is None or self.state.database == new or printed.event.header.is_use_suppressed:
            return
        self.state.database = new
        self.out.now.append(b"use " + identifier(new) + self.delimiter + b"\n")

    def print_user_var(self, printed: PrintedEvent, body: UserVarEvent) -> None:
        value = user_value(body, is_mariadb=True, old_names=self.version < (10, 6))
        name = identifier(encode(body.name))
        self.put(printed, b"\tUser_var\n")
        self.put_statement(b"SET @" + name + b":=" + value)

    def print_load_query(self, printed: PrintedEvent, body: ExecuteLoadQueryEvent) -> None:
        name = self.loads.take(body.file_id)
        if self.skips_database(encode(body.schema_name)) or name is None:
            return
        query = bytes(body.query)
        self._print_early_use(printed, body)
        self.print_skip_replication(printed)
        self.statements.print_load(printed, body, query, name)

    def print_gtid(self, printed: PrintedEvent, body: MariadbGtidEvent) -> None:
        if not self.options.short_form:
            self.put_header(printed)
            self.out.head.fill(_gtid_line(body), printed, {b"domain_id": body.domain_id})
            self._put_gtid_session(printed, body)
            number = self._versioned + b"100001 SET @@session.gtid_seq_no=%(sequence_number)d*/"
            self.out.head.fill(number + self.delimiter + b"\n", printed)
        if body.is_prepared_xa:
            self.put_statement(b"XA START " + xid_text(body.xid))
        elif not body.is_standalone:
            self.out.head.append(b"START TRANSACTION\n" + self.delimiter + b"\n")

    @property
    def _versioned(self) -> bytes:
        return b"/*M!" if self.version >= (10, 6) else b"/*!"

    def _put_gtid_session(self, printed: PrintedEvent, body: MariadbGtidEvent) -> None:
        """Add statements for the session variables that a GTID event changes."""
        is_allowed, server_id = bool(body.is_parallel_allowed), printed.event.fixed_header.server_id
        state, set_ = self.state, self._versioned + b"%d SET @@session.%s=%d*/"
        if state.is_parallel_allowed != is_allowed:
            state.is_parallel_allowed = is_allowed
            self.put_statement(set_ % (100101, b"skip_parallel_replication", not is_allowed))
        if state.domain_id != body.domain_id:
            state.domain_id = body.domain_id
            self.put_statement(set_ % (100001, b"gtid_domain_id", body.domain_id))
        if state.server_id != server_id:
            state.server_id = server_id
            self.put_statement(set_ % (100001, b"server_id", server_id))

    def print_gtid_list(self, printed: PrintedEvent, body: MariadbGtidListEvent) -> None:
        gtids = [(gtid.domain_id, gtid.server_id, gtid.sequence_number) for gtid in body.gtids]
        if self.version >= (10, 6):
            gtids.sort(key=lambda gtid: (gtid[0], gtid[2]))
        text = b",\n# ".join(b"%d-%d-%d" % gtid for gtid in gtids)
        self.put_comment(printed, b"\tGtid list [" + text + b"]\n")

    def print_checkpoint(self, printed: PrintedEvent, body: BinlogCheckpointEvent) -> None:
        self.put_comment(printed, b"\tBinlog checkpoint " + encode(body.file_name) + b"\n")

    def print_encryption(self, printed: PrintedEvent, body: Any) -> None:
        text = (
            b"# Encryption scheme: %d, key_version: %d, nonce: %s\n# The rest of the binlog is encrypted!\n"
        )
        self.out.head.append(text % (body.scheme, body.key_version, body.nonce.hex().encode()))

    def print_xa_prepare(self, printed: PrintedEvent, body: XaPrepareEvent) -> None:
        xid = xid_text(body)
        self.put(printed, b"\tXID = " + xid + b"\n", b"XA PREPARE " + xid + b"\n" + self.delimiter + b"\n")

    def keep_annotation(self, printed: PrintedEvent, body: AnnotateRowsEvent) -> None:
        """Keep the statement of a rows event until rows follow."""
        if not self.options.skip_annotate_row_events:
            self.state.is_annotated = True
            self.out.keep(printed, self.put_annotation)

    def put_annotation(self, printed: PrintedEvent) -> None:
        """Add the statement of a rows event."""
        if self.options.short_form:
            self.out.head.append(b"# Annotate_rows:\n")
        else:
            self.put_header(printed)
            self.out.head.append(b"\tAnnotate_rows:\n")
        self.out.head.fill(b"%(lines)s", printed)

    def skips_table(self, body: TableMapEvent) -> bool:
        wanted = self.options.table
        return super().skips_table(body) or (bool(wanted) and encode(wanted or "") != encode(body.table_name))

    def print_table_map(self, printed: PrintedEvent, body: TableMapEvent) -> None:
        state, number = self.state, body.table_id.value
        if self.skips_table(body):
            state.ignored_maps |= {number}
            return
        state.ignored_maps -= {number}
        if state.is_annotated:
            state.is_annotated = False
            self.out.put_kept(printed)
        line, metadata = self.table_map_text(body)
        self.put_comment(printed, line)
        self.out.head.append(metadata)
        self.add_base64(printed)

    def table_map_text(self, body: TableMapEvent) -> tuple[bytes, bytes]:
        """The rest of a table map's header line, and the lines after it."""
        database, table = encode(body.schema_name), encode(body.table_name)
        name = identifier(self.rewritten.get(database, database)) + b"." + identifier(table)
        triggers = b" (has triggers)" if body.has_triggers else b""
        line = b"\tTable_map: %s mapped to number %d%s\n" % (name, body.table_id.value, triggers)
        if not self.options.print_table_metadata:
            return line, b""
        return line, metadata_lines(body, is_mariadb=True, old_names=self.version < (10, 6))

    def print_rows(self, printed: PrintedEvent) -> None:
        """Print one rows event; at the end of the statement, everything kept of it."""
        rows_header, state = self.rows_headers.of(printed.event), self.state
        body = printed.event.body if rows_header is None else rows_header.body
        is_end = bool(body.is_statement_end)
        if body.table_id.value not in state.ignored_maps:
            self._keep_rows(printed, body, rows_header)
            is_unknown = printed.event.table_map is None or getattr(body, "images", None) == b""
            state.ends_unknown = is_end and is_unknown
        if is_end:
            state.ignored_maps, state.is_annotated = frozenset(), False
            self.end_statement()

    def _keep_rows(self, printed: PrintedEvent, body: Any, rows_header: RowsHeader | None) -> None:
        if "compressed" in EventType(printed.kind).name:
            printed.raw = uncompressed(printed, body)
            printed.event = event_of(printed.event, printed.raw)
            rows_header = self.rows_headers.of(printed.event)
        if not self.options.short_form:
            self.put_header(printed)
            self.out.head.append(rows_line(printed.kind, body, is_end=body.is_statement_end))
            self.add_base64(printed)
        table_map = printed.event.table_map
        if self.options.shown_rows:
            self.out.add_rows(printed, rows_header, self.new_name(table_map))
        elif table_map is not None and not self.options.short_form:
            self.out.count_rows(printed, rows_header)

    @property
    def shows_row_count(self) -> bool:
        """Whether the row count of a statement is printed."""
        return self.options.prints_row_count and not self.options.short_form

    def end_statement(self) -> None:
        """Write everything kept of a statement's rows events."""
        self.out.end_statement(shows_count=self.shows_row_count, shows_zero=self.state.ends_unknown)
        self.state.ends_unknown = False


def _gtid_line(body: MariadbGtidEvent) -> bytes:
    """The template of the rest of a GTID event's header line."""
    line = b"\tGTID %(domain_id)d-%(server_id)d-%(sequence_number)d"
    line += b" cid=%(commit_id)d" * bool(body.has_commit_id)
    line += b" ddl" * bool(body.is_ddl) + b" trans" * bool(body.is_transactional)
    line += b" waited" * bool(body.has_waited) + b" START ALTER" * bool(body.is_start_alter)
    line += b" COMMIT ALTER id= %(start_alter_sequence_number)d" * bool(body.is_commit_alter)
    line += b" ROLLBACK ALTER id= %(start_alter_sequence_number)d" * bool(body.is_rollback_alter)
    return line + b" thread_id=%(thread_id)d" * bool(body.has_thread_id) + b"\n"
