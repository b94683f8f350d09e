"""Follows logs that a server is writing, in repeatable steps.

================  ==================================================================
checkpoints       a position between two transactions, as stored in a checkpoint
log_headers       the start of a log: format, identity, and the GTIDs before it
walk              from a checkpoint through complete transactions, up to a limit
spans             what readers of a followed span need besides its source
find              the log of a checkpoint, even after another server took over
effects           effects of statements on whole tables
tail              existing transactions, then new ones as they are committed
follower          from one checkpoint to the next, as the logs grow
backlog           how far a reader lags behind the newest event
events            the same, event by event
feed              the logs of a running server, as files
================  ==================================================================

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
    found = globals()[name] = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    return found
