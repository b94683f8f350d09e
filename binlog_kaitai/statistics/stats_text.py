"""Statistics as text: totals, a chart over time, tables."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Sequence
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from binlog_kaitai.statistics.stats_model import Stats, StatsKind, StatsTable
from binlog_kaitai.text.output_text import printable, shown_bytes, shown_seconds, shown_time, zone_name

_BARS = " ▁▂▃▄▅▆▇█"
_HEIGHT = 4
_RIGHT = (StatsKind.NUMBER, StatsKind.BYTES, StatsKind.SECONDS, StatsKind.RATIO)

#: Maximum number of rows per part on a terminal; the other formats have all rows.
_MAX_ROWS = 40

_MAX_TEXT = 200

#: Columns that are left out of a table that is too wide, in this order; their values follow in a line below.
_BESIDE = ("statement", "set", "table_bytes", "tables", "gtid", "kind", "thread_id", "file", "time", "table")
_GAP, _INDENT = "  ", "    "

#: Parts that are shown if none is named.
DEFAULT_PARTS = (
    "tables",
    "no_primary_key",
    "timeline",
    "biggest",
    "longest",
    "gaps",
    "statements",
    "definitions",
    "servers",
)


def shown(value: Any, kind: StatsKind) -> str:
    """A value of a part as text."""
    if value is None:
        return ""
    match kind:
        case StatsKind.NUMBER:
            return f"{value:,}"
        case StatsKind.BYTES:
            return shown_bytes(value)
        case StatsKind.TIME:
            return shown_time(value)
        case StatsKind.SECONDS:
            return shown_seconds(value)
        case StatsKind.LIST:
            return ", ".join(value)
        case StatsKind.SIZES:
            return ", ".join(map(shown_bytes, value))
        case _:
            return str(value)


def print_stats(
    stats: Stats, parts: Sequence[str], timeline: StatsTable, console: Console, width: int | None
) -> None:
    """Write the totals and the requested parts.

    `timeline`: that part in the steps to show.
    `width`: that of the terminal, to which tables are fitted; None for no limit.
    """
    for line in _totals(stats):
        console.print(Text(line))
    for name in parts:
        part = timeline if name == "timeline" else stats.parts[name]
        if not part.rows:
            continue
        console.print()
        title = Text(part.title, style="bold")
        if part.step:
            title.append(f", in steps of {shown_seconds(part.step)}", style="dim")
        console.print(title)
        if name == "timeline":
            _print_chart(part, console)
        else:
            _print_table(_named(part, stats), console, width)


def _totals(stats: Stats) -> list[str]:
    totals = stats.totals
    rows = [f"{totals[f'rows_{name}']:,} {name}" for name in ("inserted", "updated", "deleted")]
    files = f"{totals['files']:,} file{'' if totals['files'] == 1 else 's'}"
    lines = [
        f"{files}, {shown_bytes(totals['bytes'])}, {totals['events']:,} events, "
        f"{totals['transactions']:,} transactions",
        f"rows: {', '.join(rows)}; in {totals['tables']:,} table{'' if totals['tables'] == 1 else 's'}",
    ]
    if totals["first_time"]:
        span = totals["last_time"] - totals["first_time"]
        times = [shown(totals[name], StatsKind.TIME) for name in ("first_time", "last_time")]
        lines.append(f"time: {times[0]} to {times[1]} {zone_name()}, {shown_seconds(span)}")
    if totals["packed_bytes"]:
        packed, unpacked = shown_bytes(totals["packed_bytes"]), shown_bytes(totals["unpacked_bytes"])
        lines.append(f"compressed: {unpacked} to {packed} ({totals['compression_ratio']:.1f}:1)")
    if totals["uncounted_events"]:
        lines.append(f"rows events whose rows could not be counted: {totals['uncounted_events']:,}")
    return lines


def _named(part: StatsTable, stats: Stats) -> StatsTable:
    """The part with file names without folders, or no names if there is only one file."""
    if "file" not in (column.name for column in part.columns):
        return part
    file = [column.name for column in part.columns].index("file")
    is_one = len(stats.sources) == 1
    rows = [
        (*row[:file], *([] if is_one else [os.path.basename(row[file])]), *row[file + 1 :])
        for row in part.rows
    ]
    columns = part.columns[:file] + part.columns[file + is_one :]
    return part._replace(columns=columns, rows=rows)


def _print_table(part: StatsTable, console: Console, width: int | None) -> None:
    """Write a table whose lines fit a width, if any: values of some columns go to lines of their own."""
    rows = part.rows if part.step else part.rows[:_MAX_ROWS]
    names = [column.name.replace("_", " ") for column in part.columns]
    cells = [
        [_one_line(shown(value, column.kind)) for value, column in zip(row, part.columns, strict=True)]
        for row in rows
    ]
    widths = [max(map(cell_len, column)) for column in zip(names, *cells, strict=True)]
    kept = list(range(len(names)))
    for name in _BESIDE:
        if width is None or sum(widths[number] + len(_GAP) for number in kept) - len(_GAP) <= width:
            break
        kept = [
            number
            for number in kept
            if part.columns[number].name != name or part.columns[number].kind in _RIGHT
        ]

    def line(texts: Sequence[str]) -> str:
        padded = []
        for number in kept:
            blanks = " " * (widths[number] - cell_len(texts[number]))
            is_right = part.columns[number].kind in _RIGHT
            padded.append(blanks + texts[number] if is_right else texts[number] + blanks)
        return _GAP.join(padded).rstrip()

    console.print(Text(line(names), style="bold"), soft_wrap=True)
    console.print(Text("─" * min(cell_len(line(["─" * size for size in widths])), width or _MAX_TEXT)))
    for texts in cells:
        console.print(Text(line(texts)), soft_wrap=True)
        beside = [
            f"{names[number]} {text}" if text.isdigit() else text
            for number, text in enumerate(texts)
            if text and number not in kept
        ]
        if beside and width is not None:
            lines = textwrap.wrap(_GAP.join(beside), width - len(_INDENT), break_on_hyphens=False)
            console.print(Text(textwrap.indent("\n".join(lines), _INDENT), style="dim"), soft_wrap=True)
    more = part.left_out + len(part.rows) - len(rows)
    if more:
        console.print(Text(f"and {more:,} more", style="dim"))


def _one_line(text: str) -> str:
    flat = printable(" ".join(text.split()))
    return flat if len(flat) <= _MAX_TEXT else flat[: _MAX_TEXT - 1] + "…"


def _print_chart(part: StatsTable, console: Console) -> None:
    """Bytes and transactions over time, as columns of blocks."""
    names = [column.name for column in part.columns]
    for name, style in (("bytes", "cyan"), ("transactions", "green")):
        values = _filled(part, names.index(name))
        most = max(values)
        if not most:
            continue
        kind = part.columns[names.index(name)].kind
        label = f"{name}, at most {shown(most, kind)} per step"
        console.print(Text(f"  {label}", style="dim"))
        for line in _chart(values, most):
            console.print(Text(f"  {line}", style=style), no_wrap=True, crop=True)
    first, last = (shown(part.rows[row][0], StatsKind.TIME) for row in (0, -1))
    width = len(_filled(part, 0))
    axis = first if width < 2 else f"{first}{last:>{max(width - len(first), len(last) + 2)}}"
    console.print(Text(f"  {axis}", style="dim"), no_wrap=True)


def _filled(part: StatsTable, column: int) -> list[int]:
    """The values of a column, including those of empty steps."""
    first, last = part.rows[0][0], part.rows[-1][0]
    values = [0] * (round((last - first) / part.step) + 1)
    for row in part.rows:
        values[round((row[0] - first) / part.step)] += row[column]
    return values


def _chart(values: list[int], most: int) -> list[str]:
    lines: list[str] = []
    heights = [max(value * _HEIGHT * 8 // most, 1 if value else 0) for value in values]
    for line in reversed(range(_HEIGHT)):
        cells = [_BARS[min(max(height - line * 8, 0), 8)] for height in heights]
        lines.append("".join(cells).rstrip())
    return lines
