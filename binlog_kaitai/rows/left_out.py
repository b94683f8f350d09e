"""Leaves out rows events that were rolled back, and says so."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from binlog_kaitai.errors import RolledBackWarning
from binlog_kaitai.log.block import Block
from binlog_kaitai.log.line_arrays import plain
from binlog_kaitai.log.part_reader import blocks_of
from binlog_kaitai.log.payloads import expand
from binlog_kaitai.log.rolled_back import RolledBack
from binlog_kaitai.rows.log_definitions import is_readable_again
from binlog_kaitai.rows.row_images import Images
from binlog_kaitai.rows.tables import Table
from binlog_kaitai.sources.source import Source, Span

if TYPE_CHECKING:
    from binlog_kaitai.kernels.arrays import Ints

#: Maximum number of tables, or places, named in a warning.
_MOST_NAMED = 5


class LeftOut:
    """Counts the rows events that were rolled back, over several logs."""

    def __init__(self) -> None:
        self._count, self._first = 0, ""
        self._tables: dict[str, None] = {}
        self._missed: list[str] = []

    def decided(self, source: Source, blocks: Iterable[Block]) -> Iterator[Block]:
        """The blocks of a log, once it is known which of their events were rolled back."""
        span = source.span or Span()

        def reopen(position: int) -> Iterator[Block]:
            with source.open() as stream:
                for block in blocks_of(replace(source, span=span.rest(position)), stream, leaves_checks=True):
                    yield from expand(block)

        def noted() -> Iterator[Block]:
            nonlocal span
            for block in blocks:
                if block.is_special:
                    formats = (*span.formats, block.raw(0))
                    span = replace(span, binlog_version=block.layout.binlog_version, formats=formats)
                yield block

        rolled_back = RolledBack(reopen if is_readable_again(source) else None)
        yield from rolled_back.decided(noted())
        self._missed += rolled_back.missed

    def without(self, images: Images, chosen: Ints) -> Ints:
        """The given events of `images` without those that were rolled back."""
        block = images.block
        if block.rolled_back is None:
            return chosen
        is_out = block.rolled_back[images.rows[chosen]]
        if is_out.any():
            out = chosen[is_out]
            self._first = self._first or f"{block.file}, position {int(block.positions[images.rows[out[0]]])}"
            self._count += len(out)
            for number in np.unique(images.table_of[out]).tolist():
                table = images.tables[number] if number >= 0 else None
                self._tables[table.schema.full_name if isinstance(table, Table) else "unknown tables"] = None
        kept: Ints = chosen[~is_out]
        return kept

    def warn(self) -> None:
        """Warn about the events left out, and about those that were read before they were rolled back."""
        if self._count:
            names = ", ".join([*self._tables][:_MOST_NAMED]) + " …" * (len(self._tables) > _MOST_NAMED)
            more = f" (the first of {self._count} such events)" if self._count > 1 else ""
            reason = f"{self._first}: rows of {names} were rolled back and are left out{more}"
            warnings.warn(plain(reason), RolledBackWarning, stacklevel=2)
        for place in self._missed[:_MOST_NAMED]:
            reason = f"{place}: rolls back rows that were read before, since a stream cannot be read ahead"
            warnings.warn(plain(reason), RolledBackWarning, stacklevel=2)
