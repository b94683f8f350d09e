"""Cells as text, a whole column at a time: literals of SQL, or of what else prints rows.

style    who writes the values of which type, and how one column becomes an array of text
pieces   writers that several styles share: numbers, dates, times; bytes with escapes or as hexadecimal
sql      SQL literals, as `binlog_kaitai.values.sql_text` has them
kernels  the loops over bytes
printed_rows, printed_values, general, base64
         what `dump` prints: all of a row by one kernel, straight from the bytes of the log

All arrays of text are Arrow arrays of bytes (`pa.binary()`), so that text in any character set is text.
What `dump` prints is made without Arrow, so that it need not be loaded: nothing is imported here.
"""
