"""The `mariadb-binlog` variant of the output, by the version of the server that wrote the log."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from binlog_kaitai.core.grammar import ROWS_TYPES, EventType
from binlog_kaitai.render.dump.hexdump import MARIADB_STYLE
from binlog_kaitai.render.dump.ignorable import ignorable_name, is_skipped
from binlog_kaitai.render.dump.item import Item
from binlog_kaitai.render.dump.loads import LoadFiles
from binlog_kaitai.render.dump.mariadb_rows import MariadbRows
from binlog_kaitai.render.dump.old_loads import OldLoads
from binlog_kaitai.render.dump.options import DumpOptions
from binlog_kaitai.render.dump.output import Write
from binlog_kaitai.render.dump.printer import (
    COMPLETION_TYPE,
    DISABLE_LOG_BIN,
    ENABLE_LOG_BIN,
    OLD_COMPLETION_TYPE,
    Version,
    set_names,
    unset_names,
)
from binlog_kaitai.render.dump.statement_text import load_statement, user_value
from binlog_kaitai.render.dump.text import encode, hexadecimal, identifier
from binlog_kaitai.render.dump.variables import MariadbPreamble, is_transaction_keyword, is_two_phase

if TYPE_CHECKING:
    from binlog_kaitai.core.bodies import (
        BinlogCheckpointEvent,
        ExecuteLoadQueryEvent,
        MariadbGtidEvent,
        MariadbGtidListEvent,
        QueryBody,
        StatementBody,
        XaPrepareEvent,
    )
    from binlog_kaitai.core.grammar import FormatDescriptionEvent, UserVarEvent


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
    found = _VERSION.match(server_version)
    return (int(found[1]), int(found[2]), int(found[3])) if found else (0, 0, 0)


class MariadbPrinter(MariadbRows):
    """Prints a MariaDB log like the client of the server that wrote it."""

    hexdump_style = MARIADB_STYLE
    rewrites_all = False

    def __init__(self, options: DumpOptions, write: Write, loads: LoadFiles, version: Version) -> None:
        super().__init__(options, write, loads)
        self.version = self.log_version = version
        OldLoads(self)
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
        return text + COMPLETION_TYPE + set_names(self.options)

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
        text += unset_names(self.options) + b"/*!50530 SET @@SESSION.PSEUDO_SLAVE_MODE=0*/;\n"
        options = self.options
        is_chosen = options.server_ids or options.ignored_server_ids or options.filters_domains
        if is_chosen and self.version >= (10, 9):
            text += b"/*!100001 SET @@SESSION.SERVER_ID=@@GLOBAL.SERVER_ID */;\n"
            text += b"/*!100001 SET @@SESSION.GTID_DOMAIN_ID=@@GLOBAL.GTID_DOMAIN_ID */;\n"
        return text

    def put_position(self, item: Item) -> None:
        if self.options.prints_row_positions:
            super().put_position(item)

    def take(self, item: Item) -> None:
        self.put_position(item)
        if is_skipped(item.kind, item.event.fixed_header.flags, self.version):
            self.print_skip_replication(item)
            self.print_ignorable(item)
            return
        if item.kind in ROWS_TYPES:
            self.print_rows(item)
            return
        body: Any = item.event.body
        if item.kind in self.printers:
            self.printers[item.kind](item, body)
        else:
            self.put_unknown(item)
        if item.kind not in _IN_ANY_SESSION:
            self.print_skip_replication(item)  # before the event's own text, which waits for the flush
        if item.kind != EventType.annotate_rows_event:
            self.out.flush()

    def print_skip_replication(self, item: Item) -> None:
        """Print a change of the session's `skip_replication`."""
        is_skipped = bool(item.event.header.is_skipped_for_replication)
        if is_skipped != self.state.is_replication_skipped:
            self.state.is_replication_skipped = is_skipped
            self.out.now.append(b"/*!50521 SET skip_replication=%d*/%s\n" % (is_skipped, self.delimiter))

    def print_ignorable(self, item: Item) -> None:
        """Print an event that the client skips."""
        name = ignorable_name(item.kind, self.version)
        self.put_comment(item, b"\tIgnorable\n# Ignorable event type %d (%s)\n" % (item.kind, name))
        self.out.flush()

    def print_format(self, item: Item, body: FormatDescriptionEvent) -> None:
        header = item.event.header
        self.log_version = version_of(body.server_version)
        self.put_start(item, body)
        if header.is_in_use and not self.options.short_form:
            self.out.head.append(b"# Warning: this binlog is either in use or was not closed properly.\n")
        if body.create_timestamp and not header.is_artificial:
            self.put_statement(b"ROLLBACK")
        if self.options.prints_base64:
            self.out.head.append(b"BINLOG '\n" + self.out.base64(item.raw) + b"'" + self.delimiter + b"\n")

    def print_query(self, item: Item, body: QueryBody) -> None:
        query = bytes(body.query)
        if not is_transaction_keyword(query) and self.skips_database(encode(body.schema_name)):
            return
        self._print_early_use(item, body)
        self.print_skip_replication(item)
        name = b"Query_compressed" if item.kind == EventType.query_compressed_event else b"Query"
        self.statements.print(item, body, query, name)
        self.put_query(item, query, item.status.get("mariadb_gtid_flags3"))

    def put_query(self, item: Item, query: bytes, alter: Any) -> None:
        """Add the statement itself; `alter` are the flags of a two-phase ALTER."""
        if is_two_phase(alter):
            self._put_alter(item, query, alter)
        else:
            self.out.head.fill(b"%(query)s\n", item)
            self.out.head.append(self.delimiter + b"\n")

    def _put_alter(self, item: Item, query: bytes, alter: Any) -> None:
        head = self.out.head
        if self.options.prints_base64:
            is_comment = alter.is_start_alter or alter.is_rollback_alter
            head.append(b"/*!100600 " * is_comment + b"BINLOG '\n" + self.out.base64(item.raw))
            head.append((b"' */" if is_comment else b"'") + self.delimiter + b"\n")
        if self.options.shown_rows:
            head.append(b"### " + query + b"\n")

    def _print_early_use(self, item: Item, body: StatementBody) -> None:
        """Print USE for a renamed database, which the client does before the header line."""
        new = None if is_transaction_keyword(bytes(body.query)) else self.new_name(body)
        if new is None or self.state.database == new or item.event.header.is_use_suppressed:
            return
        self.state.database = new
        self.out.now.append(b"use " + identifier(new) + self.delimiter + b"\n")

    def print_user_var(self, item: Item, body: UserVarEvent) -> None:
        value = user_value(body, is_mariadb=True, old_names=self.version < (10, 6))
        name = identifier(encode(body.name))
        self.put(item, b"\tUser_var\n")
        self.put_statement(b"SET @" + name + b":=" + value)

    def print_load_query(self, item: Item, body: ExecuteLoadQueryEvent) -> None:
        name = self.loads.take(body.file_id)
        if self.skips_database(encode(body.schema_name)) or name is None:
            return
        query = bytes(body.query)
        self._print_early_use(item, body)
        self.print_skip_replication(item)
        self.statements.print(item, body, query, b"Execute_load_query")
        self.out.head.append(load_statement(body, query, name) + b"\n" + self.delimiter + b"\n")
        if not self.options.short_form:
            self.out.head.append(b"# file_id: %d \n" % body.file_id)

    def print_gtid(self, item: Item, body: MariadbGtidEvent) -> None:
        if not self.options.short_form:
            self.put_header(item)
            self.out.head.fill(_gtid_line(body), item, {b"domain_id": body.domain_id})
            self._put_gtid_session(item, body)
            number = self._versioned + b"100001 SET @@session.gtid_seq_no=%(sequence_number)d*/"
            self.out.head.fill(number + self.delimiter + b"\n", item)
        if body.is_prepared_xa:
            self.put_statement(b"XA START " + _xid(body.xid))
        elif not body.is_standalone:
            self.out.head.append(b"START TRANSACTION\n" + self.delimiter + b"\n")

    @property
    def _versioned(self) -> bytes:
        return b"/*M!" if self.version >= (10, 6) else b"/*!"

    def _put_gtid_session(self, item: Item, body: MariadbGtidEvent) -> None:
        """Add statements for the session variables that a GTID event changes."""
        is_allowed, server_id = bool(body.is_parallel_allowed), item.event.fixed_header.server_id
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

    def print_gtid_list(self, item: Item, body: MariadbGtidListEvent) -> None:
        gtids = [(one.domain_id, one.server_id, one.sequence_number) for one in body.gtids]
        if self.version >= (10, 6):
            gtids.sort(key=lambda one: (one[0], one[2]))
        text = b",\n# ".join(b"%d-%d-%d" % one for one in gtids)
        self.put_comment(item, b"\tGtid list [" + text + b"]\n")

    def print_checkpoint(self, item: Item, body: BinlogCheckpointEvent) -> None:
        self.put_comment(item, b"\tBinlog checkpoint " + encode(body.file_name) + b"\n")

    def print_encryption(self, item: Item, body: Any) -> None:
        text = (
            b"# Encryption scheme: %d, key_version: %d, nonce: %s\n# The rest of the binlog is encrypted!\n"
        )
        self.out.head.append(text % (body.scheme, body.key_version, body.nonce.hex().encode()))

    def print_xa_prepare(self, item: Item, body: XaPrepareEvent) -> None:
        xid = _xid(body)
        self.put(item, b"\tXID = " + xid + b"\n", b"XA PREPARE " + xid + b"\n" + self.delimiter + b"\n")


def _gtid_line(body: MariadbGtidEvent) -> bytes:
    """The template of the rest of a GTID event's header line."""
    line = b"\tGTID %(domain_id)d-%(server_id)d-%(sequence_number)d"
    line += b" cid=%(commit_id)d" * bool(body.has_commit_id)
    line += b" ddl" * bool(body.is_ddl) + b" trans" * bool(body.is_transactional)
    line += b" waited" * bool(body.has_waited) + b" START ALTER" * bool(body.is_start_alter)
    line += b" COMMIT ALTER id= %(start_alter_sequence_number)d" * bool(body.is_commit_alter)
    line += b" ROLLBACK ALTER id= %(start_alter_sequence_number)d" * bool(body.is_rollback_alter)
    return line + b" thread_id=%(thread_id)d" * bool(body.has_thread_id) + b"\n"


def _xid(xid: Any) -> bytes:
    return hexadecimal(xid.gtrid) + b"," + hexadecimal(xid.bqual) + b",%d" % xid.format_id
