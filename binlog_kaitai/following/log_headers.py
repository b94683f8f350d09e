"""Reads the start of a log: its format, its identity, and the GTIDs before it."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from binlog_kaitai.core.adapter import crc32_of, stored_checksum
from binlog_kaitai.core.context import Context
from binlog_kaitai.core.framing import MAGIC, read_start, read_up_to
from binlog_kaitai.core.grammar import POSITION_MASK, EventType, header_length, read_header
from binlog_kaitai.core.spans import LogHeader, Span, read_log_header
from binlog_kaitai.errors import reading
from binlog_kaitai.following.checkpoints import Checkpoint
from binlog_kaitai.log.block_reader import BLOCK_SIZE, BlockReader
from binlog_kaitai.sources import source
from binlog_kaitai.sources.keys import Keys

BLOCK_SIZE_OF_HEADERS = 1 << 16

#: Events that a server writes at the end of a log; none of them is longer, in bytes.
_ENDS, _LONGEST_END = (EventType.rotate_event, EventType.stop_event), 600


def open_log(path: str, keys: Keys | None = None) -> BinaryIO:
    """Open a log at its first byte; raises ``OSError``."""
    return source.Source.of_path(path, keys).open()


def size_of(path: str) -> int:
    """Length of a log in bytes.

    Raises `SourceError`: the log does not exist.
    """
    with reading(path):
        return source.length_of(path)


def header_of(path: str, keys: Keys | None = None) -> LogHeader | None:
    """The header of a log; None while its first event is incomplete.

    Raises `BinlogError`: it does not begin like a readable log.
    """
    with reading(path):
        if source.state_of(path).size <= len(MAGIC):
            return None
        with open_log(path, keys) as stream:
            return read_log_header(stream, path).checked()


def closed_at(path: str) -> int | None:
    """When a log was closed, in seconds since 1970, from the event that ends it.

    Raises `BinlogError`: it does not begin like a readable log.
    """
    with reading(path), open_log(path) as stream:
        layout = read_log_header(stream, path).context().layout
        size = stream.seek(0, io.SEEK_END)
        stream.seek(max(size - _LONGEST_END, len(MAGIC)))
        data = read_up_to(stream, _LONGEST_END)
    for start in range(len(data) - header_length(layout.binlog_version), -1, -1):
        header = read_header(data[start:], layout.binlog_version)
        is_last = header.len_event == len(data) - start and header.next_position == size & POSITION_MASK
        if is_last and layout.effective_type(header.type_code) in _ENDS:
            raw = data[start:]
            is_whole = not layout.is_checksummed or stored_checksum(raw) == crc32_of(raw, header)
            return header.timestamp if is_whole and header.timestamp else None
    return None


@contextmanager
def blocks_from(
    checkpoint: Checkpoint, keys: Keys | None = None, block_size: int = BLOCK_SIZE
) -> Iterator[tuple[BlockReader, Span]]:
    """A block reader of a log from a checkpoint on, and the rest of the log as a span.

    Checksums are verified by the reader of the rows.

    Raises `OSError`; `BinlogError`: the log's start, or its format description, cannot be read.
    """
    path, position = checkpoint.file, checkpoint.position
    with open_log(path, keys) as stream:
        if position <= len(MAGIC):
            yield BlockReader.of_file(stream, path, block_size=block_size, leaves_checks=True), Span()
            return
        version, _ = read_start(stream)
        offsets = sorted({len(MAGIC), checkpoint.format_position})
        formats = (_format_at(stream, version, offset, path) for offset in offsets)
        span = Span(position, binlog_version=version, formats=tuple(filter(None, formats)))
        stream.seek(position)
        yield (
            BlockReader(
                stream, span.context(), position, name=path, block_size=block_size, leaves_checks=True
            ),
            span,
        )


def _format_at(stream: BinaryIO, version: int, position: int, name: str) -> bytes | None:
    """The format description event at an offset; None if a log of an old version has another event there."""
    stream.seek(position)
    for block in BlockReader(stream, Context(version), position, name=name, block_size=BLOCK_SIZE_OF_HEADERS):
        return block.raw(0) if block.types[0] == EventType.format_description_event else None
    return None
