"""The main fields of one event, as listings show them."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any

from binlog_kaitai.event_types import INFO_FIELDS, InfoField
from binlog_kaitai.grammar import BinlogEvent

#: What a value of a listing may be.
Plain = int | float | str | bool | None | dict[str, str]


def info_of(event: BinlogEvent) -> dict[str, Plain]:
    """The main fields of an event by name; empty for types without any.

    Enumerations are shown by name, bytes as ``{"hex": …}``, absent fields as None.
    """
    body = event.body.content
    return {field.name: _value(body, field) for field in INFO_FIELDS.get(int(event.event_type.value), ())}


def _value(body: Any, field: InfoField) -> Plain:
    if field.is_function:
        return _FUNCTIONS[field.path](body)
    value: Any = body
    for name in field.path.split("."):
        if value is None:
            return None
        value = getattr(value, name)
    return len(value) if field.is_length else plain(value)


def plain(value: Any) -> Plain:
    """A value of the grammar as JSON can hold it."""
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, bytes):
        return {"hex": value.hex()}
    return value  # type: ignore[no-any-return]


_FUNCTIONS: dict[str, Callable[[Any], Plain]] = {}
