"""Divides logs into splits, which can be read independently and together contain all rows.

A split is a range of bytes that owns the transactions that begin in it: its reader finds the first of them
and reads past the end of the split to finish the last. `split_points` finds the boundaries. All splits of a
log together contain exactly its rows, whatever their size.

::

    splits = plan("/var/lib/mysql/binlog.index", 64 << 20)
    for split in splits:                                    # in any order, in any process
        for batch in read_split(split, "changes", earlier=files_before(splits, split)):
            ...
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

from binlog_kaitai.arrow import pa
from binlog_kaitai.core.filters import Filters
from binlog_kaitai.core.gtids import GtidSet
from binlog_kaitai.ddl import Definitions
from binlog_kaitai.ddl.definitions import OneSeries
from binlog_kaitai.errors import BinlogError, DamagedError, NotABinlogError, UsageError, reading
from binlog_kaitai.log.split_points import Log, SplitPoint
from binlog_kaitai.rows.row_pages import RowsPages, new_definitions
from binlog_kaitai.rows.sequences import era_of
from binlog_kaitai.rows.split_history import LateDefinitions, definitions_before
from binlog_kaitai.sources.keys import Keys
from binlog_kaitai.sources.packed import warn_undivided
from binlog_kaitai.sources.source import Part, Source, SourceLike, resolve, series_of, state_of
from binlog_kaitai.values.schema import is_mariadb
from binlog_kaitai.views.change_schemas import CHANGES_SCHEMA
from binlog_kaitai.views.changes_view import json_batches, typed_batches
from binlog_kaitai.views.ddl_view import DDL_SCHEMA, ddl_batches, pages_of_ddl
from binlog_kaitai.views.events_view import EVENTS_SCHEMA, read_events
from binlog_kaitai.views.row_conditions import Where
from binlog_kaitai.views.row_masks import NO_MASKS, Masks
from binlog_kaitai.views.transaction_batches import transaction_batches
from binlog_kaitai.views.transactions_view import TRANSACTIONS_SCHEMA

#: Spark's default split size for files, in bytes.
SPLIT_SIZE = 128 << 20

VIEWS = {
    "events": EVENTS_SCHEMA,
    "transactions": TRANSACTIONS_SCHEMA,
    "changes": CHANGES_SCHEMA,
    "ddl": DDL_SCHEMA,
}


class LogFile(NamedTuple):
    """A log, as it was when it was listed.

    Attributes
    ----------
    path : str
        Its path.
    size : int
        Size of the log in bytes, after decompression.
    modified : float
        Modification time, in seconds since 1970.
    is_divisible : bool
        Whether it can be read from the middle; compressed logs without a seek table cannot.
    keys : Keys or None
        Location of its keys, if it is encrypted.
    repeated : str
        GTIDs of transactions to leave out, see `Source`.
    """

    path: str
    size: int
    modified: float
    is_divisible: bool = True
    keys: Keys | None = None
    repeated: str = ""


@dataclass(frozen=True)
class Split:
    """A byte range of a log; can be pickled.

    Attributes
    ----------
    file : LogFile
        The log.
    number : int
        Number of the log, from 0.
    start : int
        Offset of the first byte.
    stop : int or None
        Offset after the last byte; None for the end of the log at the time of reading.
    is_exact : bool
        Start and stop are known split points or the end of the log, so no search is needed.
    is_last_file : bool
        There is no later log.
    era : int
        That of its changes in the column `_sequence`, see `columns.rows.sequences`.
    """

    file: LogFile
    number: int
    start: int
    stop: int | None
    is_exact: bool = False
    is_last_file: bool = True
    era: int = 0


def list_files(source: SourceLike | Iterable[SourceLike], keys: Keys | None = None) -> list[LogFile]:
    """The logs of a source, in order, without reading them.

    Raises
    ------
    SourceError
        No log was found.
    UsageError
        The source is a stream, which another process cannot read.
    """
    found = []
    for log in resolve(source, keys):
        if log.path is None:
            raise UsageError(f"{log.name} is a stream; only files can be split")
        with reading(log.path):
            state = state_of(log.path)
        found.append(LogFile(log.path, *state, keys=log.keys, repeated=str(log.repeated or "")))
    return found


def plan(
    source: SourceLike | Iterable[SourceLike], split_size: int = SPLIT_SIZE, keys: Keys | None = None
) -> list[Split]:
    """Divide logs into splits, in log order, without reading them.

    Parameters
    ----------
    source
        Any source that `binlog_kaitai.open` accepts, except streams.
    split_size
        Size of a split in bytes; the last one of a log may be up to one and a half times as large. 0: one
        split per log.
    keys
        Where to find the keys of encrypted logs. Splits can be pickled only if the keys are in files.

    Raises
    ------
    SourceError, UsageError
        No log was found, or the source cannot be split.
    """
    return divide(list_files(source, keys), split_size)


def divide(files: Sequence[LogFile], split_size: int = SPLIT_SIZE) -> list[Split]:
    """Divide listed files into splits, like `plan`."""
    era = era_of(file.path for file in files)
    return [split for number in range(len(files)) for split in _divide(files, number, split_size, era)]


def _divide(files: Sequence[LogFile], number: int, split_size: int, era: int) -> list[Split]:
    file, is_last = files[number], number == len(files) - 1
    count = max(round(file.size / split_size), 1) if split_size > 0 else 1
    if count > 1 and not file.is_divisible:
        warn_undivided(file.path)
        count = 1
    starts = [number_in_file * split_size for number_in_file in range(count)]
    stops = [*starts[1:], None]
    return [
        Split(file, number, start, stop, is_last_file=is_last, era=era)
        for start, stop in zip(starts, stops, strict=True)
    ]


def files_before(splits: Iterable[Split], split: Split) -> list[LogFile]:
    """The logs before the log of a split, which may define its tables."""
    files = {one.number: one.file for one in splits if one.number < split.number}
    return [files[number] for number in sorted(files)]


def read_split(split: Split, view: str = "changes", **options: Any) -> Iterator[pa.RecordBatch]:
    """Rows of a split as record batches; the options are those of `read_part`.

    Raises
    ------
    BinlogError
        During iteration, after the batches of all events before the damage.
    """
    part = _part_of(split)
    if part is not None:
        yield from read_part(split, part, view, **options)


def read_part(
    split: Split,
    part: Part,
    view: str,
    *,
    table: str | Iterable[str] | None = None,
    schema: pa.Schema | None = None,
    where: Where | None = None,
    masks: Masks = NO_MASKS,
    earlier: Sequence[LogFile] = (),
    ddl: str | None = None,
    scan_ddl: bool = True,
    zero_dates: str = "null",
    verify_checksums: bool = True,
    definitions_at: Callable[[Part], Definitions] | None = None,
    **filters: Any,
) -> Iterator[pa.RecordBatch]:
    """Rows of some events of a split's log.

    Parameters
    ----------
    view
        ``"events"``, ``"transactions"``, ``"ddl"``, or ``"changes"``: as JSON, or with `schema` typed.
    table
        As for `Filters.of`.
    schema
        Columns of the rows of one table, preceded by `META_FIELDS`; other columns of the table are omitted,
        and columns missing from a row are null.
    where
        A condition on the rows; requires `schema`.
    masks
        Columns to mask; requires `schema`.
    earlier
        The logs before this one; the definitions in those of the same series apply if a log does not name
        columns.
    ddl
        Text of CREATE TABLE statements, such as mysqldump writes.
    scan_ddl
        Search all logs before the split for definitions when the log does not name the columns of a
        table.
    zero_dates, verify_checksums
        As in `read_changes`.
    definitions_at
        Returns the definitions in force before a part; replaces `earlier` and `ddl`.
    filters
        As for `Filters.of`. Time filters apply to each event, or transaction, individually.
    """

    def known() -> Definitions:
        if definitions_at is not None:
            return definitions_at(part)
        if view == "transactions":
            return _definitions(split, part, (), None, needs_names=False)
        return _definitions(split, part, earlier, ddl) if scan_ddl else new_definitions(ddl)

    if split.number > 0:
        filters.pop("start_position", None)
    if not split.is_last_file:
        filters.pop("stop_position", None)
    source = replace(source_of(split.file), part=part)
    if view != "changes" and table is not None:
        filters["table"] = table
    if view == "events":
        yield from read_events(source, verify_checksums=verify_checksums, **filters)
    elif view == "transactions":
        yield from transaction_batches(
            [source],
            Filters.of(**filters),
            definitions=OneSeries(known()),
            verify_checksums=verify_checksums,
        )
    elif view == "ddl":
        chosen = Filters.of(**filters)
        pages = pages_of_ddl(source, chosen, verify_checksums=verify_checksums, era=split.era)
        yield from ddl_batches(pages, chosen, known())
    else:
        pages = RowsPages(
            source,
            Filters.of(table=table, **filters),
            definitions=known(),
            verify_checksums=verify_checksums,
            era=split.era,
        )
        if schema is None:
            yield from json_batches(pages)
        else:
            yield from typed_batches(pages, schema, zero_dates, where, masks)


def source_of(file: LogFile) -> Source:
    """The source of the whole log."""
    repeated = GtidSet.parse(file.repeated) if file.repeated else None
    return replace(Source.of_path(file.path, file.keys), repeated=repeated)


def _part_of(split: Split) -> Part | None:
    """The events that a split owns; None if no transaction begins in it.

    Raises
    ------
    BinlogError
        The start of the log cannot be decoded.
    """
    if split.start == 0 and split.stop is None:
        return Part(((0, None),))
    with opened(split.file) as log:
        return part_in(log, split)


def part_in(log: Log, split: Split) -> Part | None:
    """Like `_part_of`, for an open log."""
    log_header = log.log_header
    if split.is_exact:
        formats = (
            log.split_point_before(split.start).formats if log_header.is_relay_log else log_header.formats
        )
        start: SplitPoint | None = SplitPoint(split.start, formats if split.start else ())
        stop: int | None = split.stop
    else:
        start = log.first_split_point(split.start, split.stop)
        after = None if split.stop is None or start is None else log.first_split_point(split.stop)
        stop = None if after is None else after.position
    if start is None:
        return None
    return Part(((start.position, stop),), log_header.binlog_version, start.formats)


#: Maximum number of logs with cached split points.
_MAX_LOGS = 1 << 10

_split_points: OrderedDict[LogFile, list[SplitPoint]] = OrderedDict()


@contextmanager
def opened(file: LogFile) -> Iterator[Log]:
    """A log opened to find split points; the process caches the results.

    Raises
    ------
    SourceError, NotABinlogError, EncryptedError, GrammarError
        The start of the log cannot be decoded.
    """
    with reading(file.path), source_of(file).open() as stream:
        log = Log(stream, file.path)
        log.known = _split_points.pop(file, log.known)
        _split_points[file] = log.known
        while len(_split_points) > _MAX_LOGS:
            _split_points.popitem(last=False)
        yield log


def _definitions(
    split: Split, part: Part, earlier: Sequence[LogFile], ddl: str | None, *, needs_names: bool = True
) -> Definitions:
    """Definitions in force before a split, loaded when needed."""
    start = part.pieces[0][0]
    if start == 0 and not earlier:
        return new_definitions(ddl)

    def load() -> Definitions:
        logs = [(file, opened(file)) for file in _of_one_series(split.file, earlier)]
        with opened(split.file) as log:
            return definitions_before(logs, split.file, log, SplitPoint(start, part.formats), ddl)

    is_known = False
    with suppress(BinlogError), opened(split.file) as log:
        is_known = not is_mariadb(log.log_header.context().layout)
    return LateDefinitions(load, is_mariadb=not is_known, needs_names=needs_names)


def _of_one_series(file: LogFile, others: Sequence[LogFile]) -> list[LogFile]:
    """The other logs written by the same server as this one; see `SeriesDefinitions`."""
    wanted = series_of(file.path)
    same = [other for other in others if series_of(other.path) == wanted]
    own = _server_id(file) if same else None
    return [other for other in same if _server_id(other) == own]


@lru_cache(_MAX_LOGS)
def _server_id(file: LogFile) -> int | None:
    """Server id in the first event of a log; None if that event is damaged."""
    try:
        with opened(file) as log:
            return log.log_header.server_id
    except (DamagedError, NotABinlogError):
        return None
