"""A Spark for the command line."""

from __future__ import annotations

import os
from collections.abc import Iterable

from pyspark.sql import SparkSession

from binlog_kaitai.spark.interpreter import local_interpreter

#: Quiet, small, and to be reached from this machine only; whoever submits to a cluster sets his own.
_LOCAL = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "1g",
    "spark.sql.shuffle.partitions": "4",
}
#: For a JVM that divides, waits and counts: to compile its code well would cost more than it saves.
_THIN = {"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
_ALWAYS = {
    "spark.log.level": "ERROR",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    # The records of the lake tell of all batches; Spark needs those that it may have to make again.
    "spark.sql.streaming.minBatchesToRetain": "20",
}


def session(
    master: str | None = None, settings: Iterable[str] = (), *, has_rows: bool = True
) -> SparkSession:
    """The session of this process, made if there is none.

    Parameters
    ----------
    master
        Spark's URL; None: what spark-submit has set, else ``local[*]``.
    settings
        More settings, as ``name=value``.
    has_rows
        Rows go through Spark; else only the names of files do.
    """
    is_submitted = "PYSPARK_GATEWAY_PORT" in os.environ and master is None
    builder = SparkSession.builder.appName("binlog-kaitai")
    if not is_submitted:
        builder = builder.master(master or "local[*]")
    is_local = not is_submitted and (master or "local").startswith("local")
    given = dict(one.partition("=")[::2] for one in settings)
    local = {**_LOCAL, **({} if has_rows else _THIN)} if is_local else {}
    for name, value in {**_ALWAYS, **local, **given}.items():
        builder = builder.config(name, value)
    if not is_local or "PYSPARK_PYTHON" in os.environ:
        return builder.getOrCreate()
    # `register` names the interpreter for the sources here; Spark looks for others when it starts.
    path, variables = local_interpreter()
    os.environ |= {**variables, "PYSPARK_PYTHON": path}
    try:
        return builder.getOrCreate()
    finally:
        for name in (*variables, "PYSPARK_PYTHON"):
            del os.environ[name]
