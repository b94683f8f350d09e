"""Formats values as text, many at a time: SQL literals, and the output of `dump` and `rows`.

style    which function writes the values of which type, and how a column becomes an array of text
pieces   writers shared by several styles: numbers, dates, times; escaped or hexadecimal bytes
sql      SQL literals, by the rules of `binlog_kaitai.values.sql_text`
kernels  kernels that write values
printed_rows, printed_values, general, base64
                  the output of `dump`: complete rows by one kernel, directly from the bytes of the log

Arrays of text are Arrow arrays of bytes (`pa.binary()`), which can hold text in any character set. The output
of
`dump` is written without Arrow, so that it need not be loaded: this module imports nothing.
"""
