"""`binlog-kaitai stats`."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Unpack

import click

from binlog_kaitai.cli import shared_options as options
from binlog_kaitai.cli.console import has_colors, print_json, progress_over, text_output
from binlog_kaitai.errors import UsageError
from binlog_kaitai.statistics.stats_model import PART_NAMES

if TYPE_CHECKING:
    from binlog_kaitai.core.filters import FilterOptions
    from binlog_kaitai.statistics.stats_model import Stats, StatsTable

_STEPS = {"second": 1, "minute": 60, "hour": 3600, "day": 86400}

#: Number of steps shown if no step length is given.
_CHART_STEPS = 72


@click.command()
@options.sources
@options.filters
@options.formats("table", "json", "csv", default=None)
@options.option(
    "--part parts",
    f"Only this part: {', '.join(PART_NAMES)}. *",
    "PART",
    type=click.Choice(PART_NAMES),
)
@options.several(
    "--by",
    ("table", *_STEPS),
    "STEP|table,STEP",
    "Step of the timeline: second, minute, hour, day. table,hour: rows of each table by hour.",
)
@options.option("--top", "Number of entries in rankings.", "N", type=click.IntRange(0, 10_000), default=10)
@options.jobs
@options.new_file("--html", "Write an HTML report.")
def stats(
    sources: tuple[str, ...],
    output: str | None,
    parts: tuple[str, ...],
    by: tuple[str, ...],
    top: int,
    html: str | None,
    jobs: int | None,
    **filters: Unpack[FilterOptions],
) -> None:
    """Summarize what happened, when, and to which tables.

    Counts row changes, transactions, statements, DDL and servers. --format json prints one
    object with `totals` and a list of objects for each part. CSV prints one part, by default `tables`.

    --html writes a self-contained page with a zoomable timeline, sortable tables, and the most notable
    transactions event by event, down to the byte.

    \b
    Examples:
      binlog-kaitai stats binlog.000024
      binlog-kaitai stats --by table,hour binlog.*
      binlog-kaitai stats --by hour --part timeline --format csv binlog.index
      binlog-kaitai stats --html report.html --start-datetime yesterday binlog.*
    """
    from binlog_kaitai.statistics import counting

    if html is not None and (output or parts or by):
        raise UsageError("--html includes everything; remove --format, --part and --by")
    has_tables, steps = "table" in by, [_STEPS[name] for name in by if name != "table"]
    if by and len(steps) != 1:
        raise UsageError("--by takes one of second, minute, hour and day, alone or as table,hour")
    if has_tables and parts:
        raise UsageError("--by table,STEP is a table of its own; remove --part")
    if has_tables:
        parts = ("table_times",)
    elif by and "timeline" not in parts and (parts or output == "csv"):
        raise UsageError("--by sets the step of the timeline; add --part timeline")
    if output == "csv" and len(parts) > 1:
        raise UsageError("CSV output holds one table; choose one --part")
    options.refuse_inputs(html, sources)
    with progress_over("stats") as progress:
        stats = counting.stats(
            sources,
            top=top,
            table_step=steps[0] if has_tables else 0,
            progress=progress,
            threads=jobs,
            **filters,
        )
    if html is not None:
        from binlog_kaitai import __version__
        from binlog_kaitai.statistics.stats_page import page

        options.write_page(html, page(stats, __version__))
    else:
        _write(stats, output or "table", parts, steps[0] if steps else 0)
        sys.stdout.flush()
    options.say_ends(stats.ends)
    if stats.error is not None:
        raise stats.error


def _write(stats: Stats, output: str, parts: tuple[str, ...], step: int) -> None:
    from binlog_kaitai.statistics.counting import timeline_of
    from binlog_kaitai.text.output_text import to_json

    timeline = timeline_of(stats, step, _CHART_STEPS if output == "table" else None)
    if output == "json":
        whole = {**stats.to_object(), "timeline": timeline.objects()}
        whole["step_seconds"] = timeline.step
        if parts:
            kept = {"files", "totals", "step_seconds", *parts}
            whole = {name: value for name, value in whole.items() if name in kept}
        print_json(to_json(whole))
    elif output == "csv":
        name = parts[0] if parts else "tables"
        _write_csv(timeline if name == "timeline" else stats.parts[name])
    else:
        from rich.console import Console

        class _Console(Console):
            def on_broken_pipe(self) -> None:
                raise BrokenPipeError  # rich would exit with 1, which means a damaged log

        from binlog_kaitai.statistics.stats_text import DEFAULT_PARTS, print_stats

        # Only terminals have a width to which lines are fitted.
        has_width = sys.stdout.isatty() or "COLUMNS" in os.environ
        console = _Console(
            file=sys.stdout,
            width=None if has_width else 160,
            highlight=False,
            markup=False,
            emoji=False,
            color_system=("auto" if sys.stdout.isatty() else "standard") if has_colors() else None,
            no_color=not has_colors(),
        )
        print_stats(stats, parts or DEFAULT_PARTS, timeline, console, console.width if has_width else None)


def _write_csv(part: StatsTable) -> None:
    from binlog_kaitai.statistics.stats_model import StatsKind
    from binlog_kaitai.text.output_text import csv_line, iso_time

    def field(value: object, kind: StatsKind) -> object:
        if kind is StatsKind.TIME and isinstance(value, int):
            return iso_time(value)
        return ",".join(map(str, value)) if isinstance(value, list) else value

    kinds = [column.kind for column in part.columns]
    lines = [csv_line(column.name for column in part.columns)]
    lines += [csv_line(map(field, row, kinds)) for row in part.rows]
    stdout = text_output()
    stdout.write(b"".join(lines))
    stdout.flush()
