"""Registers data sources with a Spark session."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.datasource import DataSource

_NEEDED = 'PySpark 4.1 or newer is needed: pip install "binlog-kaitai[spark]"'

#: The sources of each session that has some: to register one again prints a warning.
_REGISTERED: WeakKeyDictionary[SparkSession, set[type[DataSource]]] = WeakKeyDictionary()


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
    from binlog_kaitai.spark.data_source import BinlogDataSource

    register_source(spark, BinlogDataSource)


def register_source(spark: SparkSession, source: type[DataSource]) -> None:
    """Register one data source, unless it is, and make local workers run this interpreter."""
    if source in (registered := _REGISTERED.setdefault(spark, set())):
        return
    context = getattr(spark, "_sc", None)
    if context is None or "PYSPARK_PYTHON" in os.environ or not context.master.startswith("local"):
        spark.dataSource.register(source)
    else:
        from binlog_kaitai.spark.interpreter import local_interpreter

        # Registering stores the interpreter; if none is named, Spark would use any python3 on the path.
        noted = context.pythonExec
        context.pythonExec, variables = local_interpreter()
        context.environment.update(variables)
        try:
            spark.dataSource.register(source)
        finally:
            context.pythonExec = noted
    registered.add(source)
