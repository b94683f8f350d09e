"""Processes blocks or pages in several threads, and yields the results in the order of the log.

::

    each of N threads:  an item, in turn  ──►  work on it
    caller's thread:    results, in order

A thread that has finished an item takes the next: it reads and frames a block and updates the state of the
log, while no other thread does. So what depends on earlier events (transactions, table maps, definitions,
filters, damage) is computed in log order, as it is without threads; therefore output, errors and warnings do
not depend on the number of threads. The work that follows finds the block in the cache of its processor.
Kernels, decompression, Arrow and reads release the GIL.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from queue import SimpleQueue
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from binlog_kaitai.errors import UsageError
from binlog_kaitai.sources.source import Source

if TYPE_CHECKING:
    from concurrent.futures import Future

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

#: Bytes processed before any thread is started: on small logs, threads cost more than they save.
_FROM = 8 << 20

#: Larger items are processed alone, in the caller's thread, result by result, to save memory.
_LARGE = 64 << 20

#: Maximum number of threads that are started unasked.
_DEFAULT_THREADS = 4

#: See `side_by_side`.
_WAITING = 1


def thread_count(threads: int | None, sources: Iterable[Source]) -> int:
    """The number of threads to use; one if none is given.

    A source that may wait for data, such as a pipe, and a span of a log, which is itself one of many that are
    read side by side, are read in one thread.

    Raises `UsageError`: the number is less than 1.
    """
    if threads is not None and threads < 1:
        raise UsageError(f"threads must be at least 1, not {threads}")
    if not all(log.span is None and log.path is not None and os.path.isfile(log.path) for log in sources):
        return 1
    return threads or 1


def prefetches_with(threads: int) -> bool:
    """Whether another thread reads the blocks, because reading would limit this many."""
    return threads > 2


def default_threads(threads: int | None) -> int:
    """The given number, or one per processor; at most four, because more gain little and need memory."""
    if threads is not None:
        return threads
    return min(usable_processors(), _DEFAULT_THREADS)


def usable_processors() -> int:
    """The number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Done(NamedTuple):
    """Results of an item, and the error after them."""

    results: list[object]
    error: BaseException | None


class _Alone(NamedTuple):
    """A large item."""

    item: object


class _End(NamedTuple):
    error: BaseException | None


class _Room:
    """Limits how many items are in use; a large item takes all the room."""

    def __init__(self, size: int) -> None:
        self.size = self._left = size
        self.is_over = False
        self._changed = threading.Condition()

    def take(self, count: int) -> bool:
        """Wait for room; False if no more items are wanted."""
        with self._changed:
            self._changed.wait_for(lambda: self.is_over or self._left >= count)
            self._left -= count
            return not self.is_over

    def give(self, count: int) -> None:
        with self._changed:
            self._left += count
            self._changed.notify()

    def end(self) -> None:
        with self._changed:
            self.is_over = True
            self._changed.notify()


def in_order(
    items: Generator[_Item, None, None],
    work: Callable[[_Item], Iterable[_Result]],
    threads: int,
    size: Callable[[_Item], int],
) -> Iterator[_Result]:
    """The results of all items, in order; an error, of an item or the work on it, in its order.

    `items`: are computed one after the other, a few ahead.
    `work`: returns the results of an item; it must not depend on other items.
    `threads`: number of threads for the work; 1: no thread is started.
    `size`: size of an item, in bytes.
    """
    done = 0
    for item in items:
        yield from work(item)
        done += size(item)
        if threads > 1 and done >= _FROM:
            break
    else:
        return
    del item
    yield from side_by_side(items, work, threads, size)


def side_by_side(
    items: Generator[_Item, None, None],
    work: Callable[[_Item], Iterable[_Result]],
    threads: int,
    size: Callable[[_Item], int],
    *,
    waiting: int = _WAITING,
    name: str = "work",
) -> Iterator[_Result]:
    """Like `in_order`, with threads from the first item on.

    `waiting`: number of items whose results wait, or that wait for a thread.
    `name`: part of the names of the threads.
    """
    from concurrent.futures import Future

    handed: SimpleQueue[Future[_Done] | _Alone | _End] = SimpleQueue()
    room = _Room(threads + waiting)
    turn = threading.Lock()

    def take() -> tuple[_Item, Future[_Done]] | None:
        """The next item to work on, and the future of its results; None if there is none."""
        for item in items:
            is_alone = size(item) > _LARGE
            if not room.take(room.size if is_alone else 1):
                return None
            if not is_alone:
                future: Future[_Done] = Future()
                handed.put(future)
                return item, future
            handed.put(_Alone(item))
        return None

    def run() -> None:
        while True:
            work_item, error = None, None
            with turn:
                if room.is_over:
                    return
                try:
                    work_item = take()
                except BaseException as caught:
                    error = caught
                if work_item is None:
                    room.end()
                    handed.put(_End(error))
                    return
            work_item[1].set_result(_results(work, work_item[0]))

    names = (f"binlog-kaitai-{name}-{number}" for number in range(threads))
    workers = [threading.Thread(target=run, name=name, daemon=True) for name in names]
    for worker in workers:
        worker.start()
    try:
        while not isinstance(entry := handed.get(), _End):
            if isinstance(entry, _Alone):
                yield from work(entry.item)  # type: ignore[arg-type]
                room.give(room.size)
                continue
            done = entry.result()
            del entry
            while done.results:
                yield done.results.pop(0)  # type: ignore[misc]
            if done.error is not None:
                raise done.error
            room.give(1)
        if entry.error is not None:
            raise entry.error
    finally:
        room.end()
        for worker in workers:
            worker.join()
        items.close()


def _results(work: Callable[[_Item], Iterable[_Result]], item: _Item) -> _Done:
    results: list[object] = []
    try:
        results.extend(work(item))
    except BaseException as error:
        return _Done(results, error)
    return _Done(results, None)


def prefetch(items: Generator[_Item, None, None]) -> Iterator[_Item]:
    """Items, each computed while the previous one is used; an error is raised in its order."""
    return side_by_side(items, lambda item: (item,), 1, lambda item: 0, waiting=0, name="prefetch")
