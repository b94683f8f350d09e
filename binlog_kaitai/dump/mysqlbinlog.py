"""The `mysqlbinlog` variant of the output, as printed by version 9.7."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from binlog_kaitai.core.adapter import gtid_sources
from binlog_kaitai.core.grammar import (
    ROWS_TYPES,
    EventType,
    FormatDescriptionEvent,
    TableMapEvent,
    TransactionPayloadEvent,
    UserVarEvent,
)
from binlog_kaitai.dump.client_values import encode, identifier, metadata_lines, xid_text
from binlog_kaitai.dump.dump_options import Base64Output, DumpOptions
from binlog_kaitai.dump.dump_output import LoadFiles, Write
from binlog_kaitai.dump.printed_event import PrintedEvent
from binlog_kaitai.dump.printer import (
    COMPLETION_TYPE,
    DISABLE_LOG_BIN,
    ENABLE_LOG_BIN,
    OLD_COMPLETION_TYPE,
    OLD_LOADS,
    POSITION,
    Printer,
    names_set_and_unset,
)
from binlog_kaitai.dump.row_comments import RowsHeader, extra_info
from binlog_kaitai.dump.statement_settings import (
    MysqlPreamble,
    ends_group,
    is_transaction_keyword,
    starts_group,
    user_value,
)
from binlog_kaitai.errors import BinlogError, UsageError

if TYPE_CHECKING:
    from binlog_kaitai.core.bodies import (
        ExecuteLoadQueryEvent,
        GtidBody,
        PreviousGtidsEvent,
        QueryEvent,
        RowsEvent,
        RowsQueryEvent,
        XaPrepareEvent,
        XidEvent,
    )


_LINE = (
    b"\t%(name)s\tlast_committed=%(last_committed)d\tsequence_number=%(sequence_number)d"
    b"\trbr_only=%(rows_only)s\toriginal_committed_timestamp=%(original)d"
    b"\timmediate_commit_timestamp=%(immediate)d\ttransaction_length=%(transaction_length)d\n"
)
_ROWS_ONLY = b"/*!50718 SET TRANSACTION ISOLATION LEVEL READ COMMITTED*/%(end)s"
_COMMENTS = (
    b"# original_commit_timestamp=%(original)d (%(original_time)s)\n"
    b"# immediate_commit_timestamp=%(immediate)d (%(immediate_time)s)\n"
)
_OF_NEWER_SERVERS = (
    b"/*!80001 SET @@session.original_commit_timestamp=%(original)d*/%(end)s"
    b"/*!80014 SET @@session.original_server_version=%(original_version)d*/%(end)s"
    b"/*!80014 SET @@session.immediate_server_version=%(immediate_version)d*/%(end)s"
)
_NEXT, _NEXT_ANONYMOUS = (
    b"SET @@SESSION.GTID_NEXT= '" + gtid + b"'%(end)s" for gtid in (b"%(source)s:%(gno)d", b"ANONYMOUS")
)
#: Version assumed for servers that logged commit timestamps but no version: 8.0.1 to 8.0.13.
#: UNDEFINED_SERVER_VERSION, libs/mysql/binlog/event/binlog_event.h
UNDEFINED_VERSION = 999999


def gtid_lines(
    kind: int, body: GtidBody, gtid: str | None, *, is_to_run: bool
) -> tuple[bytes, bytes, dict[bytes, bytes | int]]:
    """The rest of a GTID event's header line, and the lines after it, as templates with some fields.

    For a server before 8.0, newer lines are empty; 5.6 rejects them before GTID_NEXT is set.
    """
    undefined = undefined_version(body)
    is_anonymous = kind == EventType.anonymous_gtid_log_event
    constants: dict[bytes, bytes | int] = {
        b"name": b"Anonymous_GTID" if is_anonymous else b"GTID",
        b"rows_only": b"no" if body.may_have_statements else b"yes",
        b"original_version": _known(body.original_server_version, undefined),
        b"immediate_version": _known(body.immediate_server_version, undefined),
        b"source": encode((gtid or "").rpartition(":")[0]),
    }
    following = _NEXT_ANONYMOUS if gtid is None else _NEXT
    is_for_old_server = is_to_run and not undefined
    lines = [following, _OF_NEWER_SERVERS] if is_for_old_server else [_OF_NEWER_SERVERS, following]
    first = b"" if body.may_have_statements else _ROWS_ONLY
    return _LINE, first + _COMMENTS + b"".join(lines), constants


def undefined_version(body: GtidBody) -> int:
    """The value the client assumes for server versions missing from a GTID event."""
    return 0 if body.immediate_commit_timestamp is None else UNDEFINED_VERSION


def _known(version: int | None, undefined: int) -> int:
    return undefined if version is None else version


def commented_set(body: PreviousGtidsEvent) -> bytes:
    """A GTID set in comment lines."""
    sources = []
    for uuid, group in groupby(gtid_sources(body.gtids), key=lambda source: source[0]):
        digits = uuid.hex()
        text = "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
        for _, tag, intervals in group:
            text += f":{tag}" if tag else ""
            text += "".join(
                f":{span.start}" if span.stop - 1 == span.start else f":{span.start}-{span.stop - 1}"
                for span in intervals
            )
        sources.append(encode(text))
    return b",\n# ".join(sources) or b"[empty]"


#: The first version whose table maps record generated invisible keys.
_FIRST_WITH_INVISIBLE_KEYS = 80030
_ROWS_NAMES: dict[int, bytes] = {
    EventType.write_rows_event: b"Write_rows",
    EventType.update_rows_event: b"Update_rows",
    EventType.delete_rows_event: b"Delete_rows",
    EventType.write_rows_event_v1: b"Write_rows",
    EventType.update_rows_event_v1: b"Update_rows",
    EventType.delete_rows_event_v1: b"Delete_rows",
    EventType.partial_update_rows_event: b"Update_rows_partial",
}
_ROWS_FLAGS = (
    ("is_statement_end", b" STMT_END_F"),
    ("has_no_foreign_key_checks", b" NO_FOREIGN_KEY_CHECKS_F"),
    ("has_relaxed_unique_checks", b" RELAXED_UNIQUE_CHECKS_F"),
    ("is_complete", b" COMPLETE_ROWS_F"),
    ("is_sql_foreign_key", b" USE_SQL_FOREIGN_KEY_F"),
)


def shows_invisible_keys(version: int) -> bool:
    """Whether servers of a version log if a key was generated and invisible."""
    return _FIRST_WITH_INVISIBLE_KEYS <= version != UNDEFINED_VERSION


_ValueType = UserVarEvent.ResultType

#: Statements wait for their Query event, which names the database.
_WAITING = frozenset((EventType.intvar_event, EventType.rand_event, EventType.user_var_event))
#: What `--require-row-format` rejects, by type or by first words of the statement.
_NOT_ROWS = OLD_LOADS | {
    EventType.intvar_event,
    EventType.rand_event,
    EventType.create_file_event,
    EventType.append_block_event,
    EventType.delete_file_event,
    EventType.begin_load_query_event,
    EventType.execute_load_query_event,
}
_TEMPORARY = (b"CREATE TEMPORARY", b"DROP TEMPORARY")
_UTF8 = 33

#: Rows events that the client knows; it does not know MariaDB's compressed ones.
_ROWS_TYPES = frozenset(kind for kind in ROWS_TYPES if "compressed" not in kind.name)

#: Text around the events of a transaction payload; the second is for compressed ones.
_PAYLOAD_LINE = b"\tTransaction_Payload\t\tpayload_size=%(payload_size)d\tcompression_type=%(compression)s"
_UNPACKED_SIZE = b"\tuncompressed_size=%(uncompressed_size)d"
_PAYLOAD_START, _PAYLOAD_END = b"\n# Start of compressed events.\n", b"# End of compressed events.\n"

_START = (
    b"# The proper term is pseudo_replica_mode, but we use this compatibility alias\n"
    b"# to make the statement usable on server versions 8.0.24 and older.\n"
    b"/*!50530 SET @@SESSION.PSEUDO_SLAVE_MODE=1*/;\n"
)
_RELAY_LOG = (
    b"# This Format_description_event appears in a relay log and was generated by the replica thread.\n"
)


class MysqlPrinter(Printer):
    """Prints a log of MySQL.

    `has_format`: a format description was printed, other than a replica's for its relay log.
    """

    def __init__(self, options: DumpOptions, write: Write, loads: LoadFiles) -> None:
        super().__init__(options, write, loads)
        self.statements = MysqlPreamble(self)
        self.has_format = False
        self.printers |= {
            EventType.format_description_event: self.print_format,
            EventType.user_var_event: self.print_user_var,
            EventType.execute_load_query_event: self.print_load_query,
            EventType.gtid_log_event: self.print_gtid,
            EventType.anonymous_gtid_log_event: self.print_gtid,
            EventType.gtid_tagged_log_event: self.print_gtid,
            EventType.previous_gtids_log_event: self.print_previous_gtids,
            EventType.rows_query_log_event: self.print_rows_query,
            EventType.transaction_payload_event: self.print_payload,
            EventType.xa_prepare_log_event: self.print_xa_prepare,
            EventType.transaction_context_event: self.print_transaction_context,
            EventType.view_change_event: self.print_view_change,
        }

    def check(self, printed: PrintedEvent) -> None:
        super().check(printed)
        if not self.options.require_row_format:
            return
        is_temporary = printed.kind == EventType.query_event and bytes(
            printed.event.body.query[:16]
        ).upper().startswith(_TEMPORARY)
        if is_temporary or printed.kind in _NOT_ROWS:
            reason = "--require-row-format specified, but this is not logged as rows"
            raise UsageError(f"{printed.event.file}, position {printed.event.position}: {reason}")

    def put_position(self, printed: PrintedEvent) -> None:
        # It waits for the next output.
        if not self.options.short_form:
            self.out.head.fill(POSITION, printed)

    def take(self, printed: PrintedEvent) -> None:
        self.put_position(printed)
        if printed.kind in _WAITING:
            self.waiting.append(printed)
        elif not self.print_event(printed):
            return
        self.out.flush()

    def print_event(self, printed: PrintedEvent) -> bool:
        """Print one event; False if it is left out, so that its `# at` waits for the next one."""
        if printed.kind in _ROWS_TYPES:
            return self.print_rows(printed)
        body = printed.event.body
        if printed.kind == EventType.query_event:
            return self.print_query(printed, body)
        if printed.kind == EventType.table_map_event:
            return self.print_table_map(printed, body)
        if printed.kind in OLD_LOADS:
            self.print_waiting(prints=True)
        if printed.kind in self.printers:
            self.printers[printed.kind](printed, body)
        else:
            self.print_other(printed)
        return True

    def print_other(self, printed: PrintedEvent) -> None:
        """Print an event of a type unknown to the client."""
        if printed.event.header.is_ignorable:
            self.put_comment(printed, b"\tIgnorable\n# Unrecognized ignorable event\n")
        else:
            self.put_unknown(printed)

    def print_waiting(self, *, prints: bool) -> None:
        """Print what the current statement depends on."""
        for printed in self.waiting:
            if prints:
                try:
                    self.printers[printed.kind](printed, printed.event.body)
                except BinlogError as error:
                    raise printed.event.locate(error) from error.__cause__
        self.waiting.clear()

    def print_query(self, printed: PrintedEvent, body: QueryEvent) -> bool:
        query, state = bytes(body.query), self.state
        skips = not is_transaction_keyword(query) and self.skips_database(encode(body.schema_name))
        self.print_waiting(prints=not skips)
        if skips:
            state.has_left_out = True
            if state.has_seen_gtid and not state.is_in_transaction:
                # Some statement must consume the GTID.
                self._add_commit()
                state.has_seen_gtid = False
            return False
        self.note_statement(query)
        self.statements.print(printed, body, query, b"Query")
        self.out.head.fill(b"%(query)s\n", printed)
        self.out.head.append(self.delimiter + b"\n")
        return True

    def _add_commit(self) -> None:
        """End a transaction whose end was left out."""
        self.out.now.append(b"COMMIT /* added by mysqlbinlog */" + self.delimiter + b"\n")
        self.state.has_left_out = False

    def note_statement(self, query: bytes) -> None:
        """Track the effect of a statement on the transaction."""
        state = self.state
        if ends_group(query):
            self._end_transaction()
        elif starts_group(query):
            state.is_in_transaction = True
        elif not state.is_in_transaction:
            state.has_seen_gtid = False

    def _end_transaction(self) -> None:
        state = self.state
        state.is_in_transaction = state.has_seen_gtid = state.has_left_out = False

    def print_format(self, printed: PrintedEvent, body: FormatDescriptionEvent) -> None:
        header = printed.event.header
        if not header.is_relay_log:
            # A transaction may continue in the next relay log, and after a format description that a replica
            # wrote for its server's log, which has no position in that log.
            if self.has_format and header.next_position:
                self._end_transactions()
            self.has_format = True
        self.put_start(printed, body)
        if header.is_in_use and not self.options.short_form:
            self.out.head.append(b"# Warning: this binlog is either in use or was not closed properly.\n")
        if header.is_relay_log:
            self.out.head.append(_RELAY_LOG)
        elif body.create_timestamp and not header.is_artificial:
            self.put_statement(b"ROLLBACK")
        if self.options.prints_base64 and not header.is_relay_log:
            self.out.head.append(b"BINLOG '\n" + self.out.base64(printed.raw) + b"'" + self.delimiter + b"\n")
        if self.options.skip_gtids and not self.options.short_form and not header.is_relay_log:
            self.put_statement(b"/*!50616 SET @@SESSION.GTID_NEXT='AUTOMATIC'*/")

    def print_xid(self, printed: PrintedEvent, body: XidEvent) -> None:
        self._end_transaction()
        super().print_xid(printed, body)

    def print_user_var(self, printed: PrintedEvent, body: UserVarEvent) -> None:
        self.put(printed, b"\tUser_var\n")
        charset = self.state.charset
        is_text = bool(body.is_null) or body.value_type == _ValueType.string
        connection = _UTF8 if is_text or charset is None else charset[1]
        self.statements.put_charset((_UTF8, connection, _UTF8))
        self.put_statement(b"SET @" + identifier(encode(body.name)) + b":=" + user_value(body))
        if charset is not None:
            self.statements.put_charset(charset)

    def print_load_query(self, printed: PrintedEvent, body: ExecuteLoadQueryEvent) -> None:
        name = self.loads.take(body.file_id)
        if self.skips_database(encode(body.schema_name)):
            self.state.has_left_out = True
            return
        if name is None:
            return
        self.statements.print_load(printed, body, bytes(body.query), name)

    def print_gtid(self, printed: PrintedEvent, body: GtidBody) -> None:
        state = self.state
        state.has_seen_gtid = True
        if state.has_left_out:
            self._add_commit()
        version = body.immediate_server_version
        state.server_version = undefined_version(body) if version is None else version
        gtid, is_to_run = printed.event.stated_gtid, self.options.prints_base64
        line, statements, constants = gtid_lines(printed.kind, body, gtid, is_to_run=is_to_run)
        constants[b"end"] = self.delimiter + b"\n"
        if not self.options.short_form:
            self.put_header(printed)
            self.out.head.fill(line, printed, constants)
        self.out.head.fill(statements, printed, constants)

    def print_previous_gtids(self, printed: PrintedEvent, body: PreviousGtidsEvent) -> None:
        self.put_comment(printed, b"\tPrevious-GTIDs\n")
        self.out.head.append(b"# " + commented_set(body) + b"\n")

    def print_payload(self, printed: PrintedEvent, body: TransactionPayloadEvent) -> None:
        if self.options.short_form:
            return
        compression = getattr(body.compression_type, "name", "unknown").upper().encode()
        line = _PAYLOAD_LINE + (b"" if compression == b"NONE" else _UNPACKED_SIZE)
        self.put_header(printed)
        self.out.head.fill(line, printed, {b"compression": compression})
        self.out.head.append(_PAYLOAD_START)

    def start_all(self) -> bytes:
        options = self.options
        text = _START
        if options.disable_log_bin:
            text += DISABLE_LOG_BIN
        text += COMPLETION_TYPE + names_set_and_unset(options)[0]
        if options.idempotent:
            text += b"/*!50700 SET @@SESSION.RBR_EXEC_MODE=IDEMPOTENT*/;\n\n"
        if options.require_row_format:
            text += b"/*!80019 SET @@SESSION.REQUIRE_ROW_FORMAT=1*/;\n\n"
        return text + b"DELIMITER " + self.delimiter + b"\n"

    def end_log(self) -> None:
        # What a log leaves unfinished waits for the next one, which also shows whether its transaction ended.
        pass

    def _end_transactions(self) -> None:
        """Roll back an open transaction, and consume a GTID that was set."""
        end, state, now = self.delimiter + b"\n", self.state, self.out.now
        has_gtid_only = state.has_seen_gtid and not state.is_in_transaction and not self.options.skip_gtids
        if has_gtid_only:
            now.append(b"BEGIN /*added by mysqlbinlog */ " + end)
        if has_gtid_only or state.is_in_transaction:
            now.append(b"ROLLBACK /* added by mysqlbinlog */ " + end)
        if not self.options.skip_gtids:
            now.append(b"SET @@SESSION.GTID_NEXT= 'AUTOMATIC' /* added by mysqlbinlog */ " + end)
        state.is_in_transaction = state.has_seen_gtid = False

    def end_all(self) -> bytes:
        options = self.options
        if self.state.has_left_out:
            self._add_commit()
        self._end_transactions()
        text = b"DELIMITER ;\n# End of log file\n" + OLD_COMPLETION_TYPE
        if options.disable_log_bin:
            text += ENABLE_LOG_BIN
        text += names_set_and_unset(options)[1] + b"/*!50530 SET @@SESSION.PSEUDO_SLAVE_MODE=0*/;\n"
        if options.idempotent:
            text += b"/*!50700 SET @@SESSION.RBR_EXEC_MODE=STRICT*/;\n"
        return text

    def end_payload(self) -> None:
        """Print the text after the events of a transaction payload."""
        if not self.options.short_form:
            self.out.head.append(_PAYLOAD_END)
        self.out.flush()

    def print_xa_prepare(self, printed: PrintedEvent, body: XaPrepareEvent) -> None:
        xid = xid_text(body)
        statement = b"XA COMMIT " + xid + b" ONE PHASE" if body.is_one_phase else b"XA PREPARE " + xid
        self.put_header(printed)
        self.out.head.append(b"\tXA PREPARE " + xid + b"\n")
        self.out.head.append(statement + b"\n" + self.delimiter + b"\n")

    def print_transaction_context(self, printed: PrintedEvent, body: object) -> None:
        self.put_comment(printed, b"\tTransaction_context\n")

    def print_view_change(self, printed: PrintedEvent, body: object) -> None:
        self.put_comment(printed, b"\tView_change_event\n")

    def print_rows_query(self, printed: PrintedEvent, body: RowsQueryEvent) -> None:
        if self.options.shown_rows < 2:
            return
        self.put_header(printed)
        self.out.head.fill(b"\tRows_query\n%(lines)s", printed)
        self.add_base64(printed)

    def print_table_map(self, printed: PrintedEvent, body: TableMapEvent) -> bool:
        state, number = self.state, body.table_id.value
        if self.skips_table(body):
            state.ignored_maps |= {number}
            state.has_left_out = True
            return False
        state.ignored_maps -= {number}
        if self.options.short_form:
            return True
        self.put_header(printed)
        self.out.head.append(
            self.table_map_text(body, shows_visibility=shows_invisible_keys(state.server_version))
        )
        self.add_base64(printed)
        return True

    def table_map_text(self, body: TableMapEvent, *, shows_visibility: bool) -> bytes:
        """The rest of a table map's header line, if requested with the visibility of the key."""
        database = encode(body.schema_name)
        names = (self.rewritten.get(database, database), encode(body.table_name), body.table_id.value)
        text = b"\tTable_map: `%s`.`%s` mapped to number %d\n" % names
        if shows_visibility:
            flag = body.has_generated_invisible_primary_key
            text += b"# has_generated_invisible_primary_key=%d\n" % flag
        if self.options.print_table_metadata:
            text += metadata_lines(body, is_mariadb=False)
        return text

    def print_rows(self, printed: PrintedEvent) -> bool:
        """Print one rows event; at the end of the statement, everything kept of it."""
        rows_header = self.rows_headers.of(printed.event)
        body = printed.event.body if rows_header is None else rows_header.body
        skips = body.table_id.value in self.state.ignored_maps
        self.state.has_left_out |= skips
        if not skips:
            self._keep_rows(printed, body, rows_header)
        if body.is_statement_end:
            self.state.ignored_maps = frozenset()
            self.out.end_statement()
        return not skips

    @staticmethod
    def rows_line(kind: int, body: RowsEvent) -> bytes:
        """The rest of a rows event's header line."""
        flags = b"".join(name for field, name in _ROWS_FLAGS if getattr(body, field, False))
        flags = b" flags:" + flags if flags else b""
        return b"\t%s: table id %d%s\n" % (_ROWS_NAMES.get(kind, b"Rows"), body.table_id.value, flags)

    def _keep_rows(self, printed: PrintedEvent, body: RowsEvent, rows_header: RowsHeader | None) -> None:
        if self.options.short_form:
            return
        if self.options.base64_output is Base64Output.NEVER:
            reason = "--base64-output=never specified, but the log has rows, which are printed in base64"
            raise UsageError(reason)
        self.put_header(printed)
        self.out.head.append(self.rows_line(printed.kind, body))
        self.add_base64(printed)
        if self.options.shown_rows:
            self.out.tail.extend(extra_info(body))
            self.out.add_rows(printed, rows_header, self.new_name(printed.event.table_map))
