"""One local Spark for the whole test run, started like on the command line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Plans are small and run once: to compile them well takes more than twice the time of all the rest.
JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    from binlog_kaitai.pipeline.spark_session import session
    from binlog_kaitai.spark import register

    settings = {
        "spark.driver.memory": "768m",
        "spark.driver.extraJavaOptions": JAVA,
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse")),
        "spark.log.level": "OFF",  # Failing jobs are part of these tests.
    }
    made = session("local[2]", [f"{name}={value}" for name, value in settings.items()])
    register(made)
    yield made
    made.stop()
