"""Binary logs as a Spark data source.

::

    from binlog_kaitai.spark import register
    register(spark)
    spark.read.format("binlog").load("/var/lib/mysql/mysql-bin.*")

=========  ==================================================================
options    what a reader may be told, from Spark's text to checked values
schemas    Arrow's columns and Spark's, one made from the other
catalog    tables in Spark's catalog: CREATE TABLE ... USING binlog
frames     DataFrames of some columns and rows
conditions which rows, as the text of an option
parquet    the changes of a table as files, written in the tasks
infer      the columns of one table, with little reading
skipping   logs that a filter leaves out by their headers
rows       what a task does with a split
batch      partitions, and their reading
stream     following logs: offsets, limits, partitions
limits     how Spark says how much a batch may read
stream_views, stream_options
           the views as streams, and what they may be told
pipeline   logs into a lake, each transaction once
state      the content of a table from its changes
history    what statements in the logs did to it
tables     the same for the tables of a lake
session    a Spark for the command line
interpreter
           the Python of the workers
source     the entry that Spark calls
=========  ==================================================================

Everything below the partition is :mod:`binlog_kaitai.columns`. Spark's Python workers import this
package, so it has to be installed for the interpreter that they run (docs/spark.md).
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.datasource import DataSource

    from binlog_kaitai.spark.frames import read
    from binlog_kaitai.spark.parquet import write_parquet
    from binlog_kaitai.spark.state import latest

__all__ = ["latest", "read", "register", "write_parquet"]

_NEEDED = 'PySpark 4.1 or newer is needed: pip install "binlog-kaitai[spark]"'


def __getattr__(name: str) -> Any:
    # PySpark is looked for when it is needed, so that `register` can say how to get it.
    if name == "latest":
        from binlog_kaitai.spark.state import latest

        return latest
    if name == "read":
        from binlog_kaitai.spark.frames import read

        return read
    if name == "write_parquet":
        from binlog_kaitai.spark.parquet import write_parquet

        return write_parquet
    raise AttributeError(name)


def register(spark: SparkSession) -> None:
    """Make ``spark.read.format("binlog")`` known to a session.

    In local mode the data source's workers run this very interpreter, unless ``PYSPARK_PYTHON`` names
    another. On a cluster they run what the cluster is set to run.

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
    """Make one data source known, and have local workers run this interpreter."""
    context = getattr(spark, "_sc", None)
    if context is None or "PYSPARK_PYTHON" in os.environ or not context.master.startswith("local"):
        spark.dataSource.register(source)
        return
    from binlog_kaitai.spark.interpreter import local_interpreter

    # Registering notes the interpreter; where none is named, Spark would take any python3 on the path.
    noted = context.pythonExec
    context.pythonExec, variables = local_interpreter()
    context.environment.update(variables)
    try:
        spark.dataSource.register(source)
    finally:
        context.pythonExec = noted
