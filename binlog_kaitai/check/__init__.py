"""Damage: `verify` finds it, `repair` extracts what is intact of a log, `slice` selected transactions.

Repair and slice only select; events are copied unchanged. If an event moves, the `log_writer` updates the
position in its header, and its checksum.
"""
