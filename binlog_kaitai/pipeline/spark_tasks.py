"""The tasks of a pipeline in Spark's Python workers."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from binlog_kaitai.errors import BinlogError, SourceError, UsageError
from binlog_kaitai.pipeline.tasks import Result

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: This package's message within Spark's error from a worker.
_OWN_WORDS = re.compile(r"binlog_kaitai\.errors\.(\w+): (.*)")


class SparkTasks:
    """Tasks in Spark's Python workers.

    `pool`: the pool of Spark's fair scheduler that they belong to.
    """

    def __init__(self, spark: SparkSession, pool: str = "") -> None:
        self._context = spark.sparkContext
        self._pool = pool
        self.at_once = self._context.defaultParallelism

    def run(self, task: Callable[[bytes], Result], inputs: Sequence[bytes]) -> list[Result]:
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException

        try:
            if self._pool:
                self._context.setLocalProperty("spark.scheduler.pool", self._pool)
            return self._context.parallelize(inputs, len(inputs)).map(task).collect()
        except (PySparkException, Py4JError) as error:
            raise _plain(error) from error
        except OSError as error:
            raise SourceError(f"Spark: Java does not answer, it may have been killed: {error}") from error


def _plain(error: Exception) -> BinlogError:
    """This package's own error in a task, if it is one."""
    match = _OWN_WORDS.search(str(error))
    if match is None:
        return SourceError(f"Spark: {str(error).splitlines()[0]}")
    return (UsageError if match[1] == "UsageError" else SourceError)(match[2])
