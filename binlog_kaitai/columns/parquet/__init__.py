"""Logs as Parquet files."""
