"""Formats values as text, many at a time: SQL literals, and the output of `dump` and `rows`.

Formatting columns:

style           which function writes the values of which type, and how a column becomes an array of text
pieces          writers shared by several styles: numbers, dates, times; escaped or hexadecimal bytes
sql             SQL literals, by the rules of `binlog_kaitai.values.sql_text`
kernels         kernels that write values
sql_kernels     kernels that write SQL literals
text_kernels    kernels that join and copy pieces of text
long_values     the text of long values, in pieces
shortest        kernels that write FLOAT and DOUBLE with the fewest digits

The lines of `rows`, directly from row images:

row_lines       a kernel that writes complete lines
cells           kernels that write single values
json_cells      a kernel that writes JSON documents among them
number_texts    numbers and times as text, without Arrow
printable       kernels that truncate and escape values for display

The output of `dump`, directly from the bytes of the log:

jobs            kernels that write prepared text, base64 and rows in order
steps           a kernel that follows events and states
printed_rows    kernels that write rows
printed_values  kernels that write single values
general         kernels that write floating-point numbers
hexdump         a kernel that writes hex dumps
base64          a kernel that writes base64

Arrays of text are Arrow arrays of bytes (`pa.binary()`), which can hold text in any character set. The output
of `dump` is written without Arrow, so that it need not be loaded: this module imports nothing.
"""
