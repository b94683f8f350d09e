"""Tasks that a pipeline runs side by side: what runs them, and what each does before and after its work."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context, parent_process
from threading import Thread
from typing import Protocol, TypeVar

from binlog_kaitai.errors import SourceError
from binlog_kaitai.log.gaps import Gap
from binlog_kaitai.log.threads import usable_processors
from binlog_kaitai.sources.source import Source

_tasks_begun = 0

Result = TypeVar("Result")


class Tasks(Protocol):
    """Runs tasks side by side.

    `at_once`: how many.
    """

    at_once: int

    def run(self, task: Callable[[bytes], Result], inputs: Sequence[bytes]) -> list[Result]:
        """The results of a task for each input."""


class LocalTasks:
    """Tasks in processes of this machine, without Spark and Java."""

    def __init__(self) -> None:
        self.at_once = usable_processors()
        self._pool = self._new_pool()

    def _new_pool(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(self.at_once, get_context("spawn"), _begin_process)

    def run(self, task: Callable[[bytes], Result], inputs: Sequence[bytes]) -> list[Result]:
        if len(inputs) == 1:
            return [task(inputs[0])]
        pool = self._pool
        try:
            return list(pool.map(task, inputs))
        except BrokenProcessPool as error:
            if pool is self._pool:
                self._pool = self._new_pool()
            reason = "a process that writes the lake's files was killed; it may have needed too much memory"
            raise SourceError(reason) from error

    def stop(self) -> None:
        """End the processes after the tasks that run; others are not begun."""
        self._pool.shutdown(cancel_futures=True)


def _begin_process() -> None:
    """In a process of `LocalTasks`: leave interrupts to the process that started it, and end with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    assert parent is not None

    def end() -> None:
        parent.join()
        os._exit(1)

    Thread(target=end, daemon=True).start()


def report_dropped(dropped: Sequence[Gap], split: Source) -> None:
    """Report dropped damage, if there is any, on the worker's stderr, where Spark shows what tasks print."""
    if not dropped:
        return
    size = sum(gap.stop_in(split.size) - gap.start for gap in dropped)
    positions = ", ".join(f"{gap.start} ({gap.error.reason})" for gap in dropped[:10])
    print(
        f"binlog-kaitai: {split.name}: dropped {len(dropped)} damaged ranges, {size} bytes, at {positions}",
        file=sys.stderr,
    )


def spare_modules() -> None:
    """Before a task reads: exclude the objects of modules from the garbage collection after each task.

    Spark's workers collect garbage after each task, which takes 80 ms with all modules loaded. By the second
    task all modules are loaded, and the garbage of the first one is gone.
    """
    global _tasks_begun
    _tasks_begun += 1
    if _tasks_begun == 2:  # `gc.get_freeze_count` would count the objects
        gc.freeze()
