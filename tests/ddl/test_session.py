"""Given the status variables of a statement, this is its session."""

from __future__ import annotations

import pytest

import binlog_kaitai as bk
from binlog_kaitai.ddl import Charset, Session
from binlog_kaitai.ddl.statements import session_of
from tests.corpus_files import case
from tests.log_maker import LogMaker, events_of

SQL_MODE, CHARSET, CHARSET_DATABASE = b"\1", b"\4", b"\10"
UPDATED_SCHEMA_NAMES, DEFAULT_COLLATION_FOR_UTF8MB4 = b"\14", b"\22"
LATIN1, GREEK, UTF8MB4 = (number.to_bytes(2, "little") for number in (8, 25, 45))


def session(status_vars: bytes) -> Session:
    """The session of a QUERY_EVENT on connection 7."""
    layout, (head, *_) = events_of(case("mysql-5.6", "types_v1_rows").logs[0])
    post_header = (7).to_bytes(4, "little") + bytes(7) + len(status_vars).to_bytes(2, "little")
    body = post_header + status_vars + b"\0CREATE TABLE t (a INT)" + bytes(4 * layout.is_checksummed)
    log = LogMaker(layout)
    log.add_all([head[0], bytes(4) + b"\2" + bytes(14) + body])
    with bk.open(bytes(log.data)) as events:
        return next(session_of(event.body) for event in events if event.type == "QUERY_EVENT")


def test_the_session_has_the_modes_and_character_sets() -> None:
    oracle = (0x2_1000E20E).to_bytes(8, "little")
    status_vars = SQL_MODE + oracle + CHARSET + UTF8MB4 + UTF8MB4 + LATIN1 + CHARSET_DATABASE + GREEK
    assert session(status_vars) == Session(
        thread_id=7,
        sql_mode=0x2_1000E20E,
        server_charset=Charset("latin1"),
        database_charset=Charset("greek"),
        has_changed=None,
    )


@pytest.mark.parametrize(
    ("status_vars", "is_mysql"),
    [
        (UPDATED_SCHEMA_NAMES + b"\1s\0", True),
        (UPDATED_SCHEMA_NAMES + b"\xfe", True),  # too many to name
        (DEFAULT_COLLATION_FOR_UTF8MB4 + b"\xff\0", True),
        (CHARSET + UTF8MB4 + UTF8MB4 + LATIN1, False),
    ],
)
def test_mysql_is_known_by_the_variables_that_only_it_logs(status_vars: bytes, is_mysql: bool) -> None:
    assert session(status_vars).is_mysql == is_mysql


def test_what_a_statement_does_not_state_is_unknown() -> None:
    assert session(b"") == Session(thread_id=7, has_changed=None)
