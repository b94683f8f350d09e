"""Rows of many events at a time, into Arrow columns.

Strategy
--------
1. Rows events that refer to table maps of the same content are taken together (`tables`, `images`).
2. A kernel walks their images by a program that says how long each column's values are (`widths`, `walk`),
   and notes where each value begins.
3. Each column is made from these places by the kernels of its type (`builders` and the modules of kernels).
4. A value that no kernel makes is made by the reader's functions, each distinct one once (`cells`). An event
   that does not follow its table map is the reader's to refuse.
"""
