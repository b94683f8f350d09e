"""Statements: the header line, USE, SET for changed session variables, and values of user variables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from binlog_kaitai.core.adapter import decimal_text
from binlog_kaitai.core.grammar import UserVarEvent, masks
from binlog_kaitai.dump.client_values import encode, identifier, pretty
from binlog_kaitai.dump.printed_event import MICROSECONDS, PrintedEvent, StatusVariables
from binlog_kaitai.dump.printer import Printer, Version
from binlog_kaitai.values.charsets import charset_of, collation_name

if TYPE_CHECKING:
    from binlog_kaitai.core.bodies import ExecuteLoadQueryEvent, StatementBody


_LINE = b"\t%(name)s\tthread_id=%(thread_id)d\texec_time=%(execution_time)d\terror_code=%(error_code)d"
_KEYWORDS = (b"BEGIN", b"COMMIT")
#: Modes of `sql_mode` that were removed in 8.0.
_MODE = masks.SqlMode
_REMOVED_MODES = (
    _MODE.IS_POSTGRESQL
    | _MODE.IS_ORACLE
    | _MODE.IS_MSSQL
    | _MODE.IS_DB2
    | _MODE.IS_MAXDB
    | _MODE.IS_NO_KEY_OPTIONS
    | _MODE.IS_NO_TABLE_OPTIONS
    | _MODE.IS_NO_FIELD_OPTIONS
    | _MODE.IS_MYSQL323
    | _MODE.IS_MYSQL40
    | _MODE.IS_NO_AUTO_CREATE_USER
)
_INSERT_HISTORY = (("is_system_versioning_insert_history", False, b"system_versioning_insert_history"),)
#: The first version of each MariaDB 10 series that logs `explicit_defaults_for_timestamp`.
_LOGS_DEFAULTS = {5: 17, 6: 9, 7: 5, 8: 4, 9: 2}


def is_transaction_keyword(query: bytes) -> bool:
    """Whether a statement begins, ends or marks a transaction."""
    upper = query[:12].upper()
    return query in _KEYWORDS or upper.startswith((b"SAVEPOINT", b"ROLLBACK", b"XA START", b"XA COMMIT",
                                                   b"XA ROLLBACK", b"XA END", b"XA PREPARE"))  # fmt: skip


def starts_group(query: bytes) -> bool:
    """Whether a statement begins a transaction."""
    return query == b"BEGIN" or query.startswith(b"XA START")


def ends_group(query: bytes) -> bool:
    """Whether a statement ends a transaction for `mysqlbinlog`, for which XA COMMIT does not."""
    if query == b"COMMIT" or query.startswith(b"XA ROLLBACK"):
        return True
    return query[:8].upper() == b"ROLLBACK" and query[8:].lstrip()[:2].upper() != b"TO"


def is_two_phase(alter: Any) -> bool:
    """Whether `gtid_flags3`, if present, marks one half of a two-phase ALTER TABLE."""
    return alter is not None and (alter.is_start_alter or alter.is_commit_alter or alter.is_rollback_alter)


class StatementPreamble:
    """Prints the start of statements; both variants extend it."""

    def __init__(self, printer: Printer) -> None:
        self.printer = printer

    def print(self, printed: PrintedEvent, body: StatementBody, query: bytes, name: bytes) -> None:
        """Print the start of one statement, whose event has a name."""
        printer, out = self.printer, self.printer.out
        if not printer.options.short_form:
            printer.put_header(printed)
            out.head.fill(_LINE + self.xid_text(printed.status) + b"\n", printed, {b"name": name})
        self.print_use(printed, encode(body.schema_name), query)
        self._print_timestamp(printed)
        self._print_thread(printed, body.thread_id)
        self._print_flags(printed.status)
        self._print_settings(printed.status)

    def print_load(
        self, printed: PrintedEvent, body: ExecuteLoadQueryEvent, query: bytes, file_name: bytes
    ) -> None:
        """Print LOAD DATA, with the name of the file written."""
        self.print(printed, body, query, b"Execute_load_query")
        head = self.printer.out.head
        head.append(load_statement(body, query, file_name) + b"\n" + self.printer.delimiter + b"\n")
        if not self.printer.options.short_form:
            head.append(b"# file_id: %d \n" % body.file_id)

    def xid_text(self, variables: StatusVariables) -> bytes:
        """The template for the transaction number in the header line."""
        return b"\tXid = %(xid)d" if "ddl_xid" in variables else b""

    def print_use(self, printed: PrintedEvent, database: bytes, query: bytes) -> None:
        """Print USE for the database of a statement."""
        state = self.printer.state
        database = self.printer.rewritten.get(database, database)
        if printed.event.header.is_use_suppressed:
            if not is_transaction_keyword(query):
                state.database = b""
        elif state.database != database:
            state.database = database
            if database:
                self.printer.put_statement(b"use " + identifier(database))

    def _print_timestamp(self, printed: PrintedEvent) -> None:
        names = (name for name in MICROSECONDS if name in printed.status)
        microseconds = next((printed.status[name].microseconds for name in names), 0)
        end = self.printer.delimiter + b"\n"
        self.printer.out.head.fill(b"SET TIMESTAMP=%(seconds)d" + self.fraction(microseconds) + end, printed)

    def fraction(self, microseconds: int) -> bytes:
        """The template for the fractional second of SET TIMESTAMP."""
        return b".%(fraction)s" if microseconds else b""

    def _print_thread(self, printed: PrintedEvent, thread_id: int) -> None:
        state, is_short = self.printer.state, self.printer.options.short_form
        if self.printer.options.require_row_format:
            return
        if state.thread_id is None or (
            printed.event.header.is_thread_specific and thread_id != state.thread_id
        ):
            state.thread_id = thread_id
            self.printer.put_statement(
                b"SET @@session.pseudo_thread_id=%d" % (999999999 if is_short else thread_id)
            )

    #: The grammar's flag names, whether they are inverted, and the names of the variables.
    flag_names: tuple[tuple[str, bool, bytes], ...] = (
        ("is_foreign_key_checks_off", True, b"foreign_key_checks"),
        ("is_sql_auto_is_null", False, b"sql_auto_is_null"),
        ("is_unique_checks_off", True, b"unique_checks"),
        ("is_autocommit_off", True, b"autocommit"),
    )

    def _print_flags(self, variables: StatusVariables) -> None:
        state = self.printer.state
        flags, known = variables.get("flags2"), state.flags2
        if flags is None or (known is not None and known.flags == flags.flags):
            return
        state.flags2 = flags
        settings = [
            b"@@session.%s=%d" % (name, getattr(flags, field) != is_off)
            for field, is_off, name in self.flag_names
            if known is None or getattr(flags, field) != getattr(known, field)
        ]
        self.printer.put_statement(b"SET " + b", ".join(settings))

    def _print_settings(self, variables: StatusVariables) -> None:
        state = self.printer.state
        if "sql_mode" in variables and state.sql_mode != variables["sql_mode"].modes:
            state.sql_mode = modes = variables["sql_mode"].modes
            self.printer.put_statement(b"SET @@session.sql_mode=%d" % modes + self.mode_mask(modes))
        increment = variables.get("auto_increment")
        numbers = (increment.increment, increment.offset) if increment else (1, 1)
        if numbers != state.auto_increment:
            state.auto_increment = numbers
            names = b"SET @@session.auto_increment_increment=%d, @@session.auto_increment_offset=%d"
            self.printer.put_statement(names % numbers)
        if "charset" in variables:
            self.print_charset(variables["charset"])
        self._print_more(variables)
        if variables.get("time_zone") is not None and variables["time_zone"].len_name:
            zone = encode(variables["time_zone"].name)
            if zone != state.time_zone:
                state.time_zone = zone
                self.printer.put_statement(b"SET @@session.time_zone='%s'" % zone)
        locale = variables["lc_time_names"].number if "lc_time_names" in variables else 0
        if locale != state.lc_time_names:
            state.lc_time_names = locale
            self.printer.put_statement(b"SET @@session.lc_time_names=%d" % locale)
        collation = variables["charset_database"].collation_id if "charset_database" in variables else 0
        if collation != state.charset_database:
            state.charset_database = collation
            shown = b"%d" % collation if collation else b"DEFAULT"
            self.printer.put_statement(b"SET @@session.collation_database=" + shown)

    def mode_mask(self, modes: int) -> bytes:
        """The expression that removes modes rejected by newer servers."""
        return b""

    def _print_more(self, variables: StatusVariables) -> None:
        pass

    def print_charset(self, charset: Any) -> None:
        """Print the character sets of the session if they changed."""
        numbers = (charset.client, charset.connection, charset.server)
        if numbers != self.printer.state.charset:
            self.printer.state.charset = numbers
            self.put_charset(numbers)

    def put_charset(self, numbers: tuple[int, int, int]) -> None:
        """Print character sets of the session."""
        name = self.charset_name(numbers[0])
        if name is None:
            self.printer.out.head.append(b"# Ignored (Unknown charset) ")
        else:
            self.printer.put_statement(b"/*!\\C " + name + b" */")
        self.printer.put_statement(
            b"SET @@session.character_set_client=%s,@@session.collation_connection=%d"
            b",@@session.collation_server=%d"
            % (self.client_charset(numbers[0], name), numbers[1], numbers[2])
        )

    def charset_name(self, collation_id: int) -> bytes | None:
        """The client's name of a character set."""
        name = charset_of(collation_id)
        return None if name is None else name.encode()

    def client_charset(self, number: int, name: bytes | None) -> bytes:
        """The value for character_set_client."""
        return b"%d" % number


class MysqlPreamble(StatementPreamble):
    """The start of statements in `mysqlbinlog`."""

    def mode_mask(self, modes: int) -> bytes:
        return b"/*!80005 &~0x%x*/" % _REMOVED_MODES if modes & _REMOVED_MODES else b""

    def _print_settings(self, variables: StatusVariables) -> None:
        super()._print_settings(variables)
        state = self.printer.state
        if "explicit_defaults_for_timestamp" in variables:
            value = variables["explicit_defaults_for_timestamp"].is_on
            self.printer.put_statement(b"SET @@session.explicit_defaults_for_timestamp=%d" % value)
        if "default_collation_for_utf8mb4" in variables:
            number = variables["default_collation_for_utf8mb4"].collation_id
            if number != state.default_collation:
                state.default_collation = number
                text = b"/*!80011 SET @@session.default_collation_for_utf8mb4=%d*/"
                self.printer.put_statement(text % number)
        if "sql_require_primary_key" in variables:
            value = variables["sql_require_primary_key"].is_on
            self.printer.put_statement(b"/*!80013 SET @@session.sql_require_primary_key=%d*/" % value)
        if "default_table_encryption" in variables:
            value = variables["default_table_encryption"].is_on
            self.printer.put_statement(b"/*!80016 SET @@session.default_table_encryption=%d*/" % value)


class MariadbPreamble(StatementPreamble):
    """The start of statements in `mariadb-binlog`, by its version and the version of the log."""

    def _print_flags(self, variables: StatusVariables) -> None:
        self.flag_names = (
            *StatementPreamble.flag_names,
            ("is_check_constraint_checks_off", True, b"check_constraint_checks"),
            *_flags_of(self.printer.log_version),
            *(_INSERT_HISTORY if self.printer.version >= (10, 11) else ()),
        )
        super()._print_flags(variables)

    def xid_text(self, variables: StatusVariables) -> bytes:
        if self.printer.version < (10, 6):
            return b""
        return b"\txid=%(xid)d" if "mariadb_xid" in variables else b"\txid=0"

    def fraction(self, microseconds: int) -> bytes:
        if not 0 < microseconds < 10**6:
            return b""
        # Old clients omit leading zeros.
        return b".%(fraction)s" if self.printer.version >= (10, 6) else b".%(microseconds)d"

    def _print_more(self, variables: StatusVariables) -> None:
        if "mariadb_character_set_collations" in variables:
            pairs = [
                f"{charset_of(pair.charset_id)}={collation_name(pair.collation_id, is_mariadb=True)}"
                for pair in variables["mariadb_character_set_collations"].collations
            ]
            self.printer.put_statement(
                b"SET @@session.character_set_collations='%s'" % ",".join(pairs).encode()
            )

    def charset_name(self, collation_id: int) -> bytes | None:
        name = super().charset_name(collation_id)
        if name is not None and self.printer.version < (10, 6):
            return name.replace(b"utf8mb3", b"utf8")
        return name

    def client_charset(self, number: int, name: bytes | None) -> bytes:
        return b"Unknown" if name is None else name


def _flags_of(version: Version) -> tuple[tuple[str, bool, bytes], ...]:
    """The settings that a server of this version logs in addition to those of all servers."""
    if version < (10, 5, 2):
        return ()
    exists = "is_sql_if_exists", False, b"sql_if_exists"
    major, minor, patch = version
    if major == 10 and minor < 10 and patch < _LOGS_DEFAULTS.get(minor, 99):
        return (exists,)
    defaults = "is_explicit_defaults_for_timestamp", False, b"explicit_defaults_for_timestamp"
    return exists, defaults


_ValueType = UserVarEvent.ResultType


def load_statement(body: ExecuteLoadQueryEvent, query: bytes, name: bytes) -> bytes:
    """LOAD DATA with the name of the file written."""
    replace = b" REPLACE" if getattr(body.duplicate_handling, "name", "") == "replace" else b""
    start, end = body.ofs_file_name, body.ofs_file_name_end
    return query[:start] + b" LOCAL INFILE " + pretty(name) + replace + b" INTO" + query[end:]


def user_value(body: Any, is_mariadb: bool = False, old_names: bool = False) -> bytes:
    """The value of a user variable as an expression."""
    if body.is_null:
        return b"NULL"
    match body.value_type:
        case _ValueType.real:
            return b"%.14g" % body.value.number
        case _ValueType.int:
            number = body.value.number
            return b"%d" % (number % (1 << 64) if body.is_unsigned else number)
        case _ValueType.decimal:
            return decimal_text(body.value.digits, body.value.precision, body.value.scale).encode()
    charset = charset_of(body.collation_id)
    name = collation_name(body.collation_id, is_mariadb=is_mariadb)
    if charset is None or name is None:
        return b"???"
    if old_names:
        charset, name = charset.replace("utf8mb3", "utf8"), name.replace("utf8mb3", "utf8")
    digits = body.value.data.hex().upper()
    shown = '""' if not digits else f"X'{digits}'" if is_mariadb else f"0x{digits}"
    return f"_{charset} {shown} COLLATE `{name}`".encode()
