"""The grammar in every language: drivers that parse logs, and the comparison of their trees with Python's."""
