"""Assigns the events of a block to transactions, and summarizes transactions."""
