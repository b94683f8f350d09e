"""`rows --format debezium`: messages with the values of Debezium's documentation, and of the corpus."""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import binlog_kaitai as bk
from binlog_kaitai.core.grammar import ColumnType
from binlog_kaitai.lines.debezium_rows import DebeziumForm, DebeziumStyle
from binlog_kaitai.lines.row_texts import write_rows
from binlog_kaitai.text import listed_values as kinds
from binlog_kaitai.values.charsets import BINARY
from binlog_kaitai.values.column_kinds import Kind
from binlog_kaitai.values.representations import json_form
from binlog_kaitai.values.schema import Column
from binlog_kaitai.values.temporal import ZeroDate
from tests.cli.conftest import Run
from tests.corpus_files import case
from tests.render.test_sql import after_definitions

_EPOCH = datetime(1970, 1, 1)
_STYLE = DebeziumStyle(kinds.JSON, b"null")


def _column(kind: ColumnType, **others: Any) -> Column:
    return Column(0, "c", is_named=True, type=kind, **others)


_DECIMAL = _column(ColumnType.newdecimal, precision=10, scale=2)
_BLOB = _column(ColumnType.blob, charset=BINARY)
_POINT = bytes(4) + struct.pack("<BIdd", 1, 1, 1.5, -2)
_AT = datetime(2018, 6, 20, 6, 37, 3)


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        # Both are from the documentation of the connector, "Temporal types".
        (_column(ColumnType.datetime2), _AT, 1529476623000),
        (_column(ColumnType.timestamp2), _AT.replace(hour=13, tzinfo=UTC), "2018-06-20T13:37:03Z"),
        (_column(ColumnType.datetime2, fractional_digits=3), _AT, 1529476623000),
        (_column(ColumnType.datetime2, fractional_digits=4), _AT, 1529476623000000),
        (
            _column(ColumnType.timestamp2, fractional_digits=2),
            _AT.replace(microsecond=120_000, tzinfo=UTC),
            "2018-06-20T06:37:03.12Z",
        ),
        (_column(ColumnType.date), date(1970, 1, 3), 2),
        (_column(ColumnType.date), ZeroDate("0000-00-00"), None),
        (_column(ColumnType.date, is_nullable=False), ZeroDate("0000-00-00"), 0),
        (_column(ColumnType.timestamp2, is_nullable=False), ZeroDate("0"), "1970-01-01T00:00:00Z"),
        (_column(ColumnType.time2), -timedelta(hours=30), -30 * 3600 * 1_000_000),
        # The unscaled value, with as few bytes as its sign allows.
        (_DECIMAL, Decimal("1.27"), base64.b64encode(b"\x7f").decode()),
        (_DECIMAL, Decimal("1.28"), base64.b64encode(b"\x00\x80").decode()),
        (_DECIMAL, Decimal("-1.28"), base64.b64encode(b"\x80").decode()),
        (_DECIMAL, Decimal("0.00"), base64.b64encode(b"\x00").decode()),
        (_column(ColumnType.bit, bits=1), 1, True),
        # Little-endian, in as many bytes as the bits need.
        (_column(ColumnType.bit, bits=12), 0x203, base64.b64encode(b"\x03\x02").decode()),
        (_column(ColumnType.longlong, is_unsigned=True), 2**64 - 1, -1),
        (_column(ColumnType.long, is_unsigned=True), 2**32 - 1, 2**32 - 1),
        (_BLOB, b"\x00\xff", "AP8="),
        (_BLOB, b"", ""),
        (
            _column(ColumnType.geometry, geometry_type=1),
            _POINT,
            {"x": 1.5, "y": -2.0, "wkb": base64.b64encode(_POINT[4:]).decode(), "srid": None},
        ),
        (_column(ColumnType.json), bk.JsonText('{"a": "\\""}'), '{"a": "\\""}'),
    ],
)
def test_values(column: Column, value: Any, message: object) -> None:
    assert json.loads(_STYLE.text(value, column)) == message


def _shown(value: Any, column: Column) -> object:
    """A value as a message has it, by the documentation's table of types."""
    if isinstance(value, ZeroDate):
        zero: object = "1970-01-01T00:00:00Z" if "TIMESTAMP" in column.kind.name else 0
        return None if column.is_nullable else zero
    match value:
        case datetime(tzinfo=None):
            micros = (value - _EPOCH) // timedelta(microseconds=1)
            return micros if column.fractional_digits > 3 else micros // 1000
        case datetime():
            fraction = f".{value.microsecond:06}"[: 1 + column.fractional_digits]
            return f"{value:%Y-%m-%dT%H:%M:%S}{fraction if column.fractional_digits else ''}Z"
        case date():
            return (value - _EPOCH.date()).days
        case timedelta():
            return value // timedelta(microseconds=1)
        case Decimal():
            number = int(f"{value:f}".replace(".", ""))
            size = (number if number >= 0 else ~number).bit_length() // 8 + 1
            return base64.b64encode(number.to_bytes(size, "big", signed=True)).decode()
        case bytes() if column.kind == Kind.GEOMETRY:
            return base64.b64encode(value[4:]).decode()
        case bytes():
            return base64.b64encode(value).decode()
        case bk.JsonText():
            return str(value)
    if column.kind == Kind.BIT and value is not None:
        size = ((column.bits or 0) + 7) // 8
        return bool(value) if column.bits == 1 else base64.b64encode(value.to_bytes(size, "little")).decode()
    if isinstance(value, int) and value >= 1 << 63:
        return value - (1 << 64)
    return json_form(value, column)


def _expected(log: Path) -> Iterator[dict[str, Any]]:
    """Key, operation and images of each message, from the rows of the event reader."""
    for row in bk.read_rows(log):
        columns = {column.name: column for column in row.schema.columns}
        before, after = (
            None if image is None else {name: _shown(value, columns[name]) for name, value in image.items()}
            for image in (row.before, row.after)
        )
        names = [row.schema.columns[index].name for index in row.schema.primary_key]
        # A column missing from one image of an update is in the other.
        images = {**(after or {}), **(before or {})}, {**(before or {}), **(after or {})}
        has_key = bool(names) and set(names) <= set(images[0])
        old, new = ({name: image[name] for name in names} if has_key else None for image in images)
        if before is not None and after is not None and old == new:
            yield {"key": new, "op": "u", "before": before, "after": after}
            continue
        if before is not None:
            yield {"key": old, "op": "d", "before": before, "after": None}
            if old is not None:
                yield {"key": old}
        if after is not None:
            yield {"key": new, "op": "c", "before": None, "after": after}


def _found(message: dict[str, Any]) -> dict[str, Any]:
    if message["value"] is None:
        return {"key": message["key"]}
    value = message["value"]
    images = {name: value[name] and {**value[name]} for name in ("before", "after")}
    for image in filter(None, images.values()):
        image.update({name: one["wkb"] for name, one in image.items() if isinstance(one, dict)})
    return {"key": message["key"], "op": value["op"], **images}


LOGS = [
    case(server, name).logs[0]
    for server, name in (
        ("mysql-5.6", "types_full"),
        ("mysql-8.0", "types_metadata"),
        ("mysql-9.7", "types_full"),
        ("mysql-9.7", "types_minimal"),
        ("mysql-9.7", "types_payload"),
        ("mysql-9.7", "json_values"),
        ("mysql-9.7", "ddl"),
        ("mysql-9.7", "workload"),
        ("mariadb-10.2", "types_compressed"),
        ("mariadb-10.11", "types_old_temporal"),
        ("mariadb-11.8", "types_metadata"),
        ("mariadb-11.8", "types_minimal"),
    )
]


@pytest.mark.parametrize("log", LOGS, ids=lambda log: "/".join(log.parts[-3:-1]))
def test_messages_of_the_corpus(log: Path) -> None:
    lines = b"".join(map(bytes, write_rows(log, form=DebeziumForm())))
    messages = [json.loads(line) for line in lines.splitlines()]
    assert [_found(message) for message in messages] == list(_expected(log))


def test_messages_have_the_fields_of_the_documentation(run: Run) -> None:
    log = case("mysql-9.7", "workload").logs[0]
    done = run("rows", "--format", "debezium", "--show", "statement", log)
    rows = run("rows", "--format", "json", "--show", "thread,statement", log)
    messages = [json.loads(line) for line in done.stdout.splitlines()]
    by_place = {(row["position"], row["row"]): row for row in map(json.loads, rows.stdout.splitlines())}
    assert done.returncode == 0
    for message in messages:
        if (value := message["value"]) is None:
            assert list(message) == ["topic", "key", "value"]
            continue
        assert list(value) == ["before", "after", "source", "transaction", "op", "ts_ms"]
        source = value["source"]
        row = by_place[source["pos"], source["row"]]
        assert source == {
            "version": "binlog-kaitai",
            "connector": "mysql",
            "name": "",
            "ts_ms": row["timestamp"] * 1000,
            "snapshot": "false",
            "db": row["schema"],
            "ts_us": row["timestamp"] * 1_000_000,
            "ts_ns": row["timestamp"] * 1_000_000_000,
            "table": row["table"],
            "server_id": row["server_id"],
            "gtid": row["gtid"],
            "file": log.name,
            "pos": row["position"],
            "row": row["row"],
            "thread": row["thread"],
            "query": row["statement"],
        }
        assert (message["topic"], value["ts_ms"]) == (f"{row['schema']}.{row['table']}", source["ts_ms"])


def test_a_new_key_is_a_delete_a_tombstone_and_an_insert(run: Run) -> None:
    done = run("rows", "--format", "debezium", case("mysql-9.7", "workload").logs[0])
    messages = [json.loads(line) for line in done.stdout.splitlines()]
    moves = [number for number, message in enumerate(messages) if "__debezium.newkey" in str(message)]
    assert moves
    for number in moves:
        delete, tombstone, insert = messages[number : number + 3]
        assert (delete["value"]["op"], tombstone["value"], insert["value"]["op"]) == ("d", None, "c")
        assert delete["key"] == tombstone["key"] == insert["headers"]["__debezium.oldkey"]
        assert insert["key"] == delete["headers"]["__debezium.newkey"] != delete["key"]
        assert delete["value"]["source"] == insert["value"]["source"]


def test_unknown_names_are_an_error_that_asks_for_them(run: Run, tmp_path: Path) -> None:
    log = after_definitions(case("mysql-9.7", "mixed").logs[0], tmp_path)
    done = run("rows", "--format", "debezium", log)
    assert (done.returncode, done.stdout) == (2, "")
    assert "does not have the column names of t." in done.stderr
    assert "pass its CREATE TABLE with --ddl FILE" in done.stderr
