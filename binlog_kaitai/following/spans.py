"""Sources for reading a span."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, BinaryIO

from binlog_kaitai.core.context import Context
from binlog_kaitai.core.framing import read_start
from binlog_kaitai.core.grammar import EventType
from binlog_kaitai.core.gtids import GtidSet
from binlog_kaitai.ddl import Definitions
from binlog_kaitai.ddl.definitions import restore
from binlog_kaitai.errors import reading
from binlog_kaitai.following.log_headers import BLOCK_SIZE_OF_HEADERS
from binlog_kaitai.following.walk import Span
from binlog_kaitai.log.block_reader import BlockReader
from binlog_kaitai.log.gaps import Gap
from binlog_kaitai.log.split_points import SplitPoint
from binlog_kaitai.rows.tables import statement_body, statements_in
from binlog_kaitai.sources.keys import Keys
from binlog_kaitai.sources.source import MAGIC, Part, Source, state_of
from binlog_kaitai.views.splits import LogFile, Split, opened


def source_of(span: Span, keys: Keys | None = None) -> Source:
    """The events of a span, as a source for any function that reads logs.

    Parameters
    ----------
    keys
        Where to look for the keys of encrypted logs, besides the process and its environment.

    Raises
    ------
    BinlogError
        The start of the log, or its format description, cannot be read.
    """
    source = Source.of_path(span.path, keys)
    source = replace(source, name=span.name or source.name)
    if span.start <= len(MAGIC):
        return replace(source, part=Part(((0, span.end),)))
    with reading(span.path), source.open() as stream:
        version, _ = read_start(stream)
        offsets = sorted({len(MAGIC), span.format_position})
        formats = tuple(raw for at in offsets if (raw := _format_at(stream, version, at, span.path)))
    return replace(source, part=Part(((span.start, span.end),), version, formats))


def split_of(span: Span) -> Split:
    """A span as a split for `binlog_kaitai.views.skip_damage`, which skips damage.

    Raises
    ------
    SourceError
        The log does not exist.
    """
    with reading(span.path):
        state = state_of(span.path)
    start = span.start if span.start > len(MAGIC) else 0
    # Position filters do not apply to streams, so this is not marked as the first log.
    stop = None if span.has_torn_end else span.end
    return Split(LogFile(span.path, *state), 1, start, stop, is_exact=True, era=span.era)


def definitions_in(span: Span, ddl: str | None) -> Callable[[Part], Definitions]:
    """Table definitions before a part of a span."""

    def before(part: Part) -> Definitions:
        found, stop = restore(span.definitions, ddl), part.pieces[0][0]
        split = split_of(span)
        if stop > split.start:
            with opened(split.file) as log:
                for block in log.blocks(SplitPoint(split.start, part.formats if split.start else ()), stop):
                    if isinstance(block, Gap):
                        continue
                    for row in statements_in(block):
                        if block.positions[row] < stop:
                            found.observe_query(statement_body(block, row))
        return found

    return before


def with_gtids(filters: Mapping[str, Any], span: Span) -> dict[str, Any]:
    """Filters, as `Filters.of` takes them, restricted to the GTIDs of a span."""
    found = dict(filters)
    if span.include:
        wanted, own = GtidSet.parse(span.include), found.get("include_gtids")
        both = wanted.without(wanted.without(GtidSet.parse(own))) if own else wanted
        found["include_gtids"] = str(both) or None
        if not both:
            found["exclude_gtids"] = span.include
    if span.exclude:
        found["exclude_gtids"] = ",".join(filter(None, (found.get("exclude_gtids"), span.exclude)))
    return found


def _format_at(stream: BinaryIO, version: int, position: int, name: str) -> bytes | None:
    """The format description event at an offset; None if a log of an old version has another event there."""
    stream.seek(position)
    for block in BlockReader(stream, Context(version), position, name=name, block_size=BLOCK_SIZE_OF_HEADERS):
        return block.raw(0) if block.types[0] == EventType.format_description_event else None
    return None
