"""Statistics of logs: counts by table, time, transaction and statement, in one pass.

Strategy
--------
Events are counted as arrays, block by block (`event_counts`); transactions as batches of their view
(`transaction_counts`). Memory does not grow with the log: it holds sums, the top of each ranking, and a
timeline whose steps are widened when there are too many.
"""
