"""Many events at a time, into NumPy and Arrow columns.

Strategy
--------
1. A file is read block by block; a kernel finds the events in a block (`blocks`).
2. Events of one type are taken together. Where their fields lie follows from the record layout that is
   generated from the grammar (`gather`); no offset is written here.
3. What arithmetic cannot reach, and whatever looks wrong, goes to the reader, event by event. So the
   columns need no error handling of their own, and both readers say the same.
"""

from __future__ import annotations

from typing import Any

__all__ = ["EVENTS_SCHEMA", "read_events"]


def __getattr__(name: str) -> Any:
    # PyArrow is loaded when it is needed: lines of JSON do without it.
    if name in __all__:
        from binlog_kaitai.columns.views import events

        return getattr(events, name)
    raise AttributeError(name)
