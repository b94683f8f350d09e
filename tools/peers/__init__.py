"""Other programs that decode whole logs, built and measured beside `read_changes`.

The programs' own sources are in `rust`, `java` and `go`: they decode every value, count rows and
NULLs, and drop the values, while `read_changes` keeps them as Arrow columns.

build     builds the programs with the toolchains of this machine
own       the same count with `read_changes`
printed   counts rows and NULLs in the text that the servers' clients print
runs      one run of a program: its counts, seconds and memory
usage     starts a program and reports what it used
tables    the figures as Markdown
"""
