"""The viewer: a page on which logs are dropped and read, by the grammar compiled to JavaScript."""
