"""Pages of what is followed, span by span."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from binlog_kaitai.core.filters import Filters
from binlog_kaitai.core.framing import MAGIC
from binlog_kaitai.core.spans import Span
from binlog_kaitai.ddl.definitions import restore
from binlog_kaitai.rows.log_pages import RowsPage, RowsPages
from binlog_kaitai.rows.row_masks import NO_MASKS, Masks
from binlog_kaitai.sources.source import Source


def pages_of_span(source: Source, filters: Mapping[str, Any], ddl: str | None, **options: Any) -> RowsPages:
    """The pages of a span, with the table definitions in force at its start.

    `filters`: keywords of `Filters.of`.
    `options`: more of `RowsPages`.
    """
    span = source.span or Span()
    chosen = Filters.of(**span.restrict(filters))
    return RowsPages(source, chosen, definitions=restore(span.definitions, ddl), **options)


class FollowedPages:
    """Pages of spans that follow each other, those of all blocks.

    Those of a span that begins within a log follow a page with the log's format description.

    `spans`: the spans, each with its filters.
    `masks`: see `RowsPages`.
    `sources`: those that have been begun.
    """

    threads = 1

    def __init__(
        self, spans: Iterable[tuple[Source, Mapping[str, Any]]], ddl: str | None, masks: Masks = NO_MASKS
    ) -> None:
        self.sources: list[Source] = []
        self._spans, self._ddl, self._masks = spans, ddl, masks

    def __iter__(self) -> Iterator[RowsPage]:
        options: dict[str, Any] = {"every_block": True, "follows_xa": False}
        for source, filters in self._spans:
            formats = b"".join((source.span or Span()).formats)
            if formats and not self.sources:
                yield from RowsPages(Source.of_bytes(MAGIC + formats, source.name), Filters(), **options)
            self.sources.append(source)
            yield from pages_of_span(source, filters, self._ddl, masks=self._masks, **options)
