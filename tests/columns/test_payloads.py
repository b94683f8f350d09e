"""Transactions that unpack to more than one block holds."""

from __future__ import annotations

import json
from functools import cache

import pytest
import zstandard

import binlog_kaitai as bk
from binlog_kaitai.columns.batches import read_events
from binlog_kaitai.columns.changes import read_changes
from binlog_kaitai.columns.row_objects import write_rows
from binlog_kaitai.columns.verify.scan import scan
from binlog_kaitai.errors import GrammarError
from binlog_kaitai.rows import has_rows, rows_of
from binlog_kaitai.sources import Source
from tests.columns.support import by_columns
from tests.core.test_hostile import event_of
from tests.corpus_files import case

LOG = case("mysql-9.7", "types_payload").logs[0]
SIZE = 5 << 20
PAYLOAD_EVENT = 40


@cache
def large() -> tuple[bytes, int]:
    """A log whose one compressed transaction, real events again and again, unpacks to more than SIZE."""
    with bk.open(LOG) as reader:
        events = list(reader)
    outer = next(event for event in events if event.type_code == PAYLOAD_EVENT)
    inner = [event.raw for event in events if event.payload_index is not None]
    unpacked = b"".join(inner)
    times = SIZE // len(unpacked) + 1
    packed = zstandard.ZstdCompressor().compress(unpacked * times)
    size = b"\x03\x09\xfe" + (times * len(unpacked)).to_bytes(8, "little")
    body = b"\x02\x01\x00" + size + b"\x00" + packed
    data = LOG.read_bytes()[: outer.position] + event_of(PAYLOAD_EVENT, body)
    return data, times * len(inner)


def by_reader(data: bytes) -> tuple[list[tuple[int, str, int]], str | None]:
    found = []
    try:
        with bk.open(data, verify_checksums=False) as reader:
            for event in reader:
                found.append((event.position, event.type, len(event.raw)))
    except bk.BinlogError as error:
        return found, str(error)
    return found, None


def test_a_large_payload_is_read_as_by_the_reader() -> None:
    data, count = large()
    wanted, _ = by_reader(data)
    assert len(wanted) > count
    lines, error = by_columns(data)
    assert error is None
    rows = [json.loads(line) for line in lines]
    assert [(row["position"], row["type"], row["size"]) for row in rows] == wanted
    assert sum(batch.num_rows for batch in read_events(data)) == len(wanted)


def test_a_large_payload_is_verified() -> None:
    data, count = large()
    report = scan(Source.of_bytes(data))
    assert report.damages == []
    assert report.inner_events == count


@pytest.mark.parametrize("behind", [30, 400, 2_000])
def test_damage_in_a_large_payload_is_told_as_by_the_reader(behind: int) -> None:
    data = bytearray(large()[0])
    data[-behind] ^= 0x10
    _, message = by_reader(bytes(data))
    assert message is not None
    assert by_columns(bytes(data), verify_checksums=False)[1] == message
    errors = scan(Source.of_bytes(bytes(data))).damages
    assert message in [str(error) for error in errors if isinstance(error, GrammarError)]


def test_no_more_is_unpacked_than_a_payload_declares() -> None:
    rotate = bytes(4) + b"\x05" + bytes(4) + (32).to_bytes(4, "little") + bytes(6) + b"\x02" + bytes(12)
    unpacker = zstandard.ZstdCompressor().compressobj()
    packed = b"".join(unpacker.compress(rotate * 10_000) for _ in range(10_000)) + unpacker.flush()
    declared = 3 * len(rotate)
    body = b"\x02\x01\x00\x03\x01" + bytes([declared]) + b"\x00" + packed
    with bk.open(LOG) as reader:
        data = LOG.read_bytes()[: next(iter(reader)).end_position] + event_of(PAYLOAD_EVENT, body)
    found, message = by_reader(data)
    assert [size for _, _, size in found[2:]] == [len(rotate)] * 3
    assert message is not None
    assert message.endswith(f"uncompresses to more than the declared {declared} bytes")
    lines, error = by_columns(data, verify_checksums=False)
    assert (len(lines), error) == (len(found), message)


def test_position_and_number_name_one_row() -> None:
    data, _ = large()
    rows = [
        json.loads(line)
        for lines in write_rows(data, verify_checksums=False)
        for line in bytes(lines).splitlines()
    ]
    numbers = [row["row"] for row in rows if row["position"] == rows[-1]["position"]]
    assert numbers == list(range(len(numbers)))
    assert len(numbers) > 1000
    tables = {(row["schema"], row["table"]) for row in rows}
    assert len(tables) > 1
    found = [
        (row["_position"], row["_row"])
        for schema, table in tables
        for row in read_changes(data, table=f"{schema}.{table}", verify_checksums=False)
        .read_all()
        .to_pylist()
        if row["_change_type"] != "update_preimage"
    ]
    assert sorted(found) == [(row["position"], row["row"]) for row in rows]


@pytest.mark.parametrize("step", [2, 3, -1])
def test_the_reader_numbers_rows_whatever_is_looked_at_before(step: int) -> None:
    with bk.open(LOG) as reader:
        events = [event for event in reader if has_rows(event)]
    wanted = {id(event): row.index for event in events for row in rows_of(event)}
    assert max(wanted.values()) > 10
    with bk.open(LOG) as reader:
        again = [event for event in reader if has_rows(event)]
    places = {id(event): id(first) for event, first in zip(again, events, strict=True)}
    for event in again[::step]:
        last = [row.index for row in rows_of(event)][-1]
        assert last == wanted[places[id(event)]]
