"""Event-by-event access to logs: log readers, events, and rows."""
