"""Statistics of logs: counts by table, time, transaction and statement, in one pass.

Strategy
--------
Events are counted as arrays, block by block (`events`); transactions as batches of their view
(`transactions`). Memory does not grow with the log: it holds sums, the top of each ranking, and a timeline
whose steps are widened when there are too many.
"""

from __future__ import annotations

from typing import Any

from binlog_kaitai.statistics.model import PART_NAMES, Part, Stats

__all__ = ["PART_NAMES", "Part", "Stats", "collect"]


def __getattr__(name: str) -> Any:
    # NumPy and PyArrow are loaded on first use.
    if name == "collect":
        from binlog_kaitai.statistics.counting import collect

        return collect
    raise AttributeError(name)
