"""The Python of Spark's workers: which one, and what it need not do again and again."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path

_LAUNCHER = Path(__file__).with_name("worker-python")

_tasks_begun = 0


def local_interpreter() -> tuple[str, dict[str, str]]:
    """The interpreter for local workers, and variables of the environment that it needs.

    It is this very one, started by a script where that can be: Spark puts archives of PySpark's sources in
    front of ``PYTHONPATH``, so that each process would compile them anew, a second of work. Spark gives a
    process that plans a stream ten seconds to answer. The script has them take PySpark from where this
    process has it, with bytecode.
    """
    import pyspark

    package = Path(pyspark.__file__).parent
    is_spark_home = os.environ.get("SPARK_HOME", str(package)) == str(package)
    if os.name != "posix" or not package.is_dir() or not is_spark_home or not os.access(_LAUNCHER, os.X_OK):
        return sys.executable, {}
    variables = {"BINLOG_KAITAI_PYTHON": sys.executable, "BINLOG_KAITAI_PYSPARK": str(package.parent)}
    return str(_LAUNCHER), variables


def spare_modules() -> None:
    """Before a task reads: have the collection of garbage after each task leave out what modules are made of.

    Spark's workers collect after each task, which takes 80 ms with all modules loaded. From the second task
    on they are, and nothing else is, since the first one's garbage is gone.
    """
    global _tasks_begun
    _tasks_begun += 1
    if _tasks_begun == 2:  # to ask how many objects are frozen would be to count them
        gc.freeze()
