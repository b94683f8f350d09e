"""Logs made of other logs: `repair` takes what is whole in a damaged one, `slice` the wanted transactions.

Both only choose; events are copied as they are. What a header says of its place in the file, and the checksum
over it, are made anew by the `writer` where an event moves.
"""

from binlog_kaitai.rewrite.repair import Dropped, Repair, repair
from binlog_kaitai.rewrite.slices import Slice, slice_log

__all__ = ["Dropped", "Repair", "Slice", "repair", "slice_log"]
