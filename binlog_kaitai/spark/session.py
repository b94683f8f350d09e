"""The Spark session of the command line."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from pyspark.sql import SparkSession

from binlog_kaitai.spark.interpreter import local_interpreter

#: Quiet, small, and reachable from this machine only; cluster users have their own settings.
_LOCAL = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "1g",
    "spark.sql.shuffle.partitions": "4",
}
#: For a JVM that only plans and waits: optimizing its code would cost more than it saves.
_THIN = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
_JAVA = "spark.driver.extraJavaOptions"
#: Spark would start two Python processes that import all packages named pyspark_* to look for unused data
#: sources. A nonexistent interpreter prevents that.
_NO_LOOKUP = {"PYSPARK_DRIVER_PYTHON": "no-python-for-sources"}
_ALWAYS = {
    "spark.log.level": "ERROR",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
}


def session(
    master: str | None = None,
    settings: Iterable[str] = (),
    *,
    has_rows: bool = True,
    shows_ui: bool = False,
) -> SparkSession:
    """The session of this process, created if there is none.

    `master`: Spark's URL; None: what spark-submit has set, else ``local[*]``.
    `settings`: more settings, as ``name=value``.
    `shows_ui`: serve Spark's user interface, in local mode on the loopback interface only.
    `has_rows`: rows pass through Spark; otherwise only file names do, or a few rows for a few seconds.
    """
    is_submitted = "PYSPARK_GATEWAY_PORT" in os.environ and master is None
    builder = SparkSession.builder.appName("binlog-kaitai")
    if not is_submitted:
        builder = builder.master(master or "local[*]")
    is_local = not is_submitted and (master or "local").startswith("local")
    given = dict(one.partition("=")[::2] for one in settings)
    if shows_ui:
        given.setdefault("spark.ui.enabled", "true")
    local = {}
    if is_local:
        local = _LOCAL if has_rows else {**_LOCAL, _JAVA: _THIN}
    for name, value in {**_ALWAYS, **local, **given}.items():
        builder = builder.config(name, value)
    if is_local and shows_ui:
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")  # else the user interface listens everywhere
    if not is_local or "PYSPARK_PYTHON" in os.environ:
        return builder.getOrCreate()
    # `register` names the interpreter for the sources here; Spark looks for others when it starts.
    path, variables = local_interpreter()
    added = {**_NO_LOOKUP, **variables, "PYSPARK_PYTHON": path}
    before = {name: os.environ.get(name) for name in added}
    os.environ |= added
    try:
        return builder.getOrCreate()
    finally:
        for name, text in before.items():
            del os.environ[name]
            if text is not None:
                os.environ[name] = text


def stop(spark: SparkSession) -> None:
    """Stop a session created by :func:`session`.

    Java closes its standard streams first, so that a pipe that reads them ends with this process, and does
    not wait for Java's exit, such as the writing of its class archive.
    """
    jvm: Any = spark._jvm
    spark.stop()
    if "PYSPARK_GATEWAY_PORT" not in os.environ:
        for stream in (jvm.java.lang.System.out, jvm.java.lang.System.err):
            stream.close()
