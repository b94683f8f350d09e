"""Divides logs into splits, which can be read independently and together contain all rows.

A split is a `Source` whose span stands for the transactions that begin in a range of bytes: its reader finds
the first of them and reads past the end of the range to finish the last. `split_points` finds the boundaries.
All splits of a log together contain exactly its rows, whatever their size.

::

    splits = plan("/var/lib/mysql/binlog.index", 64 << 20)
    for split in splits:                                    # in any order, in any process
        for batch in read_split(split, "changes", earlier=logs):     # those before the log of the split
            ...
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import lru_cache
from typing import Any

from binlog_kaitai.arrow import pa
from binlog_kaitai.core.filters import Filters
from binlog_kaitai.core.spans import Span
from binlog_kaitai.ddl import Definitions
from binlog_kaitai.ddl.definitions import restore
from binlog_kaitai.errors import BinlogError, DamagedError, NotABinlogError, PackedWarning, reading, warn
from binlog_kaitai.log.gaps import Gap
from binlog_kaitai.log.series import SeriesDefinitions
from binlog_kaitai.log.split_points import Log
from binlog_kaitai.log.statements import statement_body, statements_in
from binlog_kaitai.rows.change_schemas import CHANGES_SCHEMA
from binlog_kaitai.rows.log_definitions import (
    EarlierLog,
    LateDefinitions,
    definitions_before,
)
from binlog_kaitai.rows.log_pages import RowsPages
from binlog_kaitai.rows.row_masks import NO_MASKS, Masks
from binlog_kaitai.rows.sequences import era_of
from binlog_kaitai.sources.keys import Keys
from binlog_kaitai.sources.source import LogState, Source, SourceLike, resolve, series_of, with_state
from binlog_kaitai.values.schema import is_mariadb
from binlog_kaitai.views.changes_view import json_batches, typed_batches
from binlog_kaitai.views.ddl_view import DDL_SCHEMA, ddl_batches, pages_of_ddl
from binlog_kaitai.views.events_view import EVENTS_SCHEMA, read_events
from binlog_kaitai.views.row_conditions import Where
from binlog_kaitai.views.transactions_view import TRANSACTIONS_SCHEMA, transaction_batches

#: Spark's default split size for files, in bytes.
SPLIT_SIZE = 128 << 20

VIEWS = {
    "events": EVENTS_SCHEMA,
    "transactions": TRANSACTIONS_SCHEMA,
    "changes": CHANGES_SCHEMA,
    "ddl": DDL_SCHEMA,
}


def list_files(source: SourceLike | Iterable[SourceLike], keys: Keys | None = None) -> list[Source]:
    """The logs of a source, in order, without reading them; each has its `state`.

    Raises `SourceError`: no log was found.
    Raises `UsageError`: the source is a stream, which another process cannot read.
    """
    return [with_state(log) for log in resolve(source, keys)]


def plan(
    source: SourceLike | Iterable[SourceLike], split_size: int = SPLIT_SIZE, keys: Keys | None = None
) -> list[Source]:
    """Divide logs into splits, in log order, without reading them.

    `source`: any source that `binlog_kaitai.open` accepts, except streams.
    `split_size`: size of a split in bytes; the last one of a log may be up to one and a half times as large.
    0: one split per log.
    `keys`: where to find the keys of encrypted logs. Splits can be pickled only if the keys are in files.
    Raises `SourceError`, `UsageError`: no log was found, or the source cannot be split.
    """
    return [split for splits in divide(list_files(source, keys), split_size) for split in splits]


def divide(logs: Sequence[Source], split_size: int = SPLIT_SIZE) -> Iterator[list[Source]]:
    """The splits of each of some listed logs."""
    era = era_of(log.name for log in logs)
    for log in logs:
        count = max(round(log.size / split_size), 1) if split_size > 0 else 1
        if count > 1 and log.state is not None and not log.state.is_divisible:
            reason = "has no seek table (or lies inside InnoDB) and is read as one split"
            warn(f"{log.name} {reason}", PackedWarning)
            count = 1
        starts = [number * split_size for number in range(count)]
        yield [
            replace(log, span=Span(start, end, is_exact=count == 1, era=era))
            for start, end in zip(starts, [*starts[1:], None], strict=True)
        ]


def read_split(split: Source, view: str = "changes", **options: Any) -> Iterator[pa.RecordBatch]:
    """Rows of a split as record batches; the options are those of `read_span`.

    Raises `BinlogError`: during iteration: the start of the log cannot be decoded; or damage, after the
    batches of all events before it.
    """
    exact: Source | None = split
    if split.span is not None and not split.span.is_exact:
        with opened(split) as log:
            exact = exact_in(log, split)
    if exact is not None:
        yield from read_span(exact, view, **options)


def read_span(
    source: Source,
    view: str,
    *,
    table: str | Iterable[str] | None = None,
    schema: pa.Schema | None = None,
    where: Where | None = None,
    masks: Masks = NO_MASKS,
    earlier: Sequence[Source] = (),
    ddl: str | None = None,
    scan_ddl: bool = True,
    zero_dates: str = "null",
    verify_checksums: bool = True,
    definitions_at: Callable[[Span], Definitions] | None = None,
    **filters: Any,
) -> Iterator[pa.RecordBatch]:
    """Rows of a log's span whose start and end are known.

    `view`: ``"events"``, ``"transactions"``, ``"ddl"``, or ``"changes"``: as JSON, or with `schema` typed.
    `table`: as for `Filters.of`.
    `schema`: columns of the rows of one table, preceded by `META_FIELDS`; other columns of the table are
    omitted, and columns missing from a row are null.
    `where`: a condition on the rows; requires `schema`.
    `masks`: columns to mask; requires `schema`.
    `earlier`: the logs before this one; the definitions in those of the same series apply if a log does not
    name columns.
    `ddl`: text of CREATE TABLE statements, such as mysqldump writes.
    `scan_ddl`: search all logs before the split for definitions when the log does not name the columns of a
    table.
    `zero_dates`, `verify_checksums`: as in `read_changes`.
    `definitions_at`: returns the definitions in force before a span; replaces `earlier` and `ddl`.
    `filters`: as for `Filters.of`. Time filters apply to each event, or transaction, individually.
    """

    span = source.span or Span()

    def known() -> Definitions:
        if definitions_at is not None:
            return definitions_at(span)
        if view == "transactions":
            return _definitions(source, span, (), None, needs_names=False)
        return _definitions(source, span, earlier, ddl) if scan_ddl else _at(source, span, ddl)

    if view != "changes" and table is not None:
        filters["table"] = table
    if view == "events":
        yield from read_events(source, verify_checksums=verify_checksums, **filters)
    elif view == "transactions":
        yield from transaction_batches(
            [source],
            Filters.of(**filters),
            definitions=SeriesDefinitions(of_all=known()),
            verify_checksums=verify_checksums,
        )
    elif view == "ddl":
        chosen = Filters.of(**filters)
        pages = pages_of_ddl(source, chosen, verify_checksums=verify_checksums, era=span.era)
        yield from ddl_batches(pages, chosen, known())
    else:
        pages = RowsPages(
            source,
            Filters.of(table=table, **filters),
            definitions=known(),
            verify_checksums=verify_checksums,
            era=span.era,
            masks=masks,
        )
        if schema is None:
            yield from json_batches(pages)
        else:
            yield from typed_batches(pages, schema, zero_dates, where, masks)


def exact_in(log: Log, split: Source) -> Source | None:
    """The split of a log from its first transaction to its last one; None if none begins in it."""
    span = split.span
    if span is None or span.is_exact:
        return split
    rest = log.first_split_point(span.start, span.end)
    if rest is None:
        return None
    after = None if span.end is None else log.first_split_point(span.end)
    end = None if after is None else after.start
    return replace(split, span=replace(rest, end=end, era=span.era))


#: Maximum number of logs with cached split points.
_MAX_LOGS = 1 << 10

_Key = tuple[str | None, LogState | None, Keys | None]

_split_points: OrderedDict[_Key, list[Span]] = OrderedDict()


def _key(log: Source) -> _Key:
    """Identifies a log in caches."""
    return log.path, log.state, log.keys


@contextmanager
def opened(source: Source) -> Iterator[Log]:
    """A log opened to find split points; the process caches the results.

    Raises `SourceError`, `NotABinlogError`, `EncryptedError`, `GrammarError`: the start of the log cannot be
    decoded.
    """
    with reading(source.name), source.open() as stream:
        log, key = Log(stream, source.name), _key(source)
        log.known = _split_points.pop(key, log.known)
        _split_points[key] = log.known
        while len(_split_points) > _MAX_LOGS:
            _split_points.popitem(last=False)
        yield log


def _definitions(
    source: Source, span: Span, earlier: Sequence[Source], ddl: str | None, *, needs_names: bool = True
) -> Definitions:
    """Definitions in force before a span, loaded when needed."""
    if span.start == 0 and not earlier:
        return _at(source, span, ddl)

    def load() -> Definitions:
        logs = [EarlierLog(_key(log), opened(log), log) for log in _of_one_series(source, earlier)]
        with opened(source) as log:
            definitions = definitions_before(logs, source, _key(source), log, span, ddl)
        return _past_gaps(definitions, span)

    is_known = False
    with suppress(BinlogError), opened(source) as log:
        is_known = not is_mariadb(log.log_header.context().layout)
    return LateDefinitions(load, is_mariadb=not is_known, needs_names=needs_names)


def _at(source: Source, span: Span, ddl: str | None) -> Definitions:
    """The definitions of a file at the start of a span."""
    definitions = restore("", ddl)
    definitions.skip_to(source.name, span.start or 1)
    return definitions


def _of_one_series(source: Source, others: Sequence[Source]) -> list[Source]:
    """The other logs written by the same server as this one; see `SeriesDefinitions`."""
    series = series_of(source.name)
    same = [other for other in others if series_of(other.name) == series]
    own = _server_id(replace(source, span=None)) if same else None
    return [other for other in same if _server_id(replace(other, span=None)) == own]


@lru_cache(_MAX_LOGS)
def _server_id(log: Source) -> int | None:
    """Server id in the first event of a log; None if that event is damaged."""
    try:
        with opened(log) as opened_log:
            return opened_log.log_header.server_id
    except (DamagedError, NotABinlogError):
        return None


def definitions_in(source: Source, ddl: str | None) -> Callable[[Span], Definitions]:
    """Returns the table definitions at the start of any part of a followed span."""
    whole = source.span or Span()

    def before(part: Span) -> Definitions:
        definitions = restore(whole.definitions, ddl)
        if part.start > whole.start:
            with opened(source) as log:
                for block in log.blocks(whole, part.start):
                    if isinstance(block, Gap):
                        definitions.observe_query(block.error)
                        continue
                    for row in statements_in(block):
                        if (position := int(block.positions[row])) < part.start:
                            definitions.observe_query(statement_body(block, row))
                            definitions.reach(source.name, position)
        return _past_gaps(definitions, part)

    return before


def _past_gaps(definitions: Definitions, span: Span) -> Definitions:
    """The definitions for a span: what is in its gaps may have changed them."""
    if span.gaps:
        definitions.forget(f"the log is damaged at {span.gaps[0][0]}")
    return definitions
