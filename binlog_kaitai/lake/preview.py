"""What a pipeline would load: logs, batches, tasks, and tables with their columns, without writing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from binlog_kaitai.arrow import pa
from binlog_kaitai.core.spans import Span
from binlog_kaitai.following.checkpoints import Checkpoint
from binlog_kaitai.following.follower import Follower
from binlog_kaitai.following.span_pages import pages_of_span
from binlog_kaitai.lake.rules import Rules
from binlog_kaitai.lake.storage import table_name
from binlog_kaitai.lake.types import TAKEN, merge_columns, type_in_lake
from binlog_kaitai.rows.change_schemas import table_schema, untaken_name
from binlog_kaitai.rows.log_pages import RowsPage
from binlog_kaitai.rows.row_counts import row_counts
from binlog_kaitai.rows.row_masks import Method
from binlog_kaitai.rows.table_maps import Table


@dataclass
class PlannedTable:
    """The changes of one table.

    `name`: its name on the server.
    `rows`, `bytes`: Changed rows, and the size of their events; an event whose rows cannot be counted is not
    in `rows`.
    `columns`: columns in the lake.
    `masked`: columns that are masked or left out, and how.
    """

    name: str
    rows: int = 0
    bytes: int = 0
    columns: dict[str, pa.DataType] = field(default_factory=dict)
    masked: dict[str, str] = field(default_factory=dict)


@dataclass
class Preview:
    """What a run would load.

    `start`, `end`: from where to where.
    `logs`, `batches`, `tasks`, `bytes`: logs to read from, batches and tasks to read them, and their bytes.
    `tables`: by name in the lake.
    """

    start: Checkpoint
    end: Checkpoint
    logs: int = 0
    batches: int = 0
    tasks: int = 0
    bytes: int = 0
    tables: dict[str, PlannedTable] = field(default_factory=dict)


def preview(
    follower: Follower,
    start: Checkpoint,
    *,
    max_bytes: int,
    kind: str,
    rules: Rules,
    tables: Sequence[str] = (),
    ddl: str | None = None,
    zero_dates: str = "null",
) -> Preview:
    """Read the logs from a checkpoint to their end; row images are counted but not decoded.

    Raises `BinlogError`: a log is damaged; or the rules do not fit a table, as in a run.
    """
    total, until, paths = Preview(start, start), follower.end(), set[str]()
    while (end := follower.advance(total.end, max_bytes=max_bytes, until=until)) != total.end:
        steps = follower.steps(total.end, end)
        total.batches += 1
        total.tasks += len(steps)
        total.end = end
        for step in steps:
            paths.add(step.source.name)
            total.bytes += step.end - step.start
            rules.check_effects(step.effects)
            era = (step.source.span or Span()).era
            for page in pages_of_span(step.source, {"table": list(tables)}, ddl, era=era):
                _take(total, page, kind, rules, zero_dates)
    total.logs = len(paths)
    total.tables = dict(sorted(total.tables.items()))
    return total


def _take(total: Preview, page: RowsPage, kind: str, rules: Rules, zero_dates: str) -> None:
    counts = np.maximum(row_counts(page.images), 0)
    sizes = page.block.sizes[page.images.rows]
    numbers = page.images.table_of[page.chosen]
    for number in np.unique(numbers).tolist():
        events = page.chosen[numbers == number]
        table = page.images.table(int(events[0]))
        if not isinstance(table, Table):
            raise page.refuse(int(events[0]))
        name = table_name(rules.name_of(table.key))
        planned = total.tables.setdefault(name, PlannedTable(table.schema.full_name))
        planned.rows += int(counts[events].sum())
        planned.bytes += int(sizes[events].sum())
        _take_columns(planned, table, kind, rules, zero_dates)


def _take_columns(planned: PlannedTable, table: Table, kind: str, rules: Rules, zero_dates: str) -> None:
    whole = table_schema(table, zero_dates, bit1_as_boolean=rules.bit1_as_boolean)
    for column in rules.masks.schema([table.schema], whole):
        name = untaken_name(column.name, TAKEN[kind])
        merge_columns(planned.columns, pa.schema([(name, type_in_lake(column.type))]), kind)
    for name, treatment in rules.masks.treatments(table.schema).items():
        if treatment.method is not Method.KEPT:
            planned.masked[name] = str(treatment)
