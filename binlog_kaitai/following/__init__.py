"""Following logs that a server is writing, in steps that can be repeated.

=========  ==================================================================
marks      a place between two transactions, as it stands in a checkpoint
heads      the start of a log: its format, which log it is, the GTIDs before it
rests      where in a block of events no transaction is open
walk       from a mark on through whole transactions, up to a limit
find       the log of a mark, also after another server took over
effects    what statements do to whole tables
tail       what logs have, and then what their server writes
follower   from one mark to the next, however far the logs go by now
=========  ==================================================================

Rules
-----
1. A mark stands between transactions. Of the file in use only whole transactions are taken.
2. From a mark and a limit follows the next mark; from two marks, what lies between them. Nothing else is
   remembered, so a step that was begun can be done again, by another process.
3. A log that is gone, shorter or another one than it was is an error, unless its GTIDs lead to where
   another log goes on.
4. Looking for the next mark reads each byte once, and looks at headers and statements alone.
"""

from __future__ import annotations

from binlog_kaitai.following.checkpoints import Mark
from binlog_kaitai.following.follower import Follower
from binlog_kaitai.following.walk import Span

__all__ = ["Follower", "Mark", "Span"]
