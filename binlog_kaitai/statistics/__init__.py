"""What happened in logs: counts by table, time, transaction and statement, in one pass.

Strategy
--------
Blocks of events are counted as arrays (`events`), transactions as the batches of their view
(`transactions`). What is kept does not grow with the log: sums, the first few of a ranking, and a timeline
whose steps become wider when there are too many.
"""

from __future__ import annotations

from typing import Any

from binlog_kaitai.statistics.model import PART_NAMES, Part, Stats

__all__ = ["PART_NAMES", "Part", "Stats", "collect"]


def __getattr__(name: str) -> Any:
    # NumPy and PyArrow are loaded when there is something to count.
    if name == "collect":
        from binlog_kaitai.statistics.counting import collect

        return collect
    raise AttributeError(name)
