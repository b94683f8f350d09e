"""Rows events in pieces, as written by MariaDB 12.3, built from events that are not split."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from typing import Any

import pytest

import binlog_kaitai as bk
from binlog_kaitai.check.damage_scan import scan
from binlog_kaitai.core.grammar import ROWS_TYPES, EventType, header_offset
from binlog_kaitai.lines.row_texts import write_rows
from binlog_kaitai.log.event_reader import ParsedEvent
from binlog_kaitai.sources.source import Source
from binlog_kaitai.views.changes_view import read_changes
from binlog_kaitai.views.transactions_view import read_transactions
from tests.core.test_hostile import event_of
from tests.corpus_files import case
from tests.row_objects import row_objects
from tests.support import by_columns, by_reader

LOG = case("mariadb-11.8", "metadata").logs[0]
PIECE = EventType.partial_row_data_event

#: Pieces of a rows event (number, total, data) to what stands in the log.
Change = Callable[[list[bytes]], list[bytes]]


def piece(number: int, total: int, data: bytes, size: int | None = None) -> bytes:
    """The event as the server's source describes it (sql/log_event.h, Partial_rows_log_event)."""
    body = number.to_bytes(4, "little") + total.to_bytes(4, "little")
    body += b"\x00" if size is None else b"\x01" + size.to_bytes(8, "little")
    return event_of(PIECE, body + data)


def split(raw: bytes, count: int) -> list[bytes]:
    """The pieces of an event; its own checksum is in none of them."""
    data = raw[:-4]
    step = len(data) // count + 1
    parts = [data[index : index + step] for index in range(0, len(data), step)]
    assert len(parts) == count
    first, *others = parts
    return [
        piece(1, count, first, len(data)),
        *(piece(number, count, part) for number, part in enumerate(others, 2)),
    ]


def renumbered(events: list[bytes]) -> bytes:
    """A log of these events, each with its own position in the header."""
    out = bytearray(b"\xfebin")
    offset = header_offset("next_position")
    for raw in events:
        end = (len(out) + len(raw)).to_bytes(4, "little")
        data = raw[:offset] + end + raw[offset + 4 : -4]
        out += data + zlib.crc32(data).to_bytes(4, "little")
    return bytes(out)


def in_pieces(count: int, change: Change = lambda pieces: pieces) -> bytes:
    """The log with the third of its rows events in pieces."""
    with bk.open(LOG) as reader:
        events = list(reader)
    third = [event for event in events if event.type_code in ROWS_TYPES][2]
    raws: list[bytes] = []
    for event in events:
        raws += change(split(event.raw, count)) if event is third else [event.raw]
    return renumbered(raws)


def rows_by_reader(source: Any) -> list[dict[str, Any]]:
    with bk.open(source) as reader:
        return [row for event in reader for row in row_objects(event)]


def without_position(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{key: value for key, value in row.items() if key not in ("file", "position")} for row in rows]


@pytest.mark.parametrize("count", [1, 2, 6])
def test_the_joined_event_has_the_rows_of_the_whole_one(count: int) -> None:
    found = rows_by_reader(in_pieces(count))
    assert without_position(found) == without_position(rows_by_reader(LOG))


def test_the_joined_event_follows_its_last_piece() -> None:
    with bk.open(in_pieces(3)) as reader:
        events: list[ParsedEvent] = list(reader)
    index = next(index for index, event in enumerate(events) if event.payload_index is not None)
    assert [event.type_code for event in events[index - 3 : index]] == [PIECE] * 3
    joined, last = events[index], events[index - 1]
    assert joined.type_code in ROWS_TYPES
    assert (joined.position, joined.end_position) == (last.position, last.end_position)
    assert joined.checksum_status == "none"
    assert joined.table_map is not None
    assert joined.gtid == last.gtid


def test_a_checksum_and_a_size_that_counts_one_do_no_harm() -> None:
    """Whether the pieces have the event's own checksum is known from no real log."""

    def change(pieces: list[bytes]) -> list[bytes]:
        return split(whole + zlib.crc32(whole).to_bytes(4, "little") + bytes(4), 3)

    with bk.open(LOG) as reader:
        whole = [event.raw[:-4] for event in reader if event.type_code in ROWS_TYPES][2]
    assert without_position(rows_by_reader(in_pieces(3, change))) == without_position(rows_by_reader(LOG))


@pytest.mark.parametrize("block_size", [4 << 20, 300])
def test_columns_give_what_the_reader_gives(block_size: int) -> None:
    data = in_pieces(5)
    lines, error = by_columns(data, block_size=block_size)
    assert error is None
    assert lines == by_reader(data)[0]


def test_rows_changes_and_transactions_have_the_joined_event() -> None:
    data = in_pieces(5)
    found, wanted = (
        [json.loads(line) for buffer in write_rows(one) for line in bytes(buffer).decode().splitlines()]
        for one in (data, LOG)
    )
    assert without_position(found) == without_position(wanted)
    offsets = {row["position"] for row in rows_by_reader(data)}
    assert {row["position"] for row in found} == offsets
    assert read_changes(data).read_all().num_rows == len(wanted)
    counts = ("rows_inserted", "rows_updated", "rows_deleted")
    whole, split_up = (read_transactions(one).read_all().select(counts) for one in (LOG, data))
    assert split_up.equals(whole)


def test_a_large_joined_event_is_read_as_by_the_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("binlog_kaitai.log.payloads._SMALL", 10)
    data = in_pieces(2)
    assert by_columns(data) == by_reader(data)


def test_a_sound_log_of_pieces_is_verified() -> None:
    report = scan(Source.of_bytes(in_pieces(4)))
    assert report.damages == []
    assert report.inner_events == 1


BROKEN: dict[str, tuple[Change, str]] = {
    "one is missing": (lambda p: [p[0], p[2]], "is piece 3 of 3 of a rows event; 1 of 3 pieces were found"),
    "the first is missing": (lambda p: p[1:], "is piece 2 of 3 of a rows event; the first is missing"),
    "in another order": (lambda p: [p[1], p[0], p[2]], "the first is missing"),
    "of another event": (lambda p: [p[0], piece(2, 4, b"x"), p[2]], "is piece 2 of 4"),
    "another begins": (lambda p: [p[0], *p], "the one before is incomplete: 1 of 3 pieces were found"),
    "something between": (lambda p: [p[0], event_of(3, b""), *p[1:]], "interrupts the pieces"),
    "too long": (lambda p: [piece(1, 3, b"x" * 9, 9), piece(2, 3, b"y"), p[2]], "the pieces have 10 bytes"),
    "no event": (lambda p: [piece(1, 1, b"x" * 5)], "not contain a complete event header"),
    "no rows": (lambda p: [piece(1, 1, event_of(3, b""))], "form a STOP_EVENT, which is not a rows event"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_sequence_is_reported_with_its_position(name: str) -> None:
    change, reason = BROKEN[name]
    data = in_pieces(3, change)
    with pytest.raises(bk.BinlogError, match=reason) as caught, bk.open(data) as reader:
        for _ in reader:
            pass
    assert caught.value.file == "<bytes>"
    assert caught.value.position
    assert by_columns(data) == by_reader(data)
    with pytest.raises(bk.BinlogError, match=reason):
        list(write_rows(data))
    assert any(reason in str(error) for error in scan(Source.of_bytes(data)).damages)


def test_a_log_that_ends_between_pieces() -> None:
    data = in_pieces(3)
    with bk.open(data) as reader:
        last = next(event for event in reader if event.payload_index is not None)
    cut = data[: last.position]
    reason = "ends between the pieces of a rows event: 2 of 3 pieces were found"
    with pytest.raises(bk.BinlogError, match=reason):
        rows_by_reader(cut)
    with pytest.raises(bk.BinlogError, match=reason):
        list(write_rows(cut))
    assert any(reason in str(error) for error in scan(Source.of_bytes(cut)).damages)
