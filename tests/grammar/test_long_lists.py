"""A list of many items in few bytes, which compress to nothing: it is limited, or one field of bytes."""

from __future__ import annotations

import struct
import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest

from binlog_kaitai.core.grammar import EventType, Format, header_length, parse_event
from binlog_kaitai.errors import GrammarError
from tests.grammar.row_bytes import table_map_bytes

SIZE = 1 << 20
ZEROS = bytes(SIZE)
VERSION_4 = Format(4, header_length(4), False, False, tuple([8] * 18 + [8] + [0] * 20))
VERSION_3 = Format(3, header_length(3), False, False, ())


def parse(kind: EventType, body: bytes, layout: Format = VERSION_4) -> Any:
    header = struct.pack("<IBIIIH", 1, kind, 1, header_length(4) + len(body), 0, 0)
    return parse_event(header + body, kind, layout).body.content


def metadata(kind: int, data: bytes) -> bytes:
    """A table map of two columns with a field of optional metadata."""
    field = bytes([kind, 254]) + struct.pack("<Q", len(data)) + data
    return table_map_bytes([3, 3], optional=field)


def user_variable(tail: bytes) -> bytes:
    return struct.pack("<I1sBBIIq", 1, b"a", 0, 2, 63, 8, 5) + tail


@pytest.fixture(autouse=True)
def _memory_is_bounded() -> Iterator[None]:
    """An object takes about 500 bytes, so one for each byte would take six times as much."""
    tracemalloc.start()
    yield
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 80 * SIZE


def test_bytes_after_the_value_of_a_user_variable() -> None:
    body = parse(EventType.user_var_event, user_variable(ZEROS))
    assert (body.value.number, body.is_unsigned) == (5, False)
    assert body.unknown_tail == ZEROS[2:]


@pytest.mark.parametrize("kind", [1, 12], ids=["signedness", "visibility"])
def test_bitmaps_are_bytes(kind: int) -> None:
    body = parse(EventType.table_map_event, metadata(kind, ZEROS))
    assert body.optional_metadata[0].value.bits == ZEROS


@pytest.mark.parametrize("kind", [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13])
def test_lists_have_no_more_items_than_the_table_has_columns(kind: int) -> None:
    with pytest.raises(GrammarError, match="impossible value") as caught:
        parse(EventType.table_map_event, metadata(kind, ZEROS))
    assert "refusal" in str(caught.value.field)


def test_members_of_an_enum() -> None:
    """65,535 at most in a column; two columns may have as many."""
    full = b"\xfc\xff\xff" + bytes(65_535)
    body = parse(EventType.table_map_event, metadata(6, full))
    assert len(body.optional_metadata[0].value.columns[0].members) == 65_535
    with pytest.raises(GrammarError, match="impossible value"):
        parse(EventType.table_map_event, metadata(6, b"\xfd\xff\xff\x0f" + ZEROS))


def test_fields_of_a_table_map() -> None:
    with pytest.raises(GrammarError, match="impossible value"):
        parse(EventType.table_map_event, table_map_bytes([3], optional=ZEROS))


@pytest.mark.parametrize("count", [b"\xfd\xff\xff\x0f", b"\xfe" + b"\xff" * 8])
def test_columns_of_a_table(count: bytes) -> None:
    start = bytes.fromhex("070000000000 0100 01 73 00 01 74 00")
    with pytest.raises(GrammarError, match="impossible value") as caught:
        parse(EventType.table_map_event, start + count + ZEROS)
    assert caught.value.field == "body.refusal"


@pytest.mark.parametrize("kind", [EventType.transaction_payload_event, EventType.heartbeat_log_event_v2])
def test_fields_before_an_end_marker(kind: EventType) -> None:
    with pytest.raises(GrammarError, match="impossible value"):
        parse(kind, b"\x09\x00" * (SIZE // 2))


def test_columns_of_an_old_load_data() -> None:
    fixed = struct.pack("<IIIBBI", 1, 0, 0, 1, 1, SIZE)
    with pytest.raises(GrammarError, match="impossible value") as caught:
        parse(EventType.load_event, fixed + ZEROS + ZEROS)
    assert caught.value.field == "body.num_fields"
