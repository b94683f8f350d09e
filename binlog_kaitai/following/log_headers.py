"""Reads the start of a log: its format, its identity, and the GTIDs before it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from binlog_kaitai.core.context import Context
from binlog_kaitai.core.framing import MAGIC, read_start
from binlog_kaitai.core.grammar import EventType
from binlog_kaitai.core.spans import LogHeader, Span, read_log_header
from binlog_kaitai.errors import reading
from binlog_kaitai.following.checkpoints import Checkpoint
from binlog_kaitai.log.block_reader import BLOCK_SIZE, BlockReader
from binlog_kaitai.log.series import last_event
from binlog_kaitai.sources import source
from binlog_kaitai.sources.keys import Keys

BLOCK_SIZE_OF_HEADERS = 1 << 16


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
        event = last_event(stream, read_log_header(stream, path))
    return None if event is None else event.header.timestamp or None


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
