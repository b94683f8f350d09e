"""Limits of the memory that a log can request, and the errors if there is too little."""

from __future__ import annotations

import gc
import random
from functools import partialmethod
from typing import Any, NoReturn
from weakref import WeakSet

import pytest
import zstandard

import binlog_kaitai as bk
from binlog_kaitai.check.damage_scan import scan
from binlog_kaitai.core import payload
from binlog_kaitai.core.grammar import ColumnType, EventType, header_length, header_offset
from binlog_kaitai.lines.event_lines import EventsPage
from binlog_kaitai.lines.row_texts import write_rows
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.block_reader import BlockReader
from binlog_kaitai.rows import column_cells, fused_columns, image_walk, table_maps
from binlog_kaitai.rows.table_maps import Table, Tables
from binlog_kaitai.sources.source import Source
from tests.corpus_files import case
from tests.dump.dump_ways import make_quick
from tests.grammar.row_bytes import field, table_map_bytes
from tests.log_maker import LogMaker, events_of
from tests.refusals import ENTRIES, refusals
from tests.rows.test_rows_hostile import row_event

#: More than the columns open in one go.
_SIZE = 5 << 20


def log_with_payload(content: bytes) -> tuple[bytes, int]:
    """A log whose only compressed transaction has a ROWS_QUERY event with a text, and the text's offset."""
    layout, groups = events_of(case("mysql-9.7", "payloads").logs[0])
    maker = LogMaker(layout)
    maker.add_all(groups[0])
    inner = bytearray(groups[1][0][: header_length(4)])
    inner[header_offset("type_code")] = EventType.rows_query_log_event
    size = len(inner) + 1 + len(content)
    inner[header_offset("len_event") : header_offset("len_event") + 4] = size.to_bytes(4, "little")
    packed = zstandard.compress(bytes(inner) + b"\0" + content)
    fields = b"".join(
        bytes((kind, 9, 254)) + value.to_bytes(8, "little") for kind, value in ((3, size), (1, len(packed)))
    )
    outer = bytearray(groups[1][0][: header_length(4)])
    outer[header_offset("type_code")] = EventType.transaction_payload_event
    position = len(maker.data)
    maker.add(bytes(outer) + b"\2\1\0" + fields + b"\0" + packed + bytes(4 * layout.is_checksummed))
    return bytes(maker.data), position


@pytest.mark.thorough
def test_an_event_is_unpacked_up_to_a_bound_by_what_is_compressed(monkeypatch: pytest.MonkeyPatch) -> None:
    data, position = log_with_payload(bytes(_SIZE))
    assert refusals(data) == {}
    monkeypatch.setattr(payload, "_UNSUSPICIOUS", 1 << 20)
    found = refusals(data)
    assert set(found) == set(ENTRIES) - {"read_changes(table)"}
    assert {(error.position, error.event_type) for error in found.values()} == {
        (position, "TRANSACTION_PAYLOAD_EVENT")
    }
    assert all("1,048,576 bytes" in error.reason for error in found.values())
    assert [error.position for error in scan(Source.of_bytes(data)).damages] == [position]
    large, _ = log_with_payload(random.Random(1).randbytes(_SIZE))
    assert refusals(large) == {}


def _no_memory(*_: Any) -> NoReturn:
    raise MemoryError("Unable to allocate 1.00 GiB")


def _is_named(error: bk.BinlogError, position: int, kind: str) -> bool:
    is_about_memory = "not enough memory" in error.reason and "1.00 GiB" in error.reason
    return is_about_memory and (error.file, error.position, error.event_type) == ("<bytes>", position, kind)


def test_a_payload_too_large_for_memory_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    data, position = log_with_payload(random.Random(1).randbytes(_SIZE))
    monkeypatch.setattr(payload._Unpacked, "readinto", _no_memory)
    found = refusals(data)
    assert set(found) == set(ENTRIES) - {"read_changes(table)"}
    assert all(_is_named(error, position, "TRANSACTION_PAYLOAD_EVENT") for error in found.values()), found


@pytest.mark.parametrize(
    ("holder", "name", "entry"),
    [
        (EventsPage, "lines", "read_events"),
        (image_walk, "located", "rows"),
        (image_walk, "located", "export"),
    ],
)
def test_the_longest_event_is_named_where_memory_ends(
    holder: Any, name: str, entry: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = case("mysql-9.7", "types_full").logs[0]
    longest = max(bk.open(path), key=lambda event: len(event.raw))
    real = getattr(holder, name)

    def fail(page: Any, *arguments: Any) -> Any:
        # The format description is a block of its own.
        is_first = isinstance(page, EventsPage) and page.block.is_special
        return real(page, *arguments) if is_first else _no_memory()

    monkeypatch.setattr(holder, name, fail)
    with pytest.raises(bk.SourceError) as caught:
        ENTRIES[entry](path.read_bytes())
    assert _is_named(caught.value, longest.position, longest.type), caught.value


@pytest.mark.parametrize("entry", sorted(set(ENTRIES) - {"open", "rows_of"}))
def test_blocks_are_freed_without_the_garbage_collector(entry: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It runs rarely, as a few objects have all the memory of a block."""
    begin, alive, most = Block.__init__, WeakSet[Block](), [0, 0]

    def counted(block: Block, *arguments: Any, **named: Any) -> None:
        begin(block, *arguments, **named)
        alive.add(block)
        most[:] = most[0] + 1, max(most[1], len(alive))

    monkeypatch.setattr(Block, "__init__", counted)
    monkeypatch.setattr(BlockReader, "__init__", partialmethod(_begin_small, BlockReader.__init__))
    make_quick(monkeypatch)
    log = case("mysql-9.7", "types_full").logs[0]
    gc.collect()
    gc.disable()
    try:
        ENTRIES[entry](str(log))
    finally:
        gc.enable()
    count, at_once = most
    assert count > 15
    # One may be held back until its last transaction has ended.
    assert at_once <= 5


def _begin_small(reader: BlockReader, begin: Any, *arguments: Any, **named: Any) -> None:
    begin(reader, *arguments, **{**named, "block_size": 200})


#: The type of a column, its metadata and members, and a row with a text of 40 bytes in it.
_TEXTS = {
    "varchar": (ColumnType.varchar, "ff00", b"", b"\0(" + b"x" * 40),
    "json": (ColumnType.json, "04", b"", b"\0\x28\0\0\0\x0c\x26" + b"x" * 38),
    "enum": (ColumnType.string, "f701", field(6, b"\1(" + b"x" * 40), b"\0\1"),
}


@pytest.mark.parametrize("table", [None, "s.t"])
@pytest.mark.parametrize("kind", _TEXTS)
def test_texts_that_exceed_the_limit_of_arrow_are_refused(
    kind: str, table: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of a few rows, after the rows of the events before."""
    monkeypatch.setattr(column_cells, "LONGEST", 70)
    monkeypatch.setattr(fused_columns, "LONGEST", 70)
    column, metadata, members, row = _TEXTS[kind]
    layout, groups = events_of(case("mysql-9.7", "no_checksum").logs[0])
    log = LogMaker(layout)
    log.add_all(groups[0])
    log.add(row_event(EventType.table_map_event, table_map_bytes([column], metadata, optional=members)))
    images, counts, position = bytes.fromhex("070000000000 0100 0200 01 ff"), list[int](), 0
    for rows in (1, 2):
        position = len(log.data)
        log.add(row_event(EventType.write_rows_event, images + rows * row))

    def read() -> None:
        for batch in bk.read_changes(bytes(log.data), table=table):
            batch.validate(full=True)
            counts.append(batch.num_rows)

    with pytest.raises(bk.BinlogError, match="exceed 2 GiB") as caught:
        read()
    assert (counts, caught.value.position) == ([1], position)


def test_as_many_tables_are_cached_as_have_few_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    log, cached = case("mysql-9.7", "types_full").logs[0], list[int]()
    take, expected = Tables.take, b"".join(map(bytes, write_rows(log)))

    def noted(tables: Tables, *arguments: Any) -> Any:
        taken = take(tables, *arguments)
        known = [table for _, table in tables._tables.values() if isinstance(table, Table)]
        cached.append(sum(len(table.schema.columns) for table in known[:-1]))
        return taken

    monkeypatch.setattr(Tables, "take", noted)
    monkeypatch.setattr(table_maps, "_MAX_COLUMNS", 8)
    assert b"".join(map(bytes, write_rows(log))) == expected
    assert max(cached) < 8
