"""Where a pipeline continues: the plan of its last batch, the only row of the table `_pipeline`.

A plan replaces the one before it, and only if that is still the newest: of two pipelines that write to the
same lake, the second one to commit fails.
"""

from __future__ import annotations

import json
import uuid
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from binlog_kaitai.arrow import pa
from binlog_kaitai.errors import SourceError, UsageError
from binlog_kaitai.lake import PLACE, SOURCES
from binlog_kaitai.lake.delta import DeltaTables, durable
from binlog_kaitai.lake.rules import Rules
from binlog_kaitai.lake.storage import Storage

if TYPE_CHECKING:
    from deltalake import DeltaTable

#: A place in the logs, see `pipeline.followed_logs`.
Offset = dict[str, Any]

_SCHEMA = pa.schema([pa.field("batch", pa.int64()), pa.field("plan", pa.string())])

#: Folders that the old pipeline had in `_pipeline`.
_OLD = frozenset({"batches", "checkpoint", "staging"})

#: The folder for what only this machine needs: the spool, and a snapshot until it is in the lake.
WORK = "_work"


@dataclass(frozen=True)
class Plan:
    """A batch.

    `application`: identifies the pipeline in the commits of all tables.
    `format`: one of `lake.FORMATS`.
    `rules`: what the lake leaves out, masks and renames.
    `has_dates`: its tables are partitioned by date.
    `batch`: its number; -1 for the plan of a new lake, which has no batch.
    `start`, `end`: offsets in the logs, see `pipeline.followed_logs`. If they are equal, the batch has the
    rows of a snapshot, and begins the lake.
    `ddl`: the definitions of the tables of that snapshot.
    """

    application: str
    format: str
    rules: Rules
    has_dates: bool = True
    batch: int = -1
    start: Offset | None = None
    end: Offset | None = None
    ddl: str | None = None

    @classmethod
    def new(cls, kind: str, rules: Rules, *, has_dates: bool) -> Plan:
        """The plan of a new lake."""
        return cls(f"binlog-kaitai/{uuid.uuid4().hex}", kind, rules, has_dates)

    def next(self, start: Offset, end: Offset, *, ddl: str | None = None) -> Plan:
        """The plan of the next batch."""
        return replace(self, batch=self.batch + 1, start=start, end=end, ddl=self.ddl if ddl is None else ddl)

    def as_json(self) -> str:
        return json.dumps({**asdict(self), "rules": self.rules.as_dict()})

    @classmethod
    def of_json(cls, text: str) -> Plan:
        plan = json.loads(text)
        return cls(**plan | {"rules": Rules.of_dict(plan["rules"])})


class PlanTable:
    """The table `_pipeline` of a lake, or of one of its sources.

    Raises `UsageError`: deltalake is not installed.
    """

    def __init__(self, storage: Storage, source: str = "") -> None:
        self._storage = storage
        self._tables = DeltaTables(storage, "")
        self._source = source
        self._name = private_name(PLACE, source)
        self._handle: DeltaTable | None = None

    def load(self) -> Plan | None:
        """The plan of the last batch; None for a new lake.

        Raises `UsageError`: the folder has something else in it.
        Raises `SourceError`: the store fails.
        """
        names = set(self._storage.names()) - {WORK}
        if _OLD & set(self._storage.names(PLACE)):
            raise UsageError(f"{self._storage.name} is a lake of an earlier version; begin a new one")
        if names and (SOURCES in names) != bool(self._source):
            reason = (
                f"is not empty and is not a pipeline's lake{' of several sources' if self._source else ''}"
            )
            if SOURCES in names:
                reason = "is a lake of several sources (--into one)"
            raise UsageError(f"{self._storage.name} {reason}")
        if (table := self._tables.open(self._name)) is None:
            if not self._source and names - {PLACE}:
                raise UsageError(f"{self._storage.name} is not empty and is not a pipeline's lake")
            return None
        self._handle = table.handle
        (row,) = (row for batch in table.batches() for row in batch.to_pylist())
        return Plan.of_json(row["plan"])

    def store(self, plan: Plan) -> None:
        """Replace the plan that was loaded or stored last.

        Raises `SourceError`: another process has replaced it, or the store fails.
        """
        from deltalake import DeltaTable, write_deltalake
        from deltalake.exceptions import DeltaError

        row = pa.table({"batch": [plan.batch], "plan": [plan.as_json()]}, _SCHEMA)
        options = self._storage.delta_options()
        url = self._storage.delta_url(self._name)
        try:
            with durable(self._storage, self._name, self._handle):
                if self._handle is None:
                    write_deltalake(url, row, mode="error", storage_options=options)
                else:
                    write_deltalake(self._handle, row, mode="overwrite")
            self._handle = self._handle or DeltaTable(url, storage_options=options)
        except (DeltaError, OSError) as error:
            failure = self._storage.text_of(error)
            reason = f"another pipeline is writing to this lake, or its storage fails ({failure})"
            raise SourceError(reason, file=self._storage.name) from error


def private_name(name: str, source: str) -> str:
    """The folder of a table that only the pipeline reads; of one source, in a lake of several."""
    return f"{SOURCES}/{source}/{name}" if source else name
