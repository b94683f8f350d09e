"""Several sources, loaded side by side in one Spark session.

Each source has a pipeline in a thread of its own, which mostly waits. A few more threads plan and load the
batches, in the order in which sources ask for them. The tasks of a source have a pool of Spark's fair
scheduler.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Event, Thread

from binlog_kaitai.errors import SourceError
from binlog_kaitai.lake.batches import Shared
from binlog_kaitai.pipeline.pipeline import Pipeline
from binlog_kaitai.pipeline.tasks import Tasks

#: Seconds until a source that failed is tried again.
PAUSE = 60.0

#: How often in turn a single source is tried again, each time after `PAUSE`.
_ATTEMPTS = 10

#: The maximum number of batches that are loaded side by side.
_MOST_SOURCES = 32


def retried(load: Callable[[], None], on_failure: Callable[[Exception], object]) -> None:
    """Load from a single source, and again after a failure: a store or a server may be away for a while.

    A failure within a minute of the start ends it: the command may be wrong. So does one that lasts.
    `on_failure`: called with an error after which there is another try.
    Raises `BinlogError`: that of the last try.
    """
    left = 0
    while True:
        begun = time.monotonic()
        try:
            return load()
        except SourceError as error:
            left = _ATTEMPTS if time.monotonic() - begun > PAUSE else left - 1
            if left < 1:
                raise
            on_failure(error)
        time.sleep(PAUSE)


class Fleet:
    """Runs pipelines side by side; none of them stops when another fails.

    `pipelines`: Their jobs have different sources.
    `on_failure`: called with the name of a source that cannot be loaded, and the error.
    """

    def __init__(self, pipelines: Sequence[Pipeline], on_failure: Callable[[str, Exception], object]) -> None:
        self._on_failure = on_failure
        self._stopped = Event()
        self._failed: set[str] = set()
        self._threads: list[Thread] = []
        shared = Shared()
        self._pipelines = [replace(pipeline, shared=shared, stopped=self._stopped) for pipeline in pipelines]

    def run(self, tasks: Callable[[str], Tasks], *, interval: float | None = None) -> None:
        """Load what is new from all sources.

        `tasks`: returns what runs the tasks of a source.
        `interval`: as for :meth:`Pipeline.run`; sources that fail are then tried again.
        Raises `SourceError`: at the end: sources failed.
        """
        tasks_of = [tasks(pipeline.job.source) for pipeline in self._pipelines]
        # Two batches for each task, so that some are planned or committed while tasks run.
        most = min(2 * max(tasks.at_once for tasks in tasks_of), _MOST_SOURCES)
        turns = ThreadPoolExecutor(most, thread_name_prefix="binlog-kaitai-batch")
        for pipeline, own_tasks in zip(self._pipelines, tasks_of, strict=True):
            ours = replace(pipeline, in_turn=lambda load: turns.submit(load).result())
            arguments = ours, own_tasks, interval
            name = f"binlog-kaitai {pipeline.job.source}"
            self._threads.append(Thread(target=self._run, args=arguments, name=name, daemon=True))
        try:
            for thread in self._threads:
                thread.start()
            for thread in self._threads:
                thread.join()
        finally:
            self._stopped.set()
            turns.shutdown(wait=False, cancel_futures=True)
        if self._failed:
            names = ", ".join(sorted(self._failed))
            raise SourceError(f"{len(self._failed)} of {len(self._threads)} sources failed: {names}")

    def wait(self, seconds: float) -> None:
        """Wait for the current batches of a run that was interrupted."""
        deadline = time.monotonic() + seconds
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))

    def _run(self, pipeline: Pipeline, tasks: Tasks, interval: float | None) -> None:
        while not self._stopped.is_set():
            try:
                replace(pipeline).run(tasks, interval=interval)  # as new, whatever the last attempt has left
            except Exception as error:  # no error may end the other sources
                if self._stopped.is_set():
                    return
                self._failed.add(pipeline.job.source)
                self._on_failure(pipeline.job.source, error)
            if interval is None:
                return
            self._stopped.wait(PAUSE)
