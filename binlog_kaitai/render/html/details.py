"""Selects the notable transactions that the page shows event by event and byte by byte, within limits."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from binlog_kaitai.errors import BinlogError
from binlog_kaitai.log.event_reader import Event, LogReader
from binlog_kaitai.render.explain import shown_value
from binlog_kaitai.render.leaves import Dissection, Leaf, dissect
from binlog_kaitai.rows.log_definitions import is_readable_again
from binlog_kaitai.statistics.model import Place, Stats

#: Maximum number of transactions on the page, of events listed per transaction, and of dissected ones.
_MAX_TRANSACTIONS, _MAX_EVENTS, _MAX_EXPLAINED = 200, 100, 12

#: Maximum number of listed events in total, of their bytes, and of the fields of dissected events.
_MAX_ALL, _MAX_BYTES, _MAX_FIELDS = 6000, 1 << 20, 40_000

#: Larger events are not dissected; this many of their bytes are shown.
_MAX_SIZE, _MAX_SHOWN = 4096, 512


class Details:
    """The transactions in the format of the page's script.

    Attributes
    ----------
    transactions : dict
        By ``"file:position"``: a list of events, and the number of omitted ones.
    texts : list of str
        Distinct paths and meanings of fields; events refer to them by number.
    notes : list of str
        What the page omits, as text.
    """

    def __init__(self) -> None:
        self.transactions: dict[str, dict[str, Any]] = {}
        self.notes: list[str] = []
        self._texts: dict[str, int] = {}
        self._listed = self._fields = self._bytes = 0

    @property
    def texts(self) -> list[str]:
        return list(self._texts)

    @classmethod
    def of(cls, stats: Stats) -> Details:
        """Read the notable transactions of the logs again."""
        details = cls()
        readable = {source.name: source for source in stats.sources if is_readable_again(source)}
        reader = LogReader(list(readable.values()), verify_checksums=False)
        for place in stats.notable:
            source = readable.get(place.file)
            if (
                source is None
                or len(details.transactions) >= _MAX_TRANSACTIONS
                or details._listed >= _MAX_ALL
            ):
                continue
            formats = [at for at in stats.formats.get(place.file, ()) if at < place.position]
            key = f"{place.file}:{place.position}"
            with reader, suppress(BinlogError):
                # The previous pass has reported damage; here it is only skipped.
                events = reader.read_from(source, [*formats, place.position] if formats else [])
                details.transactions[key] = details._transaction(place, events)
        details._say(stats, len(readable))
        return details

    def _say(self, stats: Stats, readable: int) -> None:
        if readable < len(stats.sources):
            self.notes.append(
                "Transactions from stdin cannot be opened, since a stream cannot be read twice."
            )
        shown, count = len(self.transactions), stats.totals["transactions"]
        if shown < count:
            self.notes.append(
                f"{shown:,} of {count:,} transactions can be opened: the biggest, the longest, those with "
                "the most rows, DDL, those after long gaps, the biggest of each table, and the first."
            )

    def _transaction(self, place: Place, events: Any) -> dict[str, Any]:
        found: list[dict[str, Any]] = []
        explained = 0
        for event in events:
            if event.position >= place.end_position or len(found) >= _MAX_EVENTS:
                break
            if event.position < place.position:
                continue  # logs without a format description are read from their start
            is_room = explained < _MAX_EXPLAINED and self._fields < _MAX_FIELDS and self._bytes < _MAX_BYTES
            one = self._event(event, is_room=is_room)
            explained += "hex" in one
            self._fields += len(one.get("leaves", ()))
            self._bytes += len(one.get("hex", "")) // 2
            found.append(one)
        self._listed += len(found)
        return {"events": found, "left_out": max(place.events - len(found), 0)}

    def _event(self, event: Event, *, is_room: bool) -> dict[str, Any]:
        one: dict[str, Any] = {
            "position": event.position,
            "index": event.payload_index,
            "type": event.type,
            "time": event.fixed_header.timestamp,
            "server": event.fixed_header.server_id,
            "checksum": event.checksum_status,
            "size": len(event.raw),
        }
        if is_room:
            one["hex"] = event.raw[: _MAX_SIZE if len(event.raw) <= _MAX_SIZE else _MAX_SHOWN].hex()
            if len(event.raw) <= _MAX_SIZE:
                one["leaves"] = self._leaves(dissect(event))
        return one

    def _leaves(self, dissection: Dissection) -> list[list[Any]]:
        """Offset, size, path, value and meaning of each leaf; ``"bits"`` or ``"="`` if it has no offset."""
        found: list[tuple[int | str, Leaf]] = []
        for leaf in dissection.leaves:
            found.append((leaf.offset, leaf))
            found += [("bits", part) for part in leaf.parts]
        found += [("=", leaf) for leaf in dissection.derived]
        return [
            [place, leaf.size, self._text(leaf.path), shown_value(leaf), self._text(leaf.meaning)]
            for place, leaf in found
        ]

    def _text(self, text: str) -> int:
        return self._texts.setdefault(text, len(self._texts))
