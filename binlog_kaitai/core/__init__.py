"""One event at a time, without its values: framing, the gate to the grammar, what later events need."""
