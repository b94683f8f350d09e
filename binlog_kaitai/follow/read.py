"""A span as something to read."""

from __future__ import annotations

from dataclasses import replace
from typing import BinaryIO

from binlog_kaitai.columns.blocks import BlockReader
from binlog_kaitai.context import Context
from binlog_kaitai.errors import BinlogError, SourceError
from binlog_kaitai.follow.heads import BLOCK_SIZE_OF_HEADS
from binlog_kaitai.follow.walk import Span
from binlog_kaitai.framing import read_start
from binlog_kaitai.grammar import EventType
from binlog_kaitai.sources import MAGIC, Part, Source


def source_of(span: Span) -> Source:
    """The events of a span, for any function that reads a log.

    Raises
    ------
    BinlogError
        The start of the log, or its format description, cannot be read.
    """
    source = Source.of_path(span.path)
    if span.start <= len(MAGIC):
        return replace(source, part=Part(((0, span.end),)))
    try:
        with source.open() as stream:
            version, _ = read_start(stream)
            places = sorted({len(MAGIC), span.format_position})
            formats = tuple(raw for at in places if (raw := _format_at(stream, version, at, span.path)))
    except OSError as error:
        raise SourceError(error.strerror or str(error), file=span.path) from error
    except BinlogError as error:
        raise error.at(file=span.path, position=0) from error.__cause__
    return replace(source, part=Part(((span.start, span.end),), version, formats))


def _format_at(stream: BinaryIO, version: int, position: int, name: str) -> bytes | None:
    """The format description event at an offset; None where an old version's log has another one."""
    stream.seek(position)
    for block in BlockReader(stream, Context(version), position, name=name, block_size=BLOCK_SIZE_OF_HEADS):
        return block.raw(0) if block.types[0] == EventType.format_description_event else None
    return None
