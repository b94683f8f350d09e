"""Rows of arbitrary bytes: values, or a BinlogError that names position, table and column."""

from __future__ import annotations

import copy
import time
from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import binlog_kaitai as bk
from binlog_kaitai.core.grammar import header_offset, parse_event
from binlog_kaitai.log.event_reader import ParsedEvent
from binlog_kaitai.log.event_rows import has_rows, rows_of, schema_of, to_json
from tests import corpus_files
from tests.extent import rounds
from tests.row_objects import row_object

CASES = (
    "mysql-9.7/types_metadata",
    "mysql-9.7/json_partial",
    "mariadb-11.8/types_full",
    "mariadb-10.5/types_compressed",
)
MOST_SECONDS = 10.0
FEW = settings(max_examples=rounds(150, 50), deadline=None, suppress_health_check=list(HealthCheck))


@cache
def rows_events() -> tuple[ParsedEvent, ...]:
    """One event for each table and type of event."""
    found: dict[object, ParsedEvent] = {}
    for name in CASES:
        one = corpus_files.case(*name.split("/"))
        with bk.open(one.logs) as log:
            for event in log:
                if has_rows(event) and event.table_map and len(event.raw) < 20_000:
                    found.setdefault((name, event.type, event.table_map.table_name), event)
    return tuple(found.values())


def changed(event: ParsedEvent, raw: bytes) -> ParsedEvent:
    other = copy.copy(event)
    other.__dict__.pop("parsed", None)
    offset = header_offset("len_event")
    other.raw = raw[:offset] + len(raw).to_bytes(4, "little") + raw[offset + 4 :]
    return other


def read(event: ParsedEvent) -> bk.BinlogError | None:
    """Read all rows of an event; the error that stopped it."""
    started = time.monotonic()
    error = None
    try:
        for row in rows_of(event):
            to_json(row_object(event, row))
    except bk.BinlogError as found:
        error = found
        assert (error.file, error.position, error.event_type) == (event.file, event.position, event.type)
    assert time.monotonic() - started < MOST_SECONDS
    return error


@FEW
@given(st.data())
def test_changed_bytes_give_rows_or_one_error(data: st.DataObject) -> None:
    event = data.draw(st.sampled_from(rows_events()))
    raw = bytearray(event.raw)
    for _ in range(data.draw(st.integers(1, 4))):
        raw[data.draw(st.integers(event.layout.header_length + 8, len(raw) - 1))] = data.draw(
            st.integers(0, 255)
        )
    read(changed(event, bytes(raw)))


@FEW
@given(st.data())
def test_random_images_give_rows_or_one_error(data: st.DataObject) -> None:
    event = data.draw(st.sampled_from(rows_events()))
    images = getattr(event.body, "images", b"")
    after = 4 if event.layout.is_checksummed and event.payload_index is None else 0
    start = len(event.raw) - len(images) - after
    noise = data.draw(st.binary(max_size=300))
    error = read(changed(event, event.raw[:start] + noise + event.raw[len(event.raw) - after :]))
    if error is not None and error.field is not None and not error.field.startswith("body."):
        assert schema_of(event).full_name in error.field


@pytest.mark.parametrize(
    "event", rows_events(), ids=lambda event: f"{event.type}-{event.table_map.table_name}"
)
def test_rows_cut_short_name_the_table(event: ParsedEvent) -> None:
    after = event.raw[-4:] if event.layout.is_checksummed and event.payload_index is None else b""
    end = len(event.raw) - len(after)
    for size in (1, 2):
        error = read(changed(event, event.raw[: end - size] + after))
        assert error is not None
        if hasattr(event.body, "images"):
            assert schema_of(event).full_name in (error.field or "")


@FEW
@given(st.data())
def test_changed_table_maps_give_rows_or_one_error(data: st.DataObject) -> None:
    event = data.draw(st.sampled_from(rows_events()))
    with bk.open(event.file) as log:
        map_event = next(
            one for one in log
            if one.type == "TABLE_MAP_EVENT" and one.body.table_name == event.table_map.table_name  # type: ignore[union-attr]
        )  # fmt: skip
    raw = bytearray(map_event.raw)
    for _ in range(data.draw(st.integers(1, 3))):
        raw[data.draw(st.integers(event.layout.header_length + 8, len(raw) - 5))] = data.draw(
            st.integers(0, 255)
        )
    try:
        content: Any = parse_event(bytes(raw), map_event.type_code, map_event.layout).body.content
    except bk.BinlogError:
        return
    other = changed(event, event.raw)
    other.table_map = content
    read(other)


def test_missing_table_map() -> None:
    event = changed(rows_events()[0], rows_events()[0].raw)
    event.table_map = None
    error = read(event)
    assert error is not None
    assert "table map" in error.reason
