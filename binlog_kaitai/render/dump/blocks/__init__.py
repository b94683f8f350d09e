"""Prints blocks of events column by column.

Each module builds the columns for some kinds of events; `printer` combines their text in order.
"""
