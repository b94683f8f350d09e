"""Splits: parts of logs that can be read independently, split points, damage, and preceding definitions."""
