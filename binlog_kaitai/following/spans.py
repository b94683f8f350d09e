"""What readers of a followed span need besides its source: definitions, and filters on GTIDs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from binlog_kaitai.core.gtids import GtidSet
from binlog_kaitai.core.spans import Span
from binlog_kaitai.ddl import Definitions
from binlog_kaitai.ddl.definitions import restore
from binlog_kaitai.log.gaps import Gap
from binlog_kaitai.rows.table_maps import statement_body, statements_in
from binlog_kaitai.sources.source import Source
from binlog_kaitai.views.splits import opened


def definitions_in(source: Source, ddl: str | None) -> Callable[[Span], Definitions]:
    """Returns the table definitions at the start of any part of a followed span."""
    whole = source.span or Span()

    def before(part: Span) -> Definitions:
        definitions = restore(whole.definitions, ddl)
        if part.start > whole.start:
            with opened(source) as log:
                for block in log.blocks(whole, part.start):
                    if isinstance(block, Gap):
                        continue
                    for row in statements_in(block):
                        if block.positions[row] < part.start:
                            definitions.observe_query(statement_body(block, row))
        return definitions

    return before


def with_gtids(filters: Mapping[str, Any], span: Span) -> dict[str, Any]:
    """Filters, as `Filters.of` takes them, restricted to the GTIDs of a span."""
    chosen = dict(filters)
    if span.include:
        wanted, own = GtidSet.parse(span.include), chosen.get("include_gtids")
        both = wanted.without(wanted.without(GtidSet.parse(own))) if own else wanted
        chosen["include_gtids"] = str(both) or None
        if not both:
            chosen["exclude_gtids"] = span.include
    if span.exclude:
        chosen["exclude_gtids"] = ",".join(filter(None, (chosen.get("exclude_gtids"), span.exclude)))
    return chosen
