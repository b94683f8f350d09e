"""Values and rows as text, many at a time: SQL literals, and the output of `dump` and `rows`.

Arrays of text are Arrow arrays of bytes (`pa.binary()`), which can hold text in any character set. The output
of `dump` is written without Arrow, so that it need not be loaded.
"""
