"""Finds the definitions of a table in logs before any of its rows is read."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from binlog_kaitai.columns.blocks.block import Block, offset_of
from binlog_kaitai.columns.blocks.payloads import expand
from binlog_kaitai.columns.blocks.reader import BLOCK_SIZE, BlockReader
from binlog_kaitai.columns.kernel.arrays import Bytes, Ints
from binlog_kaitai.columns.kernel.byte_kernels import NONE, read_u8
from binlog_kaitai.columns.kernel.compile import kernel
from binlog_kaitai.columns.rows.closings import LIMITS, WORDS, ends_with
from binlog_kaitai.columns.rows.tables import Table, Tables
from binlog_kaitai.core.grammar import CHECKSUM_SIZE, EventType, Format
from binlog_kaitai.ddl.series import SeriesDefinitions
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.sources.remote import is_url
from binlog_kaitai.sources.source import Source

#: What an event means for definitions, see `find_defining`.
_NOTHING, _MAP, _STATEMENT, _MAY_DEFINE, _PIECE = range(5)
_ROLES: dict[int, int] = {
    EventType.table_map_event: _MAP,
    EventType.query_event: _STATEMENT,
    EventType.query_compressed_event: _MAY_DEFINE,
    EventType.transaction_payload_event: _MAY_DEFINE,
    EventType.partial_row_data_event: _PIECE,
}

#: Number of distinct table maps that are compared with the next one.
_RECENT = 16

#: Block size. With large events, reading a block costs more than decoding its few table maps.
_BLOCK_SIZE = 4 * BLOCK_SIZE


def tables_of(sources: Sequence[Source], name: str, ddl: str | None) -> Iterator[Table]:
    """Every definition of a table, ``schema.table``, in log order, possibly with duplicates.

    Damage ends the search in a log; it is reported when the rows are read.
    """
    definitions = SeriesDefinitions(ddl)
    nothing = np.zeros(0, dtype=np.int64)
    for source in sources:
        tables: Tables | None = None
        seen: set[int] = set()
        try:
            with source.open() as stream:
                # Checksums are verified when the rows are read.
                reader = BlockReader.of_file(stream, source.name, block_size=_BLOCK_SIZE, leaves_checks=1)
                for block in reader:
                    if tables is None:
                        tables = Tables(definitions.of(source.name, block.fixed_header(0).server_id))
                    for part in expand(_defining(block)):
                        for table in tables.take(part, nothing, nothing)[0]:
                            if isinstance(table, Table) and table.schema.full_name == name:
                                if id(table) not in seen:
                                    yield table
                                seen.add(id(table))
        except (BinlogError, OSError):
            continue


def _defining(block: Block) -> Block:
    """The events of a block that may define a table, or contain events that may."""
    if block.is_special or (block.pieces is not None and block.pieces.is_open):
        return block
    events, recent = np.empty(len(block), dtype=np.int64), np.empty(_RECENT, dtype=np.int64)
    roles, content = _roles(block.layout)
    frames = block.starts, block.sizes, block.checksums, block.codes, roles
    content += block.header_length
    count = find_defining.run(block.data, *frames, content, CHECKSUM_SIZE, WORDS, LIMITS, recent, events)
    return block if count < 0 else block.chosen(events[:count])


@lru_cache
def _roles(layout: Format) -> tuple[Any, int]:
    """The role of each type code, and where a table map's content begins after its header and table id."""
    kinds = [layout.effective_type(code) for code in range(256)]
    kind = EventType.table_map_event
    content = offset_of(layout, kind, kinds.index(kind), "flags") if kind in kinds else 0
    return np.array([_ROLES.get(kind, _NOTHING) for kind in kinds], dtype=np.uint8), content or 0


@kernel
def find_defining(
    data: Bytes,
    starts: Ints,
    sizes: Ints,
    checksums: Bytes,
    codes: Bytes,
    roles: Bytes,
    content: int,
    after: int,
    words: Bytes,
    limits: Ints,
    recent: Ints,
    events: Ints,
) -> int:
    """Find the events that may define a table, without repeated table maps, BEGIN and COMMIT.

    Parameters
    ----------
    starts, sizes, checksums, codes
        Offset, length, checksum state and type code of each event.
    roles
        Role of each type code.
    content, after
        Offset of a table map's content after its table id, and length of a checksum.
    words, limits
        Statements that define nothing, each with the zero byte before it, and the offsets between them.
    recent
        Room for the latest distinct table maps, which are compared with the next one.
    events
        Output: numbers of the events.

    Returns
    -------
    Their number; -1 if the block contains pieces of rows events.
    """
    count = 0
    known = 0
    for event in range(starts.shape[0]):
        role = roles[codes[event]]
        if role == _NOTHING:
            continue
        if role == _PIECE:
            return -1
        start = starts[event]
        end = start + sizes[event] - (after if checksums[event] != NONE else 0)
        is_new = start >= 0 and end <= data.shape[0]
        if role == _MAP and is_new:
            begin = start + content
            for number in range(min(known, recent.shape[0])):
                other = recent[number]
                length = starts[other] + sizes[other] - (after if checksums[other] != NONE else 0)
                length -= starts[other] + content
                if length != end - begin or length < 0:
                    continue
                step = 0
                while step + 8 <= length and (
                    read_u8(data, np.uint64(starts[other] + content + step))
                    == read_u8(data, np.uint64(begin + step))
                ):
                    step += 8
                while step < length and data[starts[other] + content + step] == data[begin + step]:
                    step += 1
                if step == length:
                    is_new = False
                    break
            if is_new:
                recent[known % recent.shape[0]] = event
                known += 1
        elif role == _STATEMENT and is_new:
            is_new = not ends_with(data, start, end, words, limits)
        else:
            is_new = True
        if is_new:
            events[count] = event
            count += 1
            # After a statement, the same table map may have another definition.
            known = known if role == _MAP else 0
    return count


def is_readable_again(source: Source) -> bool:
    """Whether a log can be opened repeatedly; stdin and pipes cannot."""
    if source.path is None:
        return source.name == "<bytes>"
    return is_url(source.path) or os.path.isfile(source.path)
