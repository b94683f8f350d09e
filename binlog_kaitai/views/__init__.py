"""The views of a log: events, transactions, changes, table definitions; as Arrow or Python objects."""

#: The views that exports and lakes have.
VIEWS = ("events", "transactions", "changes")
