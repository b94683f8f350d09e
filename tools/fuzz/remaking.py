"""Entry points that write: logs made from the log, and Parquet files."""

from __future__ import annotations

import shutil
from typing import Any

import binlog_kaitai as bk
from binlog_kaitai.check.damage_scan import scan
from binlog_kaitai.check.repair import repair as repair_log
from binlog_kaitai.check.slices import slice as slice_log
from binlog_kaitai.core.filters import Filters
from binlog_kaitai.errors import BinlogError
from binlog_kaitai.log.event_rows import FRACTIONS_HINT
from binlog_kaitai.render.check_reports import repair_lines, slice_line
from binlog_kaitai.rows.log_pages import RowsPages
from binlog_kaitai.sources.source import Source
from binlog_kaitai.views.parquet_folder import write_changes, write_view
from tools.fuzz.outcome import Outcome
from tools.fuzz.run import Run


def repair(run: Run) -> None:
    """The output of `repair` has no damage, and nothing of an undamaged log is lost."""
    target = run.folder / "repaired.000001"
    keep_partial = run.chance.random() < 0.3
    try:
        done = repair_log(run.source, str(target), keep_partial=keep_partial, overwrite=True)
    except BinlogError as error:
        if error.file == str(target):
            run.note("repair-result", error.reason, error)
        else:
            run.keep("repair", Outcome(None, error))
        return
    list(repair_lines(done))
    before = run.thorough.events if run.thorough is not None else 0
    if done.result.events < before and not (done.lost or done.dropped or done.damages):
        run.note("repair-silent", "events are missing", f"{done.result.events} of {before} events are left")


def cut_out(run: Run) -> None:
    """Slices of an undamaged log have no damage, except rows that need a definition left behind."""
    target = run.folder / "slice.000001"
    filters = some_filters(run)
    outcome = run.gather("slice", lambda: slice_log(run.source, str(target), overwrite=True, **filters))
    if outcome.error is not None or not target.exists():
        return
    for done in outcome.value:
        slice_line(done)
    report = scan(Source.of_path(str(target)), is_thorough=True)
    before = run.thorough
    if before is not None and not before.damage_count:
        for damage in report.damages:
            if FRACTIONS_HINT not in damage.reason:
                run.note("slice-result", damage.reason, damage)


#: Transactions of corpus logs.
_GTIDS = ("0-1-1:1-5", "0-1-4", "a40b4242-e518-11f1-9090-02fc00000001:1-100")


def some_filters(run: Run) -> dict[str, Any]:
    """Filters of one kind that match such logs; often none."""
    chance, size = run.chance, len(run.data)
    kinds: tuple[dict[str, Any], ...] = (
        {"start_position": chance.randrange(size + 10)},
        {"stop_position": chance.randrange(size + 10)},
        {"database": "t"},
        {"event_type": chance.choice(("query", "write_rows", "xid", "table_map"))},
        {"server_id": chance.choice((1, 97))},
        {"start_datetime": "2026-11-20 18:00:00+00:00"},
        {"include_gtids": chance.choice(_GTIDS)},
        {"exclude_gtids": chance.choice(_GTIDS)},
    )
    return chance.choice(kinds) if chance.random() < 0.5 else {}


def export(run: Run) -> None:
    """Files of Parquet."""
    folder = run.folder / "export"
    zero_dates = run.chance.choice(("null", "text"))
    try:
        run.attempt("export events", lambda: write_view(bk.read_events(run.source), folder / "events"))
        pages = RowsPages(run.source, Filters())
        counts: dict[str, int] = {}
        run.attempt(
            "export changes",
            lambda: write_changes(pages, folder / "changes", zero_dates=zero_dates, counts=counts),
        )
    finally:
        shutil.rmtree(folder, ignore_errors=True)
