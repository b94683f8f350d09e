"""Row changes as text, many at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import NamedTuple, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from binlog_kaitai.arrow import pa
from binlog_kaitai.core.filters import Filters
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.kernels.arrays import Array, Bools, Ints, view_of
from binlog_kaitai.kernels.groups import distinct_values
from binlog_kaitai.lines.long_values import filled
from binlog_kaitai.lines.row_forms import (
    CHANGES,
    Form,
    ImageForm,
    JsonForm,
    LineWriter,
    RowLines,
)
from binlog_kaitai.log.log_end import End
from binlog_kaitai.log.threads import default_threads
from binlog_kaitai.rows.column_cells import CellError, check_ends
from binlog_kaitai.rows.image_walk import AFTER, DELETE, INSERT, LocatedRows, MismatchError
from binlog_kaitai.rows.log_pages import ROWS_BLOCK_SIZE, RowsPage, RowsPages
from binlog_kaitai.rows.partial_updates import walk_rows
from binlog_kaitai.rows.row_masks import NO_MASKS
from binlog_kaitai.rows.table_maps import Table
from binlog_kaitai.sources.source import Source, SourceLike


class Made(Protocol):
    """A result per changed row: the event of each, and its number within the event, int64 arrays."""

    @property
    def events(self) -> Ints: ...
    @property
    def numbers(self) -> Ints: ...

    def select(self, rows: Ints) -> Self:
        """The given rows."""
        ...


_Made = TypeVar("_Made", bound=Made)
_T = TypeVar("_T")

#: Text takes several times the memory of values, so fewer rows are processed at a time.
_MAX_ROWS = 1 << 14


#: The names of changes, and the index of each by the kind of its first image.
CHANGE_NAMES = list(CHANGES.values())
_DELETED = CHANGE_NAMES.index(CHANGES[DELETE])
_NUMBERS = np.array(
    [CHANGE_NAMES.index(CHANGES.get(kind, CHANGE_NAMES[0])) for kind in range(4)], dtype=np.int32
)

_JSON, _IMAGES = JsonForm(), (ImageForm(is_after=False), ImageForm(is_after=True))


class Objects(NamedTuple):
    """Changed rows as columns, in log order.

    `events`: index of each row's event in the page's images.
    `numbers`: number of each row within its event.
    `changes`: index of each change in :data:`CHANGE_NAMES`.
    `before`, `after`: JSON objects; null if the change has no such image.
    """

    events: NDArray[np.int64]
    numbers: NDArray[np.int64]
    changes: NDArray[np.int32]
    before: pa.StringArray
    after: pa.StringArray

    @property
    def is_given(self) -> NDArray[np.bool_]:
        """Whether the row exists after each change."""
        return np.not_equal(self.changes, _DELETED)

    def select(self, rows: Ints) -> Objects:
        """The given rows."""
        return Objects._make(column.take(rows) for column in self)

    @classmethod
    def joined(cls, parts: list[Objects]) -> Objects:
        """Concatenate several."""
        return cls(*map(_concatenated, zip(*parts, strict=True)))


class RowChoice(Protocol):
    """Selects rows by their values, after the filters."""

    def of_located(self, table: Table, located: LocatedRows) -> LocatedRows:
        """Selected rows among those walked by the kernels; raises CellError for an invalid value."""
        ...


class Failure(NamedTuple):
    """An event of `Images` (its number) whose rows cannot be decoded, and the error."""

    event: int
    error: BinlogError


def page_objects(
    page: RowsPage, choice: RowChoice | None = None, *, has_images: bool = True
) -> Iterator[Objects]:
    """The selected rows of a page as objects; without images, these are null, and no values are decoded.

    Raises `BinlogError`: after the rows of all events before the damage.
    """
    with page.block.held():
        yield from in_order(
            page, partial(_table_objects, choice=choice, has_images=has_images), Objects.joined
        )


def in_order(
    page: RowsPage,
    of_table: Callable[[RowsPage, Table, Ints, list[Failure]], Iterator[_Made]],
    join: Callable[[list[_Made]], _Made],
) -> Iterator[_Made]:
    """Build results for the rows of each table and merge them in log order; raises like `page_objects`."""
    failures: list[Failure] = []
    parts = table_by_table(page, page.chosen, of_table, failures)
    if len(parts) == 1 and not failures:
        yield from parts[0]
    elif results := [result for part in parts for result in part]:
        whole = join(results)
        stop = min((failure.event for failure in failures), default=len(page.images))
        order = np.lexsort((whole.numbers, whole.events))
        yield whole.select(order[whole.events[order] < stop])
    if failures:
        raise min(failures, key=lambda failure: failure.event).error


def table_by_table(
    page: RowsPage,
    chosen: Ints,
    of_table: Callable[[RowsPage, Table, Ints, list[Failure]], Iterator[_T]],
    failures: list[Failure],
) -> list[Iterator[_T]]:
    """Results for the chosen events of each table; those whose table is invalid are added to the failures."""
    numbers, parts = page.images.table_of[chosen], []
    for number in distinct_values(numbers).tolist():
        events = chosen[numbers == number]
        table = page.images.table(int(events[0]))
        if isinstance(table, Table):
            parts.append(of_table(page, table, events, failures))
        else:
            failures.append(Failure(int(events[0]), page.refuse(int(events[0]))))
    return parts


def _concatenated(arrays: tuple[Array | pa.Array, ...]) -> Array | pa.Array:
    return np.concatenate(arrays) if isinstance(arrays[0], np.ndarray) else pa.concat_arrays(arrays)


def _table_objects(
    page: RowsPage,
    table: Table,
    events: Ints,
    failures: list[Failure],
    *,
    choice: RowChoice | None,
    has_images: bool,
) -> Iterator[Objects]:
    """The rows of one table, up to the first invalid event."""
    writers = [LineWriter(page, table, events, form) for form in _IMAGES if has_images]

    def make(located: LocatedRows) -> Objects:
        is_there = (located.changes != INSERT).any(), (located.changes != DELETE).any()
        images = (
            writer.lines(located) if has else None for writer, has in zip(writers, is_there, strict=False)
        )
        return _objects(located, *images)

    return up_to_invalid(page, made_of_walked(page, table, make, events, choice), failures)


def up_to_invalid(page: RowsPage, results: Iterator[_T], failures: list[Failure]) -> Iterator[_T]:
    """Results for events of one table, up to an invalid one, whose error the event reader gives."""
    try:
        yield from results
    except MismatchError as mismatch:
        failures.append(Failure(mismatch.index, page.refuse(mismatch.index, mismatch.reason)))


def made_of_walked(
    page: RowsPage,
    table: Table,
    make: Callable[[LocatedRows], _Made],
    events: Ints,
    choice: RowChoice | None = None,
) -> Iterator[_Made]:
    """Results for the selected rows of events of one table, up to an event with an invalid value.

    Raises `MismatchError`: that event, or one that contradicts its table map.
    """
    for located in walk_rows(page.images, events, table, _MAX_ROWS):
        wrong: MismatchError | None = None
        if choice is not None:
            located, wrong = _chosen(choice, table, located)
        while len(located.events):
            try:
                yield make(located)
                break
            except CellError as error:
                # Columns are made in turn, so another column may be invalid in an earlier event.
                wrong = MismatchError(int(located.events[error.row]), error.error)
                located = located.before(error.row)
        if wrong is not None:
            raise wrong


def _chosen(
    choice: RowChoice, table: Table, located: LocatedRows
) -> tuple[LocatedRows, MismatchError | None]:
    """The selected rows, up to an event with a value that the choice cannot decode, and the error."""
    try:
        return choice.of_located(table, located), None
    except CellError:
        # The error's row number is relative to the rows tested, so each event is tried separately.
        for index in distinct_values(located.events).tolist():
            begin, end = np.searchsorted(located.events, [index, index + 1]).tolist()
            try:
                choice.of_located(table, located.part(begin, end))
            except CellError as error:
                return choice.of_located(table, located.part(0, begin)), MismatchError(index, error.error)
        raise


def _objects(located: LocatedRows, before: RowLines | None = None, after: RowLines | None = None) -> Objects:
    """The rows with these images; raises `CellError`: the images exceed Arrow's limit."""
    is_change = located.changes != AFTER
    kinds = located.changes[is_change]
    for lines in (before, after):
        try:
            check_ends(np.zeros(0, dtype=np.int64) if lines is None else lines.ends)
        except CellError as error:
            raise CellError(int(np.flatnonzero(is_change)[error.row]), error.error) from None
    return Objects(
        located.events[is_change],
        located.numbers[is_change],
        _NUMBERS[kinds],
        _texts(before, kinds != INSERT),
        _texts(after, kinds != DELETE),
    )


def _texts(lines: RowLines | None, valid: Bools) -> pa.StringArray:
    """Lines as a text array; null where they are not valid."""
    count, nulls = len(valid), len(valid) - int(np.count_nonzero(valid))
    if lines is None or nulls == count:
        return pa.nulls(count, pa.string())
    bits = pa.py_buffer(np.packbits(valid, bitorder="little")) if nulls else None
    offsets = np.zeros(count + 1, dtype=np.int32)
    offsets[1:] = lines.ends
    buffers = [bits, pa.py_buffer(offsets), pa.py_buffer(lines.data)]
    return pa.Array.from_buffers(pa.string(), count, buffers, nulls)


def write_rows(
    source: SourceLike | Iterable[SourceLike],
    filters: Filters | None = None,
    *,
    form: Form | None = None,
    ddl: str | None = None,
    origins: Iterable[str] = (),
    choice: RowChoice | None = None,
    ends: list[End] | None = None,
    progress: Callable[[Source, int], object] = lambda source, position: None,
    threads: int | None = None,
) -> Iterator[memoryview | bytes]:
    """The lines of changed rows, many at a time, as buffers of bytes.

    `form`: their format; ``rows --format json`` by default.
    `origins`: additional columns on the origin of rows, see `binlog_kaitai.rows.event_metadata`.
    `choice`: selects rows, after the filters; all by default.
    `threads`: number of threads that write lines, see `default_threads`.
    Raises `BinlogError`: like the event reader, after the lines of all preceding events.
    """
    chosen = filters or Filters()
    pages = RowsPages(
        source,
        chosen,
        ddl=ddl,
        origins=origins,
        block_size=ROWS_BLOCK_SIZE,
        progress=progress,
        threads=default_threads(threads),
        ends=ends,
        masks=form.masks.masks if form is not None and form.masks is not None else NO_MASKS,
    )
    yield from pages.each(partial(page_lines, choice=choice, form=form))


def page_lines(
    page: RowsPage, choice: RowChoice | None = None, form: Form | None = None
) -> Iterator[memoryview | bytes]:
    """The lines of a page, for :func:`write_rows`."""
    of_table = partial(_table_lines, form=form or _JSON, choice=choice)
    with page.block.held():
        for lines in in_order(page, of_table, RowLines.joined):
            yield from filled(view_of(lines.data), page.block)


def _table_lines(
    page: RowsPage,
    table: Table,
    events: Ints,
    failures: list[Failure],
    *,
    form: Form,
    choice: RowChoice | None,
) -> Iterator[RowLines]:
    lines = form.writer(page, table, events).lines
    return up_to_invalid(page, made_of_walked(page, table, lines, events, choice), failures)
