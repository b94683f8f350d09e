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
