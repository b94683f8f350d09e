"""Bugs to test the tests with."""
