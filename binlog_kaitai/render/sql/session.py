"""The settings that statements need: those of the script's own, and those of a statement of the log.

What a statement of the log ran with is set before it, and taken back behind it, so that each stands for
itself.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from binlog_kaitai.adapter import decimal_text
from binlog_kaitai.charsets import charset_of
from binlog_kaitai.grammar import EventType, UserVarEvent
from binlog_kaitai.reader import Event
from binlog_kaitai.values import Dialect
from binlog_kaitai.values.sql_text import double_sql, hexed, identifier, quoted

#: Zero is a value of AUTO_INCREMENT columns, and dates are what they are; not strict, since the server that
#: wrote the log has taken each value.
SQL_MODE = "NO_AUTO_VALUE_ON_ZERO,ALLOW_INVALID_DATES"
TIME_ZONE = "+00:00"

#: Flags of event headers: the statement is about a temporary table; it goes without a default database.
_THREAD_SPECIFIC, _SUPPRESS_USE = 0x0004, 0x0008

#: utf8mb4 came with MySQL 5.5.3 and MariaDB 5.5.
_UTF8MB4 = (5, 5, 3)

#: The number of utf8mb4_0900_ai_ci, the default collation of utf8mb4 where nothing else is said.
_COLLATION = 255

#: How MySQL from 8.0.21 on logs a definition that its table's first rows follow.
_ATOMIC = b" START TRANSACTION"

_SAVED = ("sql_mode", "time_zone", "foreign_key_checks", "unique_checks")
_CHARSETS = ("character_set_client", "character_set_results", "collation_connection")


class Setting(NamedTuple):
    """A variable of the session: its value for a statement, and what it is else, if that matters."""

    name: str
    value: str
    usual: str | None = "DEFAULT"


def names_of(dialect: Dialect) -> str:
    """The character set of the script, by the name that the server has for it."""
    is_old = dialect.version and dialect.version < _UTF8MB4
    return "utf8" if is_old else "utf8mb4"


def preamble(dialect: Dialect) -> bytes:
    """What comes before all statements."""
    saved = ", ".join(f"@binlog_kaitai_{name} = @@session.{name}" for name in (*_SAVED, *_CHARSETS))
    lines = [
        f"SET {saved};",
        f"SET NAMES {names_of(dialect)};",
        f"SET sql_mode = '{SQL_MODE}', time_zone = '{TIME_ZONE}', foreign_key_checks = 1, unique_checks = 1;",
    ]
    return "\n".join([*lines, ""]).encode()


def postamble() -> bytes:
    """What gives the session back as it was."""
    back = ", ".join(f"{name} = @binlog_kaitai_{name}" for name in (*_SAVED, *_CHARSETS))
    return f"SET {back};\n".encode()


def statement_text(event: Event, context: list[Event], dialect: Dialect) -> bytes:
    """A statement of the log with all that it needs, ready to run.

    Parameters
    ----------
    event
        A QUERY_EVENT, compressed or not.
    context
        The events before it that belong to it: INTVAR, RAND, USER_VAR.
    """
    body: Any = event.body
    settings = _settings(event, dialect)
    text = b""
    if body.schema_name and not event.fixed_header.flags & _SUPPRESS_USE:
        text += f"USE {identifier(body.schema_name)};\n".encode("utf-8", "surrogateescape")
    for one in context:
        text += _context(one)
    text += _set([(one.name, one.value) for one in settings])
    if getattr(body, "error_code", 0):
        text += b"-- it ended with error %d\n" % body.error_code
    # With rows behind it (CREATE TABLE ... SELECT) a definition takes no statements but BINLOG; alone it ends
    # the transaction that the script has begun.
    text += delimited(body.query.removesuffix(_ATOMIC))
    if body.query.endswith(_ATOMIC):
        text += b"START TRANSACTION;\n"
    text += _set([(one.name, one.usual) for one in settings if one.usual is not None])
    has_charset = any(one.name == _CHARSETS[0] for one in settings)
    return text + (f"SET NAMES {names_of(dialect)};\n".encode() if has_charset else b"")


def delimited(query: bytes) -> bytes:
    """A statement with its end, which a semicolon in it, or a comment at its end, does not hide."""
    last = query.rsplit(b"\n", 1)[-1]
    end = b"\n" if b"--" in last or b"#" in last else b""
    if b";" in query:
        return b"DELIMITER //*!*/\n" + query + end + b"\n//*!*/\nDELIMITER ;\n"
    return query + end + b";\n"


def _set(values: list[tuple[str, str]]) -> bytes:
    if not values:
        return b""
    text = ", ".join(f"{name} = {value}" for name, value in values)
    return f"SET {text};\n".encode("utf-8", "surrogateescape")


def _settings(event: Event, dialect: Dialect) -> list[Setting]:
    body: Any = event.body
    variables = [] if body.status_vars is None else list(body.status_vars.variables)
    found = {getattr(one.key, "name", str(one.key)): one.value for one in variables}
    micro = found.get("microseconds") or found.get("mariadb_microseconds")
    fraction = f".{micro.microseconds:06}" if micro is not None else ""
    settings = [Setting("timestamp", f"{event.fixed_header.timestamp}{fraction}", "DEFAULT")]
    if event.fixed_header.flags & _THREAD_SPECIFIC:
        settings.append(Setting("pseudo_thread_id", str(body.thread_id), None))
    if (modes := found.get("sql_mode")) is not None:
        settings.append(Setting("sql_mode", str(modes.modes), f"'{SQL_MODE}'"))
    if (zone := found.get("time_zone")) is not None and zone.name:
        settings.append(Setting("time_zone", quoted(zone.name), f"'{TIME_ZONE}'"))
    if (flags := found.get("flags2")) is not None:
        settings += _of_flags(flags, dialect)
    if (numbers := found.get("auto_increment")) is not None:
        settings.append(Setting("auto_increment_increment", str(numbers.increment)))
        settings.append(Setting("auto_increment_offset", str(numbers.offset)))
    if (names := found.get("lc_time_names")) is not None and names.number:
        settings.append(Setting("lc_time_names", str(names.number)))
    if (charset := found.get("charset")) is not None:
        client = charset_of(charset.client) or str(charset.client)
        settings.append(Setting("character_set_client", client, None))
        settings.append(Setting("collation_connection", str(charset.connection), None))
        settings.append(Setting("collation_server", str(charset.server)))
    return settings + _of_definitions(found)


def _of_flags(flags: Any, dialect: Dialect) -> list[Setting]:
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


def _of_definitions(found: dict[str, Any]) -> list[Setting]:
    """What newer servers log for statements that define something."""
    settings = []
    collation = found.get("default_collation_for_utf8mb4")
    if collation is not None and collation.collation_id != _COLLATION:
        settings.append(Setting("default_collation_for_utf8mb4", str(collation.collation_id)))
    if (stamp := found.get("explicit_defaults_for_timestamp")) is not None and not stamp.is_on:
        settings.append(Setting("explicit_defaults_for_timestamp", "0"))
    if (encrypted := found.get("default_table_encryption")) is not None and encrypted.is_on:
        settings.append(Setting("default_table_encryption", "1"))
    return settings


def _context(event: Event) -> bytes:
    body: Any = event.body
    match event.layout.effective_type(event.type_code):
        case EventType.intvar_event:
            return f"SET {body.variable.name.upper()} = {body.value};\n".encode()
        case EventType.rand_event:
            return f"SET RAND_SEED1 = {body.seed1}, RAND_SEED2 = {body.seed2};\n".encode()
    return f"SET @{identifier(body.name)} := {_user_value(body)};\n".encode("utf-8", "surrogateescape")


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
    introducer = f"_{charset} " if charset not in (None, "binary") else ""
    return introducer + (hexed(value.data) if value.data else "''")
