"""Parts of statements that both variants print."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from binlog_kaitai.core.adapter import decimal_text
from binlog_kaitai.core.grammar import UserVarEvent
from binlog_kaitai.render.dump.text import pretty
from binlog_kaitai.values.charsets import charset_of
from binlog_kaitai.values.charsets.collations import collation_name

if TYPE_CHECKING:
    from binlog_kaitai.core.bodies import ExecuteLoadQueryEvent


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
