"""Values that queries return, as those of the log; and what is selected, so that no server converts them."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from binlog_kaitai.ddl import Definitions
from binlog_kaitai.errors import ServerError
from binlog_kaitai.rows.arrow_types import arrow_type
from binlog_kaitai.snapshot.snapshot_values import schema_of, selected, value_of_text
from binlog_kaitai.values.schema import Column
from binlog_kaitai.values.temporal import ZeroDate


def column(kind: str, *, is_mariadb: bool = False) -> Column:
    definitions = Definitions("file")
    definitions.load(f"USE d; CREATE TABLE t (`a``b` {kind});")
    known = definitions.of("d", "t")
    assert known is not None
    return schema_of(known, is_mariadb=is_mariadb).columns[0]


@pytest.mark.parametrize(
    ("kind", "sql", "arrow", "sent", "value"),
    [
        ("INT UNSIGNED ZEROFILL", "{}", "uint32", "0000000007", 7),
        ("BIGINT UNSIGNED", "{}", "decimal128(20, 0)", "18446744073709551615", 2**64 - 1),
        ("DECIMAL(5,2)", "{}", "decimal128(5, 2)", "-1.50", Decimal("-1.50")),
        ("FLOAT", "{} * 1e0", "float", "0.10000000149011612", 0.10000000149011612),
        ("DOUBLE", "{} * 1e0", "double", "-0", -0.0),
        ("BIT(9)", "{}", "uint64", b"\x01\x02", 258),
        ("YEAR", "{} + 0", "uint16", "0", 0),
        ("DATE", "{}", "date32[day]", "2026-01-02", date(2026, 1, 2)),
        ("DATE", "{}", "date32[day]", "2026-02-31", ZeroDate("2026-02-31")),
        ("TIME(3)", "{}", "duration[us]", "-838:59:58.001", -timedelta(hours=838, seconds=3598.001)),
        (
            "DATETIME(1)",
            "{}",
            "timestamp[us]",
            "0999-01-02 03:04:05.6",
            datetime(999, 1, 2, 3, 4, 5, 600_000),
        ),
        (
            "TIMESTAMP",
            "{}",
            "timestamp[us, tz=UTC]",
            "2038-01-19 03:14:07",
            datetime(2038, 1, 19, 3, 14, 7, tzinfo=UTC),
        ),
        ("TIMESTAMP", "{}", "timestamp[us, tz=UTC]", "0000-00-00 00:00:00", ZeroDate("0000-00-00 00:00:00")),
        ("VARCHAR(9) CHARACTER SET cp1251", "CAST({} AS BINARY)", "string", b"\xc6", "Ж"),
        ("TEXT CHARACTER SET utf8mb4", "CAST({} AS BINARY)", "string", "ß".encode(), "ß"),
        ("BINARY(3)", "CAST({} AS BINARY)", "binary", b"a\0\0", b"a\0\0"),
        ("LONGBLOB", "CAST({} AS BINARY)", "binary", b"\xff", b"\xff"),
        ("ENUM('a','b')", "CAST({} AS UNSIGNED)", "string", "2", "b"),
        ("SET('a','b')", "CAST({} AS UNSIGNED)", "string", "3", "a,b"),
        ("JSON", "{}", "string", '{"a": 1}', '{"a": 1}'),
        ("POINT", "{}", "binary", b"\0\0\0\0\1", b"\0\0\0\0\1"),
        ("VECTOR(2)", "HEX({})", "list<item: float>", "0000803F00000040", [1.0, 2.0]),
        ("INT", "{}", "int32", None, None),
    ],
)
def test_values(kind: str, sql: str, arrow: str, sent: Any, value: Any) -> None:
    one = column(kind)
    assert selected(one) == sql.format("`a``b`")
    assert str(arrow_type(one)) == arrow
    found = value_of_text(sent, one)
    assert (repr(found), type(found)) == (repr(value), type(value))


def test_types_that_only_mariadb_has() -> None:
    one = column("INET6", is_mariadb=True)
    assert (selected(one), str(arrow_type(one))) == ("CAST(`a``b` AS CHAR)", "string")
    assert value_of_text("::1", one) == "::1"
    assert str(arrow_type(column("VECTOR(2)", is_mariadb=True))) == "list<item: float>"


def test_a_type_that_is_not_supported() -> None:
    with pytest.raises(ServerError, match="a`b has the type xmltype, which a"):
        column("XMLTYPE")
