"""Entry points that read a log in splits, or while it grows."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import pyarrow as pa

import binlog_kaitai as bk
from binlog_kaitai.core.filters import ZeroDates
from binlog_kaitai.core.spans import read_log_header
from binlog_kaitai.errors import BinlogError, FramingError
from binlog_kaitai.following.follower import Follower
from binlog_kaitai.log import split_points
from binlog_kaitai.views.splits import plan, read_split
from tools.fuzz.outcome import Outcome
from tools.fuzz.run import Run

_ZERO_DATES: tuple[ZeroDates, ...] = ("null", "null", "text", "error")

_WHOLE: dict[str, Callable[[str], pa.RecordBatchReader]] = {
    "events": bk.read_events,
    "transactions": bk.read_transactions,
    "changes": bk.read_changes,
}


@contextmanager
def _small_windows(run: Run) -> Iterator[None]:
    """Treat small logs like large ones, so that split points are searched from the middle of a log."""
    look_back = run.chance.choice((200, 400, 1000))
    with (
        patch.object(split_points, "NEAR", look_back + 100),
        patch.object(split_points, "LOOK_BACK", look_back),
        patch.object(split_points, "PROOF", run.chance.choice((2000, 20_000))),
    ):
        yield


def batches(reader: Iterable[pa.RecordBatch]) -> Iterator[dict[str, Any]]:
    for batch in reader:
        batch.validate(full=True)
        yield from batch.to_pylist()


def views(run: Run) -> None:
    """One view, as a whole and in splits, or the changes of a table with types."""
    view = run.chance.choice((*_WHOLE, "changes"))
    path = str(run.path)
    whole = run.gather(f"read_{view}", lambda: batches(_WHOLE[view](path)))
    if view == "changes" and run.chance.random() < 0.4:
        _typed(run, whole)
    elif run.chance.random() < 0.7:
        _splits(run, view, whole)


def _typed(run: Run, changes: Outcome) -> None:
    """The typed changes of a table are as many as the untyped ones."""
    tables = sorted({f"{row['schema']}.{row['table']}" for row in changes.value if _is_name(row)})
    if not tables:
        return
    table = run.chance.choice(tables)
    zero_dates = run.chance.choice(_ZERO_DATES)
    typed = run.gather(
        "read_changes typed",
        lambda: batches(bk.read_changes(str(run.path), table=table, zero_dates=zero_dates)),
    )
    rows = [row for row in changes.value if f"{row['schema']}.{row['table']}" == table]
    if typed.error is None and changes.error is None and len(typed.value) < len(rows):
        run.note("typed-changes", "fewer rows", f"{len(typed.value)} instead of {len(rows)} of {table}")


def _is_name(row: dict[str, Any]) -> bool:
    """Whether a table can be selected by name; names with invalid UTF-8 are displayed in another form."""
    return bool(row["schema"] and row["table"]) and "\\udc" not in row["schema"] + row["table"]


def _splits(run: Run, view: str, whole: Outcome) -> None:
    """The rows of all splits are those of the whole log, up to the first damage."""
    path, size = str(run.path), run.chance.randrange(100, max(len(run.data), 101) + 100)
    with _small_windows(run):
        parts = run.gather(f"split {view}", lambda: _in_splits(path, view, size))
    if whole.error is None and isinstance(parts.error, FramingError) and parts.value == whole.value:
        return  # an active log ends with an incomplete event; the next split proves that others follow it
    if run.thorough is not None and run.thorough.formats and not _may_repeat_format(run.data):
        # A split after a second format description, which no server writes there, does not see it.
        del run.outcomes[f"split {view}"]
        return
    run.differ(f"diff-split-{view}", whole, parts)


def _may_repeat_format(data: bytes) -> bool:
    """Whether a log is a relay log, in which other format descriptions follow, or has no readable start."""
    try:
        return read_log_header(io.BytesIO(data), "").is_relay_log
    except BinlogError:
        return True


def _in_splits(path: str, view: str, size: int) -> Iterator[dict[str, Any]]:
    for split in plan(path, size):
        yield from batches(read_split(split, view))


def follow(run: Run) -> None:
    """Stepping through a log terminates and is consistent."""

    def steps() -> Iterator[Any]:
        follower = Follower([str(run.path)], split_size=300)
        checkpoint = follower.earliest()
        for _ in range(len(run.data) // 19 + 3):
            following = follower.advance(checkpoint, max_bytes=200)
            if following == checkpoint:
                return
            yield from follower.steps(checkpoint, following)
            checkpoint = following
        run.note("follow", "does not end", str(checkpoint))

    run.gather("follow", steps)
