"""A Spark for the command line."""

from __future__ import annotations

import os
from collections.abc import Iterable

from pyspark.sql import SparkSession

#: Quiet, small, and to be reached from this machine only; whoever submits to a cluster sets his own.
_LOCAL = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "1g",
    "spark.sql.shuffle.partitions": "4",
}
_ALWAYS = {
    "spark.log.level": "ERROR",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    # The records of the lake tell of all batches; Spark needs those that it may have to make again.
    "spark.sql.streaming.minBatchesToRetain": "20",
}


def session(master: str | None = None, settings: Iterable[str] = ()) -> SparkSession:
    """The session of this process, made if there is none.

    Parameters
    ----------
    master
        Spark's URL; None: what spark-submit has set, else ``local[*]``.
    settings
        More settings, as ``name=value``.
    """
    is_submitted = "PYSPARK_GATEWAY_PORT" in os.environ and master is None
    builder = SparkSession.builder.appName("binlog-kaitai")
    if not is_submitted:
        builder = builder.master(master or "local[*]")
    is_local = not is_submitted and (master or "local").startswith("local")
    given = dict(one.partition("=")[::2] for one in settings)
    for name, value in {**_ALWAYS, **(_LOCAL if is_local else {}), **given}.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()
