"""Reads past damage: yields all rows except those in damaged bytes, and the damaged ranges.

A damaged event affects only itself: the following events of its transaction are decoded with the state before
it, but never with a table map from before a gap that may contain a later one (`span_reader.pass_gap`). If
framing was lost, or the event that names the transaction, the GTID of these rows is unknown and left empty.
Because transactions are decoded independently, the rows do not depend on the splits.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import replace
from typing import Any

from binlog_kaitai.arrow import pa
from binlog_kaitai.core.spans import Span
from binlog_kaitai.core.transactions import GTID_TYPES
from binlog_kaitai.errors import BinlogError, DamagedError, FramingError, NotABinlogError, TruncatedError
from binlog_kaitai.log.gaps import TO_THE_END, Gap
from binlog_kaitai.log.span_reader import type_in_gap
from binlog_kaitai.sources.source import Source
from binlog_kaitai.views.splits import exact_in, opened, read_span

#: After this many damaged events in a transaction, the rest of the transaction is skipped.
_MAX_GAPS = 100

#: Columns of the GTID and of the commit time that depends on it, and the fallback for that time.
_OF_GTID = {"gtid": None, "_gtid": None, "_commit_timestamp": "_timestamp"}

#: Rows of a split: a batch, or a pair with one, by the function that reads them.
Rows = Any


def read_around(
    split: Source, view: str, *, read: Callable[..., Iterator[Rows]] = read_span, **options: Any
) -> Iterator[Rows | Gap]:
    """Rows of a split, or of another source with its `state`, and the gaps (`Gap`) between, in log order.

    `read`: returns record batches of a part of the split, or pairs with such a batch; like `read_span`.
    `options`: options of `read`.
    Raises `BinlogError`: the error is not damage: for example, the log is missing or encrypted.
    """
    try:
        with opened(split) as log:  # if the log header cannot be decoded, the whole log is damaged
            rest = exact_in(log, split)
    except (DamagedError, NotABinlogError) as error:
        if split.span is None or split.span.start == 0:
            yield Gap(error.position or 0, TO_THE_END, error)
        return

    def rows(
        source: Source, *, knows_gtid: bool = True, **others: object
    ) -> Generator[Rows | Gap, None, BinlogError | None]:
        """Rows of a span; returns the error that ends it."""
        try:
            for batch in read(source, view, **{**options, **others}):
                yield batch if knows_gtid else _without_gtid(batch)
        except (DamagedError, NotABinlogError) as error:
            return error
        return None

    while rest is not None:
        damage = yield from rows(rest)
        if damage is None:
            return
        least = options.get("start_position") or 0
        rest = yield from _pass_over(rest, rows, damage, least, skips_transaction=view == "transactions")


def _pass_over(
    source: Source,
    rows: Callable[..., Generator[Rows | Gap, None, BinlogError | None]],
    error: BinlogError,
    least: int,
    *,
    skips_transaction: bool,
) -> Generator[Rows | Gap, None, Source | None]:
    """The gap, and the rest of its transaction from `least` on; returns the span after these."""
    if isinstance(error, NotABinlogError):
        yield Gap(error.position or 0, TO_THE_END, error)
        return None
    span = source.span or Span()
    stop, knows_gtid = span.end, True
    with opened(source) as log:
        layout = log.log_header.context().layout
        begin = log.split_point_before(error.position or 0)
        if begin.start >= span.start:
            span = replace(span, start=begin.start, formats=begin.formats)
        while True:
            position = error.position or 0
            following = log.after(position)
            if following is None or (stop is not None and following >= stop):
                yield Gap(position, TO_THE_END if stop is None else stop, error)
                return None
            split_point = log.first_split_point(following, stop)
            after = stop if split_point is None else split_point.start
            if len(span.gaps) >= _MAX_GAPS or skips_transaction:
                # A damaged transaction counts as incomplete; the reader has already returned its rows.
                following = after if after is not None else log.size
            # Where framing is lost, the reported error depends on how far was read.
            if isinstance(error, (FramingError, TruncatedError)):
                error = FramingError("incomplete event", file=source.name, position=position)
            yield Gap(position, following, error)
            # Unless exactly one event is lost, and it does not name a transaction.
            lost = type_in_gap(log.stream, position, following, layout)
            knows_gtid &= lost is not None and lost not in GTID_TYPES
            span = replace(span, end=after, gaps=(*span.gaps, (position, following)))
            if following != after:
                rest, start = replace(source, span=span), max(following, least)
                next_error = yield from rows(rest, knows_gtid=knows_gtid, start_position=start)
                if next_error is not None:
                    error = next_error
                    continue
            if split_point is None:
                return None
            following_span = replace(span, start=split_point.start, formats=split_point.formats, gaps=())
            return replace(source, span=replace(following_span, end=stop))


def _without_gtid(batch: Rows) -> Rows:
    if isinstance(batch, tuple):
        return batch[0], _without_gtid(batch[1])
    columns = list(batch.columns)
    for name, other in _OF_GTID.items():
        index = batch.schema.get_field_index(name)
        if index >= 0:
            field = batch.schema.field(index)
            columns[index] = pa.nulls(len(batch), field.type) if other is None else batch.column(other)
    return pa.RecordBatch.from_arrays(columns, schema=batch.schema)
