"""Rows and events as lines of text: what a line consists of, and the kernel that writes it."""
