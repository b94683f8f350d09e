"""Statistics of logs: counts by table, time, transaction and statement, in one pass.

Strategy
--------
Events are counted as arrays, block by block (`events`); transactions as batches of their view
(`transactions`). Memory does not grow with the log: it holds sums, the top of each ranking, and a timeline
whose steps are widened when there are too many.
"""
