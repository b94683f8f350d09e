"""Invalid rows: the columns raise what the reader raises, and never read out of bounds."""

from __future__ import annotations

import random
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import binlog_kaitai as bk
from binlog_kaitai.core.grammar import EventType, TableMapEvent, parse_cell
from binlog_kaitai.text.float_texts import LEFT
from binlog_kaitai.text.json_kernels import LEVEL, MAX_DEPTH, put_document
from binlog_kaitai.values.representations import value_of
from binlog_kaitai.values.schema import Schema
from tests.corpus_files import case, cases
from tests.extent import rounds
from tests.grammar.row_bytes import field, table_map_bytes
from tests.log_maker import LogMaker, events_of
from tests.rows.test_rows_corpus import by_columns, by_reader

_CASES = (
    "mysql-9.7/types_full",
    "mysql-9.7/types_minimal",
    "mysql-9.7/json_partial",
    "mariadb-11.8/types_full",
)
_ROWS = (
    EventType.write_rows_event, EventType.update_rows_event, EventType.delete_rows_event,
    EventType.partial_update_rows_event, EventType.write_rows_event_v1, EventType.update_rows_event_v1,
)  # fmt: skip


def mutated(raw: bytes, chance: random.Random) -> bytes:
    data = bytearray(raw)
    for _ in range(chance.choice((1, 1, 2, 8))):
        place = chance.randrange(19, len(data))
        data[place] = chance.choice((0, 1, 0x7F, 0x80, 0xFC, 0xFF, chance.randrange(256)))
    return bytes(data)


@pytest.mark.parametrize("name", _CASES)
def test_mutated_rows_give_the_same_as_the_reader(name: str, tmp_path: Any) -> None:
    chance = random.Random(name)
    folder = case(*name.split("/"))
    for log in folder.logs[:1]:
        events = list(bk.open(log))
        head = log.read_bytes()[:4]
        outer = [event for event in events if event.payload_index is None]
        rows = [at for at, event in enumerate(outer) if event.layout.effective_type(event.type_code) in _ROWS]
        for _ in range(rounds(25, 2)):
            target = chance.choice(rows)
            path = tmp_path / "binlog.000001"
            path.write_bytes(head + b"".join(_up_to(outer, target, chance)))
            found, expected = list(by_columns(path)), list(by_reader(path))
            assert found == expected


def _up_to(events: list[bk.Event], target: int, chance: random.Random) -> list[bytes]:
    pieces = []
    for at, event in enumerate(events[: target + 1]):
        raw = event.raw
        if at == target:
            raw = mutated(raw[:-4], chance)  # the checksum is made to fit
            raw += zlib.crc32(raw).to_bytes(4, "little")
        pieces.append(raw)
    return pieces


def _documents() -> list[tuple[TableMapEvent, Schema, int, bytes]]:
    found = []
    for sample in cases("mysql-9.7"):
        if sample.folder.name not in ("types_full", "json_partial"):
            continue
        for event in bk.open(sample.logs[0]):
            if event.table_map is None or not getattr(event.body, "rows", None):
                continue
            schema = Schema.of(event.table_map)
            for row in event.body.rows:
                for image in (row.before, row.after):
                    for cell, column in zip(image.cells if image else [], schema.columns, strict=False):
                        if (
                            column.type == 245
                            and cell.has_value
                            and not cell.is_partial
                            and cell.value.document
                        ):
                            raw = bytes(cell.value._raw_document)
                            found.append((event.table_map, schema, column.index, raw))
    return found


@pytest.mark.parametrize("mode", ["plain", "compiled"])
def test_mutated_documents_are_the_same_text_or_left_to_the_reader(mode: str) -> None:
    chance = random.Random(1)
    put = getattr(put_document, mode)
    samples = _documents()
    assert samples
    stack = np.empty(MAX_DEPTH * LEVEL, dtype=np.int64)
    made = 0
    for _ in range(rounds(1500, 300)):
        table_map, schema, index, raw = chance.choice(samples)
        data = bytearray(raw)
        for _ in range(chance.choice((0, 1, 1, 2, 5))):
            data[chance.randrange(len(data))] = chance.choice(
                (0, 1, 2, 0x0C, 0x7F, 0xFF, chance.randrange(256))
            )
        size = schema.columns[index].length_size
        try:
            cell = parse_cell(table_map, index, len(data).to_bytes(size, "little") + bytes(data))
            expected = str(value_of(cell, schema.columns[index])).encode("utf-8", "surrogateescape")
        except Exception:  # generated code on hostile bytes
            expected = None
        out = np.empty(20 * len(data) + 400, dtype=np.uint8)
        array = np.frombuffer(bytes(data), dtype=np.uint8)
        end, _ = put(array, 0, len(array), out, 0, stack, out[:0], 0)
        if end == LEFT:
            continue
        made += 1
        assert bytes(out[:end]) == expected
    assert made > rounds(300, 60)


@pytest.mark.parametrize("size", range(6))
def test_a_geometry_is_its_bytes_however_few(size: int, tmp_path: Path) -> None:
    layout, groups = events_of(case("mysql-9.7", "no_checksum").logs[0])
    maker = LogMaker(layout)
    maker.add_all(groups[0])
    maker.add(row_event(EventType.table_map_event, table_map_bytes([255], "01")))
    value = bytes(range(size))
    row = bytes.fromhex("070000000000 0100 0200 01 ff 00") + bytes([size]) + value
    maker.add(row_event(EventType.write_rows_event, row))
    log = maker.write(tmp_path / "binlog.000001")
    assert bk.read_changes(log, table="s.t").read_all()["c1"].to_pylist() == [value]
    assert list(by_columns(log)) == list(by_reader(log))


def row_event(kind: EventType, body: bytes) -> bytes:
    return bytes(4) + bytes([kind]) + (1).to_bytes(4, "little") + bytes(10) + body


def test_a_name_of_a_column_that_is_no_text_is_escaped(tmp_path: Path) -> None:
    layout, groups = events_of(case("mysql-9.7", "no_checksum").logs[0])
    maker = LogMaker(layout)
    maker.add_all(groups[0])
    maker.add(row_event(EventType.table_map_event, table_map_bytes([1], optional=field(4, b"\x02a\xff"))))
    maker.add(row_event(EventType.write_rows_event, bytes.fromhex("070000000000 0100 0200 01 ff 00 05")))
    table = bk.read_changes(maker.write(tmp_path / "binlog.000001"), table="s.t").read_all()
    assert table["a\\udcff"].to_pylist() == [5]


def test_extra_data_that_cannot_be_read_is_refused_as_the_reader_refuses_it(tmp_path: Any) -> None:
    """Rows of partitioned tables have a chunk of it; here the type of one is that of NDB, which is longer."""
    layout, groups = events_of(case("mysql-9.7", "partitions").logs[0])
    log, changed = LogMaker(layout), 0
    for raw in (bytearray(raw) for group in groups for raw in group):
        if raw[4] == EventType.write_rows_event and raw[27] > 2 and not changed:
            raw[29], changed = 0, changed + 1
        log.add(bytes(raw))
    assert changed
    path = log.write(tmp_path / "binlog.000001")
    found, expected = list(by_columns(path)), list(by_reader(path))
    assert found == expected
    with pytest.raises(bk.DamagedError, match=r"WRITE_ROWS_EVENT, field body.extra_data"):
        list(bk.read_changes(path))
