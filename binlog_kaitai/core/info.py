"""The main fields of one event, as listings show them."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from math import isfinite

from binlog_kaitai.core.adapter import BINARY_COLLATION, decimal_text, gtid_set
from binlog_kaitai.core.event_types import INFO_FIELDS, InfoField
from binlog_kaitai.core.grammar import BinlogEvent, UserVarEvent
from binlog_kaitai.core.transactions import mariadb_gtid
from binlog_kaitai.core.tree import Node

#: The values a listing can contain.
Plain = int | float | str | bool | None | dict[str, str]


def info_of(event: BinlogEvent) -> dict[str, Plain]:
    """The main fields of one event by name; empty for types without any.

    Enumerations are shown by name, bytes as ``{"hex": …}``, absent fields as None.
    """
    body = event.body.content
    return {field.name: _value(body, field) for field in INFO_FIELDS.get(int(event.event_type.value), ())}


def _value(body: Node, field: InfoField) -> Plain:
    if field.is_function:
        return _FUNCTIONS[field.path](body)
    value = body
    for name in field.path.split("."):
        if value is None:
            return None
        value = getattr(value, name)
    return len(value) if field.is_length else plain(value)


def plain(value: object) -> Plain:
    """A grammar value in a form that JSON can represent; infinities and NaN become text."""
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, bytes):
        return {"hex": value.hex()}
    if isinstance(value, float) and not isfinite(value):
        return str(value)
    return value  # type: ignore[return-value]


def _user_variable(body: Node) -> Plain:
    if body.is_null:
        return None
    value = body.value
    match body.value_type:
        case UserVarEvent.ResultType.int:
            return int(value.unsigned_number if body.is_unsigned else value.number)
        case UserVarEvent.ResultType.real:
            return plain(value.number)
        case UserVarEvent.ResultType.decimal:
            return decimal_text(value.digits, value.precision, value.scale)
        case UserVarEvent.ResultType.string if body.collation_id != BINARY_COLLATION:
            return str(value.data.decode("utf-8", "surrogateescape"))
    return plain(value.data)


def _heartbeat(name: str) -> Callable[[Node], Plain]:
    def find(body: Node) -> Plain:
        values = (getattr(getattr(field, "value", None), name, None) for field in body.fields)
        value = next((value for value in values if value is not None), None)
        return plain(getattr(value, "value", value))

    return find


_FUNCTIONS: dict[str, Callable[[Node], Plain]] = {
    "user_variable": _user_variable,
    "gtid_set": lambda body: str(gtid_set(body.gtids)),
    "gtid_list": lambda body: ",".join(
        mariadb_gtid(gtid.domain_id, gtid.server_id, gtid.sequence_number) for gtid in body.gtids
    ),
    "heartbeat_log": _heartbeat("log"),
    "heartbeat_position": _heartbeat("position"),
}
