"""Lakes like those of the pipeline, written without Spark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from binlog_kaitai.ddl.definitions import restore
from binlog_kaitai.following import Follower
from binlog_kaitai.lake.commits import Lake
from binlog_kaitai.lake.write import write_lake
from tests.lake.test_lake import opened


def make_lake(folder: Path, paths: list[Path], size: int = 30000) -> Lake:
    """A lake of several batches and pieces, with dates as text."""
    lake = opened(folder)
    follower = Follower([str(path) for path in paths], follows_definitions=True, split_size=size // 3)
    checkpoint, batch = follower.earliest(), 0
    while (end := follower.advance(checkpoint, max_bytes=size)) != checkpoint:
        pieces = []
        for step in follower.steps(checkpoint, end):
            staging = lake.new_staging()
            views = ["transactions", "changes"]
            definitions = restore(step.span.definitions)
            written = write_lake(
                step.source, staging, views=views, definitions=definitions, zero_dates="text"
            )
            table_effects = [vars(one) for one in step.effects]
            found: dict[str, Any] = {"files": written.files, "keys": written.keys}
            found |= {
                "incomplete": written.incomplete,
                "table_effects": table_effects,
                "staging": str(staging),
            }
            pieces.append(found)
        lake.commit(batch, pieces)
        checkpoint, batch = end, batch + 1
    return lake
