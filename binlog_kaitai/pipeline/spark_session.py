"""Spark sessions: that of the command line, their data sources, and the Python of their workers."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.datasource import DataSource

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

#: The sources of each session that has some: to register one again prints a warning.
_REGISTERED: WeakKeyDictionary[SparkSession, set[type[DataSource]]] = WeakKeyDictionary()

#: Starts the interpreter of local workers.
_LAUNCHER = Path(__file__).with_name("worker-python")


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
    from pyspark.sql import SparkSession

    is_submitted = "PYSPARK_GATEWAY_PORT" in os.environ and master is None
    builder = SparkSession.builder.appName("binlog-kaitai")
    if not is_submitted:
        builder = builder.master(master or "local[*]")
    is_local = not is_submitted and (master or "local").startswith("local")
    given = dict(setting.partition("=")[::2] for setting in settings)
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
    from py4j.protocol import Py4JError

    jvm: Any = spark._jvm
    try:
        with warnings.catch_warnings(action="ignore"):
            spark.stop()
        if "PYSPARK_GATEWAY_PORT" not in os.environ:
            for stream in (jvm.java.lang.System.out, jvm.java.lang.System.err):
                stream.close()
    except (Py4JError, OSError):
        _forget_java()


def _forget_java() -> None:
    """Let the next session start Java again, where this one's has ended."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession, SQLContext

    context: Any = SparkContext
    context._gateway = context._jvm = context._active_spark_context = None
    sessions: Any = SparkSession
    sessions._instantiatedSession = sessions._activeSession = None
    contexts: Any = SQLContext
    contexts._instantiatedContext = None


def register_source(spark: SparkSession, source: type[DataSource]) -> None:
    """Register one data source, unless it is, and make local workers run this interpreter."""
    if source in (registered := _REGISTERED.setdefault(spark, set())):
        return
    context = getattr(spark, "_sc", None)
    if context is None or "PYSPARK_PYTHON" in os.environ or not context.master.startswith("local"):
        spark.dataSource.register(source)
    else:
        # Registering stores the interpreter; if none is named, Spark would use any python3 on the path.
        noted = context.pythonExec
        context.pythonExec, variables = local_interpreter()
        context.environment.update(variables)
        try:
            spark.dataSource.register(source)
        finally:
            context.pythonExec = noted
    registered.add(source)


def local_interpreter() -> tuple[str, dict[str, str]]:
    """The interpreter for local workers, and the environment variables that it needs.

    It is this interpreter, started by a script if possible. Spark prepends archives of PySpark's sources to
    ``PYTHONPATH``, so each process would compile them anew, which takes a second, and a process that plans a
    stream must respond within ten. The script makes them import PySpark from this process's installation,
    with bytecode.
    """
    import pyspark

    package = Path(pyspark.__file__).parent
    is_spark_home = os.environ.get("SPARK_HOME", str(package)) == str(package)
    if os.name != "posix" or not package.is_dir() or not is_spark_home or not os.access(_LAUNCHER, os.X_OK):
        return sys.executable, {}
    variables = {"BINLOG_KAITAI_PYTHON": sys.executable, "BINLOG_KAITAI_PYSPARK": str(package.parent)}
    return str(_LAUNCHER), variables
