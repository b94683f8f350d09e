"""Statistics as a self-contained HTML page.

Data from the log is embedded as JSON that markup cannot terminate, and the script inserts it as text, never
as markup. The notable transactions are shown event by event and byte by byte, within limits.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from time import localtime
from typing import Any

from binlog_kaitai.errors import BinlogError
from binlog_kaitai.log.event_reader import EventReader, ParsedEvent
from binlog_kaitai.render.explanation import Dissection, Leaf, dissect, shown_value
from binlog_kaitai.render.static_page import as_script_data, assemble, read, script_of
from binlog_kaitai.rows.rolled_back_rows import is_readable_again
from binlog_kaitai.statistics.stats_model import Stats, StatsKind, StatsTable, TransactionPlace
from binlog_kaitai.text.output_text import zone_name

#: An object for the page's script.
_Json = dict[str, Any]

#: Maximum number of transactions on the page, of events listed per transaction, and of dissected ones.
_MAX_TRANSACTIONS, _MAX_EVENTS, _MAX_EXPLAINED = 200, 100, 12

#: Maximum number of listed events in total, of their bytes, and of the fields of dissected events.
_MAX_ALL, _MAX_BYTES, _MAX_FIELDS = 6000, 1 << 20, 40_000

#: Larger events are not dissected; this many of their bytes are shown.
_MAX_SIZE, _MAX_SHOWN = 4096, 512


class Details:
    """The transactions in the format of the page's script.

    `transactions`: by ``"file:position"``: a list of events, and the number of omitted ones.
    `texts`: distinct paths and meanings of fields; events refer to them by number.
    `notes`: what the page omits, as text.
    """

    def __init__(self) -> None:
        self.transactions: dict[str, _Json] = {}
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
        reader = EventReader(list(readable.values()), verify_checksums=False)
        for place in stats.notable:
            source = readable.get(place.file)
            if (
                source is None
                or len(details.transactions) >= _MAX_TRANSACTIONS
                or details._listed >= _MAX_ALL
            ):
                continue
            formats = [offset for offset in stats.formats.get(place.file, ()) if offset < place.position]
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

    def _transaction(self, place: TransactionPlace, events: Iterable[ParsedEvent]) -> _Json:
        shown: list[_Json] = []
        explained = 0
        for event in events:
            if event.position >= place.end_position or len(shown) >= _MAX_EVENTS:
                break
            if event.position < place.position:
                continue  # logs without a format description are read from their start
            is_room = explained < _MAX_EXPLAINED and self._fields < _MAX_FIELDS and self._bytes < _MAX_BYTES
            fields = self._event(event, is_room=is_room)
            explained += "hex" in fields
            self._fields += len(fields.get("leaves", ()))
            self._bytes += len(fields.get("hex", "")) // 2
            shown.append(fields)
        self._listed += len(shown)
        return {"events": shown, "left_out": max(place.events - len(shown), 0)}

    def _event(self, event: ParsedEvent, *, is_room: bool) -> _Json:
        fields: _Json = {
            "position": event.position,
            "index": event.payload_index,
            "type": event.type,
            "time": _local(event.fixed_header.timestamp),
            "server": event.fixed_header.server_id,
            "checksum": event.checksum_status,
            "size": len(event.raw),
        }
        if is_room:
            fields["hex"] = event.raw[: _MAX_SIZE if len(event.raw) <= _MAX_SIZE else _MAX_SHOWN].hex()
            if len(event.raw) <= _MAX_SIZE:
                fields["leaves"] = self._leaves(dissect(event))
        return fields

    def _leaves(self, dissection: Dissection) -> list[list[object]]:
        """Offset, size, path, value and meaning of each leaf; ``"bits"`` or ``"="`` if it has no offset."""
        rows: list[tuple[int | str, Leaf]] = []
        for leaf in dissection.leaves:
            rows.append((leaf.offset, leaf))
            rows += [("bits", part) for part in leaf.parts]
        rows += [("=", leaf) for leaf in dissection.derived]
        return [
            [place, leaf.size, self._text(leaf.path), shown_value(leaf), self._text(leaf.meaning)]
            for place, leaf in rows
        ]

    def _text(self, text: str) -> int:
        return self._texts.setdefault(text, len(self._texts))


_SCRIPTS = ("base.js", "tables.js", "timeline.js", "detail.js", "bars.js", "main.js")

#: Maximum number of rows per table on the page.
_MAX_ROWS = 2000


def page(stats: Stats, version: str) -> bytes:
    """The page, as UTF-8; `version` is the package's."""
    script = script_of(*(read("statistics/html", name) for name in _SCRIPTS))
    return assemble("statistics/html", "Binary log statistics", version, script, _data(stats))


def _data(stats: Stats) -> str:
    details = Details.of(stats)
    times = {name: stats.totals[name] for name in ("first_time", "last_time")}
    is_timed = times["first_time"] is not None
    whole = {
        "files": [source.name for source in stats.sources],
        "zone": zone_name(),
        "totals": {**stats.totals, **{name: _local(value) for name, value in times.items()}},
        "span": times["last_time"] - times["first_time"] if is_timed else 0,
        "step": stats.parts["timeline"].step,
        "parts": [_part(part) for part in stats.parts.values()],
        "transactions": details.transactions,
        "texts": details.texts,
        "error": str(stats.error) if stats.error else None,
        "notes": details.notes,
    }
    return as_script_data("data", whole)


def _part(part: StatsTable) -> _Json:
    rows: Sequence[Sequence[Any]] = part.rows if part.name == "timeline" else part.rows[:_MAX_ROWS]
    left_out = part.left_out + len(part.rows) - len(rows)
    are_times = [column.kind is StatsKind.TIME for column in part.columns]
    if any(are_times):
        rows = [
            [_local(value) if is_time else value for value, is_time in zip(row, are_times, strict=True)]
            for row in rows
        ]
    return {
        "name": part.name,
        "title": part.title,
        "columns": [[column.name, column.kind.value] for column in part.columns],
        "rows": rows,
        "left_out": left_out,
    }


def _local(seconds: int | None) -> int | None:
    """A time as seconds since 1970 on local clocks, which the page prints like UTC; None and 0 stay."""
    return seconds + localtime(seconds).tm_gmtoff if seconds else seconds
