"""Logs written from other logs: `repair` extracts the intact events of a damaged log, `slice` selected
transactions.

Both only select; events are copied unchanged. If an event moves, the `writer` updates the position in its
header, and its checksum.
"""

from binlog_kaitai.rewrite.repair import Dropped, Repair, repair
from binlog_kaitai.rewrite.slices import Slice, slice_log

__all__ = ["Dropped", "Repair", "Slice", "repair", "slice_log"]
