"""The column path: decodes many events at a time into NumPy and Arrow columns.

Strategy
--------
1. A file is read in blocks; a kernel finds the events of a block (`blocks`).
2. Events of one type are processed together. The record layouts generated from the grammar give the offsets
   of their fields (`gather`); no offset is written here.
3. Events that this cannot decode, or that look invalid, are passed to the event reader. The column path
   therefore needs no error handling of its own, and both readers report the same errors.
"""

from __future__ import annotations

from typing import Any

__all__ = ["EVENTS_SCHEMA", "read_events"]


def __getattr__(name: str) -> Any:
    # PyArrow is imported on use; lines of JSON do not need it.
    if name in __all__:
        from binlog_kaitai.columns.views import events

        return getattr(events, name)
    raise AttributeError(name)
