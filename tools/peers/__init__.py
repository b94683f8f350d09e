"""Other programs that decode whole logs, built and measured beside `read_changes`.

The programs' own sources are in `rust`, `java` and `go`: they decode every value, count rows and
NULLs, and drop the values, while `read_changes` keeps them as Arrow columns.
"""
