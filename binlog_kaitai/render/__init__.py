"""The output of all commands: text, JSON, CSV, SQL scripts and an HTML page.

Its packages are `dump` (the output of the servers' clients) and `sql` (scripts); the modules here format
everything else.
"""
