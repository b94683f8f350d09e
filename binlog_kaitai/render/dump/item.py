"""One event to print, in the form the client sees."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from zlib_ng.zlib_ng import crc32

from binlog_kaitai.core.adapter import stored_checksum
from binlog_kaitai.core.framing import resized
from binlog_kaitai.core.grammar import CHECKSUM_SIZE, EventType
from binlog_kaitai.log.event_reader import Event
from binlog_kaitai.render.dump.fields import Values


@dataclass(slots=True)
class Item:
    """An event, with the values the client prints instead of those in the log.

    Attributes
    ----------
    position : int
        The value after ``# at``.
    end_position : int
        The value after ``end_log_pos``.
    raw : bytes
        The bytes for base64 and hexdump.
    checksum : int or None
        The printed checksum; None for none.
    """

    event: Event
    kind: int
    position: int
    end_position: int
    raw: bytes
    checksum: int | None
    _values: Values | None = field(default=None, init=False)
    _status: dict[str, Any] | None = field(default=None, init=False)

    @property
    def values(self) -> Values:
        """The fields of its text."""
        if self._values is None:
            self._values = Values(self)
        return self._values

    @property
    def status(self) -> dict[str, Any]:
        """The status variables of a statement by the grammar's names, without unknown ones."""
        if self._status is None:
            found = self.event.body.status_vars
            variables = () if found is None else found.variables
            self._status = {one.key.name: one.value for one in variables if hasattr(one.key, "name")}
        return self._status

    @property
    def timestamp(self) -> int:
        return self.event.fixed_header.timestamp


def item_of(event: Event) -> Item:
    """An event of the log itself."""
    header, layout = event.fixed_header, event.layout
    kind = layout.effective_type(event.type_code)
    checksum = stored_checksum(event.raw) if _shows_checksum(event, kind) else None
    end = header.next_position
    if layout.binlog_version == 3 and end:
        end += header.len_event  # such headers contain the start position
    return Item(event, kind, event.position, end, event.raw, checksum)


def _shows_checksum(event: Event, kind: int) -> bool:
    # The event that turns checksums off has one.
    if kind == EventType.format_description_event:
        return bool(event.body.has_checksums)
    return event.checksum_status != "none"


def inner_item(event: Event, outer: Item) -> Item:
    """An event inside a transaction payload: the client adds the missing checksum."""
    kind = event.layout.effective_type(event.type_code)
    place = outer.end_position
    if outer.checksum is None:
        return Item(event, kind, place, outer.end_position, event.raw, None)
    covered = resized(event.raw, len(event.raw) + CHECKSUM_SIZE)
    checksum = crc32(covered)
    raw = covered + checksum.to_bytes(CHECKSUM_SIZE, "little")
    return Item(event, kind, place, outer.end_position, raw, checksum)
