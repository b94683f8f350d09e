"""A pipeline that is killed by SIGKILL at a point of a batch: python -m tests.lakes.dying_pipeline JSON"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from itertools import count
from pathlib import Path
from threading import Thread
from typing import Any, NoReturn

from binlog_kaitai.lake.batches import Lake
from binlog_kaitai.lake.delta import DeltaTable, DeltaTables
from binlog_kaitai.pipeline.followed_logs import Following
from binlog_kaitai.pipeline.pipeline import Job, Pipeline
from binlog_kaitai.pipeline.spark_tasks import SparkTasks
from binlog_kaitai.pipeline.tasks import Result, Tasks
from tests.lake.lakes import OneByOne


class Phase(StrEnum):
    """When to kill.

    `WORKER` kills a Python of Spark's workers with its files written and not yet reported, and the driver
    in a later batch. `ANY` is a random moment of a batch, under Spark, too.
    """

    PLANNED = "planned"
    FILES = "files"
    COMMITS = "commits"
    WITHIN_A_COMMIT = "within a commit"
    COMMITTED = "committed"
    STATE = "state"
    WORKER = "worker"
    ANY = "any"


@dataclass(frozen=True)
class Run:
    """What to load, and when to end: in the batch after so many batches."""

    lake: str
    paths: list[str]
    format: str
    size: int
    phase: Phase
    batches: int
    seed: int
    note: str

    def start(self) -> list[str]:
        """The command that runs it."""
        return [sys.executable, "-m", "tests.lakes.dying_pipeline", json.dumps(asdict(self))]


def die() -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def die_within(seconds: float) -> None:
    """Die soon, while this process goes on."""

    def wait() -> None:
        time.sleep(seconds)
        die()

    Thread(target=wait, daemon=True).start()


class Death:
    """Kills this process in a phase of a batch."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.loaded = 0
        self._choose = random.Random(run.seed)
        self._commits, self._last = count(1), self._choose.choice((1, 2))

    def count(self, _: object) -> None:
        self.loaded += 1

    def is_due(self, phase: Phase) -> bool:
        return self.run.phase == phase and self.loaded >= self.run.batches

    def before(self, phase: Phase, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            if self.is_due(phase):
                die()
            return method(*arguments, **options)

        return call

    def after(self, phase: Phase, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            done = method(*arguments, **options)
            if self.is_due(phase):
                die()
            return done

        return call

    def amid(self, method: Callable[..., Any]) -> Callable[..., Any]:
        """Die after the first or second commit of a batch, or within one of the first."""

        def call(*arguments: Any, **options: Any) -> Any:
            if self.is_due(Phase.WITHIN_A_COMMIT):
                die_within(self._choose.uniform(0, 0.05))
            done = method(*arguments, **options)
            if self.is_due(Phase.COMMITS) and next(self._commits) == self._last:
                die()
            return done

        return call

    def at_random(self, _: object) -> None:
        """Die soon after the beginning of a batch."""
        if self.is_due(Phase.ANY) or self.is_due(Phase.WORKER):
            die_within(self._choose.uniform(0, 1))


class DyingTasks:
    """Tasks of Spark, the first of which is killed after its work in the batch before the last one."""

    def __init__(self, tasks: Tasks, death: Death) -> None:
        self.at_once = tasks.at_once
        self._tasks, self._death = tasks, death

    def run(self, task: Callable[[bytes], Result], inputs: Sequence[bytes]) -> list[Result]:
        death, note = self._death, self._death.run.note
        if death.run.phase != Phase.WORKER or death.loaded != death.run.batches - 1 or Path(note).exists():
            return self._tasks.run(task, inputs)

        def work(packed: bytes) -> Result:
            done = task(packed)
            try:
                os.close(os.open(note, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                return done
            os.kill(os.getpid(), signal.SIGKILL)
            raise AssertionError

        return self._tasks.run(work, inputs)


def main(run: Run) -> None:
    death = Death(run)
    begin = Lake.begin

    def begun(lake: Lake, plan: Any) -> None:
        begin(lake, plan)
        if death.is_due(Phase.PLANNED):
            die()
        death.at_random(plan)

    tables: Any = DeltaTables
    one_table: Any = DeltaTable
    if run.format == "iceberg":
        from binlog_kaitai.lake.iceberg import IcebergTable, IcebergTables

        tables, one_table = IcebergTables, IcebergTable
    changed: list[tuple[Any, str, Callable[..., Any]]] = [
        (Lake, "begin", begun),
        (Lake, "commit", death.after(Phase.COMMITTED, death.before(Phase.FILES, Lake.commit))),
        (one_table, "append", death.amid(one_table.append)),
        (tables, "replace", death.before(Phase.STATE, tables.replace)),
        (one_table, "merge", death.after(Phase.STATE, one_table.merge)),
    ]
    if run.format == "delta":  # Iceberg's tables are created empty
        changed.append((DeltaTables, "create", death.amid(DeltaTables.create)))
    for owner, name, method in changed:
        setattr(owner, name, method)
    tasks: Tasks = OneByOne()
    if run.phase in (Phase.WORKER, Phase.ANY):
        from binlog_kaitai.pipeline.spark_session import session

        # A task that fails is repeated.
        tasks = SparkTasks(session("local[2,4]", ["spark.driver.memory=512m"], has_rows=False))
    following = Following(tuple(run.paths), max_bytes=run.size, split_size=run.size // 3)
    job = Job(following, run.lake, format=run.format, keeps_state=True)
    Pipeline(job, on_progress=death.count).run(DyingTasks(tasks, death))


if __name__ == "__main__":
    main(Run(**json.loads(sys.argv[1])))
