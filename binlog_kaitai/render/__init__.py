"""Text, JSON, CSV, SQL scripts and an HTML page: the output of all commands but `dump`."""
