"""The dress of `mariadb-binlog`, by the version of the server that wrote the log."""

from __future__ import annotations

import re
from typing import Any

from binlog_kaitai.grammar import ROWS_TYPES, EventType
from binlog_kaitai.render.dump.hexdump import MARIADB_STYLE, mariadb_hexdump
from binlog_kaitai.render.dump.ignorable import ignorable_name, is_skipped
from binlog_kaitai.render.dump.item import Item
from binlog_kaitai.render.dump.loads import LoadFiles
from binlog_kaitai.render.dump.mariadb_rows import MariadbRows
from binlog_kaitai.render.dump.old_loads import OldLoads
from binlog_kaitai.render.dump.options import DumpOptions
from binlog_kaitai.render.dump.printer import (
    COMPLETION_TYPE,
    DISABLE_LOG_BIN,
    ENABLE_LOG_BIN,
    OLD_COMPLETION_TYPE,
    Version,
    Write,
    query_line,
    set_names,
    unset_names,
)
from binlog_kaitai.render.dump.session import Session
from binlog_kaitai.render.dump.statements import load_statement, user_value
from binlog_kaitai.render.dump.text import encode, hexadecimal, identifier
from binlog_kaitai.render.dump.variables import MariadbHead, is_transaction_keyword, is_two_phase

_VERSION = re.compile(r"(?:5\.5\.5-)?(\d+)\.(\d+)\.(\d+)")


def version_of(server_version: str) -> Version:
    """The numbers of a server's version."""
    found = _VERSION.match(server_version)
    return (int(found[1]), int(found[2]), int(found[3])) if found else (0, 0, 0)


class MariadbPrinter(MariadbRows):
    """Prints a log of MariaDB as the client of the server that wrote it."""

    hexdump = staticmethod(mariadb_hexdump)
    hexdump_style = MARIADB_STYLE
    rewrites_all = False

    def __init__(self, options: DumpOptions, write: Write, loads: LoadFiles, version: Version) -> None:
        super().__init__(options, write, loads)
        self.version = self.log_version = version
        OldLoads(self)
        self.statements = MariadbHead(self)
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
        self.session = Session()
        self.write(b"DELIMITER " + self.delimiter + b"\n")

    def end_log(self) -> None:
        self.head.clear()
        self.body.clear()
        self.tail.clear()
        self.annotation = None
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

    def put_place(self, item: Item) -> None:
        if self.options.prints_row_positions:
            super().put_place(item)

    def take(self, item: Item) -> None:
        self.put_place(item)
        if is_skipped(item.kind, item.event.fixed_header.flags, self.version):
            self.print_ignorable(item)
            return
        if item.kind in ROWS_TYPES:
            self.print_rows(item)
            return
        body: Any = item.event.body
        if item.kind == EventType.table_map_event:
            self.quick.note_table(item.event)
        if item.kind in self.printers:
            self.printers[item.kind](item, body)
        else:
            self.put_unknown(item)
        if item.kind != EventType.annotate_rows_event:
            self.flush_head()

    def put(self, item: Item, line: bytes, *more: bytes) -> None:
        self.print_skip_replication(item)
        super().put(item, line, *more)

    def print_skip_replication(self, item: Item) -> None:
        """Tell if the session's `skip_replication` is another now."""
        is_skipped = bool(item.event.header.is_skipped_for_replication)
        if is_skipped != self.session.is_replication_skipped:
            self.session.is_replication_skipped = is_skipped
            self.write(b"/*!50521 SET skip_replication=%d*/%s\n" % (is_skipped, self.delimiter))

    def print_ignorable(self, item: Item) -> None:
        """An event that the client skips."""
        name = ignorable_name(item.kind, self.version)
        self.put_comment(item, b"\tIgnorable\n# Ignorable event type %d (%s)\n" % (item.kind, name))
        self.flush_head()

    def print_format(self, item: Item, body: Any) -> None:
        header = item.event.header
        self.log_version = version_of(body.server_version)
        self.put_start(item, body)
        if header.is_in_use and not self.options.short_form:
            self.head.append(b"# Warning: this binlog is either in use or was not closed properly.\n")
        if body.create_timestamp and not header.is_artificial:
            self.put_statement(b"ROLLBACK")
        if self.options.prints_base64:
            self.head.append(b"BINLOG '\n" + self.base64(item) + b"'" + self.delimiter + b"\n")

    def print_query(self, item: Item, body: Any) -> None:
        query = bytes(body.query)
        if not is_transaction_keyword(query) and self.skips_database(encode(body.schema_name)):
            return
        self.write(self.ahead_of_statement(item, body))
        self.print_skip_replication(item)
        name = b"Query_compressed" if item.kind == EventType.query_compressed_event else b"Query"
        found = self.statements.print(item, body, query, self._query_line(name, body))
        self.put_query(item, query, found.get("mariadb_gtid_flags3"))

    def put_query(self, item: Item, query: bytes, alter: Any) -> None:
        """Add a statement itself; `alter` are the flags of one in two phases."""
        if is_two_phase(alter):
            self._put_alter(item, query, alter)
        else:
            self.head.append(query + b"\n" + self.delimiter + b"\n")

    def _put_alter(self, item: Item, query: bytes, alter: Any) -> None:
        if self.options.prints_base64:
            is_comment = alter.is_start_alter or alter.is_rollback_alter
            self.head.append(b"/*!100600 " * is_comment + b"BINLOG '\n" + self.base64(item))
            self.head.append((b"' */" if is_comment else b"'") + self.delimiter + b"\n")
        if self.options.shown_rows:
            self.head.append(b"### " + query + b"\n")

    def ahead_of_statement(self, item: Item, body: Any) -> bytes:
        new = None if is_transaction_keyword(bytes(body.query)) else self.new_name(body)
        if new is None or self.session.database == new or item.event.header.is_use_suppressed:
            return b""
        self.session.database = new
        return b"use " + identifier(new) + self.delimiter + b"\n"

    def _query_line(self, name: bytes, body: Any) -> bytes:
        line = query_line(name, body)
        if self.version >= (10, 6):
            xids = (one.value.xid for one in body.status_vars.variables if _key(one) == "mariadb_xid")
            line += b"\txid=%d" % next(xids, 0)
        return line + b"\n"

    def print_user_var(self, item: Item, body: Any) -> None:
        value = user_value(body, is_mariadb=True, old_names=self.version < (10, 6))
        name = identifier(encode(body.name))
        self.put(item, b"\tUser_var\n", b"SET @" + name + b":=" + value + self.delimiter + b"\n")

    def print_load_query(self, item: Item, body: Any) -> None:
        name = self.loads.take(body.file_id)
        if self.skips_database(encode(body.schema_name)) or name is None:
            return
        query = bytes(body.query)
        self.write(self.ahead_of_statement(item, body))
        self.print_skip_replication(item)
        self.statements.print(item, body, query, self._query_line(b"Execute_load_query", body))
        self.head.append(load_statement(body, query, name) + b"\n" + self.delimiter + b"\n")
        if not self.options.short_form:
            self.head.append(b"# file_id: %d \n" % body.file_id)

    def print_gtid(self, item: Item, body: Any) -> None:
        server_id = item.event.fixed_header.server_id
        if not self.options.short_form:
            self.print_skip_replication(item)
            self.head.append(self.header(item) + _gtid_line(body, server_id))
            self.head.append(self.gtid_session(bool(body.is_parallel_allowed), body.domain_id, server_id))
            self.put_statement(self.number_statement() % {b"sequence_number": body.sequence_number})
        if body.is_prepared_xa:
            self.put_statement(b"XA START " + _xid(body.xid))
        elif not body.is_standalone:
            self.head.append(b"START TRANSACTION\n" + self.delimiter + b"\n")

    def number_statement(self) -> bytes:
        """The statement that sets a GTID's number, by its name in the GTID line."""
        return self._versioned + b"100001 SET @@session.gtid_seq_no=%(sequence_number)d*/"

    @property
    def _versioned(self) -> bytes:
        return b"/*M!" if self.version >= (10, 6) else b"/*!"

    def gtid_session(self, is_parallel_allowed: bool, domain_id: int, server_id: int) -> bytes:
        """The statements for what a GTID event tells of the session, if it is not as it was."""
        session, text, end = self.session, b"", self.delimiter + b"\n"
        if session.is_parallel_allowed != is_parallel_allowed:
            session.is_parallel_allowed = is_parallel_allowed
            setting = b"100101 SET @@session.skip_parallel_replication=%d*/" % (not is_parallel_allowed)
            text += self._versioned + setting + end
        if session.domain_id != domain_id:
            session.domain_id = domain_id
            text += self._versioned + b"100001 SET @@session.gtid_domain_id=%d*/" % domain_id + end
        if session.server_id != server_id:
            session.server_id = server_id
            text += self._versioned + b"100001 SET @@session.server_id=%d*/" % server_id + end
        return text

    def print_gtid_list(self, item: Item, body: Any) -> None:
        gtids = [(one.domain_id, one.server_id, one.sequence_number) for one in body.gtids]
        if self.version >= (10, 6):
            gtids.sort(key=lambda one: (one[0], one[2]))
        text = b",\n# ".join(b"%d-%d-%d" % one for one in gtids)
        self.put_comment(item, b"\tGtid list [" + text + b"]\n")

    def print_checkpoint(self, item: Item, body: Any) -> None:
        self.put_comment(item, b"\tBinlog checkpoint " + encode(body.file_name) + b"\n")

    def print_encryption(self, item: Item, body: Any) -> None:
        text = (
            b"# Encryption scheme: %d, key_version: %d, nonce: %s\n# The rest of the binlog is encrypted!\n"
        )
        self.head.append(text % (body.scheme, body.key_version, body.nonce.hex().encode()))

    def print_xa_prepare(self, item: Item, body: Any) -> None:
        xid = _xid(body)
        self.put(item, b"\tXID = " + xid + b"\n", b"XA PREPARE " + xid + b"\n" + self.delimiter + b"\n")


def _key(variable: Any) -> str:
    return getattr(variable.key, "name", "")


#: What stands behind the header of a GTID event; the rest depends on its flags.
GTID_LINE = b"\tGTID %(domain_id)d-%(server_id)d-%(sequence_number)d"


def gtid_details(body: Any) -> bytes:
    """The template of the rest of a GTID event's line."""
    line = b" cid=%(commit_id)d" * bool(body.has_commit_id)
    line += b" ddl" * bool(body.is_ddl) + b" trans" * bool(body.is_transactional)
    line += b" waited" * bool(body.has_waited) + b" START ALTER" * bool(body.is_start_alter)
    line += b" COMMIT ALTER id= %(start_alter_sequence_number)d" * bool(body.is_commit_alter)
    line += b" ROLLBACK ALTER id= %(start_alter_sequence_number)d" * bool(body.is_rollback_alter)
    return line + b" thread_id=%(thread_id)d" * bool(body.has_thread_id) + b"\n"


def _gtid_line(body: Any, server_id: int) -> bytes:
    names = ("domain_id", "sequence_number", "commit_id", "start_alter_sequence_number", "thread_id")
    fields = {name.encode(): getattr(body, name) for name in names} | {b"server_id": server_id}
    return (GTID_LINE + gtid_details(body)) % fields


def _xid(xid: Any) -> bytes:
    return hexadecimal(xid.gtrid) + b"," + hexadecimal(xid.bqual) + b",%d" % xid.format_id
