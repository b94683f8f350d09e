"""Limits of a stream's batches, as Spark states them since 4.2.

Spark 4.1 has none: it asks for an end, and does not say from where, how much, or by which trigger. There a
stream keeps its own limits (`binlog_kaitai.spark.stream.FollowingReader`), and the classes here are unused.
"""

from __future__ import annotations

try:
    from pyspark.sql.streaming.datasource import (
        ReadAllAvailable,
        ReadLimit,
        ReadMaxBytes,
        ReadMaxFiles,
        SupportsTriggerAvailableNow,
    )

    ASKED_BY_SPARK = True
except ImportError:
    from dataclasses import dataclass

    ASKED_BY_SPARK = False

    class ReadLimit:  # type: ignore[no-redef]
        """How much a batch reads."""

    class ReadAllAvailable(ReadLimit):  # type: ignore[no-redef]
        """All that there is."""

    @dataclass
    class ReadMaxBytes(ReadLimit):  # type: ignore[no-redef]
        """Bytes at most."""

        max_bytes: int

    @dataclass
    class ReadMaxFiles(ReadLimit):  # type: ignore[no-redef]
        """Logs at most."""

        max_files: int

    class SupportsTriggerAvailableNow:  # type: ignore[no-redef]
        """Ends where the logs ended when the query began."""


__all__ = [
    "ASKED_BY_SPARK",
    "ReadAllAvailable",
    "ReadLimit",
    "ReadMaxBytes",
    "ReadMaxFiles",
    "SupportsTriggerAvailableNow",
]
