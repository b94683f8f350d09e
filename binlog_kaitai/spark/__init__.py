"""Binary logs as a Spark data source.

::

    from binlog_kaitai.spark import register
    register(spark)
    spark.read.format("binlog").load("/var/lib/mysql/mysql-bin.*")

==============  ==================================================================
source          the entry point for ``format("binlog")``
reader_options  the options of a reader, from Spark's strings to checked values
stream_options  the additional options of a stream
formats         batches as appends to Delta tables
schemas         conversion between Arrow schemas and Spark schemas
catalog         tables in Spark's catalog: CREATE TABLE ... USING binlog
frames          DataFrames with selected columns and rows
parquet         the changes of a table as Parquet, written in the tasks
conditions      row conditions as strings
infer           the columns of a table, found by reading little
skipping        skips logs by their headers
batch           partitions of a batch, and their reader
split_rows      the rows of a split, as Arrow batches
stream          streams: offsets, limits, partitions
stream_views    the views as streams
limits          how Spark versions limit a batch
spooling        the spool of a query that streams from a server
pipeline        writes logs to a lake, each transaction once
progress        what each batch of a pipeline loaded, and what remains
state           the content of a table, from its changes
images          completes partial row images
history         what statements in the logs did to a table
tables          the tables of a lake
lake_rows       the rows of a lake's files, with their batches
session         a Spark session for the command line
interpreter     the Python of Spark's workers
==============  ==================================================================

Everything below the partition is :mod:`binlog_kaitai.columns`. Spark's Python workers import this
package, so it must be installed for their interpreter (docs/spark.md).
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.datasource import DataSource

    from binlog_kaitai.spark.frames import read
    from binlog_kaitai.spark.parquet import write_parquet
    from binlog_kaitai.spark.state import latest

__all__ = ["latest", "read", "register", "write_parquet"]

_NEEDED = 'PySpark 4.1 or newer is needed: pip install "binlog-kaitai[spark]"'


#: Modules of functions that need PySpark, imported on demand so that `register` can say how to get it.
_HOME = {"latest": "state", "read": "frames", "write_parquet": "parquet"}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(name)
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)


def register(spark: SparkSession) -> None:
    """Register ``spark.read.format("binlog")`` with a session.

    In local mode the data source's workers run this interpreter, unless ``PYSPARK_PYTHON`` names another. On
    a cluster they run the configured one.

    Raises
    ------
    ImportError
        PySpark is missing, or older than 4.1.
    """
    try:
        import pyspark
    except ImportError as error:
        raise ImportError(_NEEDED) from error
    if tuple(int(part) for part in pyspark.__version__.split(".")[:2]) < (4, 1):
        raise ImportError(f"{_NEEDED} (found {pyspark.__version__})")
    from binlog_kaitai.spark.source import BinlogDataSource

    register_source(spark, BinlogDataSource)


def register_source(spark: SparkSession, source: type[DataSource]) -> None:
    """Register one data source, and make local workers run this interpreter."""
    context = getattr(spark, "_sc", None)
    if context is None or "PYSPARK_PYTHON" in os.environ or not context.master.startswith("local"):
        spark.dataSource.register(source)
        return
    from binlog_kaitai.spark.interpreter import local_interpreter

    # Registering stores the interpreter; if none is named, Spark would use any python3 on the path.
    noted = context.pythonExec
    context.pythonExec, variables = local_interpreter()
    context.environment.update(variables)
    try:
        spark.dataSource.register(source)
    finally:
        context.pythonExec = noted
