"""Reading around damage: all rows but those of the damaged bytes, and where these are.

A damaged event ends nothing but itself. What follows it in its transaction is read with what the transaction
told before; where framing was lost, or the event that names the transaction, the GTID of these rows is not
known and left out. Since every transaction is read by itself, damage gives the same rows whatever the splits.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from binlog_kaitai.arrow import pa
from binlog_kaitai.columns.blocks.gaps import TO_THE_END, Gap
from binlog_kaitai.columns.splits.split import Split, opened, part_in, read_part
from binlog_kaitai.columns.splits.split_points import Log
from binlog_kaitai.core.framing import read_up_to
from binlog_kaitai.core.grammar import header_length, read_header
from binlog_kaitai.core.transactions import GTID_TYPES
from binlog_kaitai.errors import BinlogError, DamagedError, FramingError, NotABinlogError, TruncatedError
from binlog_kaitai.sources.source import Part

#: In a transaction with more damaged events than this, all that follows is lost with them.
_MAX_PIECES = 100

#: The columns of a GTID and of the time that comes with it, and what that time is without.
_OF_GTID = {"gtid": None, "_gtid": None, "_commit_timestamp": "_timestamp"}


class _Wanted(NamedTuple):
    """What is read of a part, and how."""

    view: str
    read: Callable[..., Iterator[Any]]
    options: dict[str, Any]


class _Rest(NamedTuple):
    """What follows damage in its transaction."""

    part: Part
    position: int  # of the first event
    knows_gtid: bool


def read_around(
    split: Split, view: str, *, read: Callable[..., Iterator[Any]] = read_part, **options: Any
) -> Iterator[Any]:
    """The rows of a split, and the gaps (`Gap`) between them, in the order of the log.

    Parameters
    ----------
    read
        Gives record batches of a part of the split, or pairs of something and such a batch; as `read_part`.
    options
        Those of `read`.

    Raises
    ------
    BinlogError
        What is no damage: the log is not there, or encrypted.
    """
    try:
        with opened(split.file) as log:  # all of it is damaged if its head cannot be read
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
    """The rows of a part; gives the error that ends it."""
    try:
        yield from wanted.read(split, part, wanted.view, **wanted.options)
    except (DamagedError, NotABinlogError) as error:
        return error
    return None


def _pass_over(
    split: Split, part: Part, wanted: _Wanted, error: BinlogError
) -> Generator[Any, None, Part | None]:
    """The damage, and the rest of its transaction; gives what follows that."""
    if isinstance(error, NotABinlogError):
        yield Gap(error.position or 0, TO_THE_END, error)
        return None
    start, stop = part.pieces[-1]
    pieces: tuple[tuple[int, int | None], ...] = ()
    knows_gtid = True
    with opened(split.file) as log:
        begin = log.cut_before(error.position or 0)
        if begin.position >= start:
            part = part._replace(formats=begin.formats)
            start = begin.position
        while True:
            at = error.position or 0
            following = log.after(at)
            if following is None or (stop is not None and following >= stop):
                yield Gap(at, TO_THE_END if stop is None else stop, error)
                return None
            cut = log.first_split_point(following, stop)
            after = stop if cut is None else cut.position
            if len(pieces) >= _MAX_PIECES or wanted.view == "transactions":
                # A transaction with damage is one that is not whole; the reader has told what it knows.
                following = after if after is not None else log.size
            # Where framing is lost, how that showed depends on how far was read.
            if isinstance(error, (FramingError, TruncatedError)):
                error = FramingError("incomplete event", file=split.file.path, position=at)
            yield Gap(at, following, error)
            knows_gtid &= _tells_its_end(log, at, following)
            pieces = (*pieces, (start, at))
            start = following
            if following != after:
                rest = part._replace(pieces=(*pieces, (following, after)))
                found = yield from _read_rest(split, _Rest(rest, following, knows_gtid), wanted)
                if found is not None:
                    error = found
                    continue
            if cut is None:
                return None
            return Part(((cut.position, stop),), part.binlog_version, cut.formats)


def _read_rest(split: Split, rest: _Rest, wanted: _Wanted) -> Generator[Any, None, BinlogError | None]:
    """The rows of the rest; gives the error that ends it."""
    begin = max(rest.position, (wanted.options.get("start_position") or 0) if split.number == 0 else 0)
    # As of a first file, of which a start position counts.
    first, options = replace(split, number=0), {**wanted.options, "start_position": begin}
    try:
        for found in wanted.read(first, rest.part, wanted.view, **options):
            yield found if rest.knows_gtid else _without_gtid(found)
    except (DamagedError, NotABinlogError) as error:
        return error
    return None


def _tells_its_end(log: Log, position: int, following: int) -> bool:
    """Whether just one event is lost, and not one that names a transaction."""
    log.stream.seek(position)
    version = log.head.binlog_version
    try:
        data = read_up_to(log.stream, header_length(version))
    except DamagedError:
        return False  # the damage is inside the header
    if len(data) < header_length(version):
        return False
    header = read_header(data, version)
    kind = log.head.context().layout.effective_type(header.type_code)
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
