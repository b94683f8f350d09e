"""The views of a log: events, transactions, changes, table definitions; as Arrow or Python objects."""
