"""Limits of a stream's batches, as passed by Spark since 4.2.

Spark 4.1 has none: it requests an end without giving the start, the limits or the trigger. There a stream
applies its own limits (`binlog_kaitai.spark.stream.BinlogStreamReader`), and the classes here are unused.
"""

from __future__ import annotations

__all__ = [
    "ASKED_BY_SPARK",
    "ReadAllAvailable",
    "ReadLimit",
    "ReadMaxBytes",
    "ReadMaxFiles",
    "SupportsTriggerAvailableNow",
]

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
        """Everything available."""

    @dataclass
    class ReadMaxBytes(ReadLimit):  # type: ignore[no-redef]
        """Maximum number of bytes."""

        max_bytes: int

    @dataclass
    class ReadMaxFiles(ReadLimit):  # type: ignore[no-redef]
        """Maximum number of logs."""

        max_files: int

    class SupportsTriggerAvailableNow:  # type: ignore[no-redef]
        """Ends where the logs ended when the query started."""
