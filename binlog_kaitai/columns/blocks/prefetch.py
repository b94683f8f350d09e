"""Work done one step ahead, in a thread: while one block is used, the next is read, framed and checked.

Kernels, reading and NumPy's larger steps run without the interpreter's lock, so that two processors share
the work. Nothing else is shared: an item is handed over, and the next but one is begun only when the
consumer has come for the one between.
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
    """The same items, each made while the one before is used; an error comes where it belongs."""
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
