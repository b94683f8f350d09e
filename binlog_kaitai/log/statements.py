"""The statements of a block that may change definitions."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from typing import Any

from binlog_kaitai.core.grammar import EventType
from binlog_kaitai.core.spans import Span
from binlog_kaitai.ddl.lexer import may_matter_bytes
from binlog_kaitai.ddl.statements import text_of
from binlog_kaitai.errors import BinlogError, reading
from binlog_kaitai.kernels.arrays import view_of
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.gaps import Gap
from binlog_kaitai.log.payloads import expand
from binlog_kaitai.log.split_points import Log
from binlog_kaitai.sources.source import Source
from binlog_kaitai.text.line_arrays import plain


def statements_in(
    block: Block, may_matter: Callable[[bytes | memoryview], bool] = may_matter_bytes
) -> list[int]:
    """Events whose statements may change a definition, according to their first words."""
    statements = block.rows_of(EventType.query_compressed_event).tolist()
    rows = block.statements
    if len(rows):
        body = block.statement_bodies
        starts, lengths = body.ranges("query")
        # The grammar decodes events that do not match the layout, and may report damage.
        statements += rows[~body.matches].tolist()
        offsets = rows[body.matches], starts[body.matches], lengths[body.matches]
        for row, start, length in zip(*(values.tolist() for values in offsets), strict=True):
            if may_matter(view_of(block.data[start : start + length])):
                statements.append(row)
    return sorted(statements)


def statement_body(block: Block, row: int) -> Any:
    """Body of a statement's event, or its error; `Definitions` accept either."""
    try:
        return block.event(row).body
    except BinlogError as error:
        return error


def statement_of(body: Any) -> str | None:
    """The text of a statement; bytes that are invalid in its character set become escapes, as in `plain`."""
    if isinstance(body, BinlogError):
        return None
    try:
        text = text_of(body)
        return plain(body.query.decode("ascii", "surrogateescape") if text is None else text)
    except zlib.error:
        return None


def statements_of(source: Source) -> Iterator[tuple[int, Any]]:
    """The statements of a log that may change definitions: position, and body or error.

    Damage that may contain a statement is among them, as an error.
    Raises `BinlogError`: the log cannot be read.
    """
    with reading(source.name), source.open() as stream:
        for block in Log(stream, source.name).blocks(Span()):
            if isinstance(block, Gap):
                if not block.is_last:
                    yield block.start, block.error
                continue
            try:
                for part in expand(block):
                    for row in statements_in(part):
                        yield int(part.positions[row]), statement_body(part, row)
            except BinlogError as error:
                yield int(block.positions[0]), error
