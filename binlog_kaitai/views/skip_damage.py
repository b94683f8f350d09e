"""Reads past damage: yields all rows except those in damaged bytes, and the damaged ranges.

A damaged event affects only itself: the following events of its transaction are decoded with the state before
it. If framing was lost, or the event that names the transaction, the GTID of these rows is unknown and left
empty. Because transactions are decoded independently, the rows do not depend on the splits.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from binlog_kaitai.arrow import pa
from binlog_kaitai.core.framing import read_up_to
from binlog_kaitai.core.grammar import header_length, read_header
from binlog_kaitai.core.transactions import GTID_TYPES
from binlog_kaitai.errors import BinlogError, DamagedError, FramingError, NotABinlogError, TruncatedError
from binlog_kaitai.log.gaps import TO_THE_END, Gap
from binlog_kaitai.log.split_points import Log
from binlog_kaitai.sources.source import Part
from binlog_kaitai.views.splits import Split, opened, part_in, read_part

#: After this many damaged events in a transaction, the rest of the transaction is skipped.
_MAX_PIECES = 100

#: Columns of the GTID and of the commit time that depends on it, and the fallback for that time.
_OF_GTID = {"gtid": None, "_gtid": None, "_commit_timestamp": "_timestamp"}


class _Wanted(NamedTuple):
    """What to read of a part, and how."""

    view: str
    read: Callable[..., Iterator[Any]]
    options: dict[str, Any]


class _Rest(NamedTuple):
    """The rest of a transaction after damage."""

    part: Part
    position: int  # of its first event
    knows_gtid: bool


def read_around(
    split: Split, view: str, *, read: Callable[..., Iterator[Any]] = read_part, **options: Any
) -> Iterator[Any]:
    """Rows of a split, and the gaps (`Gap`) between them, in log order.

    Parameters
    ----------
    read
        Returns record batches of a part of the split, or pairs with such a batch; like `read_part`.
    options
        Options of `read`.

    Raises
    ------
    BinlogError
        The error is not damage: for example, the log is missing or encrypted.
    """
    try:
        with opened(split.file) as log:  # if the log header cannot be decoded, the whole log is damaged
            part = part_in(log, split)
    except (DamagedError, NotABinlogError) as error:
        if split.start == 0:
            yield Gap(error.position or 0, TO_THE_END, error)
        return
    wanted = _Wanted(view, read, options)
    while part is not None:
        found = yield from _read(split, part, wanted)
        part = None if found is None else (yield from _pass_over(split, part, wanted, found))


def _read(split: Split, part: Part, wanted: _Wanted) -> Generator[Any, None, BinlogError | None]:
    """Rows of a part; returns the error that ends it."""
    try:
        yield from wanted.read(split, part, wanted.view, **wanted.options)
    except (DamagedError, NotABinlogError) as error:
        return error
    return None


def _pass_over(
    split: Split, part: Part, wanted: _Wanted, error: BinlogError
) -> Generator[Any, None, Part | None]:
    """The gap, and the rest of its transaction; returns the part after these."""
    if isinstance(error, NotABinlogError):
        yield Gap(error.position or 0, TO_THE_END, error)
        return None
    start, stop = part.pieces[-1]
    pieces: tuple[tuple[int, int | None], ...] = ()
    knows_gtid = True
    with opened(split.file) as log:
        begin = log.split_point_before(error.position or 0)
        if begin.position >= start:
            part = part._replace(formats=begin.formats)
            start = begin.position
        while True:
            at = error.position or 0
            following = log.after(at)
            if following is None or (stop is not None and following >= stop):
                yield Gap(at, TO_THE_END if stop is None else stop, error)
                return None
            split_point = log.first_split_point(following, stop)
            after = stop if split_point is None else split_point.position
            if len(pieces) >= _MAX_PIECES or wanted.view == "transactions":
                # A damaged transaction counts as incomplete; the reader has already returned its rows.
                following = after if after is not None else log.size
            # Where framing is lost, the reported error depends on how far was read.
            if isinstance(error, (FramingError, TruncatedError)):
                error = FramingError("incomplete event", file=split.file.path, position=at)
            yield Gap(at, following, error)
            knows_gtid &= _has_known_end(log, at, following)
            pieces = (*pieces, (start, at))
            start = following
            if following != after:
                rest = part._replace(pieces=(*pieces, (following, after)))
                found = yield from _read_rest(split, _Rest(rest, following, knows_gtid), wanted)
                if found is not None:
                    error = found
                    continue
            if split_point is None:
                return None
            return Part(((split_point.position, stop),), part.binlog_version, split_point.formats)


def _read_rest(split: Split, rest: _Rest, wanted: _Wanted) -> Generator[Any, None, BinlogError | None]:
    """Rows of the rest; returns the error that ends it."""
    begin = max(rest.position, (wanted.options.get("start_position") or 0) if split.number == 0 else 0)
    # Options as for a first file, to which a start position applies.
    first, options = replace(split, number=0), {**wanted.options, "start_position": begin}
    try:
        for found in wanted.read(first, rest.part, wanted.view, **options):
            yield found if rest.knows_gtid else _without_gtid(found)
    except (DamagedError, NotABinlogError) as error:
        return error
    return None


def _has_known_end(log: Log, position: int, following: int) -> bool:
    """Whether exactly one event is lost, and it does not name a transaction."""
    log.stream.seek(position)
    version = log.log_header.binlog_version
    try:
        data = read_up_to(log.stream, header_length(version))
    except DamagedError:
        return False  # the damage is inside the header
    if len(data) < header_length(version):
        return False
    header = read_header(data, version)
    kind = log.log_header.context().layout.effective_type(header.type_code)
    return position + header.len_event == following and kind not in GTID_TYPES


def _without_gtid(batch: Any) -> Any:
    if isinstance(batch, tuple):
        return batch[0], _without_gtid(batch[1])
    columns = list(batch.columns)
    for name, other in _OF_GTID.items():
        at = batch.schema.get_field_index(name)
        if at >= 0:
            field = batch.schema.field(at)
            columns[at] = pa.nulls(len(batch), field.type) if other is None else batch.column(other)
    return pa.RecordBatch.from_arrays(columns, schema=batch.schema)
