"""Logged statements as text that neither client nor server misreads, with their session settings.

The settings of a logged statement are set before it and restored after it, so that statements are
independent. A statement is printed unchanged if no client can misparse it, else prepared from a string.
Statements that servers do not prepare are printed after a command that sets the client's character set, which
a client need not know: they must be whole with it and without it.

A client may go on after an error (`--force`, `source`), so no statement may depend on its settings to be
harmless: it is whole whatever `sql_mode` is. Nor does the script go on where they were not taken: the session
is made read-only before them, the last of them ends this unless one has failed so far, and the transaction of
the statement is rolled back (`COMMIT_IF_OK`).

The `mysql` client divides a script into statements: it scans for quotes, comments, the delimiter, and its own
commands (``\\!``, `system`), by rules that differ from the server's. It decodes characters with its own
character set, treats a backslash in double quotes as an escape even if ANSI_QUOTES is on, and parses comments
that only other versions execute. A statement is safe if both divide it in the same way.

PREPARE takes a statement from a variable, which CONCAT assembles from plain ASCII in quotes and all other
bytes in hexadecimal, so that names need no quotes of their own. The variable is a byte string, which is not
converted: the server decodes it with `character_set_client`, as if a client had sent it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from binlog_kaitai.core.adapter import decimal_text
from binlog_kaitai.core.grammar import EventType, IntvarEvent, UserVarEvent
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.log.event_reader import ParsedEvent
from binlog_kaitai.values.charsets import BINARY, charset_of, decode
from binlog_kaitai.values.sql_text import (
    UTF8,
    SqlDialect,
    double_sql,
    hexed,
    identifier,
    introducer,
    is_plain,
    literal,
)

#: Beginnings of statements in a log, none of which is a command of the client.
_VERBS = (
    "alter|analyze|begin|binlog|call|change|check|commit|create|delete|do|drop|flush|grant|import|insert|"
    "install|lock|optimize|release|rename|repair|replace|reset|revoke|rollback|savepoint|select|set|start|"
    "truncate|uninstall|unlock|update|values|with|xa"
)

_SPACE = r"[\x20\t\n\v\f\r]"
_COMMENT = rf"--(?={_SPACE}|\Z)[^\n]*|\#[^\n]*|/\*(?![!+M])[^*]*(?:\*(?!/)[^*]*)*\*/"
#: Strings and names without a comment end, because a server of another version skips to the first one.
_INSIDE = "|".join(rf"{quote}[^{quote}\\*]*(?:\*(?!/)[^{quote}\\*]*)*{quote}" for quote in "'\"`")
_CONDITIONAL = rf"/\*M?!(?:[^'\"`\\\#*/-]|{_INSIDE}|-(?!-)|/(?!\*)|\*(?!/))*\*/"
_HINT = r"/\*\+(?:[^'\"`\\\#*/;-]|-(?!-)|\*(?!/))*\*/"
_PLAIN = r"[^'\"`\\\#*/-]+|-(?!-)|/(?!\*)|\*(?!/)"


def _escaped(quote: str) -> str:
    return rf"{quote}[^{quote}\\]*(?:\\.[^{quote}\\]*)*{quote}"


def _token(quoted: str) -> re.Pattern[str]:
    return re.compile(f"{_COMMENT}|{_CONDITIONAL}|{_HINT}|{quoted}|`[^`\\\\]*`|{_PLAIN}", re.DOTALL)


#: The tokens in the `sql_mode` that a session may have: with escapes, with ANSI_QUOTES, without escapes.
_READINGS = (
    _token(f"{_escaped(chr(39))}|{_escaped(chr(34))}"),
    _token(f'{_escaped(chr(39))}|"[^"\\\\]*"'),
    _token("'[^']*'|\"[^\"]*\""),
)
#: What may precede the first word of a statement.
BEFORE_VERB = rf"(?>{_SPACE}|{_COMMENT})*(?:/\*M?![0-9]*{_SPACE}*)?"
_START = re.compile(rf"{BEFORE_VERB}(?:\(|(?:{_VERBS})\b)", re.DOTALL | re.IGNORECASE)
_IS_ASCII = re.compile(rb"[\t\n -~]*")


def is_safe(query: bytes) -> bool:
    """Whether client and server parse a statement in the same way, in any client character set."""
    return _IS_ASCII.fullmatch(query) is not None and is_whole(query.decode("ascii"))


def is_whole(text: str) -> bool:
    """Whether client and server parse a statement in the same way in any `sql_mode`, given the same
    character set.
    """
    if "\0" in text or _START.match(text) is None:
        return False
    return all(_end(text, token) == len(text) for token in (_READINGS if "\\" in text else _READINGS[:1]))


def _end(text: str, token: re.Pattern[str], position: int = 0) -> int:
    """Where the tokens end that follow each other from a position."""
    while (match := token.match(text, position)) is not None and match.end() > position:
        position = match.end()
    return position


#: The name of a prepared statement, and of the variable with its text.
STATEMENT = b"binlog_kaitai_statement"
ASSIGN = b"SET @%s = CONCAT(_binary " % STATEMENT
PREPARE = b"PREPARE %s FROM @%s;\n" % (STATEMENT, STATEMENT)
DEALLOCATE = b"DEALLOCATE PREPARE %s;\n" % STATEMENT
_RUN_PREPARED = b"EXECUTE %s;\n" % STATEMENT
EXECUTE = _RUN_PREPARED + DEALLOCATE

#: What follows the arguments of a statement assigned by `ASSIGN`, up to its execution.
RUN_ASSIGNED = b");\n" + PREPARE + _RUN_PREPARED

#: Commits unless an expectation, or a setting, has failed in the script.
COMMIT_IF_OK = b"SET @%s = IF(@binlog_kaitai_ok, 'COMMIT', 'ROLLBACK');\n" % STATEMENT + PREPARE + EXECUTE

_RUN = re.compile(rb"[ -\[\]-~]+|[^ -\[\]-~]+")

#: MariaDB prepares all statements since 10.6.2, MySQL these (sql_prepare.cc, `check_prepared_statement`).
_MARIADB_PREPARES_ALL = (10, 6, 2)
_PREPARED = re.compile(
    rf"""{BEFORE_VERB}(?:
        (?:insert|replace|update|delete|truncate|grant|revoke|rename|do|call|set|analyze|optimize|repair|flush
            |with|select)\b
      | (?:create|drop)\s+(?:database|schema|user|(?:unique\s+|fulltext\s+|spatial\s+)?index)\b
      | create\s+(?:or\s+replace\s+|(?:algorithm|definer)\s*=\s*\S+\s+|sql\s+security\s+\w+\s+)*view\b
      | drop\s+view\b
      | (?:create|drop|alter)\s+(?:or\s+replace\s+)?(?:temporary\s+)?table\b
      | alter\s+user\b
    )""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
#: Number of leading bytes that determine the kind of a statement.
_LEADING_BYTES = 1 << 12


def can_prepare(query: bytes, dialect: SqlDialect) -> bool:
    """Whether servers of a dialect prepare a statement."""
    if dialect.is_mariadb and dialect.version >= _MARIADB_PREPARES_ALL:
        return True
    return _PREPARED.match(query[:_LEADING_BYTES].decode("latin-1")) is not None


def arguments(text: bytes) -> bytes:
    """Bytes as arguments of CONCAT."""
    return b", ".join(_argument(run) for run in _RUN.findall(text))


def _argument(run: bytes) -> bytes:
    if is_plain(run.decode("latin-1")):
        return b"'" + run.replace(b"'", b"''") + b"'"
    return hexed(run).encode()


def inside(text: bytes) -> bytes:
    """Part of a statement as part of the arguments of CONCAT, between two quoted parts."""
    return b"".join(
        run.replace(b"'", b"''") if is_plain(run.decode("latin-1")) else b"', %s, '" % hexed(run).encode()
        for run in _RUN.findall(text)
    )


def assigned(query: bytes) -> bytes:
    """The statement that assigns another one to the variable."""
    return ASSIGN + arguments(query) + b");\n"


def prepared(query: bytes) -> bytes:
    """The statements that prepare and run another one, which has no delimiter."""
    return assigned(query) + PREPARE + EXECUTE


#: Accepts zero in AUTO_INCREMENT columns, and invalid dates; not strict, since the server that wrote the log
#: accepted each value.
SQL_MODE = "NO_AUTO_VALUE_ON_ZERO,ALLOW_INVALID_DATES"
TIME_ZONE = "+00:00"

#: The number of utf8mb4_0900_ai_ci, the default collation of utf8mb4 unless configured otherwise.
_COLLATION = 255

#: How MySQL 8.0.21 and later logs a definition that is followed by the table's first rows: these words are
#: between the columns and the table's options.
_ATOMIC = " START TRANSACTION"

_SAVED = ("sql_mode", "time_zone", "foreign_key_checks", "unique_checks")
_CHARSETS = ("character_set_client", "character_set_results", "collation_connection")

#: The variables that an INTVAR_EVENT sets.
_COUNTERS = {
    IntvarEvent.VariableKind.last_insert_id: "LAST_INSERT_ID",
    IntvarEvent.VariableKind.insert_id: "INSERT_ID",
}

#: The delimiter around statements with a semicolon; with a number if they contain this as well.
_DELIMITER = b"//*!%s*/"

#: Connection character sets with which MySQL cannot prepare a byte string.
_WIDE = frozenset(("ucs2", "utf16", "utf16le", "utf32"))


class MisreadError(Exception):
    """A statement that clients or servers would misinterpret, with the reason."""


class Setting(NamedTuple):
    """A session variable: its value for a statement, and its value otherwise, if needed.

    `servers`: the beginning of a conditional comment for the servers that have it; empty for all.
    """

    name: str
    value: str
    usual: str | None = "DEFAULT"
    servers: str = ""


#: Of MySQL since 5.7.20, and of MariaDB; older servers have none that the newest one has, too.
_READ_ONLY = {"transaction_read_only": "/*!50720", "tx_read_only": "/*M!100000"}


#: It may name no database: then it is about the one in use.
_OF_DATABASE = re.compile(rb"\s*ALTER\s+(?:DATABASE|SCHEMA)\b", re.IGNORECASE)


def preamble(dialect: SqlDialect) -> bytes:
    """The start of the script, before all statements.

    The client's character set comes first: it is the only setting that cannot be restored, and must equal the
    session's.
    """
    saved = ", ".join(f"@binlog_kaitai_{name} = @@session.{name}" for name in (*_SAVED, *_CHARSETS))
    lines = [
        f"SET {saved};",
        f"SET NAMES {dialect.utf8};",
        f"SET sql_mode = '{SQL_MODE}', time_zone = '{TIME_ZONE}', foreign_key_checks = 1, unique_checks = 1, "
        "@binlog_kaitai_ok = 1;",
    ]
    return _client_reads(dialect.utf8) + "\n".join([*lines, ""]).encode()


def _client_reads(charset: str) -> bytes:
    """Set the character set of client and session, as `mysqlbinlog` does."""
    return f"/*!\\C {charset} */;\n".encode()


def postamble() -> bytes:
    """The end of the script, which restores the session."""
    back = [Setting(name, f"@binlog_kaitai_{name}") for name in (*_SAVED, *_CHARSETS)]
    return _set([*back, *_read_only("DEFAULT")])


def statement_text(
    event: ParsedEvent, context: list[ParsedEvent], dialect: SqlDialect, databases: Mapping[str, str]
) -> bytes:
    """A logged statement with everything that it needs, ready to run.

    `event`: a QUERY_EVENT, compressed or not.
    `context`: the preceding events that belong to it: INTVAR, RAND, USER_VAR.
    `databases`: new names of databases, for USE; the text of the statement stays.
    Raises `MisreadError`: it cannot be written without being misinterpreted.
    Raises `BinlogError`: the value of a user variable is invalid.
    """
    body: Any = event.body
    variables = _variables(body)
    settings = _settings(event, variables, dialect)
    # After a definition with rows (CREATE TABLE ... SELECT) only BINLOG statements are allowed; alone it ends
    # the transaction that the script has begun.
    query = _without_rows(bytes(body.query))
    opening, run = _way(query, variables, dialect)
    is_taken = "@binlog_kaitai_before"
    before = [Setting(is_taken, "@binlog_kaitai_ok"), Setting("@binlog_kaitai_ok", "NULL")]
    text = _set([*before, Setting("@binlog_kaitai_mode", "NULL"), *_read_only("1")])
    # Names of variables may need the same treatment.
    text += b"".join(map(_context, context))
    if body.schema_name and (not event.header.is_use_suppressed or _OF_DATABASE.match(query)):
        name = databases.get(body.schema_name, body.schema_name)
        text += _use(name)
        is_taken += f" AND DATABASE() = {literal(name)}"
    # The name of the database is in UTF-8.
    text += opening
    # By itself, so that the client knows it if another one fails.
    if modes := [setting for setting in settings if setting.name == "sql_mode"]:
        text += _set([*modes, Setting("@binlog_kaitai_mode", "1")])
        is_taken += " AND @binlog_kaitai_mode"
    others = [setting for setting in settings if setting not in modes]
    taken = Setting("@binlog_kaitai_ok", f"IF({is_taken}, 1, NULL)")
    text += _set([*others, taken, *_read_only(f"IF({is_taken}, 0, 1)")])
    text += run
    if query != body.query:
        text += b"START TRANSACTION;\n"
    if opening.startswith(b"/*"):
        text += _client_reads(dialect.utf8)
    # First: literals are in the character set of the connection, and `sql_mode` takes none of UTF-16.
    if any(setting.name == _CHARSETS[0] for setting in settings):
        text += f"SET NAMES {dialect.utf8};\n".encode()
    return text + _set([entry._replace(value=entry.usual) for entry in settings if entry.usual is not None])


def _without_rows(query: bytes) -> bytes:
    """A statement without the words that announce rows, which follow the columns of a table."""
    text, position, depth = query.decode("latin-1"), 0, 0
    while _ATOMIC in text and (match := _READINGS[0].match(text, position)):
        for offset in range(position, match.end()) if match[0][0] not in "'\"`/#" else ():
            depth += (text[offset] == "(") - (text[offset] == ")")
            if text[offset] == ")" and not depth and text.startswith(_ATOMIC, offset + 1):
                return query[: offset + 1] + query[offset + 1 + len(_ATOMIC) :]
        position = match.end()
    return query


def _way(query: bytes, variables: dict[str, Any], dialect: SqlDialect) -> tuple[bytes, bytes]:
    """How to write a statement: the text before its settings, and the text that runs it."""
    if is_safe(query):
        return b"", delimited(query)
    charset = variables.get("charset")
    is_wide = charset is not None and charset_of(charset.connection) in _WIDE
    if can_prepare(query, dialect) and (dialect.is_mariadb or not is_wide):
        return assigned(query), PREPARE + EXECUTE
    name = dialect.utf8 if charset is None else charset_of(charset.client)
    text = decode(query, name) if name is not None else query
    if name is None or isinstance(text, bytes):
        raise MisreadError("the statement is not valid in its character set")
    # A client that does not know the character set reads bytes.
    readings = text, query.decode("latin-1")
    if not all(is_whole("".join(char if char.isascii() else "x" for char in text)) for text in readings):
        raise MisreadError("a client might split the statement differently than the server did")
    return b"" if name in UTF8 else _client_reads(name), delimited(query)


def _use(name: str) -> bytes:
    """The statement that selects the default database.

    Servers do not prepare USE. The client has its own USE with other quoting rules, but passes on one in a
    comment; no character set has a double quote within a multi-byte character.
    """
    if is_plain(name) and "`" not in name:
        return f"USE {identifier(name)};\n".encode()
    if not name.isprintable():
        raise MisreadError("the name of its database has characters that cannot be passed to a client")
    quoted = name.replace('"', '""')
    modes = "ANSI_QUOTES,NO_BACKSLASH_ESCAPES"
    text = f"SET sql_mode = '{modes}';\n/*!USE \"{quoted}\" */;\nSET sql_mode = '{SQL_MODE}';\n"
    return _name(text)


def _name(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise MisreadError("a name is not UTF-8") from None


def delimited(query: bytes) -> bytes:
    """A statement with a delimiter that works despite semicolons in it, or a comment at its end."""
    last = query.rsplit(b"\n", 1)[-1]
    end = b"\n" if b"--" in last or b"#" in last else b""
    if b";" not in query:
        return query + end + b";\n"
    delimiter, number = _DELIMITER % b"", 0
    while delimiter in query:
        delimiter, number = _DELIMITER % str(number).encode(), number + 1
    return b"DELIMITER %s\n%s%s\n%s\nDELIMITER ;\n" % (delimiter, query, end, delimiter)


def _set(settings: list[Setting]) -> bytes:
    text = ", ".join(f"{setting.name} = {setting.value}" for setting in settings if not setting.servers)
    more = (f" {entry.servers} , {entry.name} = {entry.value} */" for entry in settings if entry.servers)
    return f"SET {text}{''.join(more)};\n".encode()


def _read_only(value: str) -> list[Setting]:
    return [Setting(f"@@session.{name}", value, servers=servers) for name, servers in _READ_ONLY.items()]


def _variables(body: Any) -> dict[str, Any]:
    """The status variables of a statement, by name or number."""
    variables = [] if body.status_vars is None else list(body.status_vars.variables)
    return {getattr(variable.key, "name", str(variable.key)): variable.value for variable in variables}


def _settings(event: ParsedEvent, variables: dict[str, Any], dialect: SqlDialect) -> list[Setting]:
    body: Any = event.body
    micro = variables.get("microseconds") or variables.get("mariadb_microseconds")
    fraction = f".{micro.microseconds:06}" if micro is not None else ""
    settings = [Setting("timestamp", f"{event.fixed_header.timestamp}{fraction}", "DEFAULT")]
    if event.header.is_thread_specific:
        settings.append(Setting("pseudo_thread_id", str(body.thread_id), None))
    if (modes := variables.get("sql_mode")) is not None:
        settings.append(Setting("sql_mode", str(modes.modes), f"'{SQL_MODE}'"))
    if (zone := variables.get("time_zone")) is not None and zone.name:
        settings.append(Setting("time_zone", literal(zone.name), f"'{TIME_ZONE}'"))
    if (flags := variables.get("flags2")) is not None:
        settings += _of_flags(flags, dialect)
    if (numbers := variables.get("auto_increment")) is not None:
        settings.append(Setting("auto_increment_increment", str(numbers.increment)))
        settings.append(Setting("auto_increment_offset", str(numbers.offset)))
    if (names := variables.get("lc_time_names")) is not None and names.number:
        settings.append(Setting("lc_time_names", str(names.number)))
    if (charset := variables.get("charset")) is not None:
        client = charset_of(charset.client) or str(charset.client)
        settings.append(Setting("character_set_client", client, None))
        settings.append(Setting("collation_connection", str(charset.connection), None))
        settings.append(Setting("collation_server", str(charset.server)))
    return settings + _of_definitions(body.query, variables, dialect)


def _of_flags(flags: Any, dialect: SqlDialect) -> list[Setting]:
    settings = []
    if flags.is_foreign_key_checks_off:
        settings.append(Setting("foreign_key_checks", "0", "1"))
    if flags.is_unique_checks_off:
        settings.append(Setting("unique_checks", "0", "1"))
    if flags.is_sql_auto_is_null:
        settings.append(Setting("sql_auto_is_null", "1"))
    if dialect.is_mariadb and flags.is_check_constraint_checks_off:
        settings.append(Setting("check_constraint_checks", "0"))
    return settings


def _of_definitions(query: bytes, variables: dict[str, Any], dialect: SqlDialect) -> list[Setting]:
    """Settings for statements that define something: those that newer servers log, and those that they do not
    log, with which the server must have accepted the statement.
    """
    settings = []
    if dialect.is_mariadb and query[:_LEADING_BYTES].lstrip()[:5].upper() == b"ALTER":
        settings.append(Setting("system_versioning_alter_history", "KEEP", servers="/*M!100304"))
    elif not dialect.is_mariadb and b"REFERENCES" in query.upper():
        settings.append(Setting("restrict_fk_on_non_standard_key", "0", servers="/*!80400"))
    collation = variables.get("default_collation_for_utf8mb4")
    if collation is not None and collation.collation_id != _COLLATION:
        settings.append(Setting("default_collation_for_utf8mb4", str(collation.collation_id)))
    if (stamp := variables.get("explicit_defaults_for_timestamp")) is not None and not stamp.is_on:
        settings.append(Setting("explicit_defaults_for_timestamp", "0"))
    if (encrypted := variables.get("default_table_encryption")) is not None and encrypted.is_on:
        settings.append(Setting("default_table_encryption", "1"))
    return settings


def _context(event: ParsedEvent) -> bytes:
    """The settings that an event provides for the following statement."""
    body: Any = event.body
    match event.layout.effective_type(event.type_code):
        case EventType.intvar_event:
            return f"SET {_COUNTERS[body.variable]} = {body.value};\n".encode()
        case EventType.rand_event:
            return f"SET RAND_SEED1 = {body.seed1}, RAND_SEED2 = {body.seed2};\n".encode()
    try:
        value = _user_value(body)
    except BinlogError as error:
        raise event.locate(error) from error.__cause__
    text = _name(f"SET @{identifier(body.name)} := {value}")
    return text + b";\n" if is_plain(body.name) else prepared(text)


def _user_value(body: Any) -> str:
    """The value of a user variable as a literal."""
    if body.is_null:
        return "NULL"
    kinds, value = UserVarEvent.ResultType, body.value
    match body.value_type:
        case kinds.real:
            text = double_sql(value.number)
            return text if "e" in text else text + "e0"
        case kinds.int:
            return str(value.unsigned_number if body.is_unsigned else value.number)
        case kinds.decimal:
            return decimal_text(value.digits, value.precision, value.scale)
    charset = charset_of(body.collation_id)
    return ("" if charset in (None, BINARY) else introducer(charset)) + hexed(value.data)
