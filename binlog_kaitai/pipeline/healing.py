"""Tables that a lake reads from the server, or a dump, again: those asked for, and those that have no state.

A snapshot of them is taken at a position of the server's log. Once the lake has everything before that, a
batch adds the rows, and what the tables had until then no longer counts.
"""

from __future__ import annotations

import math
import shutil
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from binlog_kaitai.core.filters import TableSet
from binlog_kaitai.ddl.definitions import restore, save
from binlog_kaitai.errors import BinlogError, SourceError, UsageError
from binlog_kaitai.lake.place import Offset
from binlog_kaitai.pipeline.followed_logs import Stop
from binlog_kaitai.snapshot.snapshot_files import RECORD
from binlog_kaitai.sources.source import log_number

if TYPE_CHECKING:
    from binlog_kaitai.lake.lineage import Key
    from binlog_kaitai.snapshot.snapshot_files import Snapshot
    from binlog_kaitai.values.table_definition import TableDefinition

#: Seconds until a table that was read again is read once more, which doubles each time, and at most; and
#: for how long it must not have been due until they are the first ones again.
_PAUSE, _MAX_PAUSE = 60.0, 86400.0


class Healing:
    """Takes the snapshots, one after another: a table that cannot be read does not concern the others.

    `asked`: tables to read once, as for `TableSet`.
    `loaded`: the tables whose changes the lake has.
    `take`: takes a snapshot of tables, for a lake whose newest changes are of an era, in the `folder`.
    `repeats`: a table may be read again more than once in this run.
    `snapshot`: the one that is not in the lake yet.
    """

    def __init__(
        self,
        asked: TableSet,
        loaded: TableSet,
        take: Callable[[TableSet, int], Snapshot],
        folder: Path,
        report: Callable[[str], object],
        *,
        repeats: bool,
    ) -> None:
        self._asked, self._loaded, self._take, self._folder = asked, loaded, take, folder
        self._report = report
        self._pause = _PAUSE if repeats else math.inf
        #: When a table may be read again, and how long after that once more.
        self._next: dict[Key, tuple[float, float]] = {}
        self._healed: set[Key] = set()
        #: Tables that were refused although nothing had changed since, with their definitions.
        self._hopeless: dict[Key, TableDefinition | None] = {}
        self.snapshot: Snapshot | None = None

    def begin(self, refused: Mapping[Key, str], offset: Offset) -> bool:
        """Take a snapshot if one is due; returns whether there is a new one.

        `refused`: tables without state, with reasons.
        `offset`: where the lake is.
        Raises `UsageError`, `ServerError`: a table that was asked for cannot be read.
        """
        if self.snapshot is not None and self.snapshot.era != offset.get("era", 0):
            self._report("another server's logs continue; the tables are read again from it")
            self.snapshot = None
        failed = self._healed.intersection(refused)
        if failed or self._hopeless:
            definitions = restore(str(offset.get("definitions", "")))
            self._hopeless |= {table: definitions.of(*table) for table in failed}
            self._hopeless = {
                table: known for table, known in self._hopeless.items() if definitions.of(*table) == known
            }
        self._healed = set()
        now, asked = time.monotonic(), self._asked
        waiting = {table for table, (after, _) in self._next.items() if now < after} | self._hopeless.keys()
        due = next((table for table in refused if table not in waiting), None)
        if self.snapshot is not None or not (asked or due):
            return False
        tables = asked
        if due is not None and not asked:
            tables, (after, pause) = TableSet.of([".".join(due)]), self._next.get(due, (now, self._pause))
            pause = self._pause if now - after > _MAX_PAUSE else pause
            self._next[due] = now + pause, min(2 * pause, _MAX_PAUSE)
            self._report(f"{'.'.join(due)} is read again, since {refused[due]}")
        if (self._folder / RECORD).exists():  # of a run that did not come to use it
            shutil.rmtree(self._folder)
        try:
            self.snapshot = self._take(tables, offset.get("era", 0))
        except BinlogError as error:
            if asked:
                raise
            self._report(f"it cannot be read: {error}")
            return False
        new, names = self.snapshot, [f"{schema}.{name}" for schema, name, _ in self.snapshot.tables]
        if asked and not names:
            raise UsageError("the dump has no such table")
        here = offset.get("era", 0), log_number(offset["file"]), offset["position"]
        if (new.era, log_number(new.log), new.position) < here:
            reason = f"the lake has changes from after {new.log}, position {new.position}, where it was taken"
            raise UsageError(f"the dump is too old: {reason}; take one while the pipeline is not running")
        if asked and (others := [name for name in names if name not in self._loaded]):
            raise UsageError(f"the lake does not load changes of {', '.join(others)}; add them to --tables")
        return True

    def stop(self) -> Stop | None:
        """Where the lake has to be for the snapshot."""
        snapshot = self.snapshot
        return None if snapshot is None else Stop(snapshot.log, snapshot.log_id, snapshot.position)

    def end(self) -> None:
        """The snapshot is in the lake."""
        assert self.snapshot is not None
        self._healed = {(schema, name) for schema, name, _ in self.snapshot.tables}
        self.snapshot, self._asked = None, TableSet()

    def check(self) -> None:
        """Raises `SourceError`: the logs end without the snapshot's position."""
        if (goal := self.snapshot) is not None:
            reason = f"the logs end before position {goal.position} of {goal.log}, of which the snapshot is"
            raise SourceError(f"{reason}: do they come from another server?")

    def place(self, offset: Offset, ddl: str | None) -> Offset:
        """Where the lake is, with the definitions that the tables have in the snapshot."""
        assert self.snapshot is not None
        definitions = restore(str(offset.get("definitions", "")), ddl)
        for schema, _, statement in self.snapshot.tables:
            definitions.observe(schema, statement)
        return {**offset, "definitions": save(definitions)}
