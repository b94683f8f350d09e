"""Events of blocks, printed column by column.

Each module makes the columns of some kinds of events; `printer` puts their text together in order.
"""
