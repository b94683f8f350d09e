"""Prefetching in a thread: while one block is used, the next one is read, framed and checked.

Kernels, reads and large NumPy operations release the GIL, so two processors share the work. The threads share
nothing else: an item is handed over, and the one after the next is started only when the consumer requests
the next.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from queue import SimpleQueue
from typing import NamedTuple, TypeVar

_T = TypeVar("_T")


class _End(NamedTuple):
    error: BaseException | None


def prefetch(items: Iterator[_T]) -> Iterator[_T]:
    """The same items, each computed while the previous one is used; an error is raised in its order."""
    handed: SimpleQueue[_T | _End] = SimpleQueue()
    taken = threading.Semaphore(0)
    is_over = threading.Event()

    def work() -> None:
        error: BaseException | None = None
        try:
            for item in items:
                handed.put(item)
                taken.acquire()
                if is_over.is_set():
                    return
        except BaseException as caught:
            error = caught
        handed.put(_End(error))

    thread = threading.Thread(target=work, name="binlog-kaitai-prefetch", daemon=True)
    thread.start()
    try:
        while not isinstance(item := handed.get(), _End):
            taken.release()
            yield item
        if item.error is not None:
            raise item.error
    finally:
        is_over.set()
        taken.release()
        thread.join()
