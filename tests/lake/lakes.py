"""Lakes like those of the pipeline, written without Spark."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from binlog_kaitai.lake import SOURCE, STATEMENTS
from binlog_kaitai.lake.batches import Lake
from binlog_kaitai.lake.changes import TableChanges
from binlog_kaitai.lake.iceberg import CATALOG
from binlog_kaitai.pipeline.followed_logs import Following
from binlog_kaitai.pipeline.pipeline import Job, Pipeline
from binlog_kaitai.pipeline.progress import Progress
from binlog_kaitai.pipeline.tasks import Result
from binlog_kaitai.rows.change_schemas import META_FIELDS
from tests.corpus_files import CORPUS

DDL = [CORPUS / "mysql-9.7" / "ddl" / "binlog.000001"]
WORKLOAD = sorted((CORPUS / "mysql-9.7" / "workload").glob("binlog.0*"))

#: The formats of lakes, for a test of both.
KINDS = ["delta", pytest.param("iceberg", marks=pytest.mark.iceberg)]

META = {SOURCE, *(field.name for field in META_FIELDS)}


class OneByOne:
    """Tasks of this process."""

    at_once = 2

    def run(self, task: Callable[[bytes], Result], inputs: Sequence[bytes]) -> list[Result]:
        return list(map(task, inputs))


class KilledError(Exception):
    """Stands for the end of the process."""


def dying(left: int, when: str = "after") -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Makes functions end the process before or after their call of a number, counted over all of them."""
    counter = itertools.count()

    def dies(commit: Callable[..., Any]) -> Callable[..., Any]:
        def commit_or_die(*arguments: Any, **options: Any) -> Any:
            number = next(counter)
            if number > left or (number == left and when == "before"):
                raise KilledError
            found = commit(*arguments, **options)
            if number == left:
                raise KilledError
            return found

        return commit_or_die

    return dies


def fill(
    url: str | Path,
    paths: Iterable[str | Path],
    size: int = 30_000,
    *,
    mode: str = "FAILFAST",
    loses: bool = False,
    **job: Any,
) -> list[Progress]:
    """Load some logs into a lake, in batches of several pieces; returns the progress of each batch."""
    batches: list[Progress] = []
    following = Following(tuple(map(str, paths)), max_bytes=size, split_size=size // 3, mode=mode)
    following = replace(following, fails_on_data_loss=not loses)
    Pipeline(Job(following, str(url), **job), on_progress=batches.append).run(OneByOne())
    return batches


def opened(url: str | Path, kind: str = "delta", source: str = "") -> Lake:
    """A lake that exists; of several sources, for one of them."""
    lake = Lake(str(url), kind, source)
    lake.check()
    return lake


def catalog(folder: Path) -> Any:
    """The Iceberg catalog in a lake."""
    from pyiceberg.catalog.sql import SqlCatalog

    return SqlCatalog(CATALOG, uri=f"sqlite:///{folder}/catalog.db")


def table(lake: Lake, name: str) -> pa.Table:
    """The rows of a table, by its folder."""
    stored = lake.tables.open(name)
    assert stored is not None, name
    return pa.Table.from_batches(stored.batches(), pa.schema(list(stored.columns.items())))


def rows(found: pa.Table, *without: str) -> Counter[str]:
    """The rows of a table, without nulls, whatever the order of the columns."""
    return Counter(
        repr(
            sorted(
                (name, str(value)) for name, value in row.items() if value is not None and name not in without
            )
        )
        for row in found.to_pylist()
    )


def contents(lake: Lake) -> dict[str, Counter[str]]:
    """The rows of all tables of a lake but those of its state."""
    names = [f"changes/{name}" for name in lake.storage.names("changes")]
    return {name: rows(table(lake, name)) for name in ("events", "transactions", "statements", *names)}


def fold(tables: TableChanges, key: tuple[str, str]) -> list[dict[str, Any]]:
    """The rows of a table after all its changes, whose images are complete, without metadata."""
    found: dict[str, list[dict[str, Any]]] = {}
    primary = tables.lineage.keys.get(key, [])
    for row in tables.changes(key).read_all().sort_by("_sequence").to_pylist():
        kind = row["_change_type"]
        own = {name: value for name, value in row.items() if name not in META}
        same = found.setdefault(repr([own[name] for name in primary or own]), [])
        if kind in ("delete", "update_preimage"):
            same.pop()
        else:
            same.append(own)
    return [row for same in found.values() for row in same]


def complete(lake: Path) -> int:
    """The number of the last complete batch; -1 before the first."""
    loaded = opened(lake)
    if loaded.plan is None or (statements := loaded.tables.open(STATEMENTS)) is None:
        return -1
    return statements.batch


def processes(session: int, word: str = "") -> list[int]:
    """The processes of a session whose command has a word."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, ValueError):
            command = (path / "cmdline").read_text(errors="replace")
            if int((path / "stat").read_text().rpartition(")")[2].split()[3]) == session and word in command:
                found.append(int(path.name))
    return sorted(found)


def kill(process: subprocess.Popen[Any]) -> None:
    """End a process and all that it has started, which are in its session."""
    for number in processes(process.pid):
        with suppress(OSError):
            os.kill(number, signal.SIGKILL)
    process.wait()
