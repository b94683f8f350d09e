"""Loads logs into a lake, each transaction exactly once.

The driver plans a batch and commits the plan; Spark's tasks each read one step of the logs and write files
into the folders of tables; the driver commits the files (`binlog_kaitai.lake`). The lake itself knows what it
has, so a batch that was killed is repeated from its plan, and nothing else is needed on any machine.
"""

from __future__ import annotations

import pickle
import shutil
import time
import warnings
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

from binlog_kaitai.arrow import pa
from binlog_kaitai.core.filters import TableSet
from binlog_kaitai.ddl.definitions import FOLLOWED, DatedText
from binlog_kaitai.errors import BinlogError, UsageError
from binlog_kaitai.following.effects import ERRANT, unclear
from binlog_kaitai.following.walk import Step
from binlog_kaitai.lake import STATE
from binlog_kaitai.lake.batches import Lake, Piece, Shared
from binlog_kaitai.lake.column_changes import check_columns
from binlog_kaitai.lake.files import TableFiles
from binlog_kaitai.lake.place import Offset, Plan
from binlog_kaitai.lake.rules import NO_RULES, Rules
from binlog_kaitai.lake.state_tables import State, Update, Updated
from binlog_kaitai.lake.storage import Storage
from binlog_kaitai.lake.upkeep import Tidying
from binlog_kaitai.pipeline.followed_logs import FollowedLogs, Following, followed_logs, log_header
from binlog_kaitai.pipeline.healing import Healing
from binlog_kaitai.pipeline.progress import Progress, progress_of
from binlog_kaitai.pipeline.tasks import Tasks, report_dropped, spare_modules
from binlog_kaitai.sources.source import with_state
from binlog_kaitai.views import VIEWS

if TYPE_CHECKING:
    from binlog_kaitai.snapshot.snapshot_files import Snapshot


#: More than the rows of any table, so that those of each snapshot of a lake have numbers of their own.
_ROWS_OF_SNAPSHOT = 1 << 40


@dataclass(frozen=True)
class Job:
    """What to load into which lake.

    `lake`: its path or URL; all tasks must reach it.
    `work`: a directory of the driver for a snapshot until it is in the lake.
    `views`: of `VIEWS`.
    `tables`: only changes of these tables, as ``schema.table``; all if empty.
    `format`: one of `lake.FORMATS`.
    `snapshot_readers`: a new lake begins with the contents of the server's tables, read over so many
    connections; 0: with the logs.
    `rules`: what the lake leaves out, masks and renames.
    `dump`: a new lake begins with the rows of this dump.
    `keeps_state`: keep the contents of each table, too.
    `has_dates`: partition the tables by date.
    `drops_refused`: leave no rows in tables whose contents are not known.
    `keeps_columns`: end with an error before a batch that changes the columns of a table.
    `resnapshot`: tables to read from the server again; `heals`: and those that have no state, at any time.
    `source`: with several sources: the name of this one.
    `is_shared`: other sources have the lake, too; rows have the name of theirs in the column `_source`.
    `storage_options`: credentials for the lake's store, see `lake.storage.read_options`.
    `max_files`: how many small files a table may have before they are joined, see `Tidying`; 0: any number.
    """

    following: Following
    lake: str
    work: str = ""
    views: Sequence[str] = VIEWS
    tables: Sequence[str] = ()
    zero_dates: str = "null"
    format: str = "delta"
    snapshot_readers: int = 0
    rules: Rules = NO_RULES
    dump: str | None = None
    keeps_state: bool = False
    has_dates: bool = True
    source: str = ""
    is_shared: bool = False
    storage_options: Mapping[str, str] = field(default_factory=dict, repr=False)
    drops_refused: bool = False
    resnapshot: Sequence[str] = ()
    heals: bool = False
    keeps_columns: bool = False
    max_files: int = 0

    @property
    def source_in_lake(self) -> str:
        """The name in the column `_source`; "" for the only source of a lake."""
        return self.source if self.is_shared else ""


@dataclass
class Pipeline:
    """One run of a job; raises `UsageError` if a package that its format needs is missing.

    `on_progress`: called with the progress of each batch once it is in the lake and its state tables.
    `on_snapshot`: called with lines on the progress of a snapshot, and on what an interrupted one has left.
    `on_state`: called with what became of each state table after a batch.
    `shared`: has to be the same for all pipelines of a process that have a lake together.
    `in_turn`: Calls a function that plans and loads a batch; may wait for other pipelines of this process.
    `stopped`: ends the run after the current batch.
    """

    job: Job
    on_progress: Callable[[Progress], object] = lambda progress: None
    on_snapshot: Callable[[str], object] = lambda line: None
    on_state: Callable[[Updated], object] = lambda updated: None
    shared: Shared = field(default_factory=Shared)
    in_turn: Callable[[Callable[[], Offset]], Offset] = lambda load: load()
    stopped: Event = field(default_factory=Event)
    lake: Lake = field(init=False)
    _state: State | None = field(default=None, init=False)
    _tidying: Tidying | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        job = self.job
        if job.keeps_state and job.rules.has_shared:
            raise UsageError("--state needs a table of its own for each table; omit --rename with * or ?")
        self.lake = Lake(
            job.lake, job.format, job.source_in_lake, self.shared, storage_options=job.storage_options
        )
        self._folder = Path(job.work) / "snapshot"

    def run(self, tasks: Tasks, *, interval: float | None = None) -> None:
        """Load what is new, and complete the batch that an earlier run has left.

        `tasks`: where to write the files.
        `interval`: follow the logs, with one batch per so many seconds; None: end once everything that exists
        now is in the lake.
        Raises `BinlogError`: the lake or the logs cannot be used, or another pipeline writes to the lake.
        """
        plan = self.lake.open(self.job.rules, has_dates=self.job.has_dates)
        if plan.batch < 0 and self.job.resnapshot:
            raise UsageError(f"{self.lake.storage.name} is new: --resnapshot is for a lake that exists")
        snapshot = self._snapshot() if plan.batch < 0 else None
        begins = self.job.snapshot_readers or (self.job.dump and not self.job.resnapshot)
        if plan.ddl is None and plan.batch >= 0 and begins:
            raise UsageError(f"{self.lake.storage.name} was begun without a snapshot; use another lake")
        new_ddl = None if snapshot is None else FOLLOWED + snapshot.ddl
        ddl = new_ddl or plan.ddl
        if ddl is not None:
            ddl = DatedText.of(ddl, {})  # as of the position where reading begins
        following = replace(self.job.following, at_once=tasks.at_once, ddl=self.job.following.ddl or ddl)
        if snapshot is not None:
            following = replace(following, starting={"file": snapshot.log, "position": snapshot.position})
        logs = followed_logs(following, follows_definitions=True)
        if self.job.max_files:
            self._tidying = Tidying(self.lake, self.job.max_files, vacuums=interval is not None)
        try:
            if interval is None:
                logs.end_here()
            if snapshot is not None:
                start = logs.first()
                self.in_turn(lambda: self._load(tasks, logs, plan.next(start, start, ddl=new_ddl)))
            elif not self.lake.is_complete:
                self.in_turn(lambda: self._load(tasks, logs, plan, is_recovered=True))
            self._follow(tasks, logs, interval)
        finally:
            logs.close()

    def _follow(self, tasks: Tasks, logs: FollowedLogs, interval: float | None) -> None:
        plan = self.lake.plan
        assert plan is not None
        start = logs.first() if plan.end is None else plan.end
        if self.job.keeps_state and self._state is None and plan.batch >= 0:
            self._update_state(tasks, plan, [])  # which an earlier run may not have kept
        asked, loaded = TableSet.of(self.job.resnapshot), TableSet.of(self.job.tables)
        repeats = interval is not None
        healing = Healing(asked, loaded, self._taken, self._folder, self.on_snapshot, repeats=repeats)
        while not self.stopped.is_set():
            begun = time.monotonic()
            refused = self._state.tables_refused() if self._state is not None and self.job.heals else {}
            if healing.begin(refused, start) and interval is None:
                logs.end_here()
            before = self.lake.plan
            start = self.in_turn(partial(self._load_next, tasks, logs, start, healing))
            if self.lake.plan is before and interval is None:
                healing.check()
                return
            if interval is not None:
                self.stopped.wait(max(0.0, interval - (time.monotonic() - begun)))

    def _load_next(self, tasks: Tasks, logs: FollowedLogs, start: Offset, healing: Healing) -> Offset:
        """Load the next batch; returns its end, which is its start if nothing is new."""
        plan = self.lake.plan
        assert plan is not None
        logs.stop = healing.stop()
        end = logs.next(start, self.job.following.max_bytes)
        if end != start:
            return self._load(tasks, logs, plan.next(start, end))
        if not logs.has_all:
            return end
        place = healing.place(start, self.job.following.ddl or plan.ddl)
        end = self._load(tasks, logs, plan.next(place, place))
        healing.end()
        return end

    def _snapshot_piece(self, plan: Plan) -> Piece:
        from binlog_kaitai.snapshot.snapshot_files import Snapshot

        if (snapshot := Snapshot.load(self._folder)) is None:
            reason = f"lacks a part of a snapshot, which is no longer in {self._folder}"
            raise UsageError(f"{self.lake.storage.name} {reason}; begin a new lake")
        storage, has_dates, restores = self.lake.storage, self.job.has_dates, plan.batch > 0
        return snapshot.piece(self._folder, storage, self.lake.source, has_dates=has_dates, restores=restores)

    def _load(self, tasks: Tasks, logs: FollowedLogs, plan: Plan, *, is_recovered: bool = False) -> Offset:
        """Make the planned batch, and commit it; returns its end."""
        assert plan.start is not None
        assert plan.end is not None
        if not is_recovered:
            self.lake.begin(plan)
        begun = time.monotonic()
        if plan.start == plan.end:
            pieces = [self._snapshot_piece(plan)]
        else:
            pieces = self._pieces(tasks, logs.steps(plan.start, plan.end))
        if self.job.keeps_columns:
            check_columns(self.lake, pieces)
        self.lake.commit(pieces)
        if plan.start == plan.end:
            shutil.rmtree(self._folder, ignore_errors=True)
        logs.done(plan.end)
        seconds = time.monotonic() - begun
        try:
            backlog = logs.backlog(plan.end)
        except (OSError, ValueError, BinlogError):  # this must not end the pipeline
            backlog = None
        progress = progress_of(plan.batch, pieces, seconds, backlog, is_recovered=is_recovered)
        if self.job.keeps_state:
            state = self._update_state(tasks, plan, pieces)
            progress = replace(
                progress, state_refused=dict(state.refused), state_refused_since=dict(state.since)
            )
        self.on_progress(replace(progress, source=self.job.source))
        if self._tidying is not None:
            self._tidying.after(pieces)
        return plan.end

    def _update_state(self, tasks: Tasks, plan: Plan, pieces: Sequence[Piece]) -> State:
        state = self._state = self._state or State(self.lake, drops_refused=self.job.drops_refused)
        updates, results = state.updates(plan, pieces)
        if updates:
            packed = [zlib.compress(pickle.dumps(update), 1) for update in updates]
            # Of sources that share tables, one merges at a time.
            with self.shared.lock(self.lake.storage.delta_url(STATE)):
                results += tasks.run(_run_update, packed)
        for result in results:
            state.done(result)
            self.on_state(result)
        return state

    def _pieces(self, tasks: Tasks, steps: Sequence[Step]) -> list[Piece]:
        """The files of each step, written by a task."""
        for step in steps:
            self.job.rules.check_effects(step.effects)
        assert self.lake.plan is not None
        following = self.job.following
        following = replace(following, ddl=following.ddl or self.lake.plan.ddl)
        job = replace(self.job, lake=self.lake.storage.url, following=following)  # tasks run in other folders
        write = StepWriter(job, self.lake.columns)
        packed = [zlib.compress(pickle.dumps(step), 1) for step in steps]
        pieces = tasks.run(write, packed)
        for piece, step in zip(pieces, steps, strict=True):
            known = self.job.rules.effects_in_lake(
                step.effects, self.job.zero_dates, is_shared=bool(self.job.source_in_lake)
            )
            piece.effects = [*piece.effects, *known]
            if step.errant:
                reason = ERRANT.format(step.errant)
                piece.warnings.append(f"{step.source.name}: {reason}: these came later, and count last here")
                tables = piece.tables.union(effect.table for effect in step.effects)
                piece.effects += [unclear(step.end, *table, reason) for table in sorted(tables)]
        return pieces

    def _snapshot(self) -> Snapshot | None:
        """The snapshot that the lake begins with, taken now if there is none."""
        from binlog_kaitai.snapshot.snapshot_files import Snapshot

        job = self.job
        snapshot = Snapshot.load(self._folder) if job.work else None
        if snapshot is not None:
            snapshot.check_rules(job.rules)
        if snapshot is not None or not (job.snapshot_readers or job.dump):
            return snapshot
        return self._taken(TableSet.of(job.tables))

    def _taken(self, tables: TableSet, era: int | None = None) -> Snapshot:
        """A snapshot of tables of the dump or the server; `era`: that of the place of a lake that exists."""
        from binlog_kaitai.snapshot.dump_snapshot import snapshot_of_dump
        from binlog_kaitai.snapshot.server_snapshot import take_snapshot

        job = self.job
        server = job.following.server
        options: dict[str, Any] = {"tables": tables, "kind": job.format, "rules": job.rules}
        options |= {"zero_dates": job.zero_dates, "report": self.on_snapshot}
        assert self.lake.plan is not None
        options["first_row"] = (self.lake.plan.batch + 1) * _ROWS_OF_SNAPSHOT
        if job.dump is not None and (era is None or server is None):
            header_of = partial(log_header, job.following)
            return snapshot_of_dump(
                Path(job.dump), self._folder, header_of=header_of, era=era or 0, **options
            )
        assert server is not None
        return take_snapshot(server, self._folder, era=era, readers=job.snapshot_readers or 2, **options)


def _run_update(packed: bytes) -> Updated:
    """Update a state table, in a task."""
    update: Update = pickle.loads(zlib.decompress(packed))
    return update()


class StepWriter:
    """Writes one step to the lake, in a task; a function that travels to the workers."""

    def __init__(self, job: Job, columns: Mapping[str, Mapping[str, pa.DataType]]) -> None:
        self._job = job
        self._columns = columns

    def __call__(self, packed: bytes) -> Piece:
        from binlog_kaitai.lake.write import write_damage, write_gap, write_lake
        from binlog_kaitai.views.splits import definitions_in

        spare_modules()
        step: Step = pickle.loads(zlib.decompress(packed))
        job, span, mode = self._job, step.span, self._job.following.mode
        piece = Piece(step.source.name, step.start, step.end, span.era)
        source = step.source if mode == "FAILFAST" else with_state(step.source)
        files = TableFiles(
            Storage(job.lake, job.storage_options),
            job.format,
            columns=self._columns,
            has_dates=job.has_dates,
            source=job.source_in_lake,
        )
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                written = write_lake(
                    source,
                    files,
                    views=job.views,
                    definitions_at=definitions_in(source, job.following.ddl),
                    zero_dates=job.zero_dates,
                    tables=job.tables,
                    rules=job.rules,
                    skips_damage=mode != "FAILFAST",
                )
                if step.gap:
                    write_gap(step.gap, step.start, source, files)
                if mode == "PERMISSIVE" and written.damages:
                    write_damage(written.damages, source, files, job.rules)
                elif written.damages:
                    report_dropped(written.damages, source)
            finally:
                files.close()
        piece.files, piece.effects = files.files, [*written.facts, *written.effects]
        piece.damaged_ranges = len(written.damages)
        # The driver prints them: nobody reads what the workers print.
        piece.warnings = list(dict.fromkeys(str(warning.message) for warning in caught))
        return piece
