"""Events and all before them together: logs, their events, and the rows of these."""
