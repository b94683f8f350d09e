"""Writes statements as strings that the server prepares, so that clients do not parse them.

A name cannot be written in hexadecimal, but the statement that contains it can: PREPARE takes a statement
from a variable, which CONCAT assembles from plain ASCII in quotes and all other bytes in hexadecimal. The
variable is a byte string, which is not converted: the server decodes it with `character_set_client`, as if a
client had sent it.
"""

from __future__ import annotations

import re
from typing import Any

from binlog_kaitai.arrow import pc
from binlog_kaitai.render.sql.client import BEFORE_VERB
from binlog_kaitai.rows.text.sql_literals import as_arguments
from binlog_kaitai.rows.text.text_pieces import joined
from binlog_kaitai.values.sql_text import Dialect, hexed, is_plain

_NAME = b"binlog_kaitai_statement"
_ASSIGN = b"SET @%s = CONCAT(_binary " % _NAME
PREPARE = b"PREPARE %s FROM @%s;\n" % (_NAME, _NAME)
_DEALLOCATE = b"DEALLOCATE PREPARE %s;\n" % _NAME
_RUN_PREPARED = b"EXECUTE %s;\n" % _NAME
EXECUTE = _RUN_PREPARED + _DEALLOCATE

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
_MOST = 1 << 12


def can_prepare(query: bytes, dialect: Dialect) -> bool:
    """Whether servers of a dialect prepare a statement."""
    if dialect.is_mariadb and dialect.version >= _MARIADB_PREPARES_ALL:
        return True
    return _PREPARED.match(query[:_MOST].decode("latin-1")) is not None


def arguments(text: bytes) -> bytes:
    """Bytes as arguments of CONCAT."""
    return b", ".join(_argument(run) for run in _RUN.findall(text))


def _argument(run: bytes) -> bytes:
    if is_plain(run.decode("latin-1")):
        return b"'" + run.replace(b"'", b"''") + b"'"
    return hexed(run).encode()


def assigned(query: bytes) -> bytes:
    """The statement that assigns another one to the variable."""
    return _ASSIGN + arguments(query) + b");\n"


def prepared(query: bytes) -> bytes:
    """The statements that prepare and run another one, which has no delimiter."""
    return assigned(query) + PREPARE + EXECUTE


def prepared_lines(found: Any, after: Any) -> Any:
    """Like `prepared`, for an Arrow array of statements with their line ends.

    Parameters
    ----------
    after
        Statements that follow the execution at once: bytes, or an Arrow array of them.
    """
    queries = pc.binary_slice(found, 0, -len(b";\n"))
    run = b");\n" + PREPARE + _RUN_PREPARED
    return joined(_ASSIGN, as_arguments(queries), run, after, _DEALLOCATE)
