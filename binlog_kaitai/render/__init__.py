"""The text and JSON output of all commands."""
