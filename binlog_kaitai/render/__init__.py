"""The output of all commands: text, JSON, CSV, SQL scripts and HTML pages.

Its folders are `dump` (the output of the servers' clients), `sql` (scripts) and `html` (pages); the modules
here format everything else.
"""
