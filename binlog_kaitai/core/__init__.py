"""Event-level decoding without column values: framing, the gate to the grammar, and state kept between
events.
"""
