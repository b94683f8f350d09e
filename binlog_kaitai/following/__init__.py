"""Follows logs that a server is writing, in repeatable steps.

Rules
-----
1. A checkpoint is a position between transactions. Only complete transactions of the file in use are read.
2. A checkpoint and a limit determine the next checkpoint; two checkpoints determine the events between
   them. There is no other state, so another process can repeat a step that was started.
3. A log that is missing, shorter, or different from before is an error, unless its GTIDs lead to another log
   that continues it.
4. The search for the next checkpoint reads each byte once, and inspects only headers and statements.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from binlog_kaitai.following.checkpoints import Checkpoint
    from binlog_kaitai.following.follower import Follower
    from binlog_kaitai.following.walk import Step

__all__ = ["Checkpoint", "Follower", "Step"]

#: Loaded on first use: `fetch`, which needs other modules of this package, starts without them.
_HOME = {"Checkpoint": "checkpoints", "Follower": "follower", "Step": "walk"}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    return value
