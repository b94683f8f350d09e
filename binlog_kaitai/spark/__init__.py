"""Binary logs as a Spark data source.

::

    from binlog_kaitai.spark import register
    register(spark)
    spark.read.format("binlog").load("/var/lib/mysql/mysql-bin.*")

==============  ==================================================================
registration    makes the data source known to a session
data_source     the entry point for ``format("binlog")``
reader_options  the options of a reader, from Spark's strings to checked values
stream_options  the additional options of a stream
schemas         conversion between Arrow schemas and Spark schemas
frames          DataFrames with selected columns and rows
parquet         the changes of a table as Parquet, written in the tasks
infer           the columns of a table, found by reading little
skipping        skips logs by their headers
batch           partitions of a batch, and their rows as Arrow batches
stream          the views as streams: offsets, limits, partitions
state           the content of a table, from its changes
==============  ==================================================================

Everything below the partition is :mod:`binlog_kaitai.views`. Spark's Python workers import this
package, so it must be installed for their interpreter (docs/spark.md).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from binlog_kaitai.spark.frames import read
    from binlog_kaitai.spark.parquet import write_parquet
    from binlog_kaitai.spark.registration import register
    from binlog_kaitai.spark.state import latest

__all__ = ["latest", "read", "register", "write_parquet"]

#: Modules of the functions, imported on demand: `register` can do without PySpark, and say how to get it.
_HOME = {"latest": "state", "read": "frames", "register": "registration", "write_parquet": "parquet"}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(name)
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
