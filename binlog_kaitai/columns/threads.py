"""Processes blocks or pages in several threads, and yields the results in the order of the log.

::

    reading, framing ──► state of the log ──► work ──► results
     one thread           one thread         N threads  in order, in the caller's thread

Only the work is divided. What depends on earlier events (transactions, table maps, definitions, filters,
damage) is computed in one thread, in log order, as it is without threads; therefore output, errors and
warnings do not depend on the number of threads. Kernels, decompression, Arrow and reads release the GIL.
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

#: Bytes, and blocks, processed before any thread is started: on small logs, threads cost more than they save.
_FROM, _BLOCKS = 16 << 20, 4

#: Larger items are processed alone, in the caller's thread, result by result, to save memory.
_LARGE = 64 << 20

#: Number of items whose results wait, or that wait for a thread.
_WAITING = 1


def thread_count(threads: int | None, sources: Iterable[Source]) -> int:
    """The number of threads to use; one by default, because two were no faster on two processors.

    A source that may wait for data, such as a pipe, and a part of a log, which is itself one of many that are
    read side by side, are read in one thread.

    Raises
    ------
    UsageError
        The number is less than 1.
    """
    if threads is not None and threads < 1:
        raise UsageError(f"threads must be at least 1, not {threads}")
    if not all(one.part is None and one.path is not None and os.path.isfile(one.path) for one in sources):
        return 1
    return threads or 1


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
        self._is_over = False
        self._changed = threading.Condition()

    def take(self, count: int) -> bool:
        """Wait for room; False if no more items are wanted."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_over or self._left >= count)
            self._left -= count
            return not self._is_over

    def give(self, count: int) -> None:
        with self._changed:
            self._left += count
            self._changed.notify()

    def end(self) -> None:
        with self._changed:
            self._is_over = True
            self._changed.notify()


def in_order(
    items: Generator[_Item, None, None],
    work: Callable[[_Item], Iterable[_Result]],
    threads: int,
    size: Callable[[_Item], int],
    block_size: int,
) -> Iterator[_Result]:
    """The results of all items, in order; an error, of an item or the work on it, in its order.

    Parameters
    ----------
    items
        Are computed in one thread, a few ahead.
    work
        Returns the results of an item; it must not depend on other items.
    threads
        Number of threads for the work; 1: no thread is started.
    size
        Size of an item, in bytes.
    block_size
        Size of the reader's blocks: threads begin after several, because each block in use costs memory.
    """
    done, least = 0, max(_FROM, _BLOCKS * block_size)
    for item in items:
        yield from work(item)
        done += size(item)
        if threads > 1 and done >= least:
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
) -> Iterator[_Result]:
    """Like `in_order`, with threads from the first item on."""
    from concurrent.futures import ThreadPoolExecutor

    handed: SimpleQueue[Future[_Done] | _Alone | _End] = SimpleQueue()
    room = _Room(threads + _WAITING)
    pool = ThreadPoolExecutor(threads, thread_name_prefix="binlog-kaitai-work")

    def run(item: _Item) -> _Done:
        results: list[object] = []
        try:
            results.extend(work(item))
        except BaseException as error:
            return _Done(results, error)
        return _Done(results, None)

    def feed() -> None:
        error: BaseException | None = None
        try:
            for item in items:
                is_alone = size(item) > _LARGE
                if not room.take(room.size if is_alone else 1):
                    return
                handed.put(_Alone(item) if is_alone else pool.submit(run, item))
        except BaseException as caught:
            error = caught
        handed.put(_End(error))

    feeder = threading.Thread(target=feed, name="binlog-kaitai-feed", daemon=True)
    feeder.start()
    try:
        while not isinstance(found := handed.get(), _End):
            if isinstance(found, _Alone):
                yield from work(found.item)  # type: ignore[arg-type]
                room.give(room.size)
                continue
            done = found.result()
            del found
            while done.results:
                yield done.results.pop(0)  # type: ignore[misc]
            if done.error is not None:
                raise done.error
            room.give(1)
        if found.error is not None:
            raise found.error
    finally:
        room.end()
        feeder.join()
        pool.shutdown(cancel_futures=True)
        items.close()
