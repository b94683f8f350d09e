"""Makes the data source known to a session; says how to get PySpark, if it is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from binlog_kaitai.core.extras import pip_install
from binlog_kaitai.pipeline.spark_session import register_source

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def _needed() -> str:
    return f"PySpark 4.1 or newer is needed: {pip_install('spark')}"


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
        raise ImportError(_needed()) from error
    if tuple(int(part) for part in pyspark.__version__.split(".")[:2]) < (4, 1):
        raise ImportError(f"{_needed()} (found {pyspark.__version__})")
    from binlog_kaitai.spark.data_source import BinlogDataSource

    register_source(spark, BinlogDataSource)
