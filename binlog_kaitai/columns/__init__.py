"""The column path: decodes many events at a time into NumPy and Arrow columns.

Strategy
--------
1. A file is read in blocks; a kernel finds the events of a block (`blocks`).
2. Events of one type are processed together. The record layouts generated from the grammar give the offsets
   of their fields (`gather`); no offset is written here.
3. Events that this cannot decode, or that look invalid, are passed to the event reader. The column path
   therefore needs no error handling of its own, and both readers report the same errors.
"""
