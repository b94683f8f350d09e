"""Finds all damage of a log in one pass."""
