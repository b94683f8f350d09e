"""The Python interpreter of Spark's workers, and ways to start and run it faster."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path

_LAUNCHER = Path(__file__).with_name("worker-python")

_tasks_begun = 0


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


def spare_modules() -> None:
    """Before a task reads: exclude the objects of modules from the garbage collection after each task.

    Spark's workers collect garbage after each task, which takes 80 ms with all modules loaded. By the second
    task all modules are loaded, and the garbage of the first one is gone.
    """
    global _tasks_begun
    _tasks_begun += 1
    if _tasks_begun == 2:  # `gc.get_freeze_count` would count the objects
        gc.freeze()
