"""Writes logs as Parquet files."""
